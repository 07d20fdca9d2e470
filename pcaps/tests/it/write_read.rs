//! Captures are written, and read by our reader and by pcap-file's.

use crate::support::frames;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::blocks::interface_statistics::InterfaceStatisticsOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::prelude::*;
use sluice_pcaps::capture::write::{
    CaptureWriter, Direction, InterfaceSpec, InterfaceStatistics, Packet, PcapWriter, WriteError,
};
use sluice_pcaps::capture::{CaptureReader, CaptureTime, MAX_FRAME_LEN};

const PORTS: [InterfaceSpec<'_>; 2] = [
    InterfaceSpec { name: "port0", description: "front panel 0", speed: 400_000_000_000 },
    InterfaceSpec { name: "port1", description: "", speed: 0 },
];

fn blocks(bytes: &[u8]) -> Vec<Block<'static>> {
    let mut reader = PcapNgReader::new(bytes).unwrap();
    std::iter::from_fn(|| reader.next_block().map(|block| block.unwrap().into_owned())).collect()
}

#[test]
fn every_block_says_what_was_given() {
    let mut writer = CaptureWriter::new(Vec::new(), &PORTS).unwrap();
    let packet = Packet {
        interface: 1,
        time: CaptureTime::from_ps(1_700_000_000_000_000_001_999),
        head: b"head",
        tail: b"t",
        orig_len: 60,
        direction: Some(Direction::Outbound),
        comments: &["fate: out", "µ"],
    };
    writer.write(&packet).unwrap();
    assert_eq!(writer.packets(), 1);
    let statistics = InterfaceStatistics {
        interface: 1,
        time: CaptureTime::from_ns(1_700_000_000_000_000_002),
        received: Some(9),
        dropped: Some(2),
        delivered: None,
        comments: &["tail drop"],
    };
    let bytes = writer.finish(&[statistics]).unwrap();
    let [
        Block::InterfaceDescription(first),
        Block::InterfaceDescription(second),
        Block::EnhancedPacket(packet),
        Block::InterfaceStatistics(statistics),
    ] = &blocks(&bytes)[..]
    else {
        panic!("{:?}", blocks(&bytes));
    };
    use InterfaceDescriptionOption::{IfDescription, IfName, IfSpeed, IfTsResol};
    let all = [
        IfName("port0".into()),
        IfDescription("front panel 0".into()),
        IfSpeed(400_000_000_000),
        IfTsResol(9),
    ];
    assert_eq!(first.options, all);
    assert_eq!(second.options, [IfName("port1".into()), IfTsResol(9)]);
    assert_eq!((packet.interface_id, &packet.data[..], packet.original_len), (1, &b"headt"[..], 60));
    assert_eq!(packet.timestamp.as_nanos(), 1_700_000_000_000_000_001);
    use EnhancedPacketOption::{Comment, Flags};
    assert_eq!(packet.options, [Flags(2), Comment("fate: out".into()), Comment("µ".into())]);
    // The upper half of the timestamp comes first, which pcap-file does not know.
    let block = bytes.windows(4).rposition(|word| word == 5u32.to_le_bytes()).unwrap();
    let half = |at: usize| u32::from_le_bytes(*bytes[block + at..].first_chunk().unwrap());
    assert_eq!(u64::from(half(12)) << 32 | u64::from(half(16)), 1_700_000_000_000_000_002);
    assert_eq!(statistics.interface_id, 1);
    use InterfaceStatisticsOption::{Comment as Note, IsbIfDrop, IsbIfRecv};
    assert_eq!(statistics.options, [Note("tail drop".into()), IsbIfRecv(9), IsbIfDrop(2)]);
}

#[test]
fn refused_packets_leave_no_trace() {
    let mut writer = CaptureWriter::new(Vec::new(), &PORTS).unwrap();
    let good = Packet { head: b"x", ..Packet::default() };
    let (long, text) = (vec![0; MAX_FRAME_LEN as usize], "c".repeat(65_536));
    let undeclared = writer.write(&Packet { interface: 2, ..good }).unwrap_err();
    assert_eq!(
        undeclared.to_string(),
        "packet 1: found interface 2, expected less than 2; declare it up front"
    );
    let late = CaptureTime::from_ps(u128::from(u64::MAX) * 1_000 + 1_000);
    assert!(matches!(writer.write(&Packet { time: late, ..good }), Err(WriteError::Time { .. })));
    assert!(matches!(writer.write(&Packet { tail: &long, ..good }), Err(WriteError::FrameLength { .. })));
    assert!(matches!(writer.write(&Packet { comments: &[&text], ..good }), Err(WriteError::Text { .. })));
    writer.write(&good).unwrap();
    assert_eq!(frames(&writer.finish(&[]).unwrap()).len(), 1);

    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    let late = CaptureTime::from_secs(1 << 32);
    assert!(matches!(writer.write(late, b"x", &[], 1), Err(WriteError::Time { .. })));
    assert!(frames(&writer.finish().unwrap()).is_empty());
}

#[test]
fn an_output_that_fails_is_an_error() {
    let mut small = [0u8; 8];
    let writer = CaptureWriter::new(&mut small[..], &PORTS).unwrap();
    assert!(matches!(writer.finish(&[]), Err(WriteError::Io(_))));
}

#[test]
fn more_than_one_buffer_is_written() {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for n in 0..1_000u64 {
        writer.write(CaptureTime::from_ns(n), &n.to_be_bytes(), &[7; 1_492], 1_500).unwrap();
    }
    let seen = frames(&writer.finish().unwrap());
    assert_eq!(seen.len(), 1_000);
    assert!(
        (0u64..)
            .zip(&seen)
            .all(|(n, frame)| frame.data[..8] == n.to_be_bytes() && frame.time.as_ns() == n.into())
    );
}

proptest! {
    #[test]
    fn write_then_read_is_identity(
        packets in prop::collection::vec(
            (0u32..2, any::<u32>(), 0u32..1_000_000_000, prop::collection::vec(any::<u8>(), 0..70),
             any::<prop::sample::Index>(), 0u32..2_000, prop::option::of("[a-z]{0,9}")), 0..20),
    ) {
        let mut pcapng = CaptureWriter::new(Vec::new(), &PORTS).unwrap();
        let mut pcap = PcapWriter::new(Vec::new()).unwrap();
        let mut expected = Vec::new();
        for (interface, seconds, ns, data, split, more, comment) in &packets {
            let time = CaptureTime::from_ns(u64::from(*seconds) * 1_000_000_000 + u64::from(*ns));
            let (head, tail) = data.split_at(split.index(data.len() + 1));
            let orig_len = data.len() as u32 + more;
            let comments: Vec<&str> = comment.iter().map(String::as_str).collect();
            let direction = comment.as_ref().map(|_| Direction::Inbound);
            let packet =
                Packet { interface: *interface, time, head, tail, orig_len, direction, comments: &comments };
            pcapng.write(&packet).unwrap();
            pcap.write(time, head, tail, orig_len).unwrap();
            expected.push((*interface, time, data.clone(), orig_len));
        }
        let read = |bytes: Vec<u8>| -> Vec<_> {
            frames(&bytes).into_iter().map(|f| (f.interface, f.time, f.data, f.orig_len)).collect()
        };
        prop_assert_eq!(read(pcapng.finish(&[]).unwrap()), expected.clone());
        for packet in &mut expected {
            packet.0 = 0;
        }
        prop_assert_eq!(read(pcap.finish().unwrap()), expected);
    }
}

#[test]
fn a_file_is_opened_by_its_path() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = CaptureWriter::new(file.reopen().unwrap(), &PORTS).unwrap();
    writer.write(&Packet { interface: 1, head: &[9; 70], ..Packet::default() }).unwrap();
    writer.finish(&[]).unwrap();
    let mut reader = CaptureReader::open(file.path()).unwrap();
    let frame = reader.next_frame().unwrap().unwrap();
    assert_eq!((frame.data, frame.interface), (&[9; 70][..], 1));
    assert_eq!(reader.interfaces().iter().map(|port| &*port.name).collect::<Vec<_>>(), ["port0", "port1"]);
}
