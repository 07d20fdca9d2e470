//! Damaged and odd captures through the binary: where, what was found and expected, what was used, what is left.

use crate::support::*;
use sluice_pcaps::capture::write::PcapWriter;
use sluice_pcaps::wire::Checksum;
use std::path::Path;

/// Runs over these bytes and returns exit code and stderr; stdout and folder must be empty if the run fails.
fn complaint(dir: &Path, name: &str, bytes: &[u8]) -> (i32, String) {
    let (path, out, drops) = (dir.join(name), dir.join("out"), dir.join("drops.pcapng"));
    std::fs::write(&path, bytes).unwrap();
    let input = format!("0@{}", text(&path));
    let result = refused(&["replay", "l3-ecmp", "-i", &input, "-o", text(&out), "--drops", text(&drops)]);
    let left = std::fs::read_dir(&out).map_or(0, Iterator::count);
    assert!(left == 0 && !drops.exists(), "files are left behind");
    (result.0, result.1.replace(text(dir), "DIR"))
}

/// Returns five valid records of 76 bytes after a header of 24.
fn five() -> Vec<u8> {
    pcap(&[(0, udp(1, 60)), (1000, udp(2, 60)), (2000, udp(3, 60)), (3000, udp(4, 60)), (4000, udp(5, 60))])
}

fn patched(mut bytes: Vec<u8>, at: usize, word: u32) -> Vec<u8> {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    bytes
}

/// A pcapng of these frames, with the place of the third packet block.
fn pcapng() -> (Vec<u8>, usize) {
    use sluice_pcaps::capture::write::{CaptureWriter, InterfaceSpec, Packet};
    let mut writer = CaptureWriter::new(Vec::new(), &[InterfaceSpec::default()]).unwrap();
    for n in 0..5 {
        let time = ORIGIN.checked_add_ps(n * 1_000_000).unwrap();
        let data = udp(n as u32, 60);
        writer.write(&Packet { time, head: &data, orig_len: 60, ..Packet::default() }).unwrap();
    }
    let bytes = writer.finish(&[]).unwrap();
    let len = |b: &Block<'_>| b.body.len() + 12;
    let list = blocks(&bytes);
    let third = list.iter().enumerate().filter(|(_, b)| b.kind == 6).nth(2).unwrap().0;
    let at = list[..third].iter().map(len).sum();
    (bytes, at)
}

#[test]
fn damage_is_told_with_place_finding_expectation_and_remedy() {
    let dir = folder("damage");
    let (ng, third) = pcapng();
    let used = "the 2 packets before it were replayed: 2 out, 0 dropped, 0 absorbed, 0 held; no file is kept";
    let help = "the file is damaged here; keep the records before it with `editcap -r IN OUT 1-2`";
    let lost =
        "the file is damaged before its second record, so nothing can be kept; copy or capture it again";
    for (name, bytes, expected) in [
        (
            "magic.pcap",
            patched(five(), 0, 0x1234_5678),
            "error: DIR/magic.pcap: not a capture: it starts with 78 56 34 12, expected the magic number of \
             pcap or pcapng\n  = help: give a pcap or pcapng file; `file NAME` tells what this one is\n"
                .to_owned(),
        ),
        (
            "version.pcap",
            patched(five(), 4, 3),
            "error: DIR/version.pcap: header at byte 0: found pcap version 3.0, expected 2.4\n  = help: convert it with \
             `editcap -F nsecpcap IN OUT`\n"
                .to_owned(),
        ),
        (
            "link.pcap",
            patched(five(), 20, 105),
            "error: DIR/link.pcap: header at byte 0: found link type 105 (IEEE802_11), expected 1 (ETHERNET), \
             113 (LINUX_SLL) or 276 (LINUX_SLL2)\n  = help: \
             capture on an Ethernet interface, or keep its frames only\n"
                .to_owned(),
        ),
        (
            "header.pcap",
            five()[..20].to_vec(),
            "error: DIR/header.pcap: header at byte 0: the file ends inside its header: found 20 bytes, expected at \
             least 24\n  = help: capture or copy the file again\n"
                .to_owned(),
        ),
        (
            "record.pcap",
            patched(five(), 24 + 2 * 76 + 4, 2_000_000_000),
            format!(
                "error: DIR/record.pcap: record 3 at byte 176: found a timestamp with 2000000000 in its sub-second field, \
                 expected less than 1000000000\n  = note: {used}\n  = help: {help}\n"
            ),
        ),
        (
            "length.pcap",
            patched(five(), 24 + 2 * 76 + 8, 0x7fff_ffff),
            format!(
                "error: DIR/length.pcap: record 3 at byte 176: found a captured length of 2147483647 bytes, expected \
                 at most 262144\n  = note: {used}\n  = help: {help}\n"
            ),
        ),
        (
            "first.pcap",
            patched(five(), 24 + 8, 0x7fff_ffff),
            format!(
                "error: DIR/first.pcap: record 1 at byte 24: found a captured length of 2147483647 bytes, expected at \
                 most 262144\n  = help: {lost}\n"
            ),
        ),
        (
            "block.pcapng",
            patched(ng.clone(), third + 4, 13),
            format!(
                "error: DIR/block.pcapng: record 3 at byte {third}: found a length of 13 in a block of type 0x6, \
                 expected a multiple of 4 from 32 to 16777216\n  = note: {used}\n  = help: {help}\n"
            ),
        ),
        (
            "trailer.pcapng",
            patched(ng.clone(), third + 88, 96),
            format!(
                "error: DIR/trailer.pcapng: record 3 at byte {third}: found 96 as the length at the block's end, \
                 expected 92 as at its start\n  = note: {used}\n  = help: {help}\n"
            ),
        ),
        (
            "packet.pcapng",
            patched(ng.clone(), third + 20, 61),
            format!(
                "error: DIR/packet.pcapng: record 3 at byte {third}: found a captured length of 61 bytes, expected at \
                 most the 60 that the block holds\n  = note: {used}\n  = help: {help}\n"
            ),
        ),
        (
            "interface.pcapng",
            patched(ng, third + 8, 7),
            format!(
                "error: DIR/interface.pcapng: record 3 at byte {third}: found interface 7, expected less than 1 (the \
                 interfaces described so far)\n  = note: {used}\n  = help: the writer of the file is at fault; rewrite \
                 it with `editcap IN OUT`\n"
            ),
        ),
    ] {
        let (code, stderr) = complaint(dir.path(), name, &bytes);
        assert_eq!((code, &stderr), (2, &expected), "{name}");
    }
}

#[test]
fn damage_behind_the_limit_is_no_matter() {
    let dir = folder("limit");
    let path = dir.path().join("t.pcap");
    std::fs::write(&path, patched(five(), 24 + 2 * 76 + 8, u32::MAX)).unwrap();
    let input = format!("0@{}", text(&path));
    assert_eq!(json(&["replay", "l3-ecmp", "-i", &input, "--limit", "2", "--json"])["packets"]["in"], 2);
}

#[test]
fn a_cut_tail_is_a_warning_and_with_strict_an_error() {
    let dir = folder("cut");
    let path = dir.path().join("t.pcap.gz");
    // The packing is whole, what is in it is cut.
    let bytes = five();
    std::fs::write(&path, gzip(&bytes[..bytes.len() - 7])).unwrap();
    let input = format!("0@{}", text(&path));
    let s = json(&["replay", "l3-ecmp", "-i", &input, "--json"]);
    assert_eq!((s["packets"]["in"].as_u64(), s["inputs"][0]["truncated"].as_bool()), (Some(4), Some(true)));
    let warning = "t.pcap.gz: ends inside record 5 at byte 328: 69 of at least 76 bytes are there";
    assert_eq!(s["warnings"][0], warning);
    let (code, stderr) = refused(&["replay", "l3-ecmp", "-i", &input, "--strict"]);
    let help = "without --strict the records before it are replayed";
    assert_eq!((code, stderr), (2, format!("error: {warning}\n  = help: {help}\n")));
    // Without its own end the packing is cut, too.
    let packed = gzip(&bytes);
    std::fs::write(&path, &packed[..packed.len() - 5]).unwrap();
    let s = json(&["replay", "l3-ecmp", "-i", &input, "--json"]);
    assert_eq!((s["packets"]["in"].as_u64(), s["inputs"][0]["truncated"].as_bool()), (Some(5), Some(true)));
}

/// A TCP segment of `len` bytes with this option, of which 80 are captured.
fn tcp(len: usize, flags: u8, option: [u8; 4]) -> (usize, Vec<u8>) {
    let mut frame = udp(1, 80);
    frame[16..18].copy_from_slice(&(len as u16 - 14).to_be_bytes());
    frame[23] = 6;
    frame[24..26].fill(0);
    let sum = Checksum::new().with(&frame[14..34]).finish();
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame[46..48].copy_from_slice(&[6 << 4, flags]);
    frame[54..58].copy_from_slice(&option);
    (len, frame)
}

#[test]
fn frames_that_a_nic_joined_are_counted_with_advice() {
    const MSS_1460: [u8; 4] = [2, 4, 0x05, 0xb4];
    const NONE: [u8; 4] = [1; 4];
    let dir = folder("joined");
    let path = dir.path().join("host.pcap");
    let warnings = |frames: &[(usize, Vec<u8>)]| {
        let mut writer = PcapWriter::new(Vec::new()).unwrap();
        for (us, (len, bytes)) in (0u64..).zip(frames) {
            writer.write(ORIGIN.checked_add_ps(us * 100_000_000).unwrap(), bytes, &[], *len as u32).unwrap();
        }
        std::fs::write(&path, writer.finish().unwrap()).unwrap();
        json(&["replay", "l3-ecmp", "-i", &format!("0@{}", text(&path)), "--json"])["warnings"].clone()
    };
    // 1,460 bytes in the third frame; 2,920 and 65,160 in the others.
    let frames = [
        tcp(58, 2, MSS_1460),
        tcp(2_978, 16, NONE),
        tcp(1_518, 16, NONE),
        tcp(65_218, 16, NONE),
        tcp(58, 16, NONE),
    ];
    assert_eq!(
        warnings(&frames),
        serde_json::json!([
            "host.pcap: 2 TCP frames of up to 65218 bytes hold several segments each, the first is record 2: the NIC of the host on which \
             they were captured cuts or joins segments, and no wire has such frames; capture with offloads off (`ethtool -K IF \
             gro off lro off gso off tso off`), or on a port of a switch"
        ])
    );
    // Frames of 9,000 bytes in a capture that begins within a connection.
    assert_eq!(warnings(&[tcp(9_018, 16, NONE), tcp(58, 16, NONE)]), serde_json::json!([]));
}

#[test]
fn packets_that_end_inside_a_header_are_named_by_record() {
    let dir = folder("packet");
    let path = dir.path().join("t.pcap");
    let mut short = udp(1, 60);
    short.truncate(24);
    std::fs::write(&path, pcap(&[(0, udp(1, 60)), (10, short), (20, udp(1, 60))])).unwrap();
    let s = json(&["replay", "l3-ecmp", "-i", &format!("0@{}", text(&path)), "--json"]);
    assert_eq!(s["drops"]["parser_partial_header"], 1);
    assert_eq!(
        s["warnings"][0],
        "1 packets end inside a header that the parser extracts (parser_partial_header); the first is record 2 at \
         byte 100 of t.pcap, 24 bytes long"
    );
}

#[test]
fn odd_records_are_sent_and_told() {
    let dir = folder("odd");
    let path = dir.path().join("t.pcap");
    // Record 2: captured length above the original. Record 3: an earlier timestamp. Record 4: no bytes. Then giants.
    let mut bytes = pcap(&[(0, udp(1, 60)), (90, udp(1, 60)), (50, udp(1, 60)), (95, vec![])]);
    bytes = patched(bytes, 24 + 76 + 12, 40);
    let mut giant = udp(1, 60);
    giant.resize(262_144, 0);
    bytes.extend(&pcap(&[(200, vec![9; 9000]), (300, giant)])[24..]);
    std::fs::write(&path, bytes).unwrap();
    let (input, out) = (format!("0@{}", text(&path)), dir.path().join("out"));
    let s = json(&["replay", "l3-ecmp", "-i", &input, "-o", text(&out), "--json"]);
    assert_eq!(s["packets"]["in"], 6);
    // A tag may have made the giant longer than captures hold: its length is kept, its end is not.
    let longest = read(&out.join("out.pcapng")).into_iter().max_by_key(|f| f.orig_len).unwrap();
    assert!(longest.data.len() == 262_144 || longest.orig_len == 262_144);
    let warnings: Vec<&str> = s["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    for word in [
        "greater than original length: 1 records, first is record 2",
        "earlier than that of the previous record",
    ] {
        assert!(warnings.iter().any(|w| w.contains(word)), "{word}: {warnings:?}");
    }
}

#[test]
fn a_packet_cut_by_the_snap_length_keeps_its_length() {
    use sluice_pcaps::capture::write::PcapWriter;
    let dir = folder("snap");
    let (path, out) = (dir.path().join("t.pcap"), dir.path().join("out"));
    let whole = udp(SLOW_PORT, 1000);
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    writer.write(ORIGIN, &whole[..64], &[], 1000).unwrap();
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    let s = json(&["replay", "l3-ecmp", "-i", &format!("0@{}", text(&path)), "-o", text(&out), "--json"]);
    let port = |name: &str| s["ports"].as_array().unwrap().iter().find(|p| p["port"] == name).unwrap();
    assert_eq!((&port("0")["rx_bytes"], &port("20")["tx_bytes"]), (&1000.into(), &1000.into()));
    let seen = read(&out.join("out.pcapng"));
    assert_eq!((seen[0].data.len(), seen[0].orig_len), (64, 1000));
}
