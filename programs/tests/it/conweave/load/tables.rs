//! Laps by number of timer packets, and what moving flows use: `laps.txt` and `moving.txt`, which `UPDATE_EXPECT=1` rewrites.

use super::{alone, moving};
use expect_test::expect_file;

/// Flows per host of the points, by shape.
const ALONE: [&[u16]; 3] = [&[1, 5, 40], &[1, 8, 12, 13, 16, 24, 60], &[3, 30]];
/// Moving flows, and queues per port.
const MOVING: [(u16, u32); 6] = [(8, 32), (32, 32), (64, 32), (128, 32), (64, 4), (128, 4)];

/// Returns a table with its head.
fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let mut out = format!("{head}\n");
    rows.for_each(|row| out += &format!("{row}\n"));
    out
}

fn measure() -> (Vec<alone::Laps>, Vec<moving::Used>) {
    let mut laps = Vec::new();
    for (shape, points) in alone::SHAPES.into_iter().zip(ALONE) {
        let build = shape.build();
        laps.extend(points.iter().map(|flows| shape.laps(&build, *flows)));
    }
    let mut used = Vec::new();
    for queues in [32, 4] {
        let build = moving::build(queues);
        let points = MOVING.into_iter().filter(|(_, q)| *q == queues);
        used.extend(points.map(|(flows, _)| moving::run(&build, flows)));
    }
    (laps, used)
}

#[test]
fn costs_by_load() {
    let (laps, used) = measure();
    let alone = laps[0].lap;
    let laps = table(alone::HEAD, laps.iter().map(|l| l.row(alone)));
    let used = table(moving::HEAD, used.iter().map(moving::Used::row));
    expect_file!["laps.txt"].assert_eq(&laps);
    expect_file!["moving.txt"].assert_eq(&used);
}
