//! Captures of days and of years: gaps cost nothing, and outputs keep timestamps.

use crate::support::*;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::PcapWriter;
use std::path::Path;

const DAY: u64 = 86_400;

/// Writes a capture of these seconds, with a UDP packet each, and returns its input for port 0.
fn input(dir: &Path, seconds: impl IntoIterator<Item = u64>) -> String {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (number, s) in (0..).zip(seconds) {
        let frame = udp(number, 60);
        writer.write(CaptureTime::from_secs(s), &frame, &[], 60).unwrap();
    }
    let path = dir.join("long.pcap");
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    format!("0@{}", text(&path))
}

#[test]
fn gaps_of_years_are_taken_and_outputs_keep_the_timestamps() {
    let dir = folder("years");
    // A record without a timestamp, two of 2023, one of 2024.
    let seconds = [0, 1_700_000_000, 1_700_000_001, 1_710_000_000];
    let (input, out) = (input(dir.path(), seconds), dir.path().join("out"));
    let drops = dir.path().join("drops.pcapng");
    for mode in [&["--functional"][..], &[]] {
        let base = ["replay", "l3-ecmp", "-i", &input, "-o", text(&out), "--drops", text(&drops), "--json"];
        let summary = json(&[&base[..], mode].concat());
        assert_eq!((&summary["packets"]["in"], &summary["packets"]["out"]), (&4.into(), &4.into()));
        let sent: Vec<u64> =
            read(&out.join("out.pcapng")).iter().map(|f| f.time.as_secs_and_ns().0).collect();
        assert_eq!(sent, seconds, "{mode:?}");
        let warnings = summary["warnings"].to_string();
        assert!(warnings.contains("2 gaps of more than 102 hours"), "{warnings}");
    }
    // Drops keep theirs, too: packets whose IPv4 checksum is wrong.
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for s in [5, 1_700_000_005] {
        let mut frame = udp(1, 60);
        frame[24] ^= 1;
        writer.write(CaptureTime::from_secs(s), &frame, &[], 60).unwrap();
    }
    std::fs::write(dir.path().join("long.pcap"), writer.finish().unwrap()).unwrap();
    ok(&["replay", "l3-ecmp", "-i", &input, "-o", text(&out), "--drops", text(&drops), "--json"]);
    let lost: Vec<u64> = read(&drops).iter().map(|f| f.time.as_secs_and_ns().0).collect();
    assert_eq!(lost, [5, 1_700_000_005]);
}

#[test]
fn a_capture_beyond_the_clock_names_the_flag_that_helps() {
    let dir = folder("beyond");
    let input = input(dir.path(), (0..250).map(|day| day * DAY));
    let (code, text) = refused(&["replay", "l3-ecmp", "-i", &input]);
    assert_eq!(code, 2, "{text}");
    for word in
        ["sent 9244800 s after the beginning", "at most 9223372 s", "`--speed 2x`", "107 packets before it"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(json(&["replay", "l3-ecmp", "-i", &input, "--speed", "3x", "--json"])["packets"]["out"], 250);
    assert_eq!(json(&["replay", "l3-ecmp", "-i", &input, "--limit", "107", "--json"])["packets"]["out"], 107);
}

#[test]
fn a_day_with_few_packets_costs_little() {
    let dir = folder("day");
    let input = input(dir.path(), (0..13).map(|n| n * DAY / 12));
    // `conweave` ages entries by 17 million sweeps a day; its control plane could act 1.7 billion times.
    for control_plane in [&[][..], &["--hot-flows"]] {
        let base = ["replay", "conweave", "-i", &input, "--json"];
        let flags = [&base[..], control_plane].concat();
        let begun = std::time::Instant::now();
        assert_eq!(json(&flags)["packets"]["in"], 13);
        let limit = std::time::Duration::from_secs(120);
        assert!(begun.elapsed() < limit, "{flags:?} took {:?}", begun.elapsed());
    }
}

#[test]
fn a_run_of_generated_packets_is_announced_before_it_starts() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let dir = folder("generated");
    let input = input(dir.path(), [0, DAY / 2, DAY]);
    // `flare` visits its groups once per microsecond; the warning comes before it is known whether rounds can be skipped.
    let mut run = Command::new(assert_cmd::cargo::cargo_bin("sluice"))
        .args(["replay", "flare", "-i", &input])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(run.stderr.take().unwrap()).lines().take(2);
    let told: Vec<String> = lines.map(Result::unwrap).collect();
    run.kill().unwrap();
    run.wait().unwrap();
    let told = told.join("\n");
    assert!(
        told.starts_with("warning: the packet generators will make ") && told.contains("86400s"),
        "{told}"
    );
    assert!(told.contains("x` if this run is at 1x, or `--speed line-rate`"), "{told}");
    // The remedy works.
    let done = sluice(&["replay", "flare", "-i", &input, "--speed", "line-rate"]);
    assert!(done.status.success() && done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Two gaps of 1000 s, in which the packet generators make some 10^10 packets. Without skipped rounds the run would take hours.
#[test]
fn rounds_of_generators_are_skipped_in_a_capture_of_few_packets() {
    let dir = folder("gaps");
    let s = json(&["replay", "flare", "-i", &input(dir.path(), [0, 1_000, 2_000]), "--json"]);
    let p = |key: &str| s["packets"][key].as_u64().unwrap();
    assert_eq!(p("in"), 3);
    let created: u64 = s["created"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert!(created > 10_000_000_000, "{created}");
    assert_eq!(p("in") + created, p("out") + p("dropped") + p("absorbed") + p("held"));
}
