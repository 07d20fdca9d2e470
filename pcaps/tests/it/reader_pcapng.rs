//! pcapng: resolutions and offsets, sections, interfaces, unknown blocks, packets without timestamps, damage.

use crate::support::{BOTH, Order, drain, frames};
use sluice_pcaps::capture::{CaptureFault, CaptureReader, CaptureTime, Format, Oddity};

const LITTLE: Order = Order { big: false };
const END: [u8; 4] = [0; 4];

fn start(order: Order, interface_options: &[Vec<u8>]) -> Vec<u8> {
    [order.section(), order.interface(1, 0, interface_options)].concat()
}

fn fault(bytes: &[u8]) -> CaptureFault {
    match CaptureReader::from_bytes(bytes, "test") {
        Err(error) => error.fault,
        Ok(mut reader) => drain(&mut reader).1.expect("an error").fault,
    }
}

#[test]
fn resolutions_and_offsets_in_both_orders() {
    for order in BOTH {
        let resolution = |octet| order.option(9, &[octet]);
        let micros = 1_700_000_000_123_456;
        for (options, ticks, ps) in [
            (vec![], micros, 1_700_000_000_123_456_000_000),
            (vec![resolution(6)], micros, 1_700_000_000_123_456_000_000),
            (vec![resolution(9), END.to_vec()], 1_700_000_000_123_456_789, 1_700_000_000_123_456_789_000),
            (vec![resolution(12)], 1_234, 1_234),
            (vec![resolution(0x80 | 10)], 3 * 1024 + 512, 3_500_000_000_000),
            (vec![resolution(0x80 | 20), END.to_vec()], 1, 953_674),
            (vec![order.option(14, &order.u64(1_700_000_000))], 7, 1_700_000_000_000_007_000_000),
            (vec![order.option(14, &order.u64(-5i64 as u64))], 6_000_000, 1_000_000_000_000),
        ] {
            let mut bytes = start(order, &options);
            bytes.extend(order.enhanced(0, ticks, &[1; 60], 60));
            assert_eq!(frames(&bytes)[0].time, CaptureTime::from_ps(ps), "{options:?}");
        }
    }
}

#[test]
fn legal_descriptions_that_others_refuse() {
    let bytes = [
        LITTLE.section(),
        // A time zone of four bytes, text that is not UTF-8, no end marker.
        LITTLE.interface(
            1,
            0,
            &[LITTLE.option(10, &[0; 4]), LITTLE.option(2, b"eth\xff"), LITTLE.option(1, b"")],
        ),
        LITTLE.enhanced(0, 5, b"abc", 60),
    ]
    .concat();
    let mut reader = CaptureReader::from_bytes(&bytes, "test").unwrap();
    assert_eq!(reader.format(), Format::Pcapng);
    let (seen, error) = drain(&mut reader);
    assert!(error.is_none(), "{error:?}");
    assert_eq!((&seen[0].data[..], seen[0].orig_len), (&b"abc"[..], 60));
    assert_eq!(&*reader.interfaces()[0].name, "eth\u{fffd}");
}

#[test]
fn sections_have_their_own_order_and_interfaces() {
    let big = Order { big: true };
    let bytes = [
        start(LITTLE, &[LITTLE.option(9, &[9])]),
        LITTLE.interface(1, 0, &[]),
        LITTLE.enhanced(1, 1_000_000, b"a", 1),
        LITTLE.enhanced(0, 1_000_000_001, b"b", 1),
        start(big, &[big.option(9, &[3])]),
        big.enhanced(0, 1_002, b"c", 1),
    ]
    .concat();
    let seen: Vec<_> = frames(&bytes).into_iter().map(|f| (f.data[0], f.interface, f.time.as_ns())).collect();
    assert_eq!(seen, [(b'a', 1, 1_000_000_000), (b'b', 0, 1_000_000_001), (b'c', 2, 1_002_000_000)]);
    let beyond = [bytes, big.enhanced(1, 0, b"d", 1)].concat();
    assert!(matches!(fault(&beyond), CaptureFault::UnknownInterface { found: 1, declared: 1 }));
}

#[test]
fn unknown_blocks_are_stepped_over() {
    let bytes = [
        start(LITTLE, &[]),
        LITTLE.block(4, &[0; 12]),
        LITTLE.enhanced(0, 1, b"a", 1),
        LITTLE.block(0x8000_1234, &vec![5; 300_001]),
        LITTLE.block(0xbad, &[]),
        LITTLE.enhanced(0, 2, b"b", 1),
        LITTLE.block(5, &[0; 12]),
    ]
    .concat();
    assert_eq!(frames(&bytes).len(), 2);
    assert_eq!(drain(&mut CaptureReader::from_read(&bytes[..], "test").unwrap()).0, frames(&bytes));
}

#[test]
fn simple_packets_take_the_stamp_before_them() {
    let bytes = [
        LITTLE.section(),
        LITTLE.interface(1, 4, &[]),
        LITTLE.simple(b"abc", 3),
        LITTLE.enhanced(0, 9, b"abcd", 60),
        LITTLE.simple(b"abcd", 60),
    ]
    .concat();
    let mut reader = CaptureReader::from_bytes(&bytes, "test").unwrap();
    let (seen, _) = drain(&mut reader);
    let seen: Vec<_> = seen.iter().map(|f| (f.data.len(), f.orig_len, f.time.as_ns())).collect();
    assert_eq!(seen, [(3, 3, 0), (4, 60, 9_000), (4, 60, 9_000)]);
    assert_eq!(reader.oddities().tally(Oddity::NoTimestamp).count, 2);
    let short = [LITTLE.section(), LITTLE.interface(1, 0, &[]), LITTLE.simple(b"abc", 60)].concat();
    assert!(matches!(fault(&short), CaptureFault::CapturedBeyondBlock { found: 60, available: 4 }));
}

#[test]
fn the_obsolete_packet_block_is_read() {
    let mut body = LITTLE.u16(0).to_vec();
    body.extend(LITTLE.u16(3));
    for word in [0, 7, 2, 60] {
        body.extend(LITTLE.u32(word));
    }
    body.extend(b"ab");
    let bytes = [start(LITTLE, &[]), LITTLE.block(2, &body)].concat();
    let seen = frames(&bytes);
    assert_eq!((&seen[0].data[..], seen[0].orig_len, seen[0].time.as_ns()), (&b"ab"[..], 60, 7_000));
}

#[test]
fn check_sequences_in_bits_or_bytes_are_taken_off() {
    for octet in [4, 32] {
        let mut bytes = start(LITTLE, &[LITTLE.option(13, &[octet])]);
        bytes.extend(LITTLE.enhanced(0, 0, &[1; 64], 64));
        assert_eq!((frames(&bytes)[0].data.len(), frames(&bytes)[0].orig_len), (60, 60));
    }
}

#[test]
fn another_link_type_is_refused_when_a_packet_uses_it() {
    let unused = [start(LITTLE, &[]), LITTLE.interface(105, 0, &[]), LITTLE.enhanced(0, 1, b"a", 1)].concat();
    assert_eq!(frames(&unused).len(), 1);
    let used = [unused, LITTLE.enhanced(1, 2, b"b", 1)].concat();
    let error = drain(&mut CaptureReader::from_bytes(&used, "test").unwrap()).1.unwrap();
    assert_eq!(error.record, 2);
    assert!(matches!(error.fault, CaptureFault::LinkType { number: 105, .. }));
}

#[test]
fn a_capture_cut_anywhere_gives_the_frames_before() {
    let head = start(LITTLE, &[]);
    let packet = LITTLE.enhanced(0, 1, &[1; 61], 61);
    let whole = [head.clone(), packet.clone(), packet.clone()].concat();
    for len in LITTLE.section().len()..whole.len() {
        let mut reader = CaptureReader::from_bytes(&whole[..len], "test").unwrap();
        let (seen, error) = drain(&mut reader);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen.len(), len.saturating_sub(head.len()) / packet.len());
        let boundary = [LITTLE.section().len(), head.len(), head.len() + packet.len()].contains(&len);
        assert_eq!(reader.truncated().is_none(), boundary, "{len}");
    }
    for len in 0..LITTLE.section().len() {
        assert!(matches!(fault(&whole[..len]), CaptureFault::Empty | CaptureFault::HeaderCut { .. }));
    }
}

#[test]
fn damage_is_an_error_and_no_cut_tail() {
    let packet = LITTLE.enhanced(0, 1, &[1; 60], 60);
    let head = start(LITTLE, &[]);
    let damaged = |at: usize, value: u32| {
        let mut bad = packet.clone();
        bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
        fault(&[head.clone(), packet.clone(), bad, packet.clone()].concat())
    };
    assert!(matches!(damaged(4, 93), CaptureFault::BlockLength { found: 93, .. }));
    assert!(matches!(damaged(4, 8), CaptureFault::BlockLength { found: 8, .. }));
    assert!(matches!(damaged(4, u32::MAX - 3), CaptureFault::BlockLength { .. }));
    assert!(matches!(damaged(88, 96), CaptureFault::BlockTrailer { found: 96, expected: 92 }));
    assert!(matches!(damaged(20, 61), CaptureFault::CapturedBeyondBlock { found: 61, available: 60 }));
    assert!(matches!(damaged(20, 1 << 30), CaptureFault::FrameLength { .. }));
    assert!(matches!(damaged(8, 9), CaptureFault::UnknownInterface { found: 9, declared: 1 }));
}

#[test]
fn damaged_descriptions_are_refused() {
    let with = |option: &[u8]| fault(&start(LITTLE, &[option.to_vec()]));
    assert!(matches!(
        with(&LITTLE.option(9, &[1, 2])),
        CaptureFault::OptionLength { found: 2, expected: 1, .. }
    ));
    assert!(matches!(with(&[9, 0, 200, 0]), CaptureFault::OptionBeyondBlock { code: 9, length: 200, .. }));
    let mut section = LITTLE.section();
    section[12] = 2;
    assert!(matches!(fault(&section), CaptureFault::Version { format: "pcapng", major: 2, .. }));
    section[8] = 0;
    assert!(matches!(fault(&section), CaptureFault::ByteOrderMagic { .. }));
    let early = [start(LITTLE, &[LITTLE.option(14, &[0xff; 8])]), LITTLE.enhanced(0, 1, b"a", 1)].concat();
    assert!(matches!(fault(&early), CaptureFault::TimeOutOfRange { ticks: 1, offset: -1 }));
}
