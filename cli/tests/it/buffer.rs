//! `--buffer` and `explain headroom`: what is printed, written and refused.

use crate::support::*;
use serde_json::Value;
use sluice_asic::tm::buffer::BufferFile;
use std::path::{Path, PathBuf};

/// A profile file: the shipped one with changes.
fn profile(dir: &Path, name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let mut text = BufferFile::text_of(name).unwrap().to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let path = dir.join("profile.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// Lossless traffic from four ports to the slow one, at line rate and without regard for pauses.
fn incast(dir: &Path, packets: &str) -> Vec<String> {
    let path = dir.join("incast.pcap");
    let rate = ["--rate", "300Gbps", "--size", "1000", "--packets", packets];
    let to = ["--dst", "10.9.9.9/32", "--dscp", "3", "--ecn", "2", "--flows", "16"];
    ok(&[&["gen", "udp", "-o", text(&path)][..], &rate, &to].concat());
    (0..4).flat_map(|port| ["-i".to_owned(), format!("{port}@{}", text(&path))]).collect()
}

fn sum(v: &Value) -> u64 {
    v.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum()
}

#[test]
fn incast_pauses_senders_and_names_drops() {
    let dir = folder("incast");
    let inputs = incast(dir.path(), "2500");
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let small = [
        ("size = \"43067728B\"", "size = \"880000B\""),
        ("size = \"3153920B\"", "size = \"704000B\""),
        ("kmin = \"1048576B\"", "kmin = \"50000B\""),
        ("kmax = \"2097152B\"", "kmax = \"400000B\""),
    ];
    let file = profile(dir.path(), "tofino2", &small);
    let out = dir.path().join("out");
    let args =
        [&["--json", "replay", "l3-ecmp", "--buffer", text(&file), "-o", text(&out)][..], &inputs].concat();
    let s = json(&args);
    let p = |k: &str| s["packets"][k].as_u64().unwrap();
    assert_eq!(p("in") + p("created"), p("out") + p("dropped") + p("absorbed") + p("held"));
    let pfc = s["created"]["pfc"].as_u64().unwrap();
    assert!(pfc >= 4 && p("created") == pfc, "{pfc}");
    let b = &s["buffer"];
    let sent: u64 = b["pfc"].as_array().unwrap().iter().map(|port| sum(&port["tx"])).sum();
    assert_eq!((sent, b["profile"].as_str()), (pfc, Some("tofino2")));
    let drops = s["drops"].as_object().unwrap();
    assert!(drops.keys().all(|k| k == "headroom_pool" || k == "pg_headroom"), "{drops:?}");
    let of_groups: u64 =
        b["priority_groups"].as_array().unwrap().iter().map(|g| g["dropped"].as_u64().unwrap()).sum();
    assert_eq!((of_groups, p("dropped") > 0), (p("dropped"), true));
    // Every group is empty again, none is paused, watermarks stay.
    for g in b["priority_groups"].as_array().unwrap() {
        assert_eq!((g["shared"]["current"].as_u64(), g["xoff"].as_bool()), (Some(0), Some(false)), "{g}");
        assert!(g["shared"]["user"].as_u64() > Some(0));
    }
    let pools = s["pools"].as_array().unwrap();
    let named = |name: &str| pools.iter().find(|p| p["pool"] == name).unwrap();
    // 4000 cells, in steps of 6.
    assert_eq!(
        (named("skid_pool")["cells"].as_u64(), named("skid_pool")["max_cells"].as_u64()),
        (Some(4000), Some(3996))
    );
    assert!(named("buffer")["max_cells"].as_u64().unwrap() > 7000);
    let queue = b["queues"].as_array().unwrap().iter().find(|q| q["port"] == "20").unwrap();
    assert_eq!((queue["queue"].as_u64(), queue["lossless"].as_bool()), (Some(3), Some(true)));
    // Marked packets are in the capture, and PFC frames with them.
    let frames = read(&out.join("out.pcapng"));
    let marked = frames.iter().filter(|f| f.data[12..14] == [8, 0] && f.data[15] & 3 == 3).count() as u64;
    let control = frames.iter().filter(|f| f.data[12..14] == [0x88, 0x08]).count() as u64;
    assert_eq!((marked, control), (queue["ecn_marked"].as_u64().unwrap(), pfc));
    assert!(marked > 0);

    let text = ok(&args[1..]);
    for title in [
        "priority-group watermark shared:",
        "priority-group watermark headroom:",
        "priority-group drop counters:",
        "queue watermark unicast:",
        "buffer_pool watermark:",
        "headroom-pool watermark:",
        "queue wredcounters:",
        "pfc counters, Port Tx:",
    ] {
        assert!(text.contains(title), "{title} is not in:\n{text}");
    }
    let again = json(&args);
    assert_eq!((&again["buffer"], &again["pools"]), (&s["buffer"], &s["pools"]));
}

#[test]
fn received_pauses_are_counted_in_us_and_quanta() {
    let dir = folder("paused");
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 0x01, 0x01, 0, 0x08];
    frame.extend([0; 6]);
    frame.extend([0x03, 0xe8]);
    frame.resize(60, 0);
    let path = dir.path().join("pfc.pcap");
    std::fs::write(&path, pcap(&[(0, frame), (5_000, udp(1, 100))])).unwrap();
    let input = format!("8@{}", text(&path));
    let args = ["replay", "l3-ecmp", "--buffer", "chip", "-i", &input];
    let s = json(&[&["--json"][..], &args].concat());
    let port = &s["buffer"]["pfc"][0];
    assert_eq!(
        (port["port"].as_str(), port["rx"][3].as_u64(), port["pauses"][3].as_u64()),
        (Some("8"), Some(1), Some(1))
    );
    assert_eq!(s["absorbed"]["mac_control"], 1);
    // The run ends before the pause does: it lasts from the reaction on.
    let us = port["paused_us"][3].as_f64().unwrap();
    assert!(us > 1.0 && us <= 1.28, "{us}");
    assert!(ok(&args).contains("Total RX Pause Time US"));
    // Without a shared buffer PFC frames are the program's.
    let plain = json(&["--json", "replay", "l3-ecmp", "-i", &input]);
    assert!(plain["buffer"].is_null() && plain["absorbed"].get("mac_control").is_none());
}

/// A peer that pauses port 20 for 350 ms while 40 lossless packets go there.
#[test]
fn storms_are_shown_as_the_watchdog_counts_them() {
    let dir = folder("storm");
    let file = profile(dir.path(), "tofino2", &[]);
    let watchdog = "\n[watchdog]\ndetection_time = 100\nrestoration_time = 100\npoll_interval = 100\n";
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + watchdog).unwrap();
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 0x01, 0x01, 0, 0x08];
    frame.extend([0; 6]);
    frame.extend([0xff, 0xff]);
    frame.resize(60, 0);
    let (pauses, data) = (dir.path().join("pfc.pcap"), dir.path().join("data.pcap"));
    std::fs::write(&pauses, pcap(&(0..350).map(|ms| (ms * 1_000_000, frame.clone())).collect::<Vec<_>>()))
        .unwrap();
    let mut packet = udp(SLOW_PORT, 1000);
    // DSCP 3, and the header's checksum with it.
    packet[15] = 3 << 2;
    let sum = u16::from_be_bytes([packet[24], packet[25]]).checked_sub(3 << 2).unwrap();
    packet[24..26].copy_from_slice(&sum.to_be_bytes());
    std::fs::write(&data, pcap(&(0..40).map(|n| (n * 8_000_000, packet.clone())).collect::<Vec<_>>()))
        .unwrap();
    let (pauses, data) = (format!("20@{}", text(&pauses)), format!("0@{}", text(&data)));
    let args = ["replay", "l3-ecmp", "--buffer", text(&file), "--port", "20=25G", "-i", &pauses, "-i", &data];
    let s = json(&[&["--json"][..], &args].concat());
    let storm = &s["buffer"]["watchdog"][0];
    let n = |v: &Value| v.as_u64().unwrap();
    assert_eq!(
        (storm["port"].as_str(), n(&storm["queue"]), n(&storm["detected"])),
        (Some("20"), 3, 1),
        "{storm}"
    );
    let (all, last) = (&storm["all"], &storm["last"]);
    assert_eq!(n(&all["tx_drop"]), n(&s["drops"]["pfc_watchdog"]), "{storm}");
    assert_eq!(n(&all["tx_ok"]) + n(&all["tx_drop"]), 40, "{storm}");
    assert!(n(&last["tx_drop"]) == n(&all["tx_drop"]) && n(&last["tx_ok"]) <= n(&all["tx_ok"]), "{storm}");
    let ports = s["buffer"]["ports"].as_array().unwrap();
    let port = |name: &str| ports.iter().find(|p| p["port"] == name).unwrap();
    assert!(n(&port("0")["ingress"]["user"]) > 0 && n(&port("20")["egress"]["user"]) > 0);
    assert!(ok(&args).contains("TX LAST OK/DROP"));
}

#[test]
fn what_is_refused() {
    let dir = folder("refused");
    let (code, err) = refused(&["replay", "l3-ecmp", "--buffer", "nothing"]);
    assert!(code == 2 && err.contains("td2, td3, th, th2, th3, th5, tofino, tofino2, voq"), "{err}");
    let far = profile(dir.path(), "tofino2", &[("pfc_enable", "cable = \"40km\"\npfc_enable")]);
    let (code, err) = refused(&["replay", "l3-ecmp", "--buffer", text(&far)]);
    assert!(
        code == 2 && err.contains("310231 cells is more than `skid_pool`") && err.contains("the sums:"),
        "{err}"
    );
    let (code, err) = refused(&["replay", "l3-ecmp", "--buffer", "th"]);
    assert!(code == 2 && err.contains("no entry for 400Gbps and 5m"), "{err}");
    for conflict in ["--functional", "--queue-limit=9"] {
        assert_eq!(refused(&["replay", "l3-ecmp", "--buffer", "chip", conflict]).0, 2, "{conflict}");
    }
    let broken = dir.path().join("broken.toml");
    std::fs::write(&broken, "name = 3\n").unwrap();
    let (code, err) = refused(&["replay", "l3-ecmp", "--buffer", text(&broken)]);
    assert!(code == 2 && err.contains("broken.toml:1:"), "{err}");
}

#[test]
fn headroom_is_added_up() {
    let args = ["explain", "headroom", "--speed", "100G", "--cable", "300m"];
    let out = ok(&args);
    for part in ["37879", "25216", "394 quanta", "9216", "81527"] {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    let s = json(&[&["--json"][..], &args, &["--method", "barefoot", "--small-packets", "100"]].concat());
    assert_eq!((s["xoff_bytes"].as_u64(), s["waste_millionths"].as_u64()), (Some(199_680), Some(2_750_000)));
    assert_eq!((s["xon_bytes"].as_u64(), s["size_bytes"].as_u64()), (Some(69_632), Some(69_632)));
    // SONiC's table of Spectrum-4 (ACS-SN5600): 800G over 40 m, small packets alone, eight lanes.
    let sn5600 =
        ["--method", "nvidia", "--cell", "192B", "--mtu", "9216B", "--small-packets", "100", "--eight-lanes"];
    let s4 = json(
        &[&["--json", "explain", "headroom", "--speed", "800G", "--cable", "40m"][..], &sn5600].concat(),
    );
    assert_eq!((s4["xoff_bytes"].as_u64(), s4["xon_bytes"].as_u64()), (Some(362_496), Some(38_912)));
    let terms: u64 = s["terms"].as_array().unwrap().iter().map(|t| t["bytes"].as_u64().unwrap()).sum();
    assert_eq!(terms, s["wire_bytes"].as_u64().unwrap());
    let (code, err) = refused(&["explain", "headroom", "--speed", "100G"]);
    assert!(code == 2 && err.contains("--cable"), "{err}");
    let (code, err) = refused(&["explain", "ndr", "--speed", "100G"]);
    assert!(code == 2 && err.contains("explain headroom"), "{err}");
    assert!(ok(&["explain", "headroom"]).contains("--cable 300m"));
    assert!(ok(&["explain", "D17"]).contains("multicast"));
    assert!(ok(&["explain", "headroom_pool"]).contains("oversubscription"));
}

#[test]
fn the_chips_own_profile_fits_ports_of_every_speed() {
    for (chip, speeds) in [
        ("tofino", &["100G", "50G", "40G", "25G", "10G"][..]),
        ("tofino2", &["400G", "200G", "100G", "50G", "25G", "10G"][..]),
    ] {
        for speed in speeds {
            let args = [
                "replay",
                "l3-ecmp",
                "--chip",
                chip,
                "--port-speed",
                speed,
                "--buffer",
                "chip",
                "--limit",
                "1",
            ];
            let found = sluice(&args);
            let said = String::from_utf8(found.stderr).unwrap();
            assert!(found.status.success(), "{chip} {speed}: {said}");
        }
    }
}

#[test]
fn a_profile_with_queues_that_the_program_does_not_have_for_classes_is_refused() {
    let (code, error) =
        refused(&["replay", "conweave", "--buffer", "tofino2", "-i", "0@none.pcap", "-o", "none"]);
    assert_eq!(code, 2, "{error}");
    for part in [
        "traffic class 3 into queue 3",
        "table `class` of program `conweave` has queues 0 to 1",
        "give `maps.tc_to_queue` queues up to 1, for example `\"3\" = 1`",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

/// A packet is marked by one curve: a profile that marks takes the place of the program's own marking.
#[test]
fn a_profile_that_marks_leaves_marking_tables_empty() {
    let dir = folder("marking");
    let marks =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../fabric/contests/rdma-9mb.toml"))
            .unwrap();
    let (without, _) = marks.split_once("[[ecn]]").unwrap();
    let profiles = [("marks.toml", marks.clone()), ("plain.toml", without.replace("ecn = \"dcqcn\"\n", ""))];
    for (name, text) in &profiles {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let out = dir.path().join("out");
    let entries = |program: &str, buffer: &[&str]| {
        ok(&[&["replay", program, "-o", text(&out)], buffer].concat());
        let entries = std::fs::read_to_string(out.join("entries.toml")).unwrap();
        entries.matches("set_probability").count()
    };
    for program in ["conweave", "conweave-spine"] {
        let own = entries(program, &[]);
        assert!(own > 0, "{program} marks");
        for (profile, expected) in [("marks.toml", 0), ("plain.toml", own)] {
            let path = dir.path().join(profile);
            assert_eq!(entries(program, &["--buffer", text(&path)]), expected, "{program} {profile}");
        }
    }
}

/// Marks of the device are no violation of what a program promises.
#[test]
fn marks_by_a_buffer_profile_are_no_violation() {
    let dir = folder("marks");
    let trace = dir.path().join("ect.pcap");
    ok(&[
        "gen",
        "udp",
        "--packets",
        "3000",
        "--size",
        "1500",
        "--ecn",
        "2",
        "--dscp",
        "3",
        "--dst",
        "10.1.0.5/32",
        "--rate",
        "400G",
        "-o",
        text(&trace),
    ]);
    let [a, b] = [0, 1].map(|port| format!("{port}@{}", text(&trace)));
    for program in ["l3-ecmp", "ecmp", "wcmp", "letflow"] {
        let summary = json(&["replay", program, "--buffer", "chip", "-i", &a, "-i", &b, "--check", "--json"]);
        let queues = summary["buffer"]["queues"].as_array().unwrap();
        let marked: u64 = queues.iter().map(|queue| queue["ecn_marked"].as_u64().unwrap()).sum();
        assert!(marked > 0, "{program}: nothing was marked, so nothing was shown");
        assert_eq!(summary["violations"].as_array().map(Vec::len), Some(0), "{program}");
    }
}

/// The headroom that `explain headroom` recommends is enough in the device, for frames that fill their cells badly and for those that fill them well.
#[test]
fn the_recommended_headroom_loses_no_frame_of_any_length() {
    let dir = folder("headroom");
    let found =
        json(&["--json", "explain", "headroom", "--speed", "100G", "--cable", "300m", "--memory", "th"]);
    let xoff = found["xoff_bytes"].as_u64().unwrap();
    // model: buffer §1.10: 72,311 B of the line are 861 frames of 64 B, and one more has begun.
    assert_eq!(xoff, 862 * 208);
    let path = dir.path().join("s.toml");
    let drops = |xoff: u64, size: u64| {
        let scenario = format!(
            "[[scenario]]\nid = \"x\"\nsource = \"here\"\ntitle = \"headroom\"\n\
             device = {{ profiles = [\"voq\"], ports = 2, speed = \"100G\", override = {{ cell = \"208B\", cable = \"300m\", pool = [{{ name = \"ingress_pool\", size = \"2000000B\" }}, {{ name = \"egress_lossy_pool\", size = \"2000000B\" }}], \
             profile = [{{ name = \"lossless\", xoff = \"{xoff}B\" }}] }} }}\n\
             steps = [{{ block = 1 }}, {{ start = {{ from = 0, to = 1, size = {size}, obeys = true, cable = \"300m\", lasts = \"5ms\" }} }}, \
             {{ wait = \"5ms\" }}, {{ expect = {{ what = \"pg.drops(0)\", is = 0 }} }}, \
             {{ expect = {{ what = \"pfc.tx_all > 0\", is = 1 }} }}]\n"
        );
        std::fs::write(&path, scenario).unwrap();
        let out = sluice(&["run", text(&path), "--json"]);
        let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        let checks = &value["scenarios"][0]["checks"];
        assert_eq!(checks[1]["actual"], "1", "the group paused its sender");
        checks[0]["actual"].as_str().unwrap().parse::<u64>().unwrap()
    };
    for size in [60, 206, 210, 1_500, 9_000] {
        assert_eq!(drops(xoff, size), 0, "{size}");
    }
    // What the formula of full cells says is not enough for the shortest frames, and neither is a sixth less than recommended.
    assert!(drops(81_527, 60) > 0 && drops(81_527, 210) > 0 && drops(xoff * 5 / 6, 60) > 0);
}
