//! Flags of `replay` over `--topology`: what they mean for one switch, and for several.

use crate::support::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn write(dir: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn sample(name: &str) -> String {
    format!("{}/../pcaps/samples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Stands for a timeline as a table of each run's own.
const TABLE: &str = "TABLE";

/// The same replay of a switch alone and of a network of it, both into folders; what both say on stdout.
fn both(dir: &Path, program: &str, trace: &str, flags: &[&str]) -> [Value; 2] {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let entries = write(dir, "entries.toml", ok(&["entries", program]));
    let net = write(dir, "net.toml", "name = \"one\"\n[[switch]]\nname = \"s0\"\n");
    let common = [&["--json", "replay", program, "--entries", text(&entries)], flags].concat();
    let (inputs, out) = ([format!("0@{trace}"), format!("s0:0@{trace}")], [at("plain"), at("network")]);
    let alone = ["-i", &inputs[0], "--port", "20=25G", "-o", &out[0]];
    let network = ["-i", &inputs[1], "--port", "s0:20=25G", "--topology", text(&net), "-o", &out[1]];
    let tables = ["plain.csv", "network.csv"].map(|name| format!("--timeline={}", at(name)));
    let run = |own: &[&str], table: &str| {
        let flags = common.iter().chain(own).map(|flag| if *flag == TABLE { table } else { flag });
        json(&flags.collect::<Vec<_>>())
    };
    let [alone, mut network] = [run(&alone, &tables[0]), run(&network, &tables[1])];
    network["switches"][0].as_object_mut().unwrap().remove("name");
    network["switches"][0]["inputs"][0]["port"] = "0".into();
    [alone, network]
}

fn bytes(dir: &Path, name: &str) -> Vec<u8> {
    std::fs::read(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn lines(dir: &Path, name: &str) -> Vec<String> {
    String::from_utf8(bytes(dir, name)).unwrap().lines().map(str::to_owned).collect()
}

/// Both captures and summaries are the same.
fn assert_same(dir: &Path, [alone, network]: &[Value; 2]) {
    assert!(bytes(dir, "plain/out.pcapng") == bytes(dir, "network/s0.pcapng"));
    let mut alone = alone.clone();
    for key in ["wall", "ndr", "coverage"] {
        alone.as_object_mut().unwrap().remove(key);
    }
    for (key, value) in network["switches"][0].as_object().unwrap() {
        // Warnings of a rate search are in the summary of the network alone.
        if key != "warnings" {
            assert_eq!(value, &alone[key], "{key}");
        }
    }
    for key in ["packets", "latency_ns", "drops"] {
        assert_eq!(alone[key], network[key], "{key}");
    }
}

#[test]
fn one_switch_without_time_or_by_the_interpreter_is_a_plain_replay() {
    let dir = folder("flags");
    for flags in [&["--functional"][..], &["--engine", "reference", "--limit", "150"]] {
        assert_same(dir.path(), &both(dir.path(), "l3-ecmp", &sample("l3-ecmp.pcap"), flags));
    }
}

#[test]
fn senders_of_one_switch_obey_as_in_a_plain_replay_and_its_timeline_is_the_same() {
    let dir = folder("flags");
    let flags = ["--buffer", "chip", "--obey-pfc", "--cable", "40m"];
    let found = both(dir.path(), "pfc", &sample("pfc.pcap"), &flags);
    assert_same(dir.path(), &found);
    let senders = &found[1]["obey_pfc"]["ports"][0];
    assert_eq!((&senders["switch"], &senders["port"]), (&"s0".into(), &"0".into()));
    assert!(senders["held_back"].as_u64().unwrap() > 10, "{senders}");
    for every in [&[][..], &["--timeline-every", "1us"]] {
        for obey in [&[][..], &["--obey-pfc"]] {
            both(
                dir.path(),
                "pfc",
                &sample("pfc.pcap"),
                &[&["--buffer", "chip", TABLE], every, obey].concat(),
            );
            let (plain, network) = (lines(dir.path(), "plain.csv"), lines(dir.path(), "network.csv"));
            assert!(plain.len() > 100);
            let rows = network[1..].iter().map(|row| row.strip_prefix("s0,").unwrap());
            assert!(rows.eq(&plain[1..]), "{every:?} {obey:?}");
        }
    }
}

#[test]
fn one_switch_is_searched_covered_and_traced_as_in_a_plain_replay() {
    let dir = folder("flags");
    let trace = sample("l3-ecmp.pcap");
    let found = both(dir.path(), "l3-ecmp", &trace, &["--find-ndr", "--ndr-resolution", "20G"]);
    assert_same(dir.path(), &found);
    assert_eq!(found[0]["ndr"], found[1]["ndr"]);
    assert!(found[1]["ndr"]["trials"].as_array().unwrap().len() > 3);
    let found = both(dir.path(), "l3-ecmp", &trace, &["--coverage", "--limit", "200"]);
    assert_same(dir.path(), &found);
    assert_eq!(found[0]["coverage"], found[1]["coverage"][0]["shares"]);
    for kind in ["json", "txt", "html"] {
        let (plain, network) = (format!("plain/coverage.{kind}"), format!("network/s0.coverage.{kind}"));
        assert!(bytes(dir.path(), &plain) == bytes(dir.path(), &network), "{kind}");
    }
    for mode in [&["--trace", "--limit", "30"][..], &["--trace", "--limit", "30", "--functional"]] {
        assert_same(dir.path(), &both(dir.path(), "l3-ecmp", &trace, mode));
        let mut plain = lines(dir.path(), "plain/trace.txt");
        let network = lines(dir.path(), "network/trace.txt");
        let mut network: Vec<String> =
            network.iter().map(|line| line.strip_prefix("s0: ").unwrap_or(line).to_owned()).collect();
        assert!(plain.len() > 300);
        // Events are in order of time here, but not in the trace of a single switch.
        plain.sort();
        network.sort();
        assert_eq!(plain, network);
    }
}

/// Packets to the first host of the `n`-th switch with hosts.
fn to_host(n: u32, count: u32, gap_ns: u32, len: usize) -> Vec<(u32, Vec<u8>)> {
    let host = (0x0a00_0001 + (n << 8)).wrapping_sub(DESTINATION);
    let frame = |i: u32| {
        let mut bytes = udp(host, len);
        bytes[34..36].copy_from_slice(&(1000 + i as u16 % 32).to_be_bytes());
        (i * gap_ns, bytes)
    };
    (0..count).map(frame).collect()
}

const NET: &str = "leaf-spine:leaves=3,spines=2,hosts=1,delay=300ns";

/// The frames of a capture, sorted, whatever their times.
fn frames(path: &Path) -> Vec<Vec<u8>> {
    let mut frames: Vec<Vec<u8>> = read(path).into_iter().map(|f| f.data).collect();
    frames.sort();
    frames
}

#[test]
fn a_network_without_time_delivers_the_same_and_a_trace_follows_packets_over_it() {
    let dir = folder("functional");
    // From the last leaf to the first: against the order of switches.
    let trace = write(dir.path(), "t.pcap", pcap(&to_host(0, 200, 500, 120)));
    let input = format!("leaf2:0@{}", text(&trace));
    let run = |name: &str, more: &[&str]| {
        let out = dir.path().join(name);
        let args = ["--json", "replay", "ecmp", "--topology", NET, "-i", &input, "-o", text(&out)];
        json(&[&args[..], more].concat())
    };
    let (timed, timeless) = (run("timed", &[]), run("timeless", &["--functional", "--threads", "2"]));
    assert_eq!((&timeless["packets"], &timeless["hops"]), (&timed["packets"], &timed["hops"]));
    assert_eq!((timeless["packets"]["out"].as_u64(), &timeless["latency_ns"]), (Some(200), &Value::Null));
    for switch in ["leaf0", "leaf2", "spine0", "spine1"] {
        let of = |run: &str| frames(&dir.path().join(run).join(format!("{switch}.pcapng")));
        assert_eq!(of("timed"), of("timeless"), "{switch}");
    }
    let delivered = |run: &str| read(&dir.path().join(run).join("leaf0.pcapng"));
    // Without time all leave when they came in.
    assert!(
        delivered("timeless")
            .iter()
            .zip(0..)
            .all(|(f, n): (_, u64)| f.time.ps_since(ORIGIN) == Some(n * 500_000))
    );
    for mode in [&[][..], &["--functional"]] {
        run("traced", &[&["--trace", "--limit", "3"], mode].concat());
        let trace = lines(dir.path(), "traced/trace.txt");
        let about = |n: u32| {
            let said = trace.iter().filter(|l| l.contains(&format!(": packet {n}: ")));
            let switch =
                |l: &String| l.split(':').next().unwrap().trim_end_matches(char::is_numeric).to_owned();
            let mut places: Vec<String> = said.map(switch).collect();
            places.dedup();
            places
        };
        for n in 0..3 {
            assert_eq!(about(n), ["leaf", "spine", "leaf"], "packet {n}, {mode:?}: {trace:?}");
        }
        assert!(trace.iter().any(|l| l.starts_with("leaf0: packet 2: sent by port")));
    }
}

#[test]
fn entries_and_changes_are_for_the_switches_that_they_name() {
    let dir = folder("entries");
    let trace = write(dir.path(), "t.pcap", pcap(&to_host(1, 100, 1000, 100)));
    let input = format!("leaf0:0@{}", text(&trace));
    let base = ["--json", "replay", "ecmp", "--topology", NET, "-i", &input];
    let run = |more: &[&str]| json(&[&base[..], more].concat());
    let out = |s: &Value| s["packets"]["out"].as_u64().unwrap();
    assert_eq!(out(&run(&[])), 100);
    // At 50.5 us a leaf forgets where to send: nothing else does.
    let changes = write(
        dir.path(),
        "changes.txt",
        "# from here on\n@50500ns leaf0 table_delete ipv4_route 0\n\n@50500ns leaf0 table_delete ipv4_route 1 # too\n@50500ns leaf0 table_delete ipv4_route 2\n",
    );
    for more in [&[][..], &["--functional"], &["--engine", "reference"]] {
        let s = run(&[&["--changes", text(&changes)], more].concat());
        let dropped = |name: &str| {
            let mine = s["switches"].as_array().unwrap().iter().find(|v| v["name"] == name).unwrap().clone();
            mine["packets"]["dropped"].as_u64().unwrap()
        };
        assert_eq!(
            (out(&s), dropped("leaf0"), dropped("spine0") + dropped("leaf1")),
            (51, 49, 0),
            "{more:?}"
        );
    }
    // All of them: those on their way are lost at other switches.
    let every = write(
        dir.path(),
        "every.txt",
        (0..3).map(|n| format!("@50500ns * table_delete ipv4_route {n}\n")).collect::<String>(),
    );
    let s = run(&["--changes", text(&every)]);
    assert!(out(&s) < 51 && s["drops"]["no_route"].as_u64() > Some(49), "{}", s["drops"]);
    let (code, said) = {
        let bad = "@1us leaf7 table_delete ipv4_route 0\ntable_delete ipv4_route 0\n@1us spine0 table_delete ipv4_rote 0\n";
        let bad = write(dir.path(), "bad.txt", bad);
        refused(&[&base[..], &["--changes", text(&bad)]].concat())
    };
    assert_eq!(code, 2);
    for part in [
        "bad.txt:1",
        "there is no switch `leaf7`",
        "bad.txt:2",
        "bad.txt:3",
        "switch `spine0`",
        "did you mean `ipv4_route`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // A leaf whose entries are empty knows no way; the others keep those of their places.
    let empty = write(dir.path(), "empty.toml", "");
    let named = format!("leaf0={}", text(&empty));
    let s = run(&["--entries", &named]);
    assert_eq!((out(&s), s["drops"]["no_route"].as_u64()), (0, Some(100)));
    let s = run(&["--entries", &format!("leaf2={}", text(&empty))]);
    assert_eq!(out(&s), 100);
    assert_eq!(out(&run(&["--entries", text(&empty)])), 0);
    for (entries, said) in [
        (vec!["leaf9=x.toml"], "there is no switch `leaf9`"),
        (vec!["a.toml", "b.toml"], "a.toml is already given for all switches"),
        (vec![named.as_str(), named.as_str()], "switch `leaf0` already has a file"),
        (vec!["leaf0=missing.toml"], "switch `leaf0`: cannot read missing.toml"),
    ] {
        let flags: Vec<&str> = entries.iter().flat_map(|e| ["--entries", e]).collect();
        let (code, text) = refused(&[&base[..], &flags].concat());
        assert!(code == 2 && text.contains(said), "{said}: {text}");
    }
    let (code, said) = refused(&["replay", "ecmp", "--entries", "a.toml", "--entries", "b.toml"]);
    assert!(code == 2 && said.contains("--topology"), "{said}");
    // A port at the edge may be slower; one with a cable is the cable's business.
    let slow = run(&["--port", "leaf1:0=50G"]);
    let port = slow["ports"].as_array().unwrap().iter().find(|p| p["switch"] == "leaf1").unwrap();
    assert_eq!(port["speed_bps"], 50_000_000_000u64);
    let (code, said) = refused(&[&base[..], &["--port", "leaf1:1=50G"]].concat());
    assert!(code == 2 && said.contains("has a cable") && said.contains("`rate` in the topology"), "{said}");
}

/// Two leaves send to the host of the third.
fn incast(dir: &Path, gap_ns: u32) -> Vec<String> {
    let trace = write(dir, "t.pcap", pcap(&to_host(2, 600, gap_ns, 400)));
    ["leaf0", "leaf1"]
        .iter()
        .flat_map(|leaf| ["-i".to_owned(), format!("{leaf}:0@{}", text(&trace))])
        .collect()
}

#[test]
fn a_timeline_has_a_column_for_the_switch_and_a_drawing_for_each() {
    let dir = folder("timeline");
    let inputs = incast(dir.path(), 9);
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let at = |name: &str| dir.path().join(name);
    let run = |csv: &Path, more: &[&str]| {
        let svg = at("t.svg");
        let args = [
            "--json",
            "replay",
            "ecmp",
            "--topology",
            NET,
            "--buffer",
            "chip",
            "--timeline",
            text(csv),
            "--timeline",
        ];
        let mut s = json(&[&args[..], &[text(&svg)], &inputs, more].concat());
        s["wall"] = Value::Null;
        s
    };
    let (one, two, sampled) = (at("one.csv"), at("two.csv"), at("sampled.csv"));
    let s = run(&one, &[]);
    assert_eq!(run(&two, &["--threads", "2"]), s);
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap(), "threads do not matter");
    assert_eq!(run(&sampled, &["--timeline-every", "2us"]), s, "looking changes nothing");
    type Place = (String, String, String, String);
    let rows = |path: &Path| -> Vec<(u64, Place, u64)> {
        let text = std::fs::read_to_string(path).unwrap();
        let row = |line: &str| {
            let c: Vec<&str> = line.split(',').collect();
            let place = (c[0].to_owned(), c[2].to_owned(), c[3].to_owned(), c[4].to_owned());
            (c[1].parse().unwrap(), place, c[5].parse().unwrap())
        };
        text.lines().skip(1).map(row).collect()
    };
    let (every, sampled) = (rows(&one), rows(&sampled));
    assert!(every.windows(2).all(|w| w[0].0 <= w[1].0) && sampled.windows(2).all(|w| w[0].0 <= w[1].0));
    let last = |rows: &[(u64, Place, u64)]| -> BTreeMap<Place, u64> {
        rows.iter().map(|(_, place, cells)| (place.clone(), *cells)).collect()
    };
    // Places that held nothing at any sample have no row.
    let seen = last(&sampled);
    assert!(seen.len() > 10 && seen.iter().all(|(place, cells)| last(&every)[place] == *cells));
    assert!(last(&every).values().all(|cells| *cells == 0), "everything has left");
    // The queue to the host is the deepest, and as deep as the summary says.
    let (_, place, peak) = every.iter().filter(|r| r.1.1 == "queue").max_by_key(|r| r.2).unwrap();
    assert_eq!(place.0, "leaf2");
    let deepest = s["queues"].as_array().unwrap().iter().map(|q| q["max_cells"].as_u64().unwrap()).max();
    assert_eq!(Some(*peak), deepest);
    // A leaf that sends on what comes in never holds anything.
    assert!(!at("t.leaf0.svg").exists());
    for switch in ["leaf2", "spine0", "spine1"] {
        assert!(
            std::fs::read_to_string(at(&format!("t.{switch}.svg"))).unwrap().ends_with("</svg>\n"),
            "{switch}"
        );
    }
}

#[test]
fn the_highest_rate_without_loss_is_that_of_the_narrowest_place_and_coverage_is_of_all_switches() {
    let dir = folder("ndr");
    let inputs = incast(dir.path(), 100);
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let run =
        |more: &[&str]| json(&[&["--json", "replay", "ecmp", "--topology", NET], &inputs[..], more].concat());
    let s = run(&["--find-ndr", "--ndr-resolution", "10G", "--queue-limit", "60"]);
    let (rate, line) = (s["ndr"]["bps_per_port"].as_u64().unwrap(), s["ndr"]["line_bps"].as_u64().unwrap());
    assert_eq!((line, s["ndr"]["input_ports"].as_u64()), (400_000_000_000, Some(2)));
    // Two lines into one, and what its queue takes meanwhile.
    assert!((200_000_000_000..240_000_000_000).contains(&rate), "{rate}");
    assert_eq!((&s["packets"]["out"], &s["packets"]["dropped"]), (&1200.into(), &0.into()));
    let covered = run(&["--coverage", "--limit", "50"]);
    let all = covered["coverage"].as_array().unwrap();
    assert_eq!((all.len(), all[0]["switches"].as_array().unwrap().len()), (1, 5));
    let text =
        ok(&[&["replay", "ecmp", "--topology", NET, "--coverage", "--limit", "50"], &inputs[..]].concat());
    assert!(text.contains("at leaf0, leaf1, leaf2, spine0, spine1:"), "{text}");
    let (code, said) = refused(
        &[&["replay", "ecmp", "--topology", NET, "--coverage", "--engine", "reference"], &inputs[..]]
            .concat(),
    );
    assert!(code == 2 && said.contains("cannot count coverage"), "{said}");
}
