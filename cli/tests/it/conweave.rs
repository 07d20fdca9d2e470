//! `replay conweave --topology`: the life of a flow, and the control plane of hot flows.

use crate::support::*;
use serde_json::Value;

const FLOW: &str = "10.0.0.1:49152-10.0.1.1";

#[test]
fn the_embedded_trace_tells_the_life_of_a_flow() {
    let dir = folder("story");
    let out = dir.path().join("out");
    let replay = ["replay", "conweave", "--topology", "two-tor"];
    let story = ok(&[&replay[..], &["--story", FLOW, "-o", text(&out)]].concat());
    let first = story.lines().nth(2).unwrap();
    let names: Vec<&str> = first.split_whitespace().collect();
    assert_eq!((names[0], names[1]), ("10.0.0.1", "leaf0"), "{story}");
    assert_eq!(names[names.len() - 2..], ["leaf1", "10.0.1.1"]);
    // Messages of a move, in this order.
    let mut from = 0;
    for what in [
        "RTT_REQUEST 0, epoch 1",
        "RTT_REPLY, epoch 1: ends epoch 1",
        "REROUTED",
        "RTT_REPLY, epoch 2: is late",
        "queue 5 pauses",
        "a timer packet begins",
        "waits in queue 5",
        "TAIL",
        "queue 5 resumes",
        "from queue 5",
        "the timer packet ends after",
        "it pauses for its next owner",
        "CLEAR, epoch 2: ends epoch 2",
        "RTT_REQUEST 162, epoch 3",
    ] {
        let at = story[from..].find(what).unwrap_or_else(|| panic!("no `{what}` behind {from} in\n{story}"));
        from += at;
    }
    assert!(story.lines().count() < 60, "{story}");
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(read("story.txt"), story);
    let svg = read("story.svg");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.matches("<line").count() > 500 && svg.contains(">TAIL</text>"));
    let manifest = read("manifest.json");
    assert!(manifest.contains("story.svg") && manifest.contains("story.txt"));
    // Two threads tell the same; JSON stays JSON.
    let parallel = ok(&[&replay[..], &["--story", FLOW, "--threads", "2"]].concat());
    assert_eq!(parallel, story);
    let json = ok(&[&replay[..], &["--story", FLOW, "--json"]].concat());
    let summary: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(summary["story"][0], "flow 10.0.0.1:49152-10.0.1.1, times in us");
    assert_eq!(summary["control_plane"], Value::Null);
}

#[test]
fn a_flow_that_is_not_there_is_refused_with_those_that_are() {
    let replay = ["replay", "conweave", "--topology", "two-tor", "--story"];
    let (code, text) = refused(&[&replay[..], &["10.0.0.9:1-10.0.1.1"]].concat());
    assert_eq!(code, 2);
    assert!(text.contains("flows that came: 10.0.0.1:49152-10.0.1.1"), "{text}");
    let (code, text) = refused(&[&replay[..], &["10.0.0.1"]].concat());
    assert!(code == 2 && text.contains("10.0.0.1:49152-10.0.1.1"), "{text}");
    let (code, _) = refused(&["replay", "conweave", "--story", FLOW]);
    assert_eq!(code, 2);
}

#[test]
fn a_control_plane_installs_hot_flows() {
    let words = "--hot-flows=rows=2,after=2,latency=5us,interval=50ns";
    let replay = ["replay", "conweave", "--topology", "two-tor", "--set", "known=0", words, "--json"];
    let summary: Value = serde_json::from_str(&ok(&replay)).unwrap();
    let hot = &summary["control_plane"];
    assert_eq!((hot["rows"].as_u64(), hot["installed"].as_u64()), (Some(2), Some(2)), "{hot}");
    assert!(hot["refused"].as_u64() > Some(0), "three flows, two rows: {hot}");
    assert_eq!(hot["data"], 3 * 184);
    let (hits, missed) = (hot["hits"].as_u64().unwrap(), hot["digests"]["source"].as_u64().unwrap());
    assert!(hits > 100 && hits + missed == 3 * 184, "{hot}");
    let (code, text) = refused(&["replay", "conweave", "--topology", "two-tor", "--hot-flows=rows=5000"]);
    assert!(code == 2 && text.contains("raise --set flows"), "{text}");
    let (code, text) = refused(&["replay", "conweave", "--topology", "two-tor", "--hot-flows=row=5"]);
    assert!(code == 2 && text.contains("keys are rows, after"), "{text}");
    let (code, text) =
        refused(&["replay", "l3-ecmp", "--topology", "two-tor", "-i", "leaf0:0@-", "--hot-flows"]);
    assert!(
        code == 2
            && text.contains("no switch runs a program with a control plane")
            && text.contains("conweave"),
        "{text}"
    );
}

#[test]
fn one_switch_has_a_control_plane_too() {
    let words = "--hot-flows=rows=3,after=2,latency=1us,interval=10ns";
    let replay = ["replay", "conweave", "--set", "known=0", words];
    let text = ok(&replay);
    assert!(text.contains("hot flows: ") && text.contains(" of 3 rows in use"), "{text}");
    let summary: Value = serde_json::from_str(&ok(&[&replay[..], &["--json"]].concat())).unwrap();
    let hot = &summary["control_plane"];
    assert!(hot["installed"].as_u64() >= Some(1) && hot["operations"].as_u64() >= Some(19), "{hot}");
    let summary: Value = serde_json::from_str(&ok(&["replay", "conweave", "--json"])).unwrap();
    assert_eq!(summary["control_plane"], Value::Null);
    let (code, text) = refused(&["replay", "l3-ecmp", "--hot-flows"]);
    assert!(code == 2 && text.contains("`l3-ecmp` has no control plane"), "{text}");
    let (code, _) = refused(&["replay", "conweave", "--hot-flows", "--find-ndr"]);
    assert_eq!(code, 2);
}
