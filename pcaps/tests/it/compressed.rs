//! Captures compressed with gzip and zstd: the same frames, cut tails, damage, bounded memory.

use crate::support::{Order, drain, frames};
use sluice_pcaps::capture::{CaptureFault, CaptureReader, Packing};
use std::io::{self, Read, Write};

const LITTLE: Order = Order { big: false };

/// Returns a capture whose frames compress little.
fn capture(records: u32) -> Vec<u8> {
    let mut bytes = LITTLE.pcap_header(0xa1b2_c3d4, 65_535, 1);
    let mut word = 1u32;
    for n in 0..records {
        let data: Vec<u8> = (0..100)
            .map(|_| {
                word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (word >> 24) as u8
            })
            .collect();
        bytes.extend(LITTLE.pcap_record(n, 0, &data, 100));
    }
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

#[test]
fn unpacked_frames_are_the_same() {
    let plain = capture(3_000);
    for (packed, packing) in [(gzip(&plain), Packing::Gzip), (zstandard(&plain), Packing::Zstd)] {
        let mut stream = CaptureReader::from_read(&packed[..], "test").unwrap();
        assert_eq!(stream.packing(), Some(packing));
        let (seen, error) = drain(&mut stream);
        assert!(error.is_none() && stream.truncated().is_none());
        assert_eq!(seen, frames(&plain));
        assert_eq!(seen, frames(&packed), "from memory");
        assert_eq!(stream.source_bytes(), packed.len() as u64);
    }
    assert_eq!(CaptureReader::from_bytes(&plain, "test").unwrap().packing(), None);
}

#[test]
fn members_and_frames_in_a_row_are_one_capture() {
    let plain = capture(40);
    let (first, second) = plain.split_at(1_000);
    assert_eq!(frames(&[gzip(first), gzip(second)].concat()), frames(&plain));
    assert_eq!(frames(&[zstandard(first), zstandard(second)].concat()), frames(&plain));
}

#[test]
fn a_cut_packing_is_a_cut_capture() {
    let plain = capture(3_000);
    for packed in [gzip(&plain), zstandard(&plain)] {
        let cut = &packed[..packed.len() * 2 / 3];
        let mut reader = CaptureReader::from_read(cut, "test").unwrap();
        let (seen, error) = drain(&mut reader);
        assert!(error.is_none(), "{error:?}");
        let whole = frames(&plain);
        assert!(!seen.is_empty() && seen.len() < whole.len());
        assert_eq!(seen, whole[..seen.len()]);
        assert_eq!(reader.truncated().unwrap().record, seen.len() as u64 + 1);
    }
    // Only the end of the compressed data is missing: all frames are present, but the capture counts as cut.
    let packed = gzip(&plain);
    let mut reader = CaptureReader::from_read(&packed[..packed.len() - 4], "test").unwrap();
    assert_eq!(drain(&mut reader).0.len(), 3_000);
    assert_eq!((reader.truncated().unwrap().found, reader.truncated().unwrap().needed), (0, 1));
}

#[test]
fn damaged_packing_is_an_error_after_the_frames_before_it() {
    let plain = capture(20_000);
    // Records have 116 bytes: the second half begins inside record 10,001.
    let (first, second) = plain.split_at(24 + 116 * 10_000 + 50);
    let mut reserved = gzip(second);
    reserved[10] |= 0b110;
    let mut magic = zstandard(second);
    magic[0] ^= 0xff;
    let mut sum = gzip(second);
    let at = sum.len() - 8;
    sum[at] ^= 1;
    for (packed, sound, name) in [
        ([gzip(first), reserved].concat(), 10_000, "gzip"),
        ([zstandard(first), magic].concat(), 10_000, "zstd"),
        ([gzip(first), sum].concat(), 20_000, "gzip"),
    ] {
        let mut reader = CaptureReader::from_read(&packed[..], "in").unwrap();
        let (seen, error) = drain(&mut reader);
        let error = error.expect("an error");
        assert_eq!((seen.len(), error.record), (sound, sound as u64 + 1));
        assert_eq!(seen, frames(&plain)[..sound]);
        assert!(matches!(error.fault, CaptureFault::Unpack(_)), "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn what_is_packed_must_be_a_capture() {
    for packed in [gzip(b"no capture, surely not"), zstandard(b"no capture, surely not")] {
        let error = CaptureReader::from_bytes(&packed, "test").err().unwrap();
        assert!(matches!(error.fault, CaptureFault::NotACapture { .. }), "{error}");
    }
    let twice = gzip(&gzip(&capture(1)));
    assert!(CaptureReader::from_bytes(&twice, "test").err().unwrap().to_string().contains("twice"));
}

/// A source that fails after its bytes.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::from_raw_os_error(5)),
            count => Ok(count),
        }
    }
}

#[test]
fn a_failing_disk_is_not_called_damage() {
    let packed = gzip(&capture(3_000));
    let mut reader = CaptureReader::from_read(Failing(&packed[..packed.len() / 2]), "test").unwrap();
    let error = drain(&mut reader).1.unwrap();
    assert!(matches!(error.fault, CaptureFault::Io(_)), "{error}");
}
