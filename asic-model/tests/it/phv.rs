//! The PHV inventories of both chips against model: chip §2.1.

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{AluClass, Container, ContainerKind, ContainerSize, PhvInventory};
use std::collections::BTreeSet;

fn inventories() -> [PhvInventory; 2] {
    [ChipSpec::tofino(), ChipSpec::tofino2()].map(|chip| PhvInventory::new(&chip.phv))
}

#[test]
fn counts_of_every_size_and_kind() {
    use ContainerKind::{Dark, Mocha, Normal, Tagalong};
    use ContainerSize::{B8, B16, B32};
    let [tofino, tofino2] = inventories();
    let rows = [
        (B32, Normal, 64, 48),
        (B8, Normal, 64, 48),
        (B16, Normal, 96, 72),
        (B32, Mocha, 0, 16),
        (B8, Mocha, 0, 16),
        (B16, Mocha, 0, 24),
        (B32, Dark, 0, 16),
        (B8, Dark, 0, 16),
        (B16, Dark, 0, 24),
        (B32, Tagalong, 32, 0),
        (B8, Tagalong, 32, 0),
        (B16, Tagalong, 48, 0),
    ];
    for (size, kind, first, second) in rows {
        assert_eq!(
            (tofino.of(size, kind).count(), tofino2.of(size, kind).count()),
            (first, second),
            "{size:?} {kind:?}"
        );
    }
    assert_eq!((tofino.len(), tofino2.len()), (224 + 112, 280));
    assert_eq!((tofino.mau_groups(), tofino2.mau_groups()), (14, 14));
    let bits = |inventory: &PhvInventory, kind| {
        inventory.iter().filter(|(_, info)| info.kind == kind).map(|(_, info)| info.size.bits()).sum::<u32>()
    };
    assert_eq!([Normal, Tagalong, Mocha, Dark].map(|kind| bits(&tofino, kind)), [4096, 2048, 0, 0]);
    assert_eq!([Normal, Tagalong, Mocha, Dark].map(|kind| bits(&tofino2, kind)), [3072, 0, 1024, 1024]);
}

#[test]
fn tofinos_addresses() {
    let [tofino, _] = inventories();
    let rows = [
        ("W0", 0),
        ("W63", 63),
        ("B0", 64),
        ("B63", 127),
        ("H0", 128),
        ("H95", 223),
        ("TW0", 256),
        ("TW31", 287),
        ("TB0", 288),
        ("TB31", 319),
        ("TH0", 320),
        ("TH47", 367),
    ];
    for (name, address) in rows {
        let container = tofino.by_name(name).unwrap();
        assert_eq!(tofino.get(container).unwrap().address, address, "{name}");
        assert_eq!(tofino.by_address(address), Some(container));
    }
    assert_eq!((tofino.by_name("W64"), tofino.by_address(224)), (None, None));
}

#[test]
fn a_tofino2_group_holds_12_normal_4_mocha_4_dark() {
    let [_, tofino2] = inventories();
    let names: Vec<String> =
        tofino2.in_mau_group(1).map(|container| tofino2.get(container).unwrap().to_string()).collect();
    assert_eq!(
        names.join(" "),
        "W12 W13 W14 W15 W16 W17 W18 W19 W20 W21 W22 W23 MW4 MW5 MW6 MW7 DW4 DW5 DW6 DW7"
    );
    assert_eq!(tofino2.in_mau_group(1).next(), Some(Container(20)));
}

fn gress_mates(inventory: &PhvInventory, name: &str) -> String {
    let info = inventory.get(inventory.by_name(name).unwrap()).unwrap();
    let mates: Vec<String> = inventory
        .in_gress_group(info.gress_group)
        .map(|container| inventory.get(container).unwrap().to_string())
        .collect();
    mates.join(" ")
}

#[test]
fn containers_that_share_a_gress() {
    let [tofino, tofino2] = inventories();
    assert_eq!(gress_mates(&tofino, "W5"), "W4 W5 W6 W7");
    assert_eq!(gress_mates(&tofino, "B9"), "B8 B9 B10 B11 B12 B13 B14 B15");
    assert_eq!(gress_mates(&tofino, "H80"), "H80 H81 H82 H83 H84 H85 H86 H87");
    for alone in ["B56", "B63", "H88", "H95", "W60", "W63"] {
        assert_eq!(gress_mates(&tofino, alone), alone);
    }
    assert_eq!(gress_mates(&tofino, "B55"), "B48 B49 B50 B51 B52 B53 B54 B55");
    assert_eq!(gress_mates(&tofino, "TW4"), "TW4 TW5 TW6 TW7 TB4 TB5 TB6 TB7 TH6 TH7 TH8 TH9 TH10 TH11");
    assert_eq!(gress_mates(&tofino2, "W47"), "W46 W47");
    assert_eq!(gress_mates(&tofino2, "MB5"), "MB4 MB5 MB6 MB7");
    assert_eq!(gress_mates(&tofino2, "H71"), "H68 H69 H70 H71");
    assert_eq!(gress_mates(&tofino2, "DH5"), "DH5");
}

#[test]
fn gress_groups_are_dense_and_cover_every_container() {
    for inventory in inventories() {
        let groups: BTreeSet<u16> = inventory.iter().map(|(_, info)| info.gress_group).collect();
        assert_eq!(groups, (0..inventory.gress_groups()).collect());
    }
}

#[test]
fn the_first_groups_of_tofino_are_wired() {
    let [tofino, tofino2] = inventories();
    let wired = |name: &str| tofino.get(tofino.by_name(name).unwrap()).unwrap().hard_wired;
    for (name, gress) in [
        ("W3", Some(Gress::Ingress)),
        ("W4", Some(Gress::Egress)),
        ("W8", None),
        ("B7", Some(Gress::Ingress)),
        ("B8", Some(Gress::Egress)),
        ("H15", Some(Gress::Egress)),
        ("H16", None),
        ("TW0", None),
    ] {
        assert_eq!(wired(name), gress, "{name}");
    }
    assert!(tofino2.iter().all(|(_, info)| info.hard_wired.is_none()));
}

#[test]
fn capabilities_by_kind() {
    let [tofino, tofino2] = inventories();
    let can = |inventory: &PhvInventory, name: &str| {
        let info = *inventory.get(inventory.by_name(name).unwrap()).unwrap();
        (info.matchable(), info.parsed(), info.deparsed(), info.alu())
    };
    assert_eq!(can(&tofino, "H3"), (true, true, true, AluClass::Full));
    assert_eq!(can(&tofino, "TB3"), (false, true, true, AluClass::None));
    assert_eq!(can(&tofino2, "MW1"), (true, true, true, AluClass::Move));
    assert_eq!(can(&tofino2, "DB2"), (false, false, false, AluClass::MoveFromContainer));
}

#[test]
fn tofino2s_parser_pairs_bytes() {
    let [tofino, tofino2] = inventories();
    let partner = |name: &str| tofino2.parser_partner(tofino2.by_name(name).unwrap());
    assert_eq!(partner("B6"), tofino2.by_name("B7"));
    assert_eq!(partner("B7"), tofino2.by_name("B6"));
    assert_eq!(partner("MB1"), tofino2.by_name("MB0"));
    assert_eq!((partner("H6"), partner("DB0")), (None, None));
    assert_eq!(tofino.parser_partner(tofino.by_name("B6").unwrap()), None);
}
