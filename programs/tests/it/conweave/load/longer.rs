//! ConWeave on chips whose recirculation takes longer: `longer.txt`. The model's lap is 0.64 of what is published, and where the
//! missing time is spent is not public.

use super::{alone, moving};
use crate::conweave::world::Build;
use expect_test::expect_file;
use sluice_asic::units::Duration;

/// Time added to each lap, in ns: laps from 0.6 to 1.0 us.
const ADDED: [u64; 5] = [0, 75, 175, 275, 375];
/// Moving flows.
const FLOWS: u16 = 64;

const HEAD: &str = "| added ns | lap ns | timers that fill the line | reordering at once, mean | most | KB that wait, mean | most | epochs that moved | \
     without a queue | laps/us | share of the line | answers for 100 DATA | every host sees order |\n\
     |---|---|---|---|---|---|---|---|---|---|---|---|---|";

/// Returns the chip with `added` ns more on the way over the recirculation port.
fn longer(build: &Build, added: u64) -> Build {
    build.with_chip(|chip| chip.latency.recirculation += Duration::from_nanos(added))
}

fn row(added: u64) -> String {
    let shape = alone::SHAPES[1];
    let lap = shape.laps(&longer(&shape.build(), added), 1).lap;
    let used = moving::run(&longer(&moving::build(32), added), FLOWS);
    let full = lap * 1_000 / alone::SLOT;
    format!("| {added} | {lap} | {full} | {} |\n", used.effects())
}

#[test]
fn laps_of_longer_recirculations() {
    let rows: String = ADDED.into_iter().map(row).collect();
    expect_file!["longer.txt"].assert_eq(&format!("{HEAD}\n{rows}"));
}
