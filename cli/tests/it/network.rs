//! `replay --topology`: what is printed, written and refused.

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Packets to the first host of the `n`-th switch with hosts.
fn to_host(n: u32, flows: u16, count: u32, gap_ns: u32) -> Vec<(u32, Vec<u8>)> {
    let host = (0x0a00_0001 + (n << 8)).wrapping_sub(DESTINATION);
    let frame = |i: u32| {
        let mut bytes = udp(host, 100);
        bytes[34..36].copy_from_slice(&(1000 + i as u16 % flows).to_be_bytes());
        (i * gap_ns, bytes)
    };
    (0..count).map(frame).collect()
}

fn write(dir: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let name = |p: &Path| p.file_name().unwrap().to_str().unwrap().to_owned();
    let mut all: Vec<_> = entries.map(|p| (name(&p), std::fs::read(&p).unwrap())).collect();
    all.sort();
    all
}

/// A network of one switch with the default entries is a plain replay.
#[test]
fn one_switch_is_a_plain_replay() {
    let dir = folder("alone");
    let entries = write(dir.path(), "entries.toml", ok(&["entries", "l3-ecmp"]));
    let mut frames: Vec<(u32, Vec<u8>)> = (0..900)
        .map(|n| (n * 2, udp(if n % 4 == 0 { n } else { SLOW_PORT }, 64 + n as usize % 900)))
        .collect();
    // One dies in the parser, one is sent to nowhere.
    frames.push((1900, vec![8; 13]));
    frames.push((1901, udp(0, 64)[..20].to_vec()));
    let trace = write(dir.path(), "t.pcap", pcap(&frames));
    let net = "name = \"one\"\n[[switch]]\nname = \"s0\"\nentries = \"entries.toml\"\n";
    let net = write(dir.path(), "net.toml", net);
    let at = |name: &str| dir.path().join(name);
    let (plain, network) = (at("plain"), at("network"));
    let limits = ["--queue-limit", "40", "--seed", "3", "--comments", "--drops"];
    let run = |folder: &Path, drops: &Path, rest: &[&str], at: &str| {
        // Two ports together send more than the one that most packets leave by can take.
        let [five, six] = [5, 6].map(|port| format!("{at}{port}@{}", text(&trace)));
        let args = [&["replay", "l3-ecmp", "-o", text(folder)], &limits[..], &[text(drops)], rest].concat();
        ok(&[&args[..], &["-i", &five, "-i", &six]].concat());
        serde_json::from_slice::<Value>(&std::fs::read(folder.join("summary.json")).unwrap()).unwrap()
    };
    let a = run(&plain, &at("dead.pcapng"), &["--entries", text(&entries)], "");
    let b = run(&network, &at("dead2.pcapng"), &["--topology", text(&net)], "s0:");
    let bytes = |path: PathBuf| std::fs::read(path).unwrap();
    assert!(bytes(plain.join("out.pcapng")) == bytes(network.join("s0.pcapng")));
    assert!(bytes(at("dead.pcapng")) == bytes(at("dead2.s0.pcapng")));
    assert!(a["drops"]["queue_tail_drop"].as_u64().unwrap() > 10, "{}", a["drops"]);
    let mut own = b["switches"][0].clone();
    for (input, port) in ["5", "6"].into_iter().enumerate() {
        own["inputs"][input]["port"] = port.into();
    }
    own.as_object_mut().unwrap().remove("name");
    assert_eq!(own, a);
    // Over the network the same is counted.
    for key in [
        "packets",
        "drops",
        "absorbed",
        "created",
        "recirculated",
        "resubmitted",
        "latency_ns",
        "program",
        "chip",
    ] {
        assert_eq!(a[key], b[key], "{key}");
    }
    assert_eq!(b["ports"].as_array().unwrap().len(), a["ports"].as_array().unwrap().len());
}

#[test]
fn threads_do_not_matter_and_every_key_is_there() {
    let dir = folder("threads");
    let mut inputs: Vec<String> = Vec::new();
    for leaf in 0..4 {
        let frames = to_host((leaf + 1) % 4, 64, 500, 30);
        let path = write(dir.path(), &format!("t{leaf}.pcap"), pcap(&frames));
        inputs.extend(["-i".to_owned(), format!("leaf{leaf}:0@{}", text(&path))]);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let topology = "leaf-spine:leaves=4,spines=2,hosts=2,delay=300ns,rate=100G";
    let run = |folder: &Path, threads: &str| {
        let args =
            ["--json", "replay", "ecmp", "--topology", topology, "--threads", threads, "-o", text(folder)];
        json(&[&args[..], &inputs].concat())
    };
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let s = run(&one, "1");
    run(&two, "2");
    let (a, b) = (files(&one), files(&two));
    assert_eq!(
        a.iter().map(|f| f.0.as_str()).collect::<Vec<_>>(),
        b.iter().map(|f| f.0.as_str()).collect::<Vec<_>>()
    );
    for (a, b) in a.iter().zip(&b) {
        assert!(a == b, "{} differs", a.0);
    }
    // Leaves and spines share one program.
    assert_eq!(a.len(), 3 + 2 * 6);
    let p = |k: &str| s["packets"][k].as_u64().unwrap();
    assert_eq!((p("in"), p("out"), p("dropped"), p("held")), (2000, 2000, 0, 0));
    assert_eq!((s["switches"].as_array().unwrap().len(), s["links"].as_array().unwrap().len()), (6, 8));
    assert_eq!(s["hops"], 4000);
    let link = &s["links"][0];
    assert_eq!(
        (link["link"].as_str(), link["rate_bps"].as_u64()),
        (Some("leaf0:2-spine0:0"), Some(100_000_000_000))
    );
    assert_eq!((link["a"]["switch"].as_str(), link["b"]["port"].as_str()), (Some("leaf0"), Some("0")));
    assert_eq!(link["delay_ns"], 300.0);
    // Both spines are used, and what goes up comes down.
    let up: Vec<u64> =
        s["links"].as_array().unwrap().iter().map(|l| l["forth"]["carried"].as_u64().unwrap()).collect();
    assert!(up.iter().all(|n| *n > 50), "{up:?}");
    assert_eq!(up.iter().sum::<u64>(), 2000);
    // A single switch's summary has no key that a network's has not.
    let (alone, whole) = (s["switches"][0].as_object().unwrap(), s.as_object().unwrap());
    assert!(alone.keys().all(|k| k == "name" || whole.contains_key(k)));
    let edge: Vec<&str> =
        s["ports"].as_array().unwrap().iter().map(|p| p["switch"].as_str().unwrap()).collect();
    assert!(!edge.is_empty() && edge.iter().all(|s| s.starts_with("leaf")));
    // Frames on every port of each switch are in its capture.
    let sent = |switch: &str| read(&one.join(format!("{switch}.pcapng"))).len() as u64;
    for switch in s["switches"].as_array().unwrap() {
        assert_eq!(Some(sent(switch["name"].as_str().unwrap())), switch["packets"]["out"].as_u64());
    }
}

const FAULTY: &str = r#"
name = "pair"
program = "l3-ecmp"
[[switch]]
name = "a"
hosts = 1
[[switch]]
name = "b"
hosts = 1
[[cable]]
between = ["a", "b"]
loss = "0.1"
[[event]]
at = "20us"
cable = ["a", "b"]
set = "down"
[[event]]
at = "40us"
cable = ["a", "b"]
set = "up"
"#;

#[test]
fn what_dies_on_a_link_is_counted_and_captured_with_its_reason() {
    let dir = folder("faulty");
    let net = write(dir.path(), "pair.toml", FAULTY);
    let trace = write(dir.path(), "t.pcap", pcap(&to_host(1, 8, 600, 100)));
    let drops = dir.path().join("dead.pcapng");
    let input = format!("a:0@{}", text(&trace));
    let args =
        ["replay", "ecmp", "--topology", text(&net), "-i", &input, "--drops", text(&drops), "--seed", "5"];
    let printed = ok(&args);
    for words in ["link_down: the link was down", "link_loss: the link lost the frame", "a:1-b:1"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let s = json(&[&["--json"][..], &args].concat());
    let (down, lost) = (s["drops"]["link_down"].as_u64().unwrap(), s["drops"]["link_loss"].as_u64().unwrap());
    assert!((200..220).contains(&down) && (15..70).contains(&lost), "{down} {lost}");
    assert_eq!(s["packets"]["dropped"].as_u64(), Some(down + lost));
    assert_eq!(s["packets"]["out"].as_u64(), Some(600 - down - lost));
    assert_eq!(s["links"][0]["forth"]["drops"], s["drops"]);
    assert_eq!(read(&dir.path().join("dead.a.pcapng")).len() as u64, down + lost);
    assert_eq!(read(&dir.path().join("dead.b.pcapng")).len(), 0);
    // Another seed, other losses.
    let other = json(&[&["--json"][..], &args[..args.len() - 1], &["6"]].concat());
    assert_ne!(other["drops"]["link_loss"], s["drops"]["link_loss"]);
    for word in ["link_down", "link_loss", "fcs_error", "too_many_hops"] {
        assert!(ok(&["explain", word]).contains("drop reason"), "{word}");
    }
}

#[test]
fn an_ns3_file_is_a_topology() {
    let dir = folder("ns3");
    let net =
        write(dir.path(), "net.txt", "4 2 3\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 2us 0\n");
    // To host 1, 11.0.1.1.
    let host = 0x0b00_0101u32.wrapping_sub(DESTINATION);
    let trace = write(dir.path(), "t.pcap", pcap(&[(0, udp(host, 100))]));
    let input = format!("s2:0@{}", text(&trace));
    let s = json(&["--json", "replay", "l3-ecmp", "--topology", text(&net), "-i", &input]);
    assert_eq!((s["packets"]["out"].as_u64(), s["hops"].as_u64()), (Some(1), Some(1)));
    let least = s["latency_ns"]["min"].as_f64().unwrap();
    assert!((2500.0..4000.0).contains(&least), "{least}");
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let dir = folder("refused");
    let trace = write(dir.path(), "t.pcap", pcap(&to_host(1, 1, 1, 0)));
    let input = |port: &str| format!("{port}@{}", text(&trace));
    let error = |topology: &str, port: &str| {
        let (code, text) = refused(&["replay", "l3-ecmp", "--topology", topology, "-i", &input(port)]);
        assert_eq!(code, 2, "{text}");
        text
    };
    assert!(error("leaf-spin", "leaf0:0").contains("did you mean `leaf-spine`?"));
    assert!(
        error("chain:switches=2,size=3", "s0:0")
            .contains("chain: there is no key `size` (keys are switches, hosts, rate, uplink, delay)")
    );
    assert!(error("missing.toml", "s0:0").contains("cannot read missing.toml"));
    let unknown = error("chain", "s9:0");
    assert!(
        unknown.contains("there is no switch `s9`") && unknown.contains("switches are s0, s1, s2"),
        "{unknown}"
    );
    assert!(error("chain", "0").contains("`0` names no switch and port"));
    let linked = error("chain", "s0:1");
    assert!(
        linked.contains("port 1 of switch `s0` has a cable") && linked.contains("s0:0 (10.0.0.1)"),
        "{linked}"
    );
    assert!(error("chain", "s0:99").contains("switch `s0`: front-panel port 99"));
    assert!(error("chain:hosts=40", "s0:0").contains("switch `s0` needs 41 front-panel ports, but has 32"));
    let bad = write(dir.path(), "bad.toml", FAULTY.replace("set = \"up\"", "set = \"back\""));
    assert!(error(text(&bad), "a:0").contains("bad.toml:17: event 2 at 40us: `set` is `back`"));
    let (code, none) = refused(&["replay", "l3-ecmp", "--topology", "chain"]);
    assert_eq!(code, 2);
    assert!(
        none.contains("a network has no embedded sample") && none.contains("hosts are at s0:0 (10.0.0.1)"),
        "{none}"
    );
    let (code, _) = refused(&["replay", "l3-ecmp", "--threads", "2", "-i", &input("0")]);
    assert_eq!(code, 2);
    // No file remains.
    let out = dir.path().join("out");
    refused(&["replay", "l3-ecmp", "--topology", "chain", "-o", text(&out), "-i", "s0:0@missing.pcap"]);
    assert!(!out.exists() || files(&out).is_empty());
}

/// A program without entries for networks is warned of, and what it sends by ports without a cable, or to other hosts, is not delivered.
#[test]
fn a_program_that_knows_no_cables_delivers_nothing() {
    let dir = folder("uncabled");
    let trace = write(dir.path(), "t.pcap", pcap(&to_host(1, 10, 200, 5_000)));
    let input = format!("leaf0:0@{}", text(&trace));
    let run = |program: &str| {
        let run =
            ["replay", program, "--topology", "leaf-spine:leaves=2,spines=2,hosts=2", "-i", &input, "--json"];
        let summary = json(&run);
        let warnings = summary["warnings"].to_string();
        assert!(warnings.contains("has no entries for its place in a network"), "{program}: {warnings}");
        (summary, warnings)
    };
    for program in ["flare", "ecn-mark"] {
        let (summary, warnings) = run(program);
        assert_eq!(
            (&summary["packets"]["out"], &summary["drops"]["no_cable"]),
            (&0.into(), &200.into()),
            "{program}"
        );
        assert!(warnings.contains("has neither a cable nor a host (no_cable)"), "{program}: {warnings}");
    }
    // Its default entries send 10.0.0.0/8 to port 0, where the first host is.
    let (summary, warnings) = run("pfc");
    assert_eq!((&summary["packets"]["out"], &summary["drops"]["wrong_host"]), (&0.into(), &200.into()));
    let first =
        "leaf0 port 0 leads to 10.0.0.1 and got frames for other hosts, the first for 10.0.1.1 (wrong_host)";
    assert!(warnings.contains(first) && warnings.contains("200 frames are lost"), "{warnings}");
    // A program with entries for networks delivers all of them.
    let run =
        ["replay", "ecmp", "--topology", "leaf-spine:leaves=2,spines=2,hosts=2", "-i", &input, "--json"];
    assert_eq!(json(&run)["packets"]["out"], 200);
}
