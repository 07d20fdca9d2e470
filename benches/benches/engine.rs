//! Criterion benches of the engine and the device, beside the floor that they are compared with.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sluice_benches::{Loaded, Workload, drive, floor, switch};
use sluice_exec::engine::Engine;
use sluice_exec::reference::Reference;
use sluice_switch::Mode;

const PACKETS: u64 = 10_000;

fn speed(c: &mut Criterion) {
    for routes in [1, 1000] {
        let w = Workload::new(PACKETS, routes);
        let mut group = c.benchmark_group(format!("l3-ecmp/{routes} routes"));
        group.throughput(Throughput::Elements(PACKETS)).sample_size(10);
        let mut bytes = w.frames.clone();
        group.bench_function("floor", |b| b.iter(|| floor(&mut bytes)));
        let Ok(mut engine) = Engine::new(&w.program, &w.placement, &w.control) else { return };
        for size in [64, 7, 1] {
            group.bench_function(format!("engine, batch {size}"), |b| {
                b.iter_batched_ref(
                    || Loaded::new(&w.frames),
                    |l| l.run(&mut engine, size),
                    BatchSize::LargeInput,
                );
            });
        }
        let mut reference = Reference::new(&w.program, &w.control, Default::default());
        group.bench_function("reference", |b| {
            b.iter_batched_ref(
                || Loaded::new(&w.frames[..100]),
                |l| l.run(&mut reference, 64),
                BatchSize::LargeInput,
            );
        });
        for (name, mode) in [("functional", Mode::Functional), ("timed", Mode::Timed)] {
            group.bench_function(format!("switch, {name}"), |b| {
                let fresh = || Engine::new(&w.program, &w.placement, &w.control).map(|e| switch(&w, e, mode));
                b.iter_batched(
                    fresh,
                    |s| s.map(|mut s| drive(&mut s, &w.frames).sent),
                    BatchSize::LargeInput,
                );
            });
        }
    }
}

criterion_group!(benches, speed);
criterion_main!(benches);
