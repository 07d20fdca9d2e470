//! A `proptest` over packets that the parser accepts and entries that the tables take.

use heavy_hitter::HeavyHitter;
use proptest::test_runner::{Config, TestError, TestRunner};
use sluice::prelude::*;
use sluice::strategies::{Strategies, Subject, write_pcap};
use std::error::Error;
use std::fs::File;
use std::path::Path;

/// Any packets, between which no entry changes, leave with the mark from the fourth packet of a flow on, as the property
/// `no_heavy_flow_unmarked` demands; and the engine and the reference interpreter agree.
///
/// If this fails, the smallest packets that show it are in `target/tmp/failure.pcap`:
/// `cargo run -- replay heavy-hitter --set threshold=4 -i 0@FILE --check`.
#[test]
fn properties_hold_for_any_packets_and_entries() -> Result<(), Box<dyn Error>> {
    let catalogue = sluice::catalogue![HeavyHitter];
    let subject =
        Subject::of_catalogue(&catalogue, "heavy-hitter", &[("threshold", "4")], &ChipSpec::tofino2())?;
    let strategies = Strategies::new(&subject)?;
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(64) });
    let result = runner.run(&strategies.inputs(1..=32), |input| strategies.properties_hold(&input));
    if let Err(TestError::Fail(reason, input)) = result {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failure.pcap");
        write_pcap(&input.shots, File::create(&path)?)?;
        return Err(format!("{reason}; the packets are in {}", path.display()).into());
    }
    Ok(result.map_err(|e| e.to_string())?)
}
