//! The binary as users and scripts meet it: exit codes, JSON, files.

use crate::support::{folder, json, ok, refused, sluice, text};
use serde_json::Value;
use std::fs;

#[test]
fn no_arguments_show_something() {
    let out = ok(&[]);
    for word in ["7 of 20 stages", "803 in", "acl_deny", "queue_tail_drop", "ecmp", "conweave.p99", "next:"] {
        assert!(out.contains(word), "{word}:\n{out}");
    }
}

#[test]
fn the_summary_has_every_key_and_adds_up() {
    let s = json(&["--json"]);
    for key in [
        "schema",
        "program",
        "chip",
        "params",
        "seed",
        "inputs",
        "packets",
        "created",
        "drops",
        "absorbed",
        "held",
        "recirculated",
        "resubmitted",
        "latency_ns",
        "ports",
        "queues",
        "pools",
        "warnings",
        "violations",
        "wall",
    ] {
        assert!(s.get(key).is_some(), "{key}");
    }
    let p = |k: &str| s["packets"][k].as_u64().unwrap();
    assert_eq!(p("in") + p("created"), p("out") + p("dropped") + p("absorbed") + p("held"));
    assert_eq!((p("in"), p("held")), (803, 0));
    let drops: u64 = s["drops"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum();
    assert_eq!(drops, p("dropped"));
    let sent: u64 = s["ports"].as_array().unwrap().iter().map(|q| q["tx_packets"].as_u64().unwrap()).sum();
    assert_eq!(sent, p("out"));
}

#[test]
fn two_runs_and_both_engines_write_the_same_bytes() {
    let dir = folder("same");
    let runs: Vec<_> = ["a", "b", "c"].iter().map(|n| dir.path().join(n)).collect();
    for (run, engine) in runs.iter().zip(["fast", "fast", "reference"]) {
        ok(&["replay", "l3-ecmp", "-o", text(run), "--engine", engine]);
    }
    let mut names: Vec<_> = fs::read_dir(&runs[0]).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["entries.toml", "manifest.json", "out.pcapng", "report.json", "summary.json"]);
    for name in names {
        let bytes: Vec<Vec<u8>> = runs.iter().map(|r| fs::read(r.join(&name)).unwrap()).collect();
        assert!(bytes.windows(2).all(|w| w[0] == w[1]), "{name:?}");
    }
    let summary: Value = serde_json::from_slice(&fs::read(runs[0].join("summary.json")).unwrap()).unwrap();
    assert!(summary.get("wall").is_none());
}

#[test]
fn the_entries_in_force_can_be_given_back() {
    let dir = folder("entries");
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    ok(&["replay", "l3-ecmp", "-o", text(&first), "--functional"]);
    let entries = first.join("entries.toml");
    // The speed of port 20 belongs to the default set-up, not to the entries.
    let port = ["--port", "20=100G", "--entries", text(&entries)];
    ok(&[&["replay", "l3-ecmp", "-o", text(&second), "--functional"][..], &port].concat());
    assert_eq!(fs::read(first.join("out.pcapng")).unwrap(), fs::read(second.join("out.pcapng")).unwrap());
    assert_eq!(fs::read(&entries).unwrap(), fs::read(second.join("entries.toml")).unwrap());
    assert!(ok(&["entries", "l3-ecmp", "--check", text(&entries)]).contains("no mistakes"));
}

#[test]
fn functional_runs_have_no_latency_and_no_queue_drops() {
    let s = json(&["replay", "l3-ecmp", "--functional", "--json"]);
    assert!(s["latency_ns"].is_null());
    assert!(s["drops"].get("queue_tail_drop").is_none());
    assert_eq!(s["packets"]["out"], 791);
}

#[test]
fn limits_loops_and_queues_do_what_they_say() {
    assert_eq!(json(&["replay", "l3-ecmp", "--limit", "10", "--json"])["packets"]["in"], 10);
    assert_eq!(json(&["replay", "l3-ecmp", "--loop", "2", "--json"])["packets"]["in"], 1606);
    let deep = json(&["replay", "l3-ecmp", "--queue-limit", "100000", "--json"]);
    assert!(deep["drops"].get("queue_tail_drop").is_none());
    let slow = json(&["replay", "l3-ecmp", "--speed", "1Mpps", "--json"]);
    assert!(slow["drops"].get("queue_tail_drop").is_none());
    let seed = json(&["replay", "l3-ecmp", "--seed", "7", "--limit", "1", "--json"]);
    assert_eq!(seed["seed"], 7);
}

#[test]
fn the_trace_names_states_tables_entries_and_cycles() {
    let out = ok(&["replay", "l3-ecmp", "--trace", "--limit", "2"]);
    for word in [
        "parser entering state",
        "table 'ipv4_route'",
        "hit entry",
        "action",
        "cycles: parser",
        "enqueued at",
    ] {
        assert!(out.contains(word), "{word}:\n{out}");
    }
}

#[test]
fn bad_words_are_refused_with_place_and_remedy() {
    for (args, words) in [
        (&["replay", "l3-ecm"][..], &["l3-ecm", "l3-ecmp"][..]),
        (&["replay", "l3-ecmp", "--set", "ipv4_rutes=5"], &["ipv4_rutes", "did you mean `ipv4_routes`?"]),
        (&["replay", "l3-ecmp", "--set", "ipv4_routes=many"], &["`many`", "expected"]),
        (&["replay", "l3-ecmp", "--set", "ipv4_routes"], &["KEY=VALUE"]),
        (&["replay", "l3-ecmp", "-i", "77@x.pcap"], &["port 77", "0 to 31"]),
        (&["replay", "l3-ecmp", "-i", "x.pcap"], &["names no port", "PORT@FILE"]),
        (&["replay", "l3-ecmp", "-i", "0@no-such-file.pcap"], &["no-such-file.pcap", "check the path"]),
        (&["replay", "l3-ecmp", "--speed", "fast"], &["`fast`", "line-rate"]),
        (&["replay", "l3-ecmp", "--chip", "tofino9"], &["tofino9", "tofino2"]),
        (&["replay", "l3-ecmp", "--chip", "tofinoo"], &["did you mean `tofino2`"]),
        (&["replay", "l3-ecmp", "--limit", "ten"], &["expected a whole number such as 1000, 10k or 2M"]),
        (&["replay", "l3-ecmp", "--port-speed", "7G"], &["7Gbps", "400Gbps"]),
        (&["replay", "l3-ecmp", "--port", "20=300G"], &["300Gbps", "100Gbps"]),
        (&["explain", "nonsense"], &["nonsense", "lists all words"]),
        (&["report", "nothing"], &["nothing"]),
    ] {
        let (code, stderr) = refused(args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{args:?} lacks `{word}`:\n{stderr}");
        }
    }
}

#[test]
fn a_file_that_is_no_capture_leaves_nothing_behind() {
    let dir = folder("bad");
    let (file, out) = (dir.path().join("notes.pcap"), dir.path().join("out"));
    fs::write(&file, "this is no capture").unwrap();
    let (code, stderr) =
        refused(&["replay", "l3-ecmp", "-i", &format!("0@{}", text(&file)), "-o", text(&out)]);
    assert_eq!(code, 2);
    assert!(stderr.contains("not a capture") && stderr.contains("pcap"), "{stderr}");
    assert!(!out.exists());
}

#[test]
fn a_capture_cut_in_its_last_record_is_replayed_up_to_it() {
    let dir = folder("cut");
    let whole = sluice_pcaps::samples::L3_ECMP;
    let file = dir.path().join("cut.pcap");
    fs::write(&file, &whole[..whole.len() - 20]).unwrap();
    let input = format!("0@{}", text(&file));
    let s = json(&["replay", "l3-ecmp", "-i", &input, "--json"]);
    assert_eq!((s["packets"]["in"].as_u64(), s["inputs"][0]["truncated"].as_bool()), (Some(802), Some(true)));
    assert_eq!(
        s["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|w| w.as_str().unwrap().contains("ends inside"))
            .count(),
        1
    );
    let out = dir.path().join("out");
    let (code, stderr) = refused(&["replay", "l3-ecmp", "-i", &input, "--strict", "-o", text(&out)]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("record 803"), "{stderr}");
    let left = fs::read_dir(&out).map_or(0, Iterator::count);
    assert_eq!(left, 0, "half-written files");
}

#[test]
fn entries_that_do_not_match_are_all_named_with_their_lines() {
    let dir = folder("schema");
    let file = dir.path().join("bad.toml");
    let row = |key: &str, action: &str| {
        format!(
            "[[table.neighbor]]\nkey = {{ nexthop = {key} }}\naction = \"{action}\"\nargs = {{ dst_mac = \
             \"02:00:00:00:00:09\", src_mac = \"02:00:00:00:00:01\", port = 8, vid = 1 }}\n"
        )
    };
    let table = "[[table.ipv4_rout]]\nkey = { vrf = 0 }\naction = \"x\"\n";
    // Names are looked up first, then values are tried; each list is complete.
    for (text, words) in [
        (
            format!("{table}{}", row("7", "rewrit")),
            &["bad.toml:1", "`ipv4_route`", "bad.toml:6", "`rewrite`", "2 mistake"][..],
        ),
        (
            format!("{}{}{}", row("70000", "rewrite"), row("7", "rewrite"), row("7", "rewrite")),
            &["bad.toml:1", "0x11170", "16 bits", "bad.toml:9", "2 mistake"],
        ),
    ] {
        fs::write(&file, text).unwrap();
        let (code, stderr) = refused(&["replay", "l3-ecmp", "--entries", file.to_str().unwrap()]);
        assert_eq!(code, 2);
        for word in words {
            assert!(stderr.contains(word), "lacks `{word}`:\n{stderr}");
        }
    }
}

#[test]
fn a_program_that_does_not_fit_says_why_and_exits_1() {
    let out = sluice(&["report", "l3-ecmp", "--set", "ipv4_routes=400000", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["fits"], false);
    assert!(report["reason"].as_str().unwrap().contains("ipv4_route"), "{}", report["reason"]);
    let (code, stderr) = refused(&["replay", "l3-ecmp", "--set", "ipv4_routes=400000"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("does not fit") && stderr.contains("TCAM"), "{stderr}");
}

#[test]
fn the_report_has_every_key_of_its_contract() {
    let r = json(&["report", "l3-ecmp", "--json"]);
    for key in [
        "schema",
        "program",
        "chip",
        "params",
        "fits",
        "reason",
        "stages_used",
        "latency",
        "resources",
        "tables",
        "phv",
        "parser",
        "assumptions",
    ] {
        assert!(r.get(key).is_some(), "{key}");
    }
    assert_eq!(r["schema"], "sluice.report/1");
    assert_eq!(r["resources"]["columns"].as_array().unwrap().len(), 20);
    assert!(r["latency"]["ingress"]["mau_cycles"].as_u64().unwrap() > 0);
}

#[test]
fn words_of_the_output_are_explained() {
    for word in
        ["queue_tail_drop", "acl_deny", "map_ram", "latency_ns", "l3-ecmp", "eg.enq_qdepth", "latency.mac_rx"]
    {
        assert!(ok(&["explain", word]).contains(word));
    }
    assert!(ok(&["programs"]).contains("l3-ecmp"));
    assert!(ok(&["programs", "l3-ecmp"]).contains("hash_algorithm"));
    assert!(ok(&["programs", "l3-ecmp", "--p4"]).contains("control"));
    assert!(ok(&["programs", "l3-ecmp", "--ir"]).contains("table ipv4_route"));
    assert!(ok(&["entries", "l3-ecmp", "--template"]).contains("ipv4_route"));
    for command in [&["programs", "--json"][..], &["explain", "--json"], &["entries", "l3-ecmp", "--json"]] {
        assert!(json(command).get("schema").is_some(), "{command:?}");
    }
}

#[test]
fn dead_packets_can_be_written_apart() {
    let dir = folder("drops");
    let file = dir.path().join("drops.pcapng");
    ok(&["replay", "l3-ecmp", "--drops", text(&file)]);
    let bytes = fs::read(&file).unwrap();
    let mut reader = sluice_pcaps::capture::CaptureReader::from_bytes(&bytes, "drops").unwrap();
    let mut count = 0;
    while reader.next_frame().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 84);
}
