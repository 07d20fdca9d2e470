//! ECN marks in sent frames.

use crate::flow::aim::{checksum, config, packet, port, switch, train};
use crate::switch::world::{Recorder, drain};
use sluice_asic::units::Time;
use sluice_switch::RxFrame;

/// Returns the ECN fields, in order, of the packets that a blocked port sends once it is unblocked.
fn fields(kmin: u64, kmax: u64, ecn: u8, wred: bool) -> (Vec<u8>, u64) {
    let (kmin, kmax) = (format!("kmin = \"{kmin}B\""), format!("kmax = \"{kmax}B\""));
    let changes = [
        ("kmin = \"1048576B\"", kmin.as_str()),
        ("kmax = \"2097152B\"", kmax.as_str()),
        ("name = \"azure\"\n", if wred { "name = \"azure\"\nwred = true\n" } else { "name = \"azure\"\n" }),
        ("pmax = 5", "pmax = 100"),
    ];
    let mut device = switch(config(&changes));
    device.block(port(9), true).unwrap();
    let mut seen = Recorder::default();
    for (tag, f) in (0..).zip(train(0, 0, 200, &packet(9, 3, ecn, 1000))) {
        let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag };
        device.rx(port(0), Time::from_ps(f.ps), rx).unwrap();
        device.advance(Time::from_ps(f.ps), &mut seen).unwrap();
    }
    device.advance(Time::from_nanos(100_000), &mut seen).unwrap();
    device.block(port(9), false).unwrap();
    drain(&mut device, &mut seen);
    let mut sent: Vec<_> = seen.sent().collect();
    sent.sort_by_key(|(left, _)| left.tag);
    assert!(sent.iter().all(|(_, bytes)| checksum(bytes) == 0xffff));
    let marked: u64 = device
        .flow(device.time())
        .unwrap()
        .ports
        .iter()
        .flat_map(|p| &p.queues)
        .map(|q| q.marked.packets)
        .sum();
    (sent.iter().map(|(_, bytes)| bytes[15] & 3).collect(), marked)
}

/// A step at 100 KB, 200 packets of 1 KB: packets 1 to 99 are marked, the rest are not (model: buffer §8.5 row 49).
#[test]
fn a_step_marks_by_what_is_left_behind() {
    let (fields_ect, marked) = fields(100_000, 100_000, 2, false);
    let expected: Vec<u8> = (1..=200).map(|i| if i <= 99 { 3 } else { 2 }).collect();
    assert_eq!((fields_ect, marked), (expected, 99));
}

/// Row 51: packets without ECN are never marked; they pass, or are dropped with WRED.
#[test]
fn packets_without_ecn() {
    assert_eq!(fields(100_000, 100_000, 0, false), (vec![0; 200], 0));
    // On arrival, the 102nd packet finds more than 100 KB and is dropped, and so are all later ones.
    assert_eq!(fields(100_000, 100_000, 0, true), (vec![0; 101], 0));
}
