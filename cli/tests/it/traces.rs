//! `--trace-out`: traces obey the published format and add up.

use crate::support::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// Events of a trace, and its metadata.
fn trace(args: &[&str], name: &str) -> (Vec<Value>, Value) {
    let dir = folder("traces");
    let path = dir.path().join(name);
    let mut args = args.to_vec();
    args.extend(["--trace-out", text(&path)]);
    ok(&args);
    let document: Value = serde_json::from_slice(&unpacked(&path)).unwrap();
    let events = document["traceEvents"].as_array().unwrap().clone();
    (events, document["otherData"].clone())
}

fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|extension| extension != "gz") {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
    plain
}

/// A time or a duration of an event, in ps.
fn ps(event: &Value, key: &str) -> u64 {
    let micros = event[key].as_f64().unwrap_or_else(|| panic!("{key} of {event}"));
    assert!(micros >= 0.0, "{event}");
    (micros * 1e6).round() as u64
}

/// Checks events against the published format: the keys that each phase needs, nesting of complete events on a thread, pairs of
/// asynchronous events, arrows from a start to an end, and a name for every thread in use.
fn obeys_the_format(events: &[Value]) {
    let mut named: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut processes: BTreeSet<u64> = BTreeSet::new();
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let mut open: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, Vec<(String, u64, u64, u64)>> = BTreeMap::new();
    for event in events {
        let phase = event["ph"].as_str().unwrap_or_else(|| panic!("{event}"));
        let (pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        assert!(event["name"].is_string(), "{event}");
        let key = || (event["cat"].as_str().unwrap().to_owned(), event["id"].as_str().unwrap().to_owned());
        match phase {
            "M" => {
                match event["name"].as_str().unwrap() {
                    "process_name" => {
                        assert!(event["args"]["name"].is_string());
                        processes.insert(pid);
                    }
                    "thread_name" => {
                        assert!(event["args"]["name"].is_string());
                        named.insert((pid, tid));
                    }
                    "process_sort_index" | "thread_sort_index" => {
                        assert!(event["args"]["sort_index"].is_u64())
                    }
                    other => panic!("{other}"),
                }
                assert!(event.get("ts").is_none());
            }
            "X" => slices.entry((pid, tid)).or_default().push((ps(event, "ts"), ps(event, "dur"))),
            "b" => assert_eq!(open.insert(key(), ps(event, "ts")), None, "begun twice: {event}"),
            "e" => {
                let from = open.remove(&key()).unwrap_or_else(|| panic!("not begun: {event}"));
                assert!(ps(event, "ts") >= from, "{event}");
            }
            "C" => {
                let values = event["args"].as_object().unwrap();
                assert!(!values.is_empty() && values.values().all(Value::is_number), "{event}");
                ps(event, "ts");
            }
            "s" | "t" | "f" => {
                assert!(phase == "s" || event["bp"] == "e", "{event}");
                let at = (phase.to_owned(), ps(event, "ts"), pid, tid);
                arrows.entry(event["id"].as_u64().unwrap()).or_default().push(at);
            }
            other => panic!("a phase that the format does not have here: {other}"),
        }
    }
    assert!(open.is_empty(), "not ended: {open:?}");
    for ((pid, tid), list) in &slices {
        assert!(named.contains(&(*pid, *tid)) && processes.contains(pid), "thread {tid} of {pid} has a name");
        // In order of begin, the longer one first, a slice ends within all that it began in.
        let mut list = list.clone();
        list.sort_by_key(|(from, length)| (*from, std::cmp::Reverse(*length)));
        let mut around: Vec<u64> = Vec::new();
        for (from, length) in list {
            while around.last().is_some_and(|end| *end <= from) {
                around.pop();
            }
            // Times are written to a picosecond.
            assert!(around.iter().all(|end| from + length <= end + 1), "thread {tid} of {pid} at {from} ps");
            around.push(from + length);
        }
    }
    for (id, list) in arrows {
        let phases: Vec<&str> = list.iter().map(|(phase, ..)| phase.as_str()).collect();
        assert!(phases[0] == "s" && phases[phases.len() - 1] == "f", "{id}: {phases:?}");
        assert!(phases[1..phases.len() - 1].iter().all(|phase| *phase == "t"));
        assert!(list.windows(2).all(|pair| pair[0].1 <= pair[1].1), "arrows of {id} go forward");
        for (_, at, pid, tid) in &list {
            let inside =
                slices[&(*pid, *tid)].iter().any(|(from, length)| (*from..=from + length).contains(at));
            assert!(inside, "an arrow of {id} begins in a slice");
        }
    }
}

/// Durations of the pairs of asynchronous events of a category, in ps.
fn pairs(events: &[Value], category: &str) -> Vec<u64> {
    let mut begun: BTreeMap<&str, u64> = BTreeMap::new();
    let mut list = Vec::new();
    for event in events.iter().filter(|event| event["cat"] == category) {
        let id = event["id"].as_str().unwrap();
        match event["ph"].as_str().unwrap() {
            "b" => {
                begun.insert(id, ps(event, "ts"));
            }
            _ => list.push(ps(event, "ts") - begun[id]),
        }
    }
    list
}

#[test]
fn a_trace_adds_up_to_the_counters() {
    let (events, facts) = trace(&["replay", "l3-ecmp"], "t.json");
    obeys_the_format(&events);
    let summary = json(&["--json", "replay", "l3-ecmp"]);
    let n = |value: &Value| value.as_u64().unwrap();
    let sum = |key: &str| summary["queues"].as_array().unwrap().iter().map(|q| n(&q[key])).sum::<u64>();
    // Every packet that entered a queue has left it.
    assert_eq!(facts["in_queues_at_the_end"], 0);
    assert_eq!(pairs(&events, "queue").len() as u64, sum("enqueued"));
    let of = |category: &str| events.iter().filter(|e| e["cat"] == category && e["ph"] == "X").count() as u64;
    assert_eq!(of("line"), n(&summary["packets"]["out"]));
    // Packets that were sent have the latencies of the summary.
    let sent: BTreeSet<&str> = events
        .iter()
        .filter(|e| e["cat"] == "packet" && e["args"]["sent_on"].is_string())
        .map(|e| e["id"].as_str().unwrap())
        .collect();
    assert_eq!(sent.len() as u64, n(&summary["packets"]["out"]));
    let of_sent: Vec<Value> =
        events.iter().filter(|e| e["id"].as_str().is_some_and(|id| sent.contains(id))).cloned().collect();
    let mut latencies = pairs(&of_sent, "packet");
    latencies.sort_unstable();
    let ends = [latencies[0], latencies[latencies.len() - 1]].map(|ps| ps as f64 / 1_000.0);
    assert_eq!(ends, ["min", "max"].map(|key| summary["latency_ns"][key].as_f64().unwrap()));
    // The reasons of the others are those of the summary.
    let mut dropped: BTreeMap<String, u64> = BTreeMap::new();
    for event in events.iter().filter(|e| e["cat"] == "packet" && e["ph"] == "b") {
        if let Some(reason) = event["args"]["dropped"].as_str() {
            *dropped.entry(reason.to_owned()).or_default() += 1;
        }
    }
    let known = summary["drops"].as_object().unwrap();
    assert_eq!(dropped, known.iter().map(|(reason, count)| (reason.clone(), n(count))).collect());
}

#[test]
fn a_pass_is_its_parts_and_a_packet_is_its_passes_and_waits() {
    let (events, _) = trace(&["replay", "l3-ecmp", "--limit", "1"], "t.json");
    let slices = |category: &str| -> u64 {
        let of = events.iter().filter(|e| e["cat"] == category && e["ph"] == "X");
        of.map(|e| ps(e, "dur")).sum()
    };
    // Parser, stages and deparser of both gresses fill the passes, to a rounding of each end.
    assert!(slices("pass").abs_diff(slices("part")) <= 8);
    let text = ok(&["replay", "l3-ecmp", "--limit", "1", "--trace"]);
    // The trace as text has the cycles of both passes: at 1.5 GHz, 2/3 ns each.
    let cycles: u64 = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("cycles: "))
        .map(|line| {
            let numbers = line.split(';').next().unwrap().split(|c: char| !c.is_ascii_digit());
            numbers.filter_map(|number| number.parse::<u64>().ok()).sum::<u64>()
        })
        .sum();
    assert!((cycles * 2_000 / 3).abs_diff(slices("pass")) <= 8, "{cycles} cycles, {} ps", slices("pass"));
}

#[test]
fn a_network_has_links_and_arrows_from_switch_to_switch() {
    let args = ["replay", "conweave", "--topology", "two-tor"];
    let (events, facts) = trace(&args, "t.json.gz");
    obeys_the_format(&events);
    let names: BTreeSet<&str> = events
        .iter()
        .filter(|e| e["name"] == "process_name")
        .map(|e| e["args"]["name"].as_str().unwrap())
        .collect();
    assert!(names.contains("leaf0") && names.contains("leaf1") && names.contains("links"), "{names:?}");
    let crossed = events.iter().filter(|e| e["ph"] == "t" || e["ph"] == "f");
    let switches: BTreeSet<u64> = crossed.map(|e| e["pid"].as_u64().unwrap()).collect();
    assert!(switches.len() > 2);
    assert_eq!(facts["left_out_packets"], 0);
    // Threads change nothing.
    let mut threads = args.to_vec();
    threads.extend(["--threads", "2"]);
    assert_eq!(trace(&threads, "t.json.gz").0, events);
}

#[test]
fn a_trace_is_sampled_as_it_says() {
    let args = ["replay", "l3-ecmp", "--trace-every", "10", "--trace-packets", "5"];
    let (events, facts) = trace(&args, "t.json");
    obeys_the_format(&events);
    let packets: BTreeSet<u64> = events.iter().filter_map(|e| e["args"]["packet"].as_u64()).collect();
    assert_eq!(packets, [0, 10, 20, 30, 40].into());
    assert_eq!((&facts["traced_packets"], &facts["every"]), (&5.into(), &10.into()));
    let all = facts["packets"].as_u64().unwrap();
    assert_eq!(facts["left_out_packets"], all - 5);
    let (code, message) = refused(&["replay", "l3-ecmp", "--trace-out", "t.txt"]);
    assert!(code == 2 && message.contains(".json.gz"), "{message}");
    assert_eq!(refused(&["replay", "l3-ecmp", "--trace-every", "2"]).0, 2);
}

/// A contest of two programs, whose messages are those of a list; `hosts` are further keys of its hosts.
fn contest(dir: &Path, hosts: &str) -> std::path::PathBuf {
    let toml = format!(
        r#"name = "traced"
topology = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns"
port_speed = "100G"
seeds = 1
[workload]
flows = "flows.csv"
time = "100us"
[hosts]
cable = "300ns"
{hosts}
[[program]]
name = "ecmp"
[[program]]
name = "letflow"
"#
    );
    let list =
        "src,dst,sport,bytes,start\n10.0.0.1,10.0.1.1,50000,10000,1us\n10.0.0.2,10.0.1.2,50000,5000,1us\n";
    std::fs::write(dir.join("flows.csv"), list).unwrap();
    std::fs::write(dir.join("contest.toml"), toml).unwrap();
    dir.join("contest.toml")
}

/// Begins and ends, in ps, of the events of a process with this name that `of` names, in order of time.
fn times(events: &[Value], process: &str, of: impl Fn(&Value) -> bool) -> Vec<(u64, u64)> {
    let named = |e: &&Value| e["name"] == "process_name" && e["args"]["name"] == process;
    let pid = &events.iter().find(named).unwrap_or_else(|| panic!("no process {process}"))["pid"];
    let own = events.iter().filter(|e| e["pid"] == *pid && e["ph"] == "X" && of(e));
    own.map(|e| (ps(e, "ts"), ps(e, "ts") + ps(e, "dur"))).collect()
}

#[test]
fn a_message_of_a_contest_is_traced_from_host_to_host() {
    let dir = folder("traces");
    let file = contest(dir.path(), "recovery = \"selective\"");
    let out = dir.path().join("out");
    let args = ["run", text(&file), "--watch-flow", "1", "-o", text(&out)];
    let (events, facts) = trace(&args, "t.json.gz");
    obeys_the_format(&events);
    for program in ["ecmp", "letflow"] {
        let host = |name: &str, what: &str| {
            let of = |e: &Value| e["cat"] == "host" && e["name"].as_str().unwrap().starts_with(what);
            times(&events, &format!("{program}: host {name}"), of)
        };
        // 10,000 bytes are ten packets of 1,000, each with 58 bytes of headers and 4 of FCS, at 80 ps a byte.
        let sent = host("10.0.0.1", "data");
        assert_eq!(sent.len(), 10);
        assert!(sent.iter().all(|(from, to)| to - from == 1_062 * 80), "{sent:?}");
        let received = host("10.0.1.1", "data");
        assert_eq!(received.len(), 10);
        // Between them are three switches, four cables and the time of the frame on the first three of them.
        let way = received[0].0 - sent[0].0;
        assert!(way > 2 * 300_000 + 2 * 500_000 + 3 * 1_062 * 80, "{way} ps");
        // A packet is answered after its last bit, and the message ends with the last bit of the last answer.
        let answers = host("10.0.1.1", "answer");
        assert_eq!(answers.len(), 10);
        assert!(answers.iter().zip(&received).all(|(answer, data)| answer.0 >= data.1));
        let last = host("10.0.0.1", "answer").last().unwrap().1;
        let message = |e: &&Value| e["cat"] == "message" && e["id"].as_str().unwrap().contains(program);
        let ends: Vec<u64> = events.iter().filter(message).map(|e| ps(e, "ts")).collect();
        assert_eq!(ends, [1_000_000, last]);
        // The frames of the other message are not there.
        assert!(events.iter().all(|e| e["args"]["name"] != format!("{program}: host 10.0.0.2")));
        // Each frame passes the leaves and one spine, twice each.
        let passes = ["leaf0", "leaf1", "spine0", "spine1"]
            .map(|switch| times(&events, &format!("{program}: {switch}"), |e| e["cat"] == "pass").len());
        assert_eq!((passes[0], passes[1], passes[2] + passes[3]), (40, 40, 40));
    }
    assert_eq!((&facts["packets"], &facts["message"]), (&40.into(), &1.into()));
    // Threads change nothing.
    let mut threads = args.to_vec();
    threads.extend(["--threads", "2"]);
    assert_eq!(trace(&threads, "t.json.gz").0, events);
    // Two packets with data and two answers of each program.
    let mut few = args.to_vec();
    few.extend(["--trace-packets", "2"]);
    let (events, facts) = trace(&few, "t.json");
    obeys_the_format(&events);
    assert_eq!((&facts["traced_packets"], &facts["left_out_packets"]), (&8.into(), &32.into()));
    let names: BTreeSet<&str> =
        events.iter().filter(|e| e["cat"] == "host").map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["answer 1", "answer 2", "data 1", "data 2"].into());
}

#[test]
fn segments_of_tcp_and_datagrams_are_traced() {
    let dir = folder("traces");
    let out = dir.path().join("out");
    let mut counts = Vec::new();
    for hosts in ["[hosts.tcp]\nmtu = 1500", "[hosts.udp]\nrate = \"50G\"\npayload = 1000"] {
        let file = contest(dir.path(), hosts);
        let args = ["run", text(&file), "--watch-flow", "10.0.0.1-10.0.1.1", "-o", text(&out)];
        let (events, _) = trace(&args, "t.json");
        obeys_the_format(&events);
        let count = |what: &str| {
            let of = |e: &Value| e["cat"] == "host" && e["name"].as_str().unwrap().starts_with(what);
            times(&events, "ecmp: host 10.0.1.1", of).len()
        };
        counts.push((count("data"), count("answer") > 0));
    }
    // 10,000 bytes in segments of 1,448 with timestamps, and in datagrams of 1,000.
    assert_eq!(counts, [(7, true), (10, false)]);
}

#[test]
fn a_trace_of_a_contest_needs_a_message() {
    let (code, text) = refused(&["run", "contest.toml", "--trace-out", "t.json"]);
    assert!(code == 2 && text.contains("--watch-flow 1"), "{text}");
}
