//! The profiles that come with the product fit their switches, and other profiles are refused with reasons.

use crate::buffer::support::{Bench, changed, ports};
use sluice_asic::tm::buffer::{BufferFile, Check, DECISIONS, PoolKind, PortInfo, Rules};
use sluice_asic::units::BitRate;

/// Front-panel ports, followed by a CPU port and recirculation ports.
fn device(n: usize, gbps: u64) -> Vec<PortInfo> {
    let mut list = ports(n, gbps);
    for name in ["cpu", "recirc:6", "recirc:134"] {
        let speed = BitRate::from_gbps(if name == "cpu" { 10 } else { 400 });
        list.push(PortInfo { name: name.to_owned(), speed, queues: 16, internal: true });
    }
    list
}

#[test]
fn every_profile_fits_its_switch() {
    let rows = [
        ("td2", 32, 40),
        ("td3", 32, 100),
        ("th", 32, 100),
        ("th2", 64, 100),
        ("th3", 32, 400),
        ("th5", 128, 400),
        ("tofino", 64, 100),
        ("tofino2", 32, 400),
        ("voq", 36, 400),
    ];
    assert!(BufferFile::names().eq(rows.map(|r| r.0)));
    for (name, n, gbps) in rows {
        let file = BufferFile::shipped(name).unwrap().unwrap();
        assert_eq!(file.name, name);
        let config = file.resolve(&device(n, gbps)).unwrap_or_else(|p| panic!("{p}"));
        assert_eq!(config.ports.len(), n + 3);
        assert_eq!(file.rules == Rules::Tofino, name.starts_with("tofino"));
        // A lossless flood is paused and does not lose a packet within its headroom.
        let mut bench = Bench::new(&config);
        let (xoff, drop) = bench.flood(0, 1, 1500);
        let cap = config.ports[0].groups[3].unwrap().lossless.unwrap().cap.get();
        let pool = config.headroom_pools.first().map_or(u32::MAX, |p| p.size.get());
        let cells = 1500u64.div_ceil(config.cell.get()) as u32;
        let first = u32::from(file.rules != Rules::Tofino);
        assert_eq!(drop - xoff.unwrap(), cap.min(pool) / cells + first, "{name}");
        assert!(bench.flood_lossy(2, 3, 0) > 1000, "{name}");
    }
    assert!(BufferFile::shipped("nothing").is_none());
}

/// 40 km at 400G need 54.6 MB by the plug-in's sum: Tofino 2 refuses, the deep buffer takes it.
#[test]
fn long_cables_are_refused_with_their_sum() {
    let text =
        changed(BufferFile::text_of("tofino2").unwrap(), &[("pfc_enable", "cable = \"40km\"\npfc_enable")]);
    let found = BufferFile::parse("far", &text).unwrap().resolve(&device(32, 400)).unwrap_err();
    assert_eq!(found.list.iter().map(|p| p.check).collect::<Vec<_>>(), [Check::HeadroomCap]);
    assert!(
        found.to_string().contains("xoff of 310231 cells is more than `skid_pool` with 17920 cells"),
        "{found}"
    );
    let voq = BufferFile::shipped("voq").unwrap().unwrap().resolve(&device(36, 400)).unwrap();
    let headroom = voq.headroom_pools.iter().map(|p| p.size.bytes(voq.cell).get()).sum::<u64>();
    let need = 72 * voq.ports[0].groups[3].unwrap().lossless.unwrap().cap.bytes(voq.cell).get();
    assert!(need <= headroom, "{need} {headroom}");
}

#[test]
fn tofino_limits() {
    let text = BufferFile::text_of("tofino2").unwrap();
    let wrong = |changes: &[(&str, &str)]| {
        let found =
            BufferFile::parse("t", &changed(text, changes)).unwrap().resolve(&device(32, 400)).unwrap_err();
        found.to_string()
    };
    assert!(wrong(&[("xon_offset = \"5632B\"", "xon_offset = \"1760B\"")]).contains("steps of 8 cells"));
    // 244,703 cells times 4 are beyond 2^19; times 2 are not.
    assert!(wrong(&[("baf = 7", "baf = 8")]).contains("beyond a count of 19 bits"));
    assert!(wrong(&[("baf = 7", "baf = 9")]).contains("0 (1.5 %) to 8 (80 %)"));
    let no_entry = BufferFile::parse("t", text).unwrap().resolve(&device(1, 800)).unwrap_err();
    assert!(no_entry.to_string().contains("has no entry for 800Gbps and 5m"), "{no_entry}");
    let th = BufferFile::shipped("th").unwrap().unwrap().resolve(&device(32, 400)).unwrap_err();
    assert_eq!(th.list.len(), 1, "{th}");
}

#[test]
fn headroom_of_the_tofino_profile_is_one_pool() {
    let config = BufferFile::shipped("tofino").unwrap().unwrap().resolve(&device(64, 100)).unwrap();
    let bench = Bench::new(&config);
    let skid: Vec<_> = bench.buffer.pools(&config).filter(|p| p.kind == PoolKind::Headroom).collect();
    assert_eq!((skid.len(), skid[0].name, skid[0].size.get()), (1, "skid_pool", 35_840));
}

#[test]
fn seventeen_decisions() {
    assert!(DECISIONS.iter().enumerate().all(|(i, d)| d.id == format!("D{}", i + 1)));
    // A switch is named only by a key of the files.
    let keys = include_str!("../../../src/tm/buffer/file.rs");
    for d in DECISIONS.iter().filter(|d| !d.switch.starts_with("none")) {
        let field = d.switch.rsplit('.').next().unwrap();
        assert!(keys.contains(&format!("pub {field}:")), "{}: {}", d.id, d.switch);
    }
}
