//! Helpers of the tests of the binary: running it, small captures, reading its files.

use assert_cmd::Command;
use serde_json::Value;
use sluice_pcaps::capture::write::PcapWriter;
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::wire::Checksum;
use std::path::Path;

/// Timestamp from which the offsets of [`pcap`] count.
pub(crate) const ORIGIN: CaptureTime = CaptureTime::from_secs(100);
/// 10.200.0.9, where [`udp`] sends from.
pub(crate) const SOURCE: u32 = 0x0ac8_0009;
/// 10.1.0.0, which [`udp`] adds its number to: a route of the default entries.
pub(crate) const DESTINATION: u32 = 0x0a01_0000;

/// Added to [`DESTINATION`]: 10.9.9.9, which the default entries send out of the one slower port.
pub(crate) const SLOW_PORT: u32 = 0x0008_0909;

pub(crate) fn sluice(args: &[&str]) -> std::process::Output {
    Command::cargo_bin("sluice").unwrap().args(args).output().unwrap()
}

pub(crate) fn ok(args: &[&str]) -> String {
    let out = sluice(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&ok(args)).unwrap()
}

/// Exit code and stderr of a run that fails with nothing on stdout.
pub(crate) fn refused(args: &[&str]) -> (i32, String) {
    let out = sluice(args);
    assert!(out.stdout.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&out.stdout));
    (out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
}

pub(crate) fn folder(name: &str) -> tempfile::TempDir {
    tempfile::Builder::new().prefix(name).tempdir().unwrap()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A UDP frame of `len` bytes to host `to` of the default entries' first route.
pub(crate) fn udp(to: u32, len: usize) -> Vec<u8> {
    let mut f = vec![0; len];
    f[..6].copy_from_slice(&ROUTER_MAC);
    f[6..14].copy_from_slice(&[2, 0, 0, 0, 9, 9, 8, 0]);
    f[14] = 0x45;
    f[16..18].copy_from_slice(&(len as u16 - 14).to_be_bytes());
    f[22..24].copy_from_slice(&[64, 17]);
    f[26..30].copy_from_slice(&SOURCE.to_be_bytes());
    f[30..34].copy_from_slice(&DESTINATION.wrapping_add(to).to_be_bytes());
    f[34..40].copy_from_slice(&[0x10, 0, 0x20, 0, 0, 0]);
    f[38..40].copy_from_slice(&(len as u16 - 34).to_be_bytes());
    let sum = Checksum::new().with(&f[14..34]).finish();
    f[24..26].copy_from_slice(&sum.to_be_bytes());
    f
}

/// The address that the default entries route for.
const ROUTER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A nanosecond capture of these frames at these offsets from [`ORIGIN`].
pub(crate) fn pcap(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (ns, bytes) in frames {
        let time = ORIGIN.checked_add_ps(u64::from(*ns) * 1_000).unwrap();
        writer.write(time, bytes, &[], bytes.len() as u32).unwrap();
    }
    writer.finish().unwrap()
}

/// gzip with stored blocks, by RFC 1951 and 1952.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut chunks = bytes.chunks(65_535).peekable();
    while let Some(chunk) = chunks.next() {
        out.push(u8::from(chunks.peek().is_none()));
        out.extend((chunk.len() as u16).to_le_bytes());
        out.extend((!(chunk.len() as u16)).to_le_bytes());
        out.extend(chunk);
    }
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(crc & 1)))
    });
    out.extend((!crc).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// A frame of a capture.
pub(crate) struct Seen {
    pub(crate) time: CaptureTime,
    pub(crate) data: Vec<u8>,
    pub(crate) orig_len: u32,
}

/// All frames of a capture, which must be whole.
pub(crate) fn read(path: &Path) -> Vec<Seen> {
    let mut reader = CaptureReader::open(path).unwrap();
    let mut list = Vec::new();
    while let Some(f) = reader.next_frame().unwrap() {
        list.push(Seen { time: f.time, data: f.data.to_vec(), orig_len: f.orig_len });
    }
    assert_eq!(reader.truncated(), None);
    list
}

/// A block of a little-endian pcapng.
pub(crate) struct Block<'a> {
    pub(crate) kind: u32,
    pub(crate) body: &'a [u8],
}

impl Block<'_> {
    fn options(&self) -> &[u8] {
        match self.kind {
            1 => &self.body[8..],
            5 => &self.body[12..],
            6 => {
                let captured = u32::from_le_bytes(self.body[12..16].try_into().unwrap()) as usize;
                &self.body[20 + captured.next_multiple_of(4)..]
            }
            _ => &[],
        }
    }

    /// The value of the first option of this code.
    pub(crate) fn option(&self, code: u16) -> Option<&[u8]> {
        let mut rest = self.options();
        while rest.len() >= 4 {
            let of = u16::from_le_bytes([rest[0], rest[1]]);
            let len = usize::from(u16::from_le_bytes([rest[2], rest[3]]));
            if of == code {
                return Some(&rest[4..4 + len]);
            }
            rest = &rest[4 + len.next_multiple_of(4)..];
        }
        None
    }
}

/// The blocks of a pcapng, taken apart by its specification.
pub(crate) fn blocks(bytes: &[u8]) -> Vec<Block<'_>> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut list) = (0, Vec::new());
    while at < bytes.len() {
        let len = word(at + 4) as usize;
        assert_eq!(word(at + len - 4) as usize, len);
        list.push(Block { kind: word(at), body: &bytes[at + 8..at + len - 4] });
        at += len;
    }
    list
}

/// Interfaces by name, each with its description and its statistics.
pub(crate) fn interfaces_in_order<'a>(
    described: &[&'a Block<'a>],
    counted: &[&'a Block<'a>],
) -> Vec<(String, (&'a Block<'a>, &'a Block<'a>))> {
    let pair = |(number, d): (usize, &&'a Block<'a>)| {
        let name = String::from_utf8(d.option(2).unwrap().to_vec()).unwrap();
        let of = |c: &&&Block<'_>| c.body[..4] == (number as u32).to_le_bytes();
        (name, (*d, *counted.iter().find(of).unwrap()))
    };
    described.iter().enumerate().map(pair).collect()
}

/// The comments of a pcapng's packets.
pub(crate) fn comments(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap();
    let packets = blocks(&bytes).into_iter().filter(|b| b.kind == 6);
    packets.filter_map(|b| b.option(1).map(|c| String::from_utf8(c.to_vec()).unwrap())).collect()
}
