//! Networks that deadlock: five switches in a ring, and a flow from each over two links clockwise, all at line rate and
//! lossless. Shortest paths are enough for this: the way back has three links.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Switches 0 to 4, and host 5 + n at switch n. Each switch has its host at port 0. Links of the ring come after the hosts',
/// so switch 0 reaches switch 1 over port 1, and every other switch the next one over port 2.
const HOSTS: &str =
    "5 0 100Gbps 1us 0\n6 1 100Gbps 1us 0\n7 2 100Gbps 1us 0\n8 3 100Gbps 1us 0\n9 4 100Gbps 1us 0\n";
const RING: &str =
    "0 1 100Gbps 1us 0\n1 2 100Gbps 1us 0\n2 3 100Gbps 1us 0\n3 4 100Gbps 1us 0\n4 0 100Gbps 1us 0\n";
/// The queues that wait: each for the next switch's.
const CYCLE: &str = "s0:1 queue 0 -> s1:2 queue 0 -> s2:2 queue 0 -> s3:2 queue 0 -> s4:2 queue 0";

const CONFIG: &str = "PACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE ring.txt\nFLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 2.001\nCC_MODE 0\n\
    HAS_WIN 0\nACK_HIGH_PRIO 1\nKMAX_MAP 1 100000000000 1600\nKMIN_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\nBUFFER_SIZE 1\n";

const CONTEST: &str = r#"
id = "ring"
name = "five switches in a ring"
topology = "ring.txt"
buffer = "small.toml"
seeds = 1
expect = []

[workload]
flows = "flows.csv"
time = "10us"

[hosts]
cable = "1us"
recovery = "go-back-n"
congestion = "none"

[[program]]
name = "ecmp"
"#;

/// A folder with a ring, or with the ring without its last link, and flows of a megabyte.
fn folder(closed: bool) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let ring = if closed { RING } else { RING.strip_suffix("4 0 100Gbps 1us 0\n").unwrap() };
    let links = if closed { 10 } else { 9 };
    put("ring.txt", &format!("10 5 {links}\n0 1 2 3 4\n{HOSTS}{ring}"));
    let pairs = [(5, 7), (6, 8), (7, 9), (8, 5), (9, 6)];
    let ns3 = pairs.map(|(from, to)| format!("{from} {to} 3 100 1000000 2\n"));
    put("flow.txt", &format!("5\n{}", ns3.concat()));
    let list = pairs.map(|(from, to)| format!("h{from},h{to},1000000,0\n"));
    put("flows.csv", &format!("from,to,bytes,start\n{}", list.concat()));
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests/rdma-9mb.toml");
    let profile = fs::read_to_string(profile).unwrap();
    let small =
        profile.replace("\"7040000B\"", "\"880000B\"").replace("size = \"2097152B\"", "size = \"880000B\"");
    put("small.toml", &small);
    put("config.txt", CONFIG);
    put("ring.toml", CONTEST);
    dir
}

/// Exit code and standard output of `sluice run`.
fn run(dir: &Path, args: &[&str]) -> (i32, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_sluice")).current_dir(dir).arg("run").args(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_contest_that_deadlocks_names_the_ports_and_fails() {
    let dir = folder(true);
    let (code, text) = run(dir.path(), &["ring.toml"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(&format!("\necmp: DEADLOCK, seed 1: {CYCLE} wait for each other\n")), "{text}");
    assert!(text.contains("ecmp: UNFINISHED 5\n"), "{text}");
    // Who expects it is not told of a failure.
    let expected = CONTEST.replace("expect = []", "expect = [\"ecmp.deadlocks == 1\"]");
    fs::write(dir.path().join("ring.toml"), expected).unwrap();
    let (code, text) = run(dir.path(), &["ring.toml", "--json"]);
    assert_eq!(code, 0, "{text}");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let blocked = &value["contests"][0]["programs"][0]["deadlocks"];
    assert_eq!(blocked, &serde_json::json!([{ "seed": 1, "cycle": CYCLE }]));
}

#[test]
fn a_config_that_deadlocks_names_the_ports_writes_its_files_and_fails() {
    let dir = folder(true);
    let (code, text) = run(dir.path(), &["config.txt"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("  0 flows complete at 2.00"), "{text}");
    assert!(
        text.contains(&format!("\n  5 flows are not complete\n  DEADLOCK: {CYCLE} wait for each other")),
        "{text}"
    );
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("fct.txt"), "");
    // The last frame to each switch pauses it, on the port towards the next one.
    let pfc = read("pfc.txt");
    for port in ["0 1 2", "1 1 3", "2 1 3", "3 1 3", "4 1 3"] {
        let last = pfc.lines().rfind(|row| row.split_once(' ').unwrap().1.starts_with(port)).unwrap();
        assert!(last.ends_with(" 1"), "{last}");
    }
}

#[test]
fn without_the_last_link_nothing_waits_for_ever() {
    let dir = folder(false);
    let (code, text) = run(dir.path(), &["config.txt"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("  5 flows complete at 2.00") && !text.contains("DEADLOCK"), "{text}");
    let (code, text) = run(dir.path(), &["ring.toml"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("DEADLOCK") && !text.contains("UNFINISHED 5"), "{text}");
}
