//! Telemetry in frames: the standard's example, and arbitrary bytes, which must not make the parser panic.

use proptest::prelude::*;
use sluice_pcaps::int::{HpccLayout, IntKind, Marks, Telemetry, decode};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, tcp, udp};

fn frame(dscp: u8, transport: impl Fn(FrameBuilder) -> FrameBuilder, payload: &[u8]) -> Vec<u8> {
    let ip = ipv4::Header { dscp, ..ipv4::Header::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into()) };
    let builder = transport(FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ipv4(ip));
    let mut bytes = Vec::new();
    builder.build(Payload::Bytes(payload), &mut bytes).unwrap();
    bytes
}

/// Returns the standard's example over TCP: nodes 1 and 2 with 100 and 200 cells.
fn example() -> Vec<u8> {
    let words: [u32; 8] = [0x1007_0000, 0x2000_0206, 0x9000_0000, 0, 2, 200, 1, 0x0500_0064];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
    frame(0x17, |b| b.tcp(tcp::Header::new(1, 2)), &[&bytes[..], b"payload"].concat())
}

#[test]
fn the_standards_example_is_two_hops_in_order_of_the_path() {
    let Some(Telemetry::Int(packet)) = decode(&example(), &Marks::default()).unwrap() else { panic!() };
    assert_eq!((packet.kind, packet.hop_ml, packet.remaining, packet.bitmap), (IntKind::Md, 2, 6, 0x9000));
    let hops: Vec<_> = packet.hops.iter().map(|h| (h.node, h.queue, h.occupancy)).collect();
    assert_eq!(hops, [(Some(1), Some(5), Some(100)), (Some(2), Some(0), Some(200))]);
    assert_eq!(decode(&example(), &Marks { dscp: None, ..Marks::default() }), Ok(None));
}

#[test]
fn a_report_tells_of_its_node_and_of_the_packet_inside() {
    let inner = &example()[14..];
    let mut bytes = 0x2040_0007u32.to_be_bytes().to_vec();
    bytes.extend(9u32.to_be_bytes());
    bytes.extend([0x14, 0xff, 2, 0xa0, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 1, 0, 0, 5]);
    bytes.extend(inner);
    let found = decode(&frame(0, |b| b.udp(udp::Header::new(5, 32_766)), &bytes), &Marks::default());
    let Some(Telemetry::Reports(reports)) = found.unwrap() else { panic!() };
    let (report, packet) = &reports[0];
    assert_eq!((report.hw_id, report.sequence, report.node, report.inner_len), (1, 7, 9, inner.len()));
    assert!(report.dropped && report.tracked && !report.congested);
    let hop = report.metadata.hop;
    assert_eq!(
        (hop.ingress_port, hop.egress_port, hop.queue, hop.occupancy),
        (Some(3), Some(4), Some(1), Some(5))
    );
    assert_eq!(packet.as_ref().unwrap().hops.len(), 2);
}

#[test]
fn hpccs_golden_record_is_read_back() {
    let bytes = [&[0x1a, 0xbc][..], &0x25bc_d157_3594_04e2u64.to_be_bytes(), &[0; 12]].concat();
    let marks = Marks { hpcc_port: Some(4791), ..Marks::default() };
    let found = decode(&frame(0, |b| b.udp(udp::Header::new(5, 4791)), &bytes), &marks).unwrap();
    let Some(Telemetry::Hpcc(path, hops)) = found else { panic!() };
    assert_eq!(
        (path, hops[0].speed, hops[0].time, hops[0].queue),
        (0xabc, 2, 123_456_789 & 0xff_ffff, 1_250)
    );
    assert_eq!(hops[0].bytes, (1_000_000_000u32 >> 7) & 0xf_ffff);
}

#[test]
fn the_simulators_slots_are_read_back_in_order_of_the_path() {
    let golden = [0xaa, 0x68, 0xde, 0xa2, 0xac, 0x39, 0x71, 0x02];
    let marks = Marks { hpcc_port: Some(4791), hpcc_layout: HpccLayout::Ns3, ..Marks::default() };
    let read = |nhop: u16, slots: &[u8]| {
        let bytes = [&[0; 6], slots, &nhop.to_le_bytes()[..], &[9; 4]].concat();
        decode(&frame(0, |b| b.udp(udp::Header::new(5, 4791)), &bytes), &marks)
    };
    let hops = |nhop: u16, slots: &[u8]| match read(nhop, slots).unwrap() {
        Some(Telemetry::Hpcc(0, hops)) => hops,
        other => panic!("{other:?}"),
    };
    let slots = [&golden[..], &[0; 32]].concat();
    let one = hops(1, &slots);
    assert_eq!(one.len(), 1);
    assert_eq!(
        (one[0].speed, one[0].time, one[0].bytes, one[0].queue),
        (2, 123_456_789 & 0xff_ffff, 1_000_000_000 >> 7 & 0xf_ffff, 1_250)
    );
    // Queue lengths 0 to 4 in the slots; the slots of seven hops begin with the third one.
    let slots: Vec<u8> = (0..5u64).flat_map(|n| (n << 47).to_le_bytes()).collect();
    let queues = |nhop| hops(nhop, &slots).iter().map(|hop| hop.queue).collect::<Vec<_>>();
    assert_eq!(queues(0), []);
    assert_eq!(queues(3), [0, 1, 2]);
    assert_eq!(queues(5), [0, 1, 2, 3, 4]);
    assert_eq!(queues(7), [2, 3, 4, 0, 1]);
    let error = read(3, &slots[..30]).unwrap_err().to_string();
    assert!(error.contains("HPCC slot"), "{error}");
}

#[test]
fn what_contradicts_itself_is_named_with_its_place() {
    let mut cut = example();
    cut[55] = 40;
    let error = decode(&cut, &Marks::default()).unwrap_err().to_string();
    assert_eq!(error, "byte 58: INT header and stack: found 35, expected 160 bytes");
    let mut short = example();
    short[60] = 1;
    let error = decode(&short, &Marks::default()).unwrap_err().to_string();
    assert_eq!(error, "byte 60: Hop ML: found 1, expected at least the 2 words of bitmap 0x9000");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200), port in prop::sample::select(vec![1u16, 4_791, 32_766, 54_321]),
        dscp in prop::sample::select(vec![0u8, 0x17]), version in any::<bool>(), cut in 0..260usize,
    ) {
        let hpcc_layout = if bytes.len() % 2 == 0 { HpccLayout::Paper } else { HpccLayout::Ns3 };
        let marks = Marks { hpcc_port: Some(4_791), hpcc_layout, ..Marks::default() };
        let _ = decode(&bytes, &marks);
        let mut payload = bytes;
        if version && payload.len() > 4 {
            payload[0] = if port == 32_766 { 0x20 } else { 0x10 };
            payload[4] = 0x20;
        }
        let mut whole = frame(dscp, |b| b.udp(udp::Header::new(5, port)), &payload);
        whole.truncate(cut);
        let _ = decode(&whole, &marks);
        let mut tcp = frame(dscp, |b| b.tcp(tcp::Header::new(5, port)), &payload);
        tcp.truncate(cut);
        let _ = decode(&tcp, &marks);
    }
}
