//! The sample trace end to end, without time: the result of the emulator's default run.

use crate::l3_ecmp::device::{Device, Fate};
use expect_test::expect_file;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::samples::L3_ECMP;
use std::collections::BTreeMap;
use std::fmt::Write;

#[test]
fn every_frame_of_the_sample_has_the_fate_it_was_made_for() {
    let mut device = Device::new();
    let mut fates: BTreeMap<String, u32> = BTreeMap::new();
    let mut reader = CaptureReader::from_bytes(L3_ECMP, "sample").unwrap();
    let mut frames = 0;
    while let Some(sent) = reader.next_frame().unwrap() {
        frames += 1;
        let fate = match device.send(0, sent.data) {
            Fate::Out(port, _) => format!("port {port:2}"),
            Fate::Cpu(_) => "cpu".to_owned(),
            Fate::Dropped(label) => label,
            Fate::ParserError => "parser error".to_owned(),
        };
        *fates.entry(fate).or_default() += 1;
    }
    assert_eq!(fates.values().sum::<u32>(), frames);
    assert_eq!(device.count_front("ports_in", 0).0, u64::from(frames));
    // The incast, the denied packets, and the CPU's packets (expired 8, ARP 3) are known beforehand.
    assert_eq!((fates["port 20"], fates["acl_deny"], fates["cpu"]), (400, 12, 11));
    let uplinks: Vec<u32> = (8..=15).map(|port| fates[&format!("port {port:2}")]).collect();
    assert!(uplinks.iter().all(|&frames| frames > 20), "{uplinks:?}");
    let mut table = String::new();
    fates.iter().for_each(|(fate, frames)| _ = writeln!(table, "{fate:10} {frames:4}"));
    expect_file!["golden/every_frame_of_the_sample_has_the_fate_it_was_made_for.txt"].assert_eq(&table);
}
