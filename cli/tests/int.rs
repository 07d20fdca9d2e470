//! `sluice int decode` on what the programs `int` and `hpcc-int` write, and the Wireshark dissector on the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn sluice(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("sluice").unwrap();
    command.args(args);
    command
}

/// What `int` makes of the sample: INT on ports 1 and 16, reports on port 31.
fn replayed(dir: &Path) -> PathBuf {
    let out = dir.join("replay");
    sluice(&["replay", "int", "-o", out.to_str().unwrap()]).assert().success();
    out.join("out.pcapng")
}

fn json(args: &[&str]) -> Value {
    let out = sluice(args).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn what_the_program_writes_is_decoded_hop_by_hop() {
    let dir = tempfile::tempdir().unwrap();
    let capture = replayed(dir.path());
    let folder = dir.path().join("decoded");
    let found = json(&["--json", "int", "decode", capture.to_str().unwrap(), "-o", folder.to_str().unwrap()]);
    assert_eq!(found["schema"], "sluice.int/1");
    let count = |key: &str| found[key].as_u64().unwrap();
    assert!(count("int_packets") > 100, "{found}");
    assert!(found["reports"]["dropped"].as_u64().unwrap() > 0, "{found}");
    assert_eq!(found["reports"]["lost"], 0);
    // Hops with a port are this switch's; those without came in with the sample's second file, through two other nodes.
    let nodes = |here: bool| -> BTreeSet<u64> {
        let ports = found["ports"].as_array().unwrap().iter().filter(|p| p["egress_port"].is_null() != here);
        ports.map(|p| p["node"].as_u64().unwrap()).collect()
    };
    assert_eq!((nodes(true), nodes(false)), ([1].into(), [1, 101, 102].into()));
    let csv = std::fs::read_to_string(folder.join("hops.csv")).unwrap();
    assert_eq!(csv.lines().count() as u64, count("hops") + 1);
    let parquet = std::fs::read(folder.join("hops.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    for name in ["latency.svg", "queue.svg", "manifest.json", "int.json"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    let text = sluice(&["int", "decode", capture.to_str().unwrap(), "--limit", "3"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("by node and egress port") && text.contains("more; -o DIR writes all"), "{text}");
}

/// A classic pcap of one frame: UDP with DSCP 0x17 and these bytes behind it.
fn broken(dir: &Path) -> PathBuf {
    let mut frame = vec![0; 12];
    frame.extend([0x08, 0, 0x45, 0x17 << 2, 0, 44, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0, 1, 0, 2, 0, 24, 0, 0]);
    frame.extend([0x10, 9, 0, 0, 0x20, 0, 1, 1, 0x80, 0, 0, 0, 0, 0, 0, 0]);
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0];
    file.extend([0; 8]);
    for _ in 0..2 {
        file.extend((frame.len() as u32).to_le_bytes());
    }
    file.extend(frame);
    let path = dir.join("broken.pcap");
    std::fs::write(&path, file).unwrap();
    path
}

#[test]
fn broken_telemetry_is_an_error_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = broken(dir.path());
    let out = sluice(&["int", "decode", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(out.stdout.is_empty());
    let text = String::from_utf8(out.stderr).unwrap();
    assert!(text.contains("record 1, byte 46: INT header and stack: found 12, expected 36 bytes"), "{text}");
    let found = json(&["--json", "int", "decode", path.to_str().unwrap(), "--skip-broken"]);
    assert_eq!(found["broken"], 1);
}

/// The dissector's fields of every frame that a filter lets through.
fn tshark(capture: &Path, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/wireshark/sluice-int.lua");
    let mut command = std::process::Command::new("tshark");
    command.args(["-X", &format!("lua_script:{script}"), "-r"]).arg(capture);
    command.args(["-Y", filter, "-T", "fields", "-E", "separator=;"]);
    fields.iter().for_each(|f| _ = command.args(["-e", f]));
    let Ok(out) = command.output() else {
        eprintln!("skipped: tshark is not installed");
        return None;
    };
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success() && !errors.contains("Lua"), "{errors}");
    let lines = String::from_utf8(out.stdout).unwrap();
    Some(lines.lines().map(|l| l.split(';').map(str::to_owned).collect()).collect())
}

#[test]
fn wireshark_shows_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let capture = replayed(dir.path());
    let found = json(&["--json", "int", "decode", capture.to_str().unwrap()]);
    let fields = ["sluice_int.hop_ml", "sluice_int.node", "sluice_int.latency"];
    let Some(packets) = tshark(&capture, "sluice_int.hop_ml and not sluice_report", &fields) else {
        return;
    };
    assert_eq!(packets.len() as u64, found["int_packets"].as_u64().unwrap());
    // Packets of hosts have this switch alone; those of other nodes its hop above theirs, or theirs where none fits.
    let (own, others): (Vec<_>, Vec<_>) = packets.iter().partition(|p| p[0] == "12");
    assert!(own.iter().all(|p| p[1] == "1" && p[2].parse::<u32>().is_ok()), "{:?}", own[0]);
    assert!(others.iter().all(|p| ["1,101", "102,101"].contains(&p[1].as_str())), "{:?}", others.first());
    assert!(own.len() > 100 && others.len() > 10, "{} and {}", own.len(), others.len());
    let fields = ["sluice_report.sequence", "sluice_report.node", "sluice_report.dropped"];
    let reports = tshark(&capture, "sluice_report", &fields).unwrap();
    assert_eq!(reports.len() as u64, found["reports"]["count"].as_u64().unwrap());
    assert!(
        reports.iter().enumerate().all(|(n, r)| r[0] == n.to_string() && r[1] == "1"),
        "{:?}",
        reports.first()
    );
    let broken = broken(dir.path());
    assert_eq!(tshark(&broken, "sluice_int.broken", &["frame.number"]).unwrap().len(), 1);
}
