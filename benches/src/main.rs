//! `measure`: the speed figures as a table, each also as a multiple of the floor of the same run.
//!
//! `cargo run --release -p sluice-benches [PACKETS [ROWS [ROUTES]]]`: only rows whose name contains `ROWS`,
//! only at `ROUTES` routes.

use sluice_benches::{FlowPaths, LeafSpine, Loaded, Workload, drive, floor, switch};
use sluice_catalogue::Catalogue;
use sluice_exec::reference::Reference;
use sluice_switch::Mode;
use std::hint::black_box;
use std::time::Instant;

/// Makes the catalogue that an engine is of.
type Make = fn() -> Catalogue;

/// The engine's own steps, and generated code.
const ENGINES: [(&str, Make); 2] =
    [("", sluice_programs::catalogue), (" on generated code", sluice_generated::catalogue)];

/// Median of three runs, ns per packet.
fn time(packets: u64, mut run: impl FnMut() -> u64) -> f64 {
    let mut times: Vec<f64> = (0..3)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_nanos() as f64 / packets as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[1]
}

fn row(name: &str, routes: u32, ns: f64, floor: f64) {
    println!("{name:<34} {routes:>7} {ns:>10.1} {:>10.2} {:>9.2}", 1000.0 / ns, ns / floor);
}

fn main() {
    let mut args = std::env::args().skip(1);
    let packets: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    let wanted = args.next().unwrap_or_default();
    let only: Option<u32> = args.next().and_then(|a| a.parse().ok());
    println!("{packets} UDP/IPv4 packets, 64-256 B, 10,000 flows, one core, median of 3");
    println!("{:<34} {:>7} {:>10} {:>10} {:>9}", "what", "routes", "ns/packet", "M packets/s", "x floor");
    for routes in [1, 1000, 100_000].into_iter().filter(|r| only.is_none_or(|o| o == *r)) {
        measure(packets, routes, &wanted);
    }
    flow_paths(packets, &wanted);
    networks(packets, &wanted);
}

/// A leaf-spine of sixteen switches; per passage of a packet through a switch.
fn networks(packets: u64, wanted: &str) {
    type Run = (&'static str, &'static str, &'static [(&'static str, &'static str)]);
    const RUNS: [Run; 3] = [
        ("packet-hop, leaf-spine 16", "l3-ecmp", &[]),
        ("packet-hop, leaf-spine 16, INT on", "int", &[("watch", "all")]),
        ("packet-hop, leaf-spine 16, INT off", "int", &[("watch", "none")]),
    ];
    for run in RUNS {
        network(packets, wanted, run);
    }
}

fn network(packets: u64, wanted: &str, (what, program, params): (&str, &str, &[(&str, &str)])) {
    let threads = [1, 2].map(|threads| (threads, format!("{what}, {threads} thread(s)")));
    if !threads.iter().any(|(_, name)| name.contains(wanted)) {
        return;
    }
    let leaf_spine = LeafSpine::new(packets, program, params);
    for (threads, name) in threads.iter().filter(|(_, name)| name.contains(wanted)) {
        let mut times = Vec::new();
        for _ in 0..3 {
            let network = leaf_spine.network();
            let start = Instant::now();
            let hops = black_box(leaf_spine.run(network, *threads));
            times.push(start.elapsed().as_nanos() as f64 / hops as f64);
        }
        times.sort_by(f64::total_cmp);
        println!("{name:<48} {:>10.1} {:>10.2}", times[1], 1000.0 / times[1]);
    }
}

/// Flows through the five-stage Clos, eight choices each; per flow, without a floor of its own.
fn flow_paths(flows: u64, wanted: &str) {
    for scheme in ["recombine", "coprime"] {
        let name = format!("flow paths, Clos, {scheme}");
        if name.contains(wanted) {
            let paths = FlowPaths::new(flows, scheme);
            let ns = time(flows, || paths.walk());
            println!("{name:<34} {:>7} {ns:>10.1} {:>10.2}", "", 1000.0 / ns);
        }
    }
}

fn measure(packets: u64, routes: u32, wanted: &str) {
    let w = Workload::new(packets, routes);
    let mut bytes = w.frames.clone();
    let base = time(packets, || floor(&mut bytes));
    row("floor", routes, base, base);
    for (code, make) in ENGINES {
        for size in [64, 16, 1] {
            let name = format!("engine{code}, batch {size}");
            if name.contains(wanted) {
                row(&name, routes, engine(&w, make, packets, size), base);
            }
        }
    }
    let name = "reference interpreter";
    if routes == 1000 && name.contains(wanted) {
        let few = &w.frames[..w.frames.len().min(20_000)];
        let mut reference = Reference::new(&w.program, &w.control, Default::default());
        let ns = time(few.len() as u64, || Loaded::new(few).run(&mut reference, 64));
        row(name, routes, ns, base);
    }
    for (code, make) in ENGINES {
        for (mode_name, mode) in [("functional", Mode::Functional), ("timed", Mode::Timed)] {
            let name = format!("switch{code}, {mode_name}");
            if name.contains(wanted) {
                row(&name, routes, device(&w, make, packets, mode), base);
            }
        }
    }
}

/// The whole device, from memory: receiving included, setting up not.
fn device(w: &Workload, make: Make, packets: u64, mode: Mode) -> f64 {
    let mut times = Vec::new();
    for _ in 0..3 {
        let Ok(engine) = make().engine(&w.program, &w.placement, &w.control) else { return f64::NAN };
        let mut switch = switch(w, engine, mode);
        let start = Instant::now();
        black_box(drive(&mut switch, &w.frames));
        times.push(start.elapsed().as_nanos() as f64 / packets as f64);
    }
    times.sort_by(f64::total_cmp);
    times[1]
}

/// The engine alone. Packets are rewritten in place, so each run gets fresh ones; copying them in is not timed.
fn engine(w: &Workload, make: Make, packets: u64, size: usize) -> f64 {
    let mut times = Vec::new();
    for _ in 0..3 {
        let Ok(mut engine) = make().engine(&w.program, &w.placement, &w.control) else { return f64::NAN };
        let mut loaded = Loaded::new(&w.frames);
        let start = Instant::now();
        black_box(loaded.run(&mut engine, size));
        times.push(start.elapsed().as_nanos() as f64 / packets as f64);
    }
    times.sort_by(f64::total_cmp);
    times[1]
}
