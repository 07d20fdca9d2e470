//! `sluice gen` as users and scripts meet it: captures that read back, the same bytes for the same flags, refusals
//! with a place and a remedy.

use assert_cmd::Command;
use serde_json::Value;
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::wire::{ethernet, pause, roce};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn sluice(args: &[&str]) -> std::process::Output {
    Command::cargo_bin("sluice").unwrap().args(args).output().unwrap()
}

/// Runs `gen` with these arguments and `-o FILE`, and returns the frames of the file.
fn frames(dir: &TempDir, name: &str, words: &str) -> Vec<(CaptureTime, Vec<u8>)> {
    let path = dir.path().join(name);
    generate(&path, words);
    let bytes = fs::read(&path).unwrap();
    let mut reader = CaptureReader::from_bytes(&bytes, name).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        assert_eq!(frame.data.len(), frame.orig_len as usize);
        frames.push((frame.time, frame.data.to_vec()));
    }
    frames
}

/// The JSON summary of a run into this file.
fn generate(path: &Path, words: &str) -> Value {
    let path = path.to_str().unwrap();
    let args: Vec<&str> =
        ["gen"].into_iter().chain(words.split_whitespace()).chain(["-o", path, "--json"]).collect();
    let out = sluice(&args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Runs `gen`, which must fail with exit code 2 without files, and returns its stderr.
fn refused(words: &str) -> String {
    let dir = folder();
    let path = dir.path().join("x.pcap");
    let args: Vec<&str> =
        ["gen"].into_iter().chain(words.split_whitespace()).chain(["-o", path.to_str().unwrap()]).collect();
    let out = sluice(&args);
    assert_eq!(out.status.code(), Some(2), "{args:?}");
    assert!(out.stdout.is_empty());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
    String::from_utf8(out.stderr).unwrap()
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("gen").tempdir().unwrap()
}

fn write(dir: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_kind_writes_what_it_says() {
    let dir = folder();
    let kinds = [
        ("udp", "--flows 10", 1000, 0x0800),
        ("tcp", "--flows 10 --ipv6", 1000, 0x86dd),
        ("roce", "--flows 3 --message 3000", 1000, 0x0800),
        ("cnp", "--vlan 7", 1000, 0x8100),
        ("vxlan", "--flows 10 --size 128..256", 1000, 0x0800),
        ("arp", "--flows 10", 1000, 0x0806),
        ("pfc", "--classes 3,4 --resume", 1000, 0x8808),
        ("udp", "--vlan 7 --qinq 8", 1000, 0x88a8),
    ];
    for (kind, flags, count, ethertype) in kinds {
        let frames = frames(&dir, "k.pcapng", &format!("{kind} {flags}"));
        assert_eq!(frames.len(), count, "{kind}");
        assert!(frames.is_sorted_by_key(|(time, _)| *time));
        for (_, frame) in &frames {
            assert_eq!(ethernet::View::new(frame).unwrap().ethertype(), ethertype, "{kind}");
        }
        match kind {
            "roce" => {
                let (covered, stored) = frames[5].1[14..].split_last_chunk().unwrap();
                assert_eq!(roce::icrc(covered).unwrap().to_le_bytes(), *stored);
            }
            "pfc" => {
                let packet = |n: usize| pause::View::new(&frames[n].1[14..]).unwrap().packet();
                assert_eq!(
                    (packet(0), packet(1)),
                    (pause::Packet::pfc(0x18, 65_535), pause::Packet::pfc(0x18, 0))
                );
            }
            _ => {}
        }
    }
}

#[test]
fn the_same_flags_give_the_same_bytes() {
    let dir = folder();
    let bytes = |name: &str, seed: u32| {
        let path = dir.path().join(name);
        generate(&path, &format!("udp --flows 100 --arrivals poisson --rate 25G --seed {seed}"));
        fs::read(path).unwrap()
    };
    assert_eq!(bytes("a.pcapng", 7), bytes("b.pcapng", 7));
    assert_ne!(bytes("a.pcapng", 7), bytes("b.pcapng", 8));
    assert_eq!(bytes("a.pcap", 1), bytes("b.pcap", 1));
}

#[test]
fn the_summary_says_what_was_written() {
    let dir = folder();
    let path = dir.path().join("s.pcap");
    let summary = generate(&path, "udp --size 1500 --rate 100G --packets 2k");
    assert_eq!(summary["schema"], "sluice.gen/1");
    let number = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!((number("packets"), number("bytes"), number("seed")), (2_000, 3_000_000, 1));
    assert_eq!(number("wire_bytes"), 2_000 * 1_524);
    assert_eq!(number("span_ps"), 1_999 * 121_920);
    assert_eq!(number("mean_bps"), 100_000_000_000);
    assert_eq!((&summary["kind"], &summary["format"]), (&"udp".into(), &"pcap".into()));
    // Of 121.92 ns times n, every 25th is a whole number of nanoseconds.
    assert_eq!(number("rounded_stamps"), 1_920);
}

#[test]
fn formats_by_extension_and_by_flag() {
    let dir = folder();
    let magic = |name: &str, flags: &str| {
        let path = dir.path().join(name);
        generate(&path, &format!("udp --rate 333ps --packets 5 {flags}"));
        let bytes = fs::read(&path).unwrap();
        let mut reader = CaptureReader::from_bytes(&bytes, "f").unwrap();
        let mut last = None;
        while let Some(frame) = reader.next_frame().unwrap() {
            last = Some(frame.time);
        }
        let ps = last.unwrap().ps_since(CaptureTime::from_secs(1_700_000_000)).unwrap();
        (u32::from_le_bytes(*bytes.first_chunk().unwrap()), ps)
    };
    assert_eq!(magic("a.pcapng", ""), (0x0a0d_0d0a, 1_000));
    assert_eq!(magic("a.pcap", ""), (0xa1b2_3c4d, 1_000));
    assert_eq!(magic("b.pcap", "--format pcap-us"), (0xa1b2_c3d4, 0));
    assert_eq!(magic("b.bin", "--format pcapng-ps"), (0x0a0d_0d0a, 1_332));
}

#[test]
fn limits_by_number_and_by_time() {
    let dir = folder();
    assert_eq!(frames(&dir, "a.pcap", "udp --rate 1us --duration 10us").len(), 10);
    assert_eq!(frames(&dir, "a.pcap", "udp --rate 1us --duration 10us --packets 7").len(), 7);
    assert_eq!(frames(&dir, "a.pcap", "udp --rate 1us --duration 10us --packets 70").len(), 10);
}

#[test]
fn one_link_carries_one_frame_at_a_time() {
    let dir = folder();
    let path = dir.path().join("l.pcapng");
    let words = "udp --arrivals incast --senders 4 --burst 2 --packets 8 --size 1500 --rate 100G";
    let summary = generate(&path, &format!("{words} --link 100G --format pcapng-ps"));
    assert_eq!(summary["span_ps"], 7 * 121_920);
    // Of the first four, all but one wait; the last of the second four waits longest, for six others.
    assert_eq!(summary["link"]["most_delay_ps"], 6 * 121_920);
    assert_eq!(generate(&path, words)["span_ps"], 121_920);
}

#[test]
fn sizes_follow_a_distribution_from_a_file() {
    let dir = folder();
    let cdf = write(&dir, "c.txt", "64 0\n128 50\n1518 100\n");
    let frames = frames(&dir, "a.pcap", &format!("udp --packets 4000 --size cdf:{}", cdf.display()));
    let small = frames.iter().filter(|(_, frame)| frame.len() < 128).count();
    assert!((1_900..2_100).contains(&small), "{small}");
    let bad = write(&dir, "bad.txt", "64 0\n128 50\n100 100\n");
    let text = refused(&format!("udp --size cdf:{}", bad.display()));
    assert!(text.contains("bad.txt:3:1: size: found 100, expected more than 128"), "{text}");
}

#[test]
fn flows_from_a_file() {
    let dir = folder();
    let list = write(
        &dir,
        "f.csv",
        "start,src,dst,proto,packets,bytes,size,rate\n\
         0ps,10.0.0.1,10.1.0.1,udp,3,,64,1us\n500ns,10.0.0.2,10.1.0.1,tcp,,2000,1054,1us\n",
    );
    let frames = frames(&dir, "a.pcap", &format!("flows {}", list.display()));
    let start = CaptureTime::from_secs(1_700_000_000);
    let seen: Vec<(u64, usize)> =
        frames.iter().map(|(time, frame)| (time.ps_since(start).unwrap() / 1_000, frame.len())).collect();
    assert_eq!(seen, [(0, 64), (500, 1054), (1_000, 64), (1_500, 1054), (2_000, 64)]);
    let bad = write(&dir, "bad.csv", "src,dst,packets\n10.0.0.1,10.1.0.1,1\n10.0.0.1,nowhere,1\n");
    let text = refused(&format!("flows {}", bad.display()));
    assert!(text.contains("bad.csv:3:10: dst: found `nowhere`, expected an address"), "{text}");
    assert!(text.contains("help"), "{text}");
}

#[test]
fn a_workload_by_sizes_and_load() {
    let dir = folder();
    let cdf = write(&dir, "c.txt", "0 0\n10000 50\n100000 100\n");
    let path = dir.path().join("w.pcapng");
    let summary = generate(&path, &format!("workload {} --flows 2000 --load 40 --seed 3", cdf.display()));
    // A mean of 30 kB per flow at 40 Gb/s: 2000 flows take 12 ms.
    let span = summary["span_ps"].as_u64().unwrap();
    assert!((11_000_000_000..13_000_000_000).contains(&span), "{span}");
    assert_eq!(generate(&path, &format!("workload {} --packets 9", cdf.display()))["packets"], 9);
    let text = refused(&format!("workload {} --load 101", cdf.display()));
    assert!(text.contains("'101' for '--load <1..100>': expected a number from 1 to 100"), "{text}");
}

#[test]
fn frames_from_a_file_at_their_picosecond() {
    let dir = folder();
    let list = write(
        &dir,
        "f.toml",
        "[[frame]]\nat = \"1.000337us\"\nkind = \"raw\"\nhex = \"0200\"\n\
         [[frame]]\nat = 3\nkind = \"pause\"\nrepeat = 2\nevery = 4\n",
    );
    let frames =
        frames(&dir, "a.pcapng", &format!("frames {} --format pcapng-ps --start 5s", list.display()));
    let start = CaptureTime::from_secs(5);
    let times: Vec<u64> = frames.iter().map(|(time, _)| time.ps_since(start).unwrap()).collect();
    assert_eq!(times, [3, 7, 1_000_337]);
    assert_eq!(frames[2].1, [2, 0]);
    let bad = write(&dir, "bad.toml", "[[frame]]\nat = 3\nkind = \"raw\"\nhex = \"02\"\nspeed = 9\n");
    let text = refused(&format!("frames {}", bad.display()));
    assert!(
        text.contains("bad.toml:5:1: found key `speed`, which a frame of kind `raw` does not have"),
        "{text}"
    );
}

#[test]
fn stdout_takes_a_capture_and_nothing_else() {
    let out = sluice(&["gen", "udp", "-o", "-", "--packets", "3"]);
    assert!(out.status.success());
    let mut reader = CaptureReader::from_bytes(&out.stdout, "stdout").unwrap();
    let mut count = 0;
    while reader.next_frame().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 3);
    assert!(String::from_utf8_lossy(&out.stderr).contains("3 frames"));
    let out = sluice(&["gen", "udp", "-o", "-", "--json"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0));
}

#[test]
fn mistakes_say_what_was_found_and_expected() {
    let cases = [
        ("udp --size 10", "size: found 10, expected 60 to 65535"),
        ("udp --size 64..9", "size: found 64..9, expected"),
        ("udp --rate fast", "rate: found `fast`, expected a bit rate as 100G"),
        ("udp --rate 0G", "rate: found `0G`, expected a rate above 0"),
        ("udp --flows 0", "flows: found 0, expected 1 to 16777216"),
        (
            "udp --flows 100 --src 10.0.0.1 --dst 10.1.0.1 --sport 1..9 --dport 5",
            "flows: found 100, expected at most 9",
        ),
        ("udp --dst 10.1.0.0/33", "dst: found a prefix length of 33, expected at most 32"),
        ("udp --dst nowhere", "dst: found `nowhere`, expected an address or ADDRESS/LENGTH"),
        ("udp --dst 10.1.0.0/16 --ipv6", "dst: found no IPv6 prefix"),
        ("udp --dport 70000", "dport: found 70000, expected 0 to 65535"),
        ("udp --dscp 64", "'64' for '--dscp <0..63>': expected a number from 0 to 63"),
        ("udp --vlan 4096", "vlan: found 4096, expected 0 to 4095"),
        ("udp --qinq 5", "--vlan"),
        ("udp --on 5us", "--on is for --arrivals onoff"),
        ("udp --arrivals onoff --on 1ps", "on: found 1, expected 67200 to"),
        ("udp --arrivals incast --flows 5", "--flows 5 does not match 16 senders"),
        ("udp --link 5us", "--link is not a bit rate"),
        ("udp --duration soon", "duration: found `soon`, expected a time"),
        ("udp --packets many", "expected a whole number such as 1000, 10k or 2M"),
        ("udp --smac 02:00", "MAC address"),
        ("roce --mtu 1000", "mtu: found `1000`, expected 256, 512, 1024, 2048 or 4096"),
        ("vxlan --vni 16777216", "vni: found 16777216, expected 0 to 16777215"),
        ("vxlan --tunnel-src ::1", "src and dst: found IPv4 and IPv6, expected one family"),
        ("arp --dst ::1", "ARP supports only IPv4"),
        ("pfc --classes 8", "classes: found 8, expected 0 to 7"),
        ("flows absent.csv", "cannot read absent.csv"),
        ("udp --size cdf:absent.txt", "cannot read absent.txt"),
    ];
    for (words, expected) in cases {
        let text = refused(words);
        assert!(text.contains(expected), "{words}\n  expected {expected}\n  found {text}");
    }
    let dir = folder();
    let out = sluice(&["gen", "udp", "--format", "pcap", "-o", dir.path().to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("exists and is not a regular file"));
    let out = sluice(&["gen", "udp", "-o", "trace.bin"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("name it .pcapng or .pcap"));
}

#[test]
fn what_is_generated_can_be_replayed() {
    let dir = folder();
    let path = dir.path().join("t.pcapng");
    generate(&path, "udp --flows 100 --packets 500 --dst 10.1.0.0/16,10.2.0.0/16 --ipv6 0");
    let input = format!("0@{}", path.display());
    let out = sluice(&["replay", "l3-ecmp", "-i", &input, "--json"]);
    let summary: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&summary["packets"]["in"], &summary["packets"]["out"]), (&500.into(), &500.into()));
}

/// Ctrl-C, SIGTERM and SIGHUP end the run with 130 and a capture that is whole as far as it goes.
#[cfg(unix)]
#[test]
fn interrupted_captures_are_valid() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        interrupted(signal);
    }
}

#[cfg(unix)]
fn interrupted(signal: &str) {
    use std::process::{Command, Stdio};
    let dir = folder();
    let path = dir.path().join("i.pcapng");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("sluice"))
        .args(["gen", "udp", "--size", "60", "--duration", "1000s", "-o", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The handler is in place when the first bytes are out.
    let grows = || {
        let mut files = fs::read_dir(dir.path()).unwrap();
        files.any(|file| file.unwrap().metadata().unwrap().len() > 0)
    };
    while !grows() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
    let bytes = fs::read(&path).unwrap();
    let mut reader = CaptureReader::from_bytes(&bytes, "i").unwrap();
    let mut count = 0u64;
    while reader.next_frame().unwrap().is_some() {
        count += 1;
    }
    assert!(count > 0 && reader.truncated().is_none());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
}
