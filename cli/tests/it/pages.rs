//! `--html` and `--trace-out`: pages are complete and have the data, traces obey the published format and add up.

use crate::support::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// Makes a page and returns it.
fn page(args: &[&str]) -> String {
    let dir = folder("pages");
    let path = dir.path().join("page.html");
    let mut args = args.to_vec();
    args.extend(["--html", text(&path)]);
    let out = sluice(&args);
    let code = out.status.code().unwrap();
    assert!(code < 2, "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    std::fs::read_to_string(path).unwrap()
}

/// Asserts that a page is one file, with contents for each section, and that it has these words.
fn is_complete(page: &str, words: &[&str]) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    for loaded in [" src=", "<link", "@import", "url("] {
        assert!(!page.contains(loaded), "the page loads something: {loaded}");
    }
    let ids: Vec<&str> =
        page.split("<section id=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "addresses are unique: {ids:?}");
    for id in ids {
        assert!(page.contains(&format!("<a href=\"#{id}\">")), "the contents name {id}");
    }
    for word in words {
        assert!(page.contains(word), "`{word}` is on the page");
    }
}

#[test]
fn a_replay_has_a_page_with_its_numbers() {
    let html = page(&["replay", "pfc", "--buffer", "chip"]);
    let summary = json(&["--json", "replay", "pfc", "--buffer", "chip"]);
    is_complete(&html, &["pfc_taken", "Fullest queues", "it may not send", "ingress_lossless_pool"]);
    for port in summary["ports"].as_array().unwrap() {
        let cell = format!("<td>{}</td>", port["rx_bytes"]);
        assert!(html.contains(&cell), "{cell}");
    }
    // The plot of the memory has the watermark of the summary.
    let most = summary["pools"][0]["max_cells"].as_u64().unwrap();
    let plot = html.split_once("<figcaption>Memory and pools").unwrap().1;
    let data = plot.split("<script type=\"application/json\">").nth(1).unwrap();
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    let levels = data["lines"][0]["y"].as_array().unwrap();
    assert_eq!(levels.iter().filter_map(Value::as_u64).max(), Some(most));
    // Pauses of the queue are shaded.
    assert!(html.contains("\"h\":[["), "a queue is paused");
}

#[test]
fn a_network_has_a_page_with_a_story() {
    let args = ["replay", "conweave", "--topology", "two-tor", "--story", "10.0.0.1:49152-10.0.1.1"];
    let html = page(&args);
    is_complete(&html, &["Life of a flow", "leaf0", "spine0", "Where packets went"]);
    assert!(html.contains("<svg"), "the story is drawn");
}

#[test]
fn a_replay_without_time_has_a_page_without_levels() {
    let html = page(&["replay", "l3-ecmp", "--functional"]);
    is_complete(&html, &["acl_deny", "ipv4_route"]);
    assert!(!html.contains("Buffer over time"));
    let (code, message) = refused(&["replay", "l3-ecmp", "--timeline-every", "1us"]);
    assert_eq!(code, 2);
    assert!(message.contains("--timeline FILE or --html FILE"), "{message}");
}

#[test]
fn scenarios_have_a_page() {
    let html = page(&["run", "--filter", "8.1"]);
    let run = json(&["--json", "run", "--filter", "8.1"]);
    is_complete(&html, &["Every assertion", "8.1", "class=\"tag pass\""]);
    for check in run["scenarios"][0]["checks"].as_array().unwrap() {
        let what = check["what"].as_str().unwrap().replace('<', "&lt;").replace('>', "&gt;");
        assert!(html.contains(&what), "{what}");
    }
}

#[test]
fn a_hunt_has_a_page_with_the_programs_text() {
    let html = page(&["fuzz", "ecmp", "--cases", "4", "--jobs", "1"]);
    is_complete(&html, &["no property failed", "program ecmp;", "parser_states"]);
    // A line with points has their packets.
    let row = html.split("<tr").find(|row| row.contains("state parse_ipv4") || row.contains("state ipv4"));
    assert!(row.is_some_and(|row| row.contains("class=\"all\"")), "{row:?}");
    // The text of a program from a file is the file.
    let dir = folder("pages");
    let path = dir.path().join("own.sluice");
    let ir = ok(&["programs", "ecmp", "--ir"]).replacen("program ecmp;", "// my comment\nprogram ecmp;", 1);
    std::fs::write(&path, ir).unwrap();
    let html = page(&["fuzz", text(&path), "--cases", "2", "--jobs", "1"]);
    assert!(html.contains("// my comment"));
}

#[test]
fn reports_and_comparisons_have_pages() {
    let html = page(&["report", "l3-ecmp"]);
    is_complete(
        &html,
        &[
            "Why it is in this stage",
            "if (ipv4.isValid())",
            ">cycles</text>",
            "ipv6_route continues in stage 4",
        ],
    );
    // A box in each of its stages, 3 and 4.
    assert_eq!(html.matches(">ipv6_route</text>").count(), 2);
    let html = page(&["report", "l3-ecmp", "--compare", "ecmp"]);
    is_complete(&html, &["Quantities", "SRAM", "wire to wire, ns"]);
}

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
