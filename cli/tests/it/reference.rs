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

#[test]
fn lone_flows_take_the_times_of_the_reference_simulator() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests/reference");
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .current_dir(folder)
        .args(["run", "lone-flows.toml", "-o"])
        .arg(out.path().join("out"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = fs::read_to_string(out.path().join("out/messages.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let column = |name: &str| rows.headers().unwrap().iter().position(|n| n == name).unwrap();
    let [bytes, start, end] = ["bytes", "start_ps", "end_ps"].map(column);
    let rows: Vec<csv::StringRecord> = rows.into_records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), REFERENCE.len());
    for (row, (size, ns)) in rows.iter().zip(REFERENCE) {
        let number = |column: usize| row[column].parse::<u64>().unwrap();
        assert_eq!(number(bytes), size);
        let took = (number(end) - number(start)) as f64 / 1_000.0;
        // The simulator cuts every time to whole nanoseconds, up to 1 ns for each packet and link.
        assert!((took / ns - 1.0).abs() < 0.001, "{size} bytes: {took} ns, reference {ns} ns");
    }
}
