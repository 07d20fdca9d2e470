//! The network of the reference simulator: lone flows take the times that they take in ns-3.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Bytes of each flow, and its time in the reference simulator, ns (model: ns3-reference). The first six go over four
/// links, the others over two.
const REFERENCE: [(u64, f64); 12] = [
    (1, 8_028.0),
    (1_000, 8_348.0),
    (1_001, 8_352.0),
    (10_000, 9_095.0),
    (104_000, 16_897.0),
    (500_000, 49_765.0),
    (1, 4_014.0),
    (1_000, 4_174.0),
    (1_001, 4_178.0),
    (10_000, 4_921.0),
    (104_000, 12_723.0),
    (500_000, 45_591.0),
];

/// The same flows with HPCC: slower from the second round trip on, and with longer packets.
const WITH_HPCC: [f64; 12] = [
    8_056.0, 8_376.0, 8_383.0, 9_159.0, 17_365.0, 56_217.0, 4_028.0, 4_188.0, 4_195.0, 4_971.0, 13_423.0,
    50_013.0,
];

#[test]
fn lone_flows_take_the_times_of_the_reference_simulator() {
    // The simulator cuts every time to whole nanoseconds, up to 1 ns for each packet and link.
    lone_flows("lone-flows.toml", REFERENCE, 0.001);
}

#[test]
fn lone_flows_with_hpcc_take_the_times_of_the_reference_simulator() {
    // Records count in units of 512 bytes, so the longest flow's time depends on where in a unit the counters of the ports stand:
    // by checks/hpcc_lone_flow.py 54 to 59 us. It agrees because switches count as many bytes as the simulator's.
    lone_flows("lone-flows-hpcc.toml", std::array::from_fn(|n| (REFERENCE[n].0, WITH_HPCC[n])), 0.01);
}

/// Runs a contest, and compares the flows' times with these, to a share of each.
fn lone_flows(contest: &str, reference: [(u64, f64); 12], tolerance: f64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests/reference");
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .current_dir(folder)
        .args(["run", contest, "-o"])
        .arg(out.path().join("out"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = fs::read_to_string(out.path().join("out/messages.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let column = |name: &str| rows.headers().unwrap().iter().position(|n| n == name).unwrap();
    let [bytes, start, end] = ["bytes", "start_ps", "end_ps"].map(column);
    let rows: Vec<csv::StringRecord> = rows.into_records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), reference.len());
    for (row, (size, ns)) in rows.iter().zip(reference) {
        let number = |column: usize| row[column].parse::<u64>().unwrap();
        assert_eq!(number(bytes), size);
        let took = (number(end) - number(start)) as f64 / 1_000.0;
        assert!((took / ns - 1.0).abs() < tolerance, "{size} bytes: {took} ns, reference {ns} ns");
    }
}

/// ECMP and LetFlow between two leaves, with a timeout that is longer than the run.
const NO_FLOWLETS: &str = r#"
name = "flowlets that never end"
topology = "leaf-spine:leaves=2,spines=4,hosts=4,rate=100G,delay=500ns"
port_speed = "100G"
buffer = "rdma-66mb.toml"
alone = "own"
seeds = [SEED]

[workload]
sizes = "ali-storage"
load = 80
time = "100us"
between_switches = true
ports = 16384

[hosts]
cable = "500ns"
recovery = "go-back-n"
reaction = { form = "mellanox", line = "100G", one_by_g = 256, alpha_timer = "1us", rate_timer = "300us", stages = 1 }

[[program]]
name = "ecmp"

[[program]]
name = "letflow"
params = { timeout = "500ms" }
"#;

#[test]
fn letflow_without_flowlets_is_ecmp_with_random_paths() {
    // The 97.5 % quantile of Student's t with nine degrees of freedom.
    const T: f64 = 2.262;
    let dir = tempfile::tempdir().unwrap();
    let contests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests");
    fs::copy(contests.join("rdma-66mb.toml"), dir.path().join("rdma-66mb.toml")).unwrap();
    let mut differences = Vec::new();
    let mut averages = Vec::new();
    for seed in 1..=10 {
        fs::write(dir.path().join("run.toml"), NO_FLOWLETS.replace("SEED", &seed.to_string())).unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_sluice"))
            .current_dir(dir.path())
            .args(["run", "run.toml", "--json"])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let value: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let programs = &value["contests"][0]["programs"];
        let number =
            |program: usize, name: &str| programs[program]["numbers"][name]["mean"].as_f64().unwrap();
        assert_eq!((number(1, "early"), number(1, "unfinished")), (0.0, 0.0), "a message keeps its path");
        differences.push(number(1, "avg") - number(0, "avg"));
        averages.push(number(0, "avg"));
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (difference, average) = (mean(&differences), mean(&averages));
    let squares: f64 = differences.iter().map(|d| (d - difference).powi(2)).sum();
    let interval = T * (squares / 9.0 / 10.0).sqrt();
    assert!(difference.abs() <= interval, "{difference} +- {interval} of {average}");
    assert!(interval < average / 10.0, "ten seeds say too little: {difference} +- {interval} of {average}");
}
