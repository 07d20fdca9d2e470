//! Contests of hosts with TCP and UDP, through the real binary.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Two programs between two leaves; the hosts have the transports that a test adds.
const SMALL: &str = r#"
id = "tcp"
name = "two leaves with TCP"
topology = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns"
port_speed = "100G"
seeds = [3]
alone = "own"
expect = ["ecmp.unfinished + letflow.unfinished == 0", "ecmp.nacks == 0"]

[workload]
sizes = "ali-storage"
load = 30
time = "60us"

[[program]]
name = "ecmp"

[[program]]
name = "letflow"
params = { timeout = "10us" }
"#;

fn run(hosts: &str, name: &str) -> (i32, String, Value) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("tcp.toml"), format!("{SMALL}\n[hosts]\ncable = \"500ns\"\n{hosts}\n"))
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .current_dir(dir.path())
        .args(["run", "tcp.toml", "-o", name])
        .output()
        .unwrap();
    let json = |path: &Path| serde_json::from_str(&fs::read_to_string(path).ok()?).ok();
    let found = json(&dir.path().join(name).join("contest.json")).unwrap_or_default();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), text, found)
}

/// Returns a number of a program.
fn number(results: &Value, program: usize, name: &str) -> f64 {
    let mean = &results["contests"][0]["programs"][program]["numbers"][name]["mean"];
    mean.as_f64().unwrap_or_else(|| panic!("{name}: {results:#}"))
}

#[test]
fn messages_of_tcp_are_acknowledged_and_counted() {
    for congestion in ["newreno", "cubic", "dctcp"] {
        let (code, text, results) =
            run(&format!("tcp = {{ congestion = \"{congestion}\", tso = 4 }}"), "out");
        assert_eq!(code, 0, "{text}");
        for program in 0..2 {
            assert!(number(&results, program, "messages") > 10.0);
            // No message is faster than alone, and the mean is below what a queue of thousands of packets would make.
            assert!((1_000.0..20_000.0).contains(&number(&results, program, "avg")), "{text}");
            assert!(number(&results, program, "acks") > 0.0);
        }
    }
}

#[test]
fn keys_that_do_nothing_are_refused() {
    let (code, text, _) = run("tcp = {}\nrecovery = \"go-back-n\"", "out");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("`recovery` is a key of RDMA and has no effect beside `tcp` or `udp`"), "{text}");
}

#[test]
fn a_message_whose_packets_are_all_lost_is_sent_again_before_the_run_ends() {
    let of = |drain: &str| {
        let cable = |spine: u8, at: &str, set: &str| {
            format!("[[schedule]]\nat = \"{at}\"\ncable = [\"leaf0\", \"spine{spine}\"]\nset = \"{set}\"\n")
        };
        let cables: String =
            [0, 1].map(|spine| cable(spine, "0us", "down") + &cable(spine, "20us", "up")).concat();
        let text = format!(
            "topology = \"leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns\"\nport_speed = \"100G\"\nseeds = [1]\n{drain}\n\
             [workload]\nflows = \"flows.txt\"\ntime = \"10us\"\n[hosts]\ncable = \"500ns\"\ntcp = {{}}\n[[program]]\nname = \"ecmp\"\n{cables}"
        );
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lost.toml"), text).unwrap();
        fs::write(dir.path().join("flows.txt"), "1\n0 2 3 5000 0.0 50000\n").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        let output = command.current_dir(dir.path()).args(["--json", "run", "lost.toml"]).output().unwrap();
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = Command::new(env!("CARGO_BIN_EXE_sluice"))
            .current_dir(dir.path())
            .args(["run", "lost.toml"])
            .output();
        (results, String::from_utf8(text.unwrap().stdout).unwrap())
    };
    // The SYN was lost, whose timer is `initial_rto`, 1 s. The run ends with the message, 40 ms of a delayed acknowledgement
    // later, and not after 2 s.
    let (results, text) = of("");
    assert_eq!(["unfinished", "timeouts"].map(|name| number(&results, 0, name)), [0.0, 1.0], "{text}");
    let ended = number(&results, 0, "simulated_ns");
    assert!((1.0e9..1.05e9).contains(&ended), "{ended}");
    let (results, text) = of("drain = \"50ms\"");
    assert_eq!(["unfinished", "timeouts"].map(|name| number(&results, 0, name)), [1.0, 0.0], "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let warning = "the run ends 50ms after the last start, before a retransmission timer of 1s can expire: raise `drain` above it, or \
                   lower tcp.initial_rto";
    assert!(words.contains(warning), "{text}");
}
