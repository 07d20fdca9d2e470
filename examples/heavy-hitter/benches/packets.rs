//! Packets of one flow through a switch with `heavy-hitter`, generated code left out.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use heavy_hitter::HeavyHitter;
use sluice::prelude::*;

/// Packets of one run.
const PACKETS: u64 = 1_000;

/// Returns an IPv4 frame of 64 bytes from 10.0.0.1 to 10.1.0.1.
fn frame() -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([0x08, 0x00, 0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0x66, 0xb9, 10, 0, 0, 1, 10, 1, 0, 1]);
    frame.resize(64, 0);
    frame
}

fn run(bench: Bench, frame: &[u8]) -> Result<usize, BenchError> {
    let mut bench = bench;
    for n in 0..PACKETS {
        bench.send(Duration::from_nanos(10 * n), 0, frame)?;
    }
    Ok(bench.finish()?.sent.len())
}

fn packets(c: &mut Criterion) {
    let (catalogue, chip, frame) = (sluice::catalogue![HeavyHitter], ChipSpec::tofino2(), frame());
    let new = || Bench::new(&catalogue, "heavy-hitter", &[], &chip);
    let mut group = c.benchmark_group("heavy-hitter");
    group.throughput(Throughput::Elements(PACKETS)).sample_size(10);
    group.bench_function("packets", |b| {
        b.iter_batched(
            new,
            |bench| bench.and_then(|bench| run(bench, &frame)),
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, packets);
criterion_main!(benches);
