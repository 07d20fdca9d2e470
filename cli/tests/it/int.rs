//! `sluice int decode` on what the programs `int` and `hpcc-int` write, and the Wireshark dissector on the same.

use assert_cmd::Command;
use serde_json::Value;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::PcapWriter;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, udp};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn sluice(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("sluice").unwrap();
    command.args(args);
    command
}

/// Replays the sample through `int`: INT on ports 1 and 16, reports on port 31.
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
    let parquet = std::fs::read(folder.join("hops.parquet"));
    assert_eq!(parquet.is_ok(), cfg!(feature = "parquet"));
    if let Ok(bytes) = parquet {
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }
    for name in ["latency.svg", "queue.svg", "manifest.json", "int.json"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    let text = sluice(&["int", "decode", capture.to_str().unwrap(), "--limit", "3"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("by node and egress port") && text.contains("more; -o DIR writes all"), "{text}");
}

/// Returns a classic pcap of one frame: UDP with DSCP 0x17 and these bytes as payload.
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
    tshark_with(capture, &[], filter, fields)
}

/// Returns the dissector's fields of every frame that passes the filter, with preferences set.
fn tshark_with(
    capture: &Path,
    preferences: &[String],
    filter: &str,
    fields: &[&str],
) -> Option<Vec<Vec<String>>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/wireshark/sluice-int.lua");
    let mut command = std::process::Command::new("tshark");
    command.args(["-X", &format!("lua_script:{script}"), "-r"]).arg(capture);
    command.args(["-Y", filter, "-T", "fields", "-E", "separator=;"]);
    fields.iter().for_each(|f| _ = command.args(["-e", f]));
    preferences.iter().for_each(|p| _ = command.args(["-o", &format!("sluice_int.{p}")]));
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

/// Writes a capture of RoCEv2 packets with `payload` after UDP, from the first host of a chain to its last one.
fn to_the_end(dir: &Path, switches: u8, payload: &[u8], packets: u64) -> PathBuf {
    let ip = ipv4::Header::new([10, 0, 0, 1].into(), [10, 0, switches - 1, 1].into());
    let builder =
        FrameBuilder::new(MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_01_00));
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for n in 0..packets {
        let mut frame = Vec::new();
        let header = udp::Header::new(7_000, 4_791);
        builder.ipv4(ip).udp(header).build(Payload::Bytes(payload), &mut frame).unwrap();
        let time = CaptureTime::from_secs(1_700_000_000).checked_add_ps(n * 2_000_000).unwrap();
        writer.write(time, &frame, &[], frame.len() as u32).unwrap();
    }
    let path = dir.join("t.pcap");
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

/// Over seven switches: the paper's header is full after five; of the simulator's slots the first two are written
/// twice.
#[test]
fn hpccs_header_is_decoded_in_both_layouts() {
    let dir = tempfile::tempdir().unwrap();
    // Paper: nHop and pathID, then InfiniBand's operation. Simulator: sequence, priority group, slots, nHop.
    let paper = [&[0, 0, 0x0a][..], &[0; 60]].concat();
    for (layout, payload, field) in
        [("paper", paper, "sluice_hpcc.hops"), ("ns3", vec![0; 60], "sluice_hpcc.ns3_hops")]
    {
        let trace = to_the_end(dir.path(), 7, &payload, 20);
        let out = dir.path().join(layout);
        let (input, set) = (format!("s0:0@{}", trace.display()), format!("layout={layout}"));
        let topology = ["--topology", "chain:switches=7,hosts=1,delay=200ns"];
        let args = ["replay", "hpcc-int", "--set", &set, "-i", &input, "-o", out.to_str().unwrap()];
        sluice(&[&args[..], &topology].concat()).assert().success();
        let (capture, hops) = (out.join("s6.pcapng"), dir.path().join(format!("{layout}-hops")));
        let decode =
            ["--json", "int", "decode", capture.to_str().unwrap(), "--hpcc-port", "4791", "--hpcc-layout"];
        let found = json(&[&decode[..], &[layout, "-o", hops.to_str().unwrap()]].concat());
        assert_eq!((&found["hpcc_packets"], &found["hops"]), (&20.into(), &100.into()), "{layout}");
        let csv = std::fs::read_to_string(hops.join("hops.csv")).unwrap();
        let mut lines = csv.lines();
        let column = lines.next().unwrap().split(',').position(|c| c == "egress_time").unwrap();
        let times: Vec<u64> = lines.map(|l| l.split(',').nth(column).unwrap().parse().unwrap()).collect();
        // In order of the path, a cable and a switch apart.
        for packet in times.chunks(5) {
            let gaps = packet.windows(2).map(|w| (w[1].wrapping_sub(w[0])) & 0xff_ffff);
            assert!(gaps.clone().all(|gap| (500..900).contains(&gap)), "{layout}: {packet:?}");
        }
        assert_eq!(hops.join("hops.parquet").exists(), cfg!(feature = "parquet"));
        assert!(hops.join("queue.svg").exists());
        let more = [
            "hpcc_port:4791".to_owned(),
            format!("hpcc_ns3:{}", if layout == "ns3" { "TRUE" } else { "FALSE" }),
        ];
        let fields = [field, "sluice_hpcc.speed", "sluice_hpcc.time", "sluice_hpcc.queue"];
        let Some(shown) = tshark_with(&capture, &more, "sluice_hpcc", &fields) else { return };
        assert_eq!(shown.len(), 20);
        let count = if layout == "paper" { "5" } else { "7" };
        for (packet, expected) in shown.iter().zip(times.chunks(5)) {
            let expected: Vec<String> = expected.iter().map(u64::to_string).collect();
            assert_eq!((packet[0].as_str(), packet[1].as_str()), (count, "4,4,4,4,4"), "{layout}");
            assert_eq!((packet[2].as_str(), packet[3].as_str()), (expected.join(",").as_str(), "0,0,0,0,0"));
        }
    }
}
