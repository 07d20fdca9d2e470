//! Algorithmic memories: the same matches from SRAM, their geometry, what is refused.

use crate::tables::bench::{both_chips, call, entry, parsed, placed};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_ir::{KeyValue, Program};
use sluice_place::report::Report;
use sluice_place::{Placement, Purpose};

fn routes(memory: &str, size: u32) -> Program {
    parsed(&format!(
        "program routes;
        header h : ingress {{ bit<16> vrf; bit<32> addr; bit<16> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action to : ingress (bit<16> hop) {{ h.out = hop; ig_tm.ucast_egress_port = 9w8; }}
        action none : ingress () {{ ig_tm.ucast_egress_port = 9w8; }}
        action mark : ingress () {{ h.addr = 32w1; }}
        table routes : ingress {{
            key = {{ h.vrf : exact; h.addr : lpm; }}
            actions = {{ to; }}
            default_action = none();
            size = {size};
            {memory}
        }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ apply routes {{ hit {{ call mark; }} }} }}
        deparser ingress {{ emit(h); }}"
    ))
}

const ALPM: &str = "alpm = partitions(1024, 2);";

fn stages(p: &Program, placement: &Placement, name: &str) -> Vec<(u8, u32)> {
    let report = Report::new(p, placement);
    let table = report.tables.iter().find(|t| t.name == name).unwrap();
    table.parts.iter().map(|part| (part.stage, part.entries)).collect()
}

#[test]
fn routes_match_as_in_tcam() {
    let lpm = |vrf: u128, value: u128, len| [KeyValue::Exact(vrf), KeyValue::Lpm { value, len }];
    let rows = [
        (lpm(1, 0, 0), 1),
        (lpm(1, 0x0a00_0000, 8), 2),
        (lpm(1, 0x0a01_0000, 16), 3),
        (lpm(1, 0x0a01_0203, 32), 4),
        (lpm(2, 0x0a00_0000, 8), 5),
    ];
    let frame =
        |vrf: u16, addr: u32| [&vrf.to_be_bytes()[..], &addr.to_be_bytes(), &[0, 0], &[0; 60]].concat();
    let asked = [
        (1, 0x0b00_0000, 1),
        (1, 0x0a02_0000, 2),
        (1, 0x0a01_0202, 3),
        (1, 0x0a01_0203, 4),
        (2, 0x0a01_0203, 5),
        (2, 0x0b00_0000, 0),
    ];
    let frames: Vec<_> = asked.map(|(vrf, addr, _)| frame(vrf, addr)).to_vec();
    for memory in ["", ALPM, "alpm = partitions(2048, 2);"] {
        let p = routes(memory, 1024);
        let add = |(key, hop): &([KeyValue; 2], u128)| entry(&p, "routes", key, 0, call(&p, "to", &[*hop]));
        let ops: Vec<_> = rows.iter().map(add).collect();
        let ran = both_chips(&p, &ops, &frames);
        assert_eq!(ran.byte(7), asked.map(|(.., hop)| hop), "{memory}");
    }
}

#[test]
fn an_alpm_is_a_classifier_and_partitions_behind_it() {
    let p = routes(ALPM, 60_000);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&p, &chip);
        assert!(sluice_place::verify(&p, &placement).is_empty());
        let report = Report::new(&p, &placement);
        let table = report.tables.iter().find(|t| t.name == "routes").unwrap();
        assert_eq!(table.kind, "alpm");
        // 2048 subtrees of six whole bytes: four times two blocks; sixty thousand entries in TCAM would be 236.
        assert_eq!(table.tcams, 8);
        let parts = stages(&p, &placement, "routes");
        assert_eq!(parts[0].1, 0, "the classifier has no entries of the table");
        assert!(parts.windows(2).all(|w| w[0].0 < w[1].0), "{parts:?}");
        // At most nine entries to a word, and five words in a row.
        assert!(parts[1..].iter().all(|(_, held)| *held <= 9 * 5 * 1024), "{parts:?}");
        assert!(parts.iter().map(|(_, held)| held).sum::<u32>() >= 60_000);
        assert!(report.assumptions.iter().any(|a| a.id == "place.atcam_bits"));
        // The node that runs on a hit is after the last partition, which waits for the classifier.
        let after = stages(&p, &placement, "mark")[0].0;
        assert!(after >= parts.last().unwrap().0);
        let dependency = report.stages[usize::from(parts[1].0)].dependencies[0];
        assert_eq!(format!("{dependency:?}"), "Match");
    }
}

#[test]
fn a_broken_alpm_is_found() {
    let p = routes(ALPM, 4096);
    let chip = ChipSpec::tofino2();
    let good = placed(&p, &chip);
    let found = |change: &dyn Fn(&mut Placement)| {
        let mut broken = good.clone();
        change(&mut broken);
        let diags = sluice_place::verify(&p, &broken);
        diags.iter().map(|d| d.text.clone()).collect::<Vec<_>>().join("\n")
    };
    let without = |column: Column, purpose: &'static str| {
        found(&|b| b.units.retain(|u| u.unit.column != column || !u.purpose.kind().starts_with(purpose)))
    };
    assert!(without(Column::Tcam, "key word").contains("TCAM blocks of a classifier"));
    let without_first_way = found(&|b| {
        b.units.retain(|u| !matches!(u.purpose, Purpose::MatchWay { way: 0, .. }));
    });
    assert!(without_first_way.contains("entries in partitions"));
    assert!(without(Column::HashBit, "way").contains("address bits of partitions"));
    assert!(without(Column::Slots16, "").contains("outputs"));
}

fn acl(memory: &str) -> String {
    format!(
        "program acl;
        header h : ingress {{ bit<16> zone; bit<32> addr; bit<8> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action put : ingress (bit<8> v) {{ h.out = v; ig_tm.ucast_egress_port = 9w8; }}
        action none : ingress () {{ ig_tm.ucast_egress_port = 9w8; }}
        table acl : ingress {{
            key = {{ h.zone : exact; h.addr : ternary; }}
            actions = {{ put; }}
            default_action = none();
            size = 4096;
            {memory}
        }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ apply acl; }}
        deparser ingress {{ emit(h); }}"
    )
}

#[test]
fn an_atcam_is_addressed_by_a_key() {
    let p = parsed(&acl("atcam = h.zone(1024);"));
    assert!(text::print(&p).contains("atcam = h.zone(1024);"));
    let key = |zone, value, mask| [KeyValue::Exact(zone), KeyValue::Ternary { value, mask }];
    let put = |v| call(&p, "put", &[v]);
    let ops = [
        entry(&p, "acl", &key(7, 0, 0), 9, put(1)),
        entry(&p, "acl", &key(7, 0x0a00_0000, 0xff00_0000), 5, put(2)),
        entry(&p, "acl", &key(7, 0x0a00_0001, 0xff00_00ff), 1, put(3)),
    ];
    let rows = [(7_u16, 0x0b00_0001_u32, 1), (7, 0x0a00_0002, 2), (7, 0x0aff_0001, 3), (8, 0x0a00_0001, 0)];
    let frames: Vec<_> = rows
        .map(|(zone, addr, _)| [&zone.to_be_bytes()[..], &addr.to_be_bytes(), &[0], &[0; 60]].concat())
        .to_vec();
    assert_eq!(both_chips(&p, &ops, &frames).byte(6), rows.map(|(.., out)| out));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&p, &chip);
        assert!(sluice_place::verify(&p, &placement).is_empty());
        let report = Report::new(&p, &placement);
        let table = &report.tables[0];
        // Four entries of a partition, 64 + 4 + 8 bits each, are side by side in a word of three RAMs.
        assert_eq!((table.kind, table.tcams, table.srams), ("atcam", 0, 3));
    }
}

#[test]
fn memories_that_do_not_suit_a_key_are_refused() {
    let of = |source: &str| {
        let p = text::parse(source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        verify(&p).iter().map(|d| format!("{}: {}", d.text, d.help)).collect::<Vec<_>>()
    };
    assert_eq!(
        of(&acl("alpm = partitions(1024, 2);")),
        ["table `acl` is an ALPM without an lpm key: make the prefix an lpm key"]
    );
    assert_eq!(
        of(&acl("atcam = h.addr(1024);")),
        [
            "table `acl` is partitioned by `h.addr`, which is none of its exact keys: add it to the keys as exact"
        ]
    );
    assert_eq!(
        of(&acl("atcam = h.zone(1000);")),
        ["table `acl` has 1000 partitions: a partition index addresses 1024, 2048, 4096 or 8192"]
    );
}
