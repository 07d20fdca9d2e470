//! INT over networks from the command line: generated traffic through every kind of topology, with INT and without.

use crate::support::*;
use serde_json::Value;
use sluice_pcaps::int::{Marks, Telemetry, decode};
use std::collections::BTreeSet;
use std::path::Path;

/// UDP and TCP packets to one address.
fn traffic(dir: &Path, to: &str) -> Vec<String> {
    let to = format!("{to}/32");
    let make = |kind: &str, count: &str| {
        let path = dir.join(format!("{kind}.pcapng"));
        let file = path.to_str().unwrap().to_owned();
        let flows = ["--flows", "10", "--size", "64..1400", "--link", "100G", "--dst", &to];
        ok(&[&["gen", kind, "--packets", count, "-o", &file], &flows[..]].concat());
        file
    };
    vec![make("udp", "120"), make("tcp", "80")]
}

fn summary(dir: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join("summary.json")).unwrap()).unwrap()
}

/// Frames without reports, sorted.
fn of_hosts(capture: &Path) -> Vec<Vec<u8>> {
    let is_report =
        |bytes: &[u8]| matches!(decode(bytes, &Marks::default()), Ok(Some(Telemetry::Reports(_))));
    let frames = read(capture).into_iter().map(|seen| seen.data);
    let mut frames: Vec<Vec<u8>> = frames.filter(|bytes| !is_report(bytes)).collect();
    frames.sort();
    frames
}

/// Sends traffic from a host of one switch to one of another, with INT on and off: the same packets reach the host, and
/// the reports name every switch of a path. Counts switches on a path.
fn tell(topology: &str, from: &str, to: (&str, &str), more: &[&str]) -> BTreeSet<usize> {
    let dir = folder("int");
    let files = traffic(dir.path(), to.1);
    let inputs: Vec<String> = files.iter().map(|file| format!("{from}:0@{file}")).collect();
    let run = |name: &str, watch: &str| {
        let out = dir.path().join(name);
        let mut args = vec!["replay", "int", "--topology", topology, "--set", watch, "-o", text(&out)];
        inputs.iter().for_each(|input| args.extend(["-i", input]));
        args.extend(more);
        ok(&args);
        out
    };
    let (on, off) = (run("on", "watch=all"), run("off", "watch=none"));
    let capture = format!("{}.pcapng", to.0);
    let (with, without) = (of_hosts(&on.join(&capture)), of_hosts(&off.join(&capture)));
    assert!(with == without, "{topology}: {} and {} packets", with.len(), without.len());
    let (s, plain) = (summary(&on), summary(&off));
    let mirrored = s["created"]["mirror"].as_u64().unwrap();
    assert_eq!((plain["created"]["mirror"].as_u64(), mirrored), (Some(0), with.len() as u64), "{topology}");
    let hops = dir.path().join("hops");
    let decoded = json(&["--json", "int", "decode", text(&on.join(&capture)), "-o", text(&hops)]);
    assert_eq!(decoded["reports"]["tracked"].as_u64(), Some(mirrored), "{decoded}");
    for file in ["hops.csv", "latency.svg", "queue.svg"] {
        assert!(hops.join(file).exists(), "{file}");
    }
    assert_eq!(hops.join("hops.parquet").exists(), cfg!(feature = "parquet"));
    // A row per hop: those of a record, and the nodes that they name.
    let csv = std::fs::read_to_string(hops.join("hops.csv")).unwrap();
    let column = |name: &str| csv.lines().next().unwrap().split(',').position(|c| c == name).unwrap();
    let (record, node) = (column("record"), column("node"));
    let mut paths: std::collections::BTreeMap<&str, BTreeSet<&str>> = std::collections::BTreeMap::new();
    for row in csv.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        assert!(paths.entry(cells[record]).or_default().insert(cells[node]), "{row}: a node twice");
    }
    paths.values().map(BTreeSet::len).collect()
}

#[test]
fn behind_the_sink_packets_are_those_of_the_same_path_without_int() {
    assert_eq!(tell("chain:switches=4,hosts=1", "s0", ("s3", "10.0.3.1"), &[]), BTreeSet::from([4]));
    let spread = "leaf-spine:leaves=2,spines=3,hosts=1";
    assert_eq!(tell(spread, "leaf0", ("leaf1", "10.0.1.1"), &["--threads", "2"]), BTreeSet::from([3]));
    let fat = "fat-tree:k=4,hosts=1";
    assert_eq!(tell(fat, "edge-0-0", ("edge-3-1", "10.0.7.1"), &["--threads", "2"]), BTreeSet::from([5]));
}

#[test]
fn an_ns3_file_is_a_network_as_any_other() {
    let dir = folder("files");
    let ns3 = dir.path().join("net.txt");
    let links = "0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 2us 0\n";
    std::fs::write(&ns3, format!("4 2 3\n2 3\n{links}")).unwrap();
    let found = tell(text(&ns3), "s2", ("s3", "11.0.1.1"), &["--port-speed", "100G"]);
    assert_eq!(found, BTreeSet::from([2]));
}

/// Two switches joined by one other, and by two others: the control plane takes the longer way when a cable is cut.
const CUT: &str = r#"
name = "cut"
switch = [
    { name = "a", hosts = 1 }, { name = "b", hosts = 1 },
    { name = "c", stage = 2 }, { name = "d", stage = 2 }, { name = "e", stage = 2 },
]
cable = [
    { between = ["a", "c"] }, { between = ["c", "b"] },
    { between = ["a", "d"] }, { between = ["d", "e"] }, { between = ["e", "b"] },
]
event = [
    { at = "3us", cable = ["a", "c"], set = "down" },
    { at = "4us", switch = "a", op = "table_modify ipv4_route ipv4_to 0 24" },
]
"#;

#[test]
fn int_tells_of_the_other_way_when_a_link_fails() {
    let dir = folder("cut");
    let net = dir.path().join("cut.toml");
    std::fs::write(&net, CUT).unwrap();
    let out = dir.path().join("out");
    let [udp, tcp] = <[String; 2]>::try_from(traffic(dir.path(), "10.0.1.1")).unwrap();
    let (udp, tcp) = (format!("a:0@{udp}"), format!("a:0@{tcp}"));
    ok(&["replay", "int", "--topology", text(&net), "-i", &udp, "-i", &tcp, "-o", text(&out)]);
    let s = summary(&out);
    let lost = s["drops"]["link_down"].as_u64().unwrap();
    assert!((1..60).contains(&lost), "{}", s["drops"]);
    let capture = out.join("b.pcapng");
    assert_eq!(of_hosts(&capture).len() as u64 + lost, 200);
    let hops = dir.path().join("hops");
    let decoded = json(&["--json", "int", "decode", text(&capture), "-o", text(&hops)]);
    let nodes: BTreeSet<u64> =
        decoded["ports"].as_array().unwrap().iter().filter_map(|p| p["node"].as_u64()).collect();
    assert_eq!(nodes, BTreeSet::from([1, 2, 3, 4, 5]), "{decoded}");
}

/// `--check` tests the properties of every switch, and arguments that a topology file overrides are named.
#[test]
fn properties_are_asked_at_every_switch_and_arguments_without_effect_are_named() {
    let dir = folder("asked");
    let [udp, _] = <[String; 2]>::try_from(traffic(dir.path(), "10.0.1.1")).unwrap();
    let input = format!("s0:0@{udp}");
    let chain = "chain:switches=2,hosts=1";
    let s = json(&["--json", "replay", "int", "--topology", chain, "-i", &input, "--check"]);
    assert_eq!(s["violations"].as_array().unwrap().len(), 0, "{}", s["violations"]);
    let net = dir.path().join("net.toml");
    let head = "name = \"n\"\nprogram = \"int\"\nport_speed = \"100G\"\n[params]\nnode_id = \"7\"\n";
    let body = "[[switch]]\nname = \"s0\"\nhosts = 2\n";
    std::fs::write(&net, format!("{head}{body}")).unwrap();
    let args =
        ["--json", "replay", "l3-ecmp", "--topology", text(&net), "-i", &input, "--port-speed", "400G"];
    let s = json(&args);
    let warnings = s["warnings"].to_string();
    assert!(warnings.contains("`l3-ecmp` has no effect: the topology's switches run `int`"), "{warnings}");
    assert!(warnings.contains("--port-speed 400Gbps has no effect"), "{warnings}");
}
