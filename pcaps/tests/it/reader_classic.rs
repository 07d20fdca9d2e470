//! Classic pcap: magic numbers, byte orders, records that pcap-file refuses, cut tails, damage.

use crate::support::{BOTH, Order, drain, frames};
use sluice_pcaps::capture::{CaptureFault, CaptureReader, CaptureTime, Format, MAX_FRAME_LEN, Oddity};

const MICROS: u32 = 0xa1b2_c3d4;
const NANOS: u32 = 0xa1b2_3c4d;
const LITTLE: Order = Order { big: false };

/// Returns a little-endian microsecond file of these records.
fn file(records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = LITTLE.pcap_header(MICROS, 65_535, 1);
    bytes.extend(records.concat());
    bytes
}

fn fault(bytes: &[u8]) -> CaptureFault {
    match CaptureReader::from_bytes(bytes, "test") {
        Err(error) => error.fault,
        Ok(mut reader) => drain(&mut reader).1.expect("an error").fault,
    }
}

#[test]
fn both_resolutions_in_both_orders() {
    for order in BOTH {
        for (magic, format, time) in [
            (MICROS, Format::PcapMicros, CaptureTime::from_ns(1_700_000_000_123_456_000)),
            (NANOS, Format::PcapNanos, CaptureTime::from_ns(1_700_000_000_000_123_456)),
        ] {
            let mut bytes = order.pcap_header(magic, 0, 1);
            bytes.extend(order.pcap_record(1_700_000_000, 123_456, b"frame", 60));
            let mut reader = CaptureReader::from_bytes(&bytes, "test").unwrap();
            assert_eq!(reader.format(), format);
            let (seen, error) = drain(&mut reader);
            assert!(error.is_none() && reader.truncated().is_none());
            assert_eq!((seen[0].time, &seen[0].data[..], seen[0].orig_len), (time, &b"frame"[..], 60));
            assert_eq!((seen[0].record, seen[0].offset, seen[0].interface), (1, 24, 0));
        }
    }
}

#[test]
fn a_stream_gives_what_a_slice_gives() {
    let records: Vec<_> =
        (0..4_000u32).map(|n| LITTLE.pcap_record(n, n, &vec![n as u8; n as usize % 1500], 1500)).collect();
    let bytes = file(&records);
    let mut reader = CaptureReader::from_read(&bytes[..], "test").unwrap();
    assert_eq!(drain(&mut reader).0, frames(&bytes));
    assert_eq!(reader.records(), 4_000);
}

#[test]
fn a_header_alone_is_an_empty_capture() {
    assert!(frames(&file(&[])).is_empty());
}

#[test]
fn zero_length_and_giant_frames() {
    let giant = vec![7; MAX_FRAME_LEN as usize];
    let mut bytes = LITTLE.pcap_header(MICROS, 0, 1);
    bytes.extend(LITTLE.pcap_record(0, 0, &[], 0));
    bytes.extend(LITTLE.pcap_record(0, 1, &giant, MAX_FRAME_LEN));
    for seen in [frames(&bytes), drain(&mut CaptureReader::from_read(&bytes[..], "test").unwrap()).0] {
        assert_eq!(seen[0].data, []);
        assert_eq!(seen[1].data, giant);
    }
}

#[test]
fn included_beyond_original_is_an_oddity() {
    let bytes = file(&[LITTLE.pcap_record(1, 0, &[1; 64], 60), LITTLE.pcap_record(2, 0, &[2; 60], 60)]);
    let mut reader = CaptureReader::from_bytes(&bytes, "test").unwrap();
    let (seen, error) = drain(&mut reader);
    assert!(error.is_none());
    assert_eq!((seen[0].data.len(), seen[0].orig_len), (64, 64));
    let tally = reader.oddities().tally(Oddity::IncludedBeyondOriginal);
    assert_eq!((tally.count, tally.first_record), (1, 1));
}

#[test]
fn an_original_length_beyond_any_frame_is_not_believed() {
    let bytes = file(&[
        LITTLE.pcap_record(1, 0, &[1; 60], MAX_FRAME_LEN),
        LITTLE.pcap_record(2, 0, &[1; 60], MAX_FRAME_LEN + 1),
        LITTLE.pcap_record(3, 0, &[1; 60], u32::MAX),
    ]);
    let mut reader = CaptureReader::from_bytes(&bytes, "test").unwrap();
    let lens: Vec<_> = drain(&mut reader).0.iter().map(|f| f.orig_len).collect();
    assert_eq!(lens, [MAX_FRAME_LEN, 60, 60]);
    assert_eq!(reader.oddities().tally(Oddity::ImplausibleOriginal).first_record, 2);
}

#[test]
fn included_beyond_snap_and_time_backwards_are_oddities() {
    let mut bytes = LITTLE.pcap_header(MICROS, 32, 1);
    bytes.extend(LITTLE.pcap_record(2, 0, &[1; 32], 60));
    bytes.extend(LITTLE.pcap_record(1, 0, &[1; 33], 60));
    let mut reader = CaptureReader::from_bytes(&bytes, "test").unwrap();
    assert_eq!(drain(&mut reader).0.len(), 2);
    let met: Vec<_> = reader.oddities().iter().map(|(oddity, tally)| (oddity, tally.first_record)).collect();
    assert_eq!(met, [(Oddity::IncludedBeyondSnap, 2), (Oddity::TimeBackwards, 2)]);
}

#[test]
fn a_cut_last_record_ends_the_capture_at_any_byte() {
    let whole = file(&[LITTLE.pcap_record(1, 0, &[1; 60], 60), LITTLE.pcap_record(2, 0, &[2; 60], 60)]);
    for len in 24 + 76 + 1..whole.len() {
        let mut reader = CaptureReader::from_bytes(&whole[..len], "test").unwrap();
        let (seen, error) = drain(&mut reader);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen.len(), 1);
        let tail = reader.truncated().unwrap();
        assert_eq!((tail.record, tail.offset, tail.found), (2, 100, len as u64 - 100));
        assert!(tail.needed > tail.found);
    }
    let mut reader = CaptureReader::from_bytes(&whole[..100], "test").unwrap();
    assert_eq!(drain(&mut reader).0.len(), 1);
    assert_eq!(reader.truncated(), None);
}

#[test]
fn the_first_error_is_final_and_says_where() {
    let mut bad = LITTLE.pcap_record(2, 0, &[2; 60], 60);
    bad[4..8].copy_from_slice(&1_000_000u32.to_le_bytes());
    let bytes = file(&[LITTLE.pcap_record(1, 0, &[1; 60], 60), bad, LITTLE.pcap_record(3, 0, &[3; 60], 60)]);
    let mut reader = CaptureReader::from_bytes(&bytes, "in.pcap").unwrap();
    let (seen, error) = drain(&mut reader);
    let error = error.unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        error.to_string(),
        "in.pcap: record 2 at byte 100: found a timestamp with 1000000 in its sub-second field, expected less than \
         1000000"
    );
    assert!(error.help().contains("editcap"));
    for _ in 0..3 {
        assert!(reader.next_frame().unwrap().is_none());
    }
    assert_eq!(reader.truncated(), None);
}

#[test]
fn damaged_lengths_are_no_cut_tail() {
    let damaged = |captured: u32| {
        let mut record = LITTLE.pcap_record(1, 0, &[1; 60], 60);
        record[8..12].copy_from_slice(&captured.to_le_bytes());
        fault(&file(&[record, LITTLE.pcap_record(2, 0, &[2; 60], 60)]))
    };
    assert!(matches!(damaged(u32::MAX), CaptureFault::FrameLength { .. }));
    assert!(matches!(
        damaged(40_000),
        CaptureFault::LengthBeyondEnd { found: 40_000, available: 136, limit: 60 }
    ));
}

#[test]
fn declared_check_sequences_are_taken_off() {
    // Two 16-bit units of FCS, present.
    let mut bytes = LITTLE.pcap_header(MICROS, 0, 0x2400_0001);
    bytes.extend(LITTLE.pcap_record(1, 0, &[1; 64], 64));
    bytes.extend(LITTLE.pcap_record(1, 0, &[1; 32], 64));
    bytes.extend(LITTLE.pcap_record(1, 0, &[1; 2], 2));
    let lens: Vec<_> = frames(&bytes).iter().map(|frame| (frame.data.len(), frame.orig_len)).collect();
    assert_eq!(lens, [(60, 60), (32, 60), (0, 0)]);
}

#[test]
fn what_is_no_capture_is_refused_by_name() {
    assert!(matches!(fault(b""), CaptureFault::Empty));
    assert!(matches!(fault(b"ab"), CaptureFault::HeaderCut { found: 2, expected: 24 }));
    assert!(matches!(fault(&file(&[])[..23]), CaptureFault::HeaderCut { found: 23, expected: 24 }));
    assert!(matches!(fault(&[b'x'; 100]), CaptureFault::NotACapture { found: [b'x', b'x', b'x', b'x'] }));
    assert!(fault(&[0x04, 0x22, 0x4d, 0x18]).to_string().contains("lz4"));
    assert!(fault(&[0x34, 0xcd, 0xb2, 0xa1]).to_string().contains("Kuznetzov"));
    let mut old = file(&[]);
    old[6] = 2;
    assert!(matches!(fault(&old), CaptureFault::Version { major: 2, minor: 2, .. }));
    let radio = LITTLE.pcap_header(MICROS, 0, 105);
    let expected = "expected 1 (ETHERNET), 113 (LINUX_SLL) or 276 (LINUX_SLL2)";
    assert_eq!(fault(&radio).to_string(), format!("found link type 105 (IEEE802_11), {expected}"));
}

#[test]
fn a_missing_file_is_an_error_with_its_name() {
    let error = CaptureReader::open("no/such.pcap").err().unwrap();
    assert!(error.to_string().starts_with("no/such.pcap: cannot read it: there is no such file"));
}

#[test]
fn cooked_frames_become_ethernet() {
    // SLL: to us, Ethernet hardware, an address of six bytes, IPv4; then four bytes of payload of twenty.
    let record = [&[0, 0, 0, 1, 0, 6][..], &[2, 0, 0, 0, 0, 9, 0, 0], &[8, 0], &[0x45, 0, 0, 20]].concat();
    let mut bytes = LITTLE.pcap_header(MICROS, 65_535, 113);
    bytes.extend(LITTLE.pcap_record(1, 0, &record, 36));
    // A record that ends inside its header has no frame to show.
    bytes.extend(LITTLE.pcap_record(2, 0, &record[..10], 36));
    let frames = frames(&bytes);
    let head = [2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 9, 8, 0];
    assert_eq!(frames[0].data, [&head[..], &[0x45, 0, 0, 20]].concat());
    // 36 B of record are 16 B of header and 20 B of packet.
    assert_eq!([frames[0].orig_len, frames[1].orig_len, frames[1].data.len() as u32], [34, 34, 0]);
}
