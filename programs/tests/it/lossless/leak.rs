//! The published measurement of advanced flow control at 25 Gb/s: a queue of eleven packets is resumed, and the
//! packet at its head pauses it again from the egress deparser. Eight packets of ten cells were sent (model: tm §5).

use crate::lossless::bench::Bench;
use sluice_asic::chip::ChipSpec;
use sluice_asic::tm::AfcWord;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::samples;

#[test]
fn a_pause_by_the_packet_at_the_head_leaks_as_many_as_published() {
    let bench = Bench::new("pfc", &["probe=true"], &ChipSpec::tofino2());
    let mut frames = Vec::new();
    let mut reader = CaptureReader::from_bytes(samples::AFC_LEAK, "afc-leak.pcap").unwrap();
    let mut first = None;
    while let Some(frame) = reader.next_frame().unwrap() {
        let origin = *first.get_or_insert(frame.time);
        let ps = frame.time.ps_since(origin).unwrap();
        frames.push(crate::switch::world::Frame::new(0, ps, frame.data.to_vec()));
    }
    assert_eq!(frames.len(), 13);
    // The words name the host's queue 3.
    let word = u32::from_be_bytes(frames[0].bytes[18..22].try_into().unwrap());
    let wanted = AfcWord::for_queue(&ChipSpec::tofino2(), bench.port(20), 3, 1).unwrap().encode();
    assert_eq!(word, wanted);
    let (switch, seen) = bench.run(&frames, 100_000_000);
    let left = bench.sent(&seen, 20);
    let cells: usize = left.iter().map(|(_, bytes)| bytes.len().div_ceil(176)).sum();
    assert!(left.len().abs_diff(8) <= 2, "{} packets left", left.len());
    assert!(cells.abs_diff(10) <= 2, "{cells} cells left");
    assert_eq!(switch.held().queues as usize, 11 - left.len());
    // The packet that pauses is among them, and is the first.
    assert_eq!(left[0].1[12..14], [0x88, 0xb5]);
}
