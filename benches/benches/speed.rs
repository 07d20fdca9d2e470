//! Time per packet of each row, by criterion, and a table of the medians beside the first row of each group.
//!
//! `cargo bench -p sluice-benches -- [--quick] [FILTER]`

use criterion::Criterion;
use sluice_benches::{Table, measured, rows};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Packets of a run: more than caches hold.
const PACKETS: u64 = 100_000;

fn main() {
    let config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500));
    let mut criterion = config.measurement_time(Duration::from_secs(2)).configure_from_args();
    let mut medians = Vec::new();
    for row in rows(PACKETS) {
        let samples = RefCell::new(Vec::new());
        let mut group = criterion.benchmark_group(&row.group);
        // An iteration is a packet: a run has many, and takes its share of the time.
        group.bench_function(&row.name, |b| {
            b.iter_custom(|packets| {
                let (mut done, mut time) = (0, Duration::ZERO);
                while done < packets {
                    let mut run = row.prepare();
                    let start = Instant::now();
                    done += black_box(measured(&mut *run));
                    time += start.elapsed();
                }
                let each = time.as_secs_f64() / done as f64;
                samples.borrow_mut().push(1e9 * each);
                Duration::from_secs_f64(each * packets as f64)
            });
        });
        group.finish();
        let mut samples = samples.into_inner();
        samples.sort_by(f64::total_cmp);
        medians.extend(samples.get(samples.len() / 2).map(|&median| (row, median)));
    }
    let mut table = Table::new("ns, median");
    medians.iter().for_each(|(row, ns)| table.row(row, *ns));
    criterion.final_summary();
}
