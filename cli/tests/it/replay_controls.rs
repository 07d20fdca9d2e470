//! The controls of `sluice replay`: paces, loops, limits, addresses, the rate search, standard input, Ctrl-C.

use crate::support::*;
use serde_json::Value;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::wire::ipv4;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// A capture in a folder, as an input of a port.
fn input(dir: &Path, port: u16, name: &str, bytes: &[u8]) -> String {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    format!("{port}@{}", text(&path))
}

/// Sending times of the frames that come in by port 0, in ps: what the trace tells of their first bits.
fn times(args: &[&str]) -> Vec<u64> {
    let mut all = vec!["replay", "l3-ecmp", "--functional", "-o"];
    let dir = folder("times");
    let out = dir.path().join("out");
    all.push(text(&out));
    all.extend(args);
    ok(&all);
    read(&out.join("out.pcapng")).iter().map(|f| f.time.ps_since(ORIGIN).unwrap()).collect()
}

#[test]
fn paces_are_exact() {
    let dir = folder("paces");
    // 60 B take 84 B of wire, 1000 B take 1024 B.
    let trace = pcap(&[(0, udp(1, 60)), (300, udp(1, 1000)), (900, udp(1, 60)), (900, udp(1, 60))]);
    let i = input(dir.path(), 0, "t.pcap", &trace);
    for (args, expected) in [
        (&["--speed", "original"][..], [0, 300_000, 900_000, 900_000]),
        (&["--speed", "2.5x"], [0, 120_000, 360_000, 360_000]),
        (&["--multiplier", "0.5"], [0, 600_000, 1_800_000, 1_800_000]),
        (&["--speed", "1.5Mpps"], [0, 666_000, 1_333_000, 2_000_000]),
        (&["--pps", "1000000"], [0, 1_000_000, 2_000_000, 3_000_000]),
        (&["--speed", "40Gbps"], [0, 16_000, 221_000, 238_000]),
        (&["--mbps", "40000"], [0, 16_000, 221_000, 238_000]),
        (&["--speed", "line-rate"], [0, 1_000, 22_000, 23_000]),
        (&["--speed", "top"], [0, 1_000, 22_000, 23_000]),
        (&["--topspeed", "--port-speed", "100G"], [0, 6_000, 88_000, 95_000]),
    ] {
        // Captures have nanoseconds: rounded down.
        assert_eq!(times(&[&["-i", &i], args].concat()), expected, "{args:?}");
    }
}

#[test]
fn the_line_delays_what_does_not_fit_and_says_by_how_much() {
    let dir = folder("tight");
    let trace = pcap(&[(0, udp(1, 1000)), (0, udp(1, 1000)), (0, udp(1, 1000)), (1000, udp(1, 60))]);
    let i = input(dir.path(), 0, "t.pcap", &trace);
    let s = json(&["replay", "l3-ecmp", "-i", &i, "--json"]);
    let warnings = s["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    // 1024 B of wire at 400 Gb/s are 20.48 ns.
    let w = warnings[0].as_str().unwrap();
    for word in ["port 0: 2 of 4 packets", "400Gbps", "by 40.96ns at most", "0ps at the end"] {
        assert!(w.contains(word), "{word}: {w}");
    }
    let s = json(&["replay", "l3-ecmp", "-i", &i, "--speed", "0.02x", "--limit", "2", "--json"]);
    assert_eq!(s["warnings"].as_array().unwrap().len(), 1);
    let s = json(&["replay", "l3-ecmp", "-i", &i, "--speed", "100Gbps", "--json"]);
    assert!(s["warnings"].as_array().unwrap().is_empty(), "{}", s["warnings"]);
    let s = json(&["replay", "l3-ecmp", "-i", &i, "--speed", "800Gbps", "--json"]);
    assert!(s["warnings"][0].as_str().unwrap().contains("delayed"), "{}", s["warnings"]);
}

#[test]
fn loops_limits_and_durations() {
    let dir = folder("loops");
    let trace = pcap(&[(0, udp(1, 60)), (100, udp(2, 60))]);
    let i = input(dir.path(), 0, "t.pcap", &trace);
    // A loop begins when the last frame of the loop before is off the line; without time, at its timestamp.
    assert_eq!(times(&["-i", &i, "--loop", "3"]), [0, 100_000, 100_000, 200_000, 200_000, 300_000]);
    assert_eq!(times(&["-i", &i, "--loop", "0", "--limit", "3"]).len(), 3);
    assert_eq!(times(&["-i", &i, "--loop", "0", "--pps", "1000000", "--duration", "5us"]).len(), 6);
    assert_eq!(times(&["-i", &i, "--duration", "99ns"]), [0]);
    assert!(times(&["-i", &i, "--limit", "0"]).is_empty());
    let (code, stderr) = refused(&["replay", "l3-ecmp", "-i", &i, "--loop", "0"]);
    assert!(code == 2 && stderr.contains("--duration"), "{stderr}");
}

#[test]
fn several_ports_keep_their_own_pace() {
    let dir = folder("ports");
    let a = input(dir.path(), 0, "a.pcap", &pcap(&[(10, udp(1, 60)), (20, udp(1, 60))]));
    let b = input(dir.path(), 1, "b.pcap", &pcap(&[(0, udp(2, 60)), (15, udp(2, 60))]));
    assert_eq!(times(&["-i", &a, "-i", &b]), [0, 10_000, 15_000, 20_000]);
    // A rate is that of each port.
    assert_eq!(times(&["-i", &a, "-i", &b, "--pps", "1000000"]), [0, 0, 1_000_000, 1_000_000]);
    let s = json(&["replay", "l3-ecmp", "-i", &a, "-i", &b, "-i", &a, "--json"]);
    let inputs: Vec<_> = s["inputs"].as_array().unwrap().iter().map(|i| i["packets"].as_u64()).collect();
    assert_eq!(inputs, [Some(2), Some(2), Some(2)]);
    let rx = |p: &str| {
        let of = |q: &&Value| q["port"] == p;
        s["ports"].as_array().unwrap().iter().find(of).unwrap()["rx_packets"].as_u64().unwrap()
    };
    assert_eq!((rx("0"), rx("1")), (4, 2));
}

#[test]
fn every_loop_has_addresses_of_its_own() {
    let dir = folder("unique");
    let i = input(dir.path(), 0, "t.pcap", &pcap(&[(0, udp(1, 80))]));
    let addresses = |flag: &[&str]| -> Vec<(u32, u32)> {
        let out = dir.path().join("out");
        let args = ["replay", "l3-ecmp", "--functional", "-i", &i, "--loop", "3", "-o", text(&out)];
        ok(&[&args[..], flag].concat());
        let frames = read(&out.join("out.pcapng"));
        frames
            .iter()
            .map(|f| {
                // Frames to some neighbours have a VLAN tag.
                let at = if f.data[12..14] == [0x81, 0] { 18 } else { 14 };
                let ip = ipv4::View::new(&f.data[at..]).unwrap();
                assert!(ip.checksum_ok());
                (ip.source().into(), ip.destination().into())
            })
            .collect()
    };
    let (s, d) = (SOURCE, DESTINATION + 1);
    assert_eq!(addresses(&[]), [(s, d); 3]);
    assert_eq!(addresses(&["--unique-ip=src"]), [(s, d), (s + 1, d), (s + 2, d)]);
    assert_eq!(addresses(&["--loop-rewrite=dst"]), [(s, d), (s, d + 1), (s, d + 2)]);
    // The source address is above the destination address here, so it decreases.
    assert!(s > d);
    assert_eq!(addresses(&["--unique-ip"]), [(s, d), (s - 1, d + 1), (s - 2, d + 2)]);
}

#[test]
fn standard_input_is_an_input_like_others() {
    let trace = pcap(&[(0, udp(1, 60)), (100, udp(2, 60))]);
    let run = |args: &[&str], stdin: &[u8]| {
        let mut c = assert_cmd::Command::cargo_bin("sluice").unwrap();
        c.args(["replay", "l3-ecmp", "-i", "0@-"]).args(args).write_stdin(stdin.to_vec()).output().unwrap()
    };
    for bytes in [trace.clone(), gzip(&trace)] {
        let out = run(&["--json"], &bytes);
        let s: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(
            (s["packets"]["in"].as_u64(), s["inputs"][0]["file"].as_str()),
            (Some(2), Some("standard input"))
        );
    }
    for (args, word) in [
        (&["--loop", "2"][..], "--loop reads its inputs more than once"),
        (&["--find-ndr"], "--find-ndr reads its inputs more than once"),
        (&["-i", "1@-"], "more than one input is standard input"),
    ] {
        let out = run(args, &trace);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(2) && out.stdout.is_empty() && stderr.contains(word), "{stderr}");
    }
}

#[test]
fn compressed_captures_give_the_same_run() {
    let dir = folder("packed");
    let plain = sluice_pcaps::samples::L3_ECMP;
    let outs: Vec<Vec<u8>> = [("t.pcap", plain.to_vec()), ("t.pcap.gz", gzip(plain))]
        .into_iter()
        .map(|(name, bytes)| {
            let i = input(dir.path(), 0, name, &bytes);
            let out = dir.path().join("out");
            ok(&["replay", "l3-ecmp", "-i", &i, "-o", text(&out)]);
            std::fs::read(out.join("out.pcapng")).unwrap()
        })
        .collect();
    assert!(outs[0] == outs[1]);
}

/// Packets of 1000 B into a port of 400G that all leave by one of 100G, port 20 of the default entries.
fn bottleneck(dir: &Path, packets: u32) -> String {
    let frames: Vec<_> = (0..packets).map(|n| (n, udp(SLOW_PORT, 1000))).collect();
    input(dir, 0, "t.pcap", &pcap(&frames))
}

#[test]
fn the_highest_rate_without_loss_is_found() {
    let dir = folder("ndr");
    let i = bottleneck(dir.path(), 2_000);
    let out = dir.path().join("out");
    // A queue of a few packets absorbs nothing: the answer is the rate of the slower port.
    let args = ["replay", "l3-ecmp", "-i", &i, "--find-ndr", "--queue-limit", "24"];
    let s = json(&[&args[..], &["--ndr-resolution", "100Mbps", "--json", "-o", text(&out)]].concat());
    let ndr = &s["ndr"];
    let found = ndr["bps_per_port"].as_u64().unwrap();
    let failed = ndr["lowest_loss_bps_per_port"].as_u64().unwrap();
    assert!(found >= 99_900_000_000 && failed <= 100_300_000_000, "{found} {failed}");
    assert!(failed - found <= 100_000_000);
    // 1024 B of wire a packet.
    assert_eq!(ndr["pps"].as_u64().unwrap(), found / 8192);
    let trials = ndr["trials"].as_array().unwrap();
    for t in trials {
        let lost = t["lost"].as_u64().unwrap() > 0;
        assert_eq!(lost, t["bps_per_port"].as_u64().unwrap() > found, "{t}");
    }
    // The summary and the files are those of a run at the rate found.
    assert_eq!((s["packets"]["in"].as_u64(), s["packets"]["dropped"].as_u64()), (Some(2_000), Some(0)));
    assert_eq!(read(&out.join("out.pcapng")).len(), 2_000);
    let at = format!("{found}bps");
    let again = json(&["replay", "l3-ecmp", "-i", &i, "--queue-limit", "24", "--speed", &at, "--json"]);
    assert_eq!(again["packets"], s["packets"]);
    assert_eq!(again["latency_ns"], s["latency_ns"]);
}

#[test]
fn a_search_tells_its_limits() {
    let dir = folder("ndr2");
    let i = bottleneck(dir.path(), 200);
    // No loss at the line's own rate: no bisection.
    let s = json(&["replay", "l3-ecmp", "-i", &i, "--find-ndr", "--port", "20=400G", "--json"]);
    assert_eq!(s["ndr"]["bps_per_port"], 400_000_000_000u64);
    assert!(s["ndr"]["lowest_loss_bps_per_port"].is_null());
    assert_eq!(s["ndr"]["trials"].as_array().unwrap().len(), 2);
    // A filter's drops are no loss.
    let s = json(&["replay", "l3-ecmp", "--find-ndr", "--queue-limit", "100000", "--json"]);
    assert_eq!(s["ndr"]["drops_not_counted_as_loss"], 12);
    assert_eq!(s["ndr"]["bps_per_port"], 400_000_000_000u64);
    let text = ok(&["replay", "l3-ecmp", "--find-ndr"]);
    for word in ["highest rate without loss", "TRIAL", "may still have been filling"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    for other in [&["--functional"][..], &["--trace"], &["--pps", "5"]] {
        assert_eq!(refused(&[&["replay", "l3-ecmp", "--find-ndr"], other].concat()).0, 2);
    }
}

#[test]
fn a_pipe_sees_no_progress() {
    let dir = folder("quiet");
    let frames: Vec<_> = (0..60_000).map(|n| (n, udp(n, 60))).collect();
    let i = input(dir.path(), 0, "t.pcap", &pcap(&frames));
    let out = sluice(&["replay", "l3-ecmp", "-i", &i, "--functional", "--json"]);
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// Sends SIGINT to a running child.
#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_valid_files() {
    let dir = folder("int");
    let out = dir.path().join("out");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("sluice"))
        .args(["replay", "l3-ecmp", "--loop", "100000000", "--json", "-o", text(&out)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Interrupted only when it is under way: its capture is being written.
    while std::fs::read_dir(&out).map_or(true, |mut d| d.next().is_none()) {
        std::thread::yield_now();
    }
    interrupt(&child);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    let s: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(read(&out.join("out.pcapng")).len() as u64, s["packets"]["out"].as_u64().unwrap());
    for file in ["summary.json", "manifest.json"] {
        let bytes = std::fs::read(out.join(file)).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap();
    }
    // Nothing half-written is left.
    let names = std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|n| !n.starts_with('.')));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_wait_for_a_silent_pipe() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("sluice"))
        .args(["replay", "l3-ecmp", "-i", "0@-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: when the write returns, the run is reading.
    let frames: Vec<_> = (0..4_000).map(|n| (n, udp(n, 60))).collect();
    let bytes = pcap(&frames);
    stdin.write_all(&bytes).unwrap();
    interrupt(&child);
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let s: Value = serde_json::from_str(&stdout).unwrap();
    assert!(s["packets"]["in"].as_u64().unwrap() <= 4_000);
    drop(stdin);
}

#[test]
fn packets_are_commented_when_asked() {
    let dir = folder("comments");
    // Congestion experienced; the checksum changes with it.
    let mut marked = udp(1, 80);
    marked[15] = 3;
    marked[25] -= 3;
    let mut broken = udp(1, 80);
    broken[15] = 1;
    let trace = pcap(&[(0, marked), (50, broken), (100, udp(1, 80))]);
    let i = input(dir.path(), 0, "t.pcap", &trace);
    let (out, drops) = (dir.path().join("out"), dir.path().join("drops.pcapng"));
    ok(&["replay", "l3-ecmp", "-i", &i, "-o", text(&out), "--comments", "--drops", text(&drops)]);
    let comments = comments(&out.join("out.pcapng"));
    assert_eq!(comments.len(), 2, "{comments:?}");
    assert!(comments[0].starts_with("fate=out packet=0 path=0>"), "{comments:?}");
    assert!(
        comments[0].contains(".q0 latency=4") && comments[0].ends_with("queued=0ps ecn=CE"),
        "{comments:?}"
    );
    assert!(comments[1].ends_with("ecn=Not-ECT"));
    assert_eq!(
        crate::support::comments(&drops),
        ["fate=dropped reason=ipv4_checksum packet=1 path=0 record=2 of=t.pcap ecn=ECT(1)"]
    );
    assert_eq!(refused(&["replay", "l3-ecmp", "--comments"]).0, 2);
    let plain = dir.path().join("plain");
    ok(&["replay", "l3-ecmp", "-i", &i, "-o", text(&plain)]);
    assert!(crate::support::comments(&plain.join("out.pcapng")).is_empty());
}

#[test]
fn interfaces_say_what_they_are() {
    let dir = folder("interfaces");
    let out = dir.path().join("out");
    let s = json(&["replay", "l3-ecmp", "-o", text(&out), "--json"]);
    let bytes = std::fs::read(out.join("out.pcapng")).unwrap();
    let blocks = blocks(&bytes);
    let described: Vec<_> = blocks.iter().filter(|b| b.kind == 1).collect();
    let counted: Vec<_> = blocks.iter().filter(|b| b.kind == 5).collect();
    let used: Vec<_> =
        s["ports"].as_array().unwrap().iter().filter(|p| p["tx_packets"].as_u64() > Some(0)).collect();
    assert_eq!((described.len(), counted.len()), (used.len(), used.len()));
    for (port, (d, c)) in interfaces_in_order(&described, &counted) {
        let of = used.iter().find(|p| p["port"].as_str() == Some(&port));
        let of = of.unwrap_or_else(|| panic!("no port {port} in {used:?}"));
        assert_eq!(d.option(9), Some(&[9][..]), "if_tsresol");
        assert_eq!(d.option(8).unwrap(), of["speed_bps"].as_u64().unwrap().to_le_bytes(), "if_speed");
        assert_eq!(c.option(4).unwrap(), of["rx_packets"].as_u64().unwrap().to_le_bytes(), "isb_ifrecv");
        assert_eq!(c.option(8).unwrap(), of["tx_packets"].as_u64().unwrap().to_le_bytes(), "isb_usrdeliv");
        let dropped: u64 = s["queues"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|q| q["dev_port"] == of["dev_port"])
            .map(|q| q["dropped"].as_u64().unwrap())
            .sum();
        assert_eq!(c.option(5).unwrap(), dropped.to_le_bytes(), "isb_ifdrop");
    }
}

#[test]
fn time_is_that_of_the_capture() {
    let dir = folder("origin");
    let i = input(dir.path(), 0, "t.pcap", &pcap(&[(5, udp(1, 60))]));
    let out = dir.path().join("out");
    ok(&["replay", "l3-ecmp", "-i", &i, "--functional", "-o", text(&out)]);
    let expected = CaptureTime::from_ns(100_000_000_005);
    assert_eq!(read(&out.join("out.pcapng"))[0].time, expected);
}

#[test]
fn a_pipe_that_gets_more_than_a_packet_per_cycle_is_told_of() {
    let dir = folder("ceiling");
    let frames: Vec<(u32, Vec<u8>)> = (0..300).map(|n| (n, udp(1, 60))).collect();
    let trace = pcap(&frames);
    let inputs: Vec<String> =
        (0..8).map(|port| input(dir.path(), port, &format!("{port}.pcap"), &trace)).collect();
    let warned = |ports: usize| {
        let mut args = vec!["replay", "l3-ecmp", "--speed", "line-rate", "--json"];
        args.extend(inputs[..ports].iter().flat_map(|i| ["-i", i.as_str()]));
        json(&args)["warnings"].to_string()
    };
    // Eight ports of 400 Gb/s bring 4.8 packets per ns, a pipe takes 1.5.
    let all = warned(8);
    assert!(
        all.contains("pipe 0 took packets into ingress at its ceiling, one per cycle of 1.5GHz"),
        "{all}"
    );
    // Two bring 1.2.
    assert!(!warned(2).contains("ceiling"), "{}", warned(2));
}
