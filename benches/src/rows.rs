//! All rows.

use crate::closed_loop::{ClosedLoop, Shape};
use crate::flow_paths::FlowPaths;
use crate::network::LeafSpine;
use crate::row::{Row, lazy};
use crate::workload::{Loaded, Workload, drive, floor, switch};
use crate::{ENGINES, constructs, conweave};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::Duration;
use sluice_exec::reference::Reference;
use sluice_fuzz::hunt::words;
use sluice_fuzz::{Case, Limits, compare};
use sluice_place::place;
use sluice_switch::Mode;
use std::hint::black_box;

/// Returns all rows, by group. A run of a row takes about `packets` packets; the interpreter and networks take fewer.
#[must_use]
pub fn rows(packets: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for routes in [1, 1000, 100_000] {
        rows.extend(l3_ecmp(packets, routes));
    }
    rows.extend(flow_paths(packets));
    rows.extend(networks(packets / 4));
    rows.extend(closed_loops());
    rows.extend(conweave::rows(packets));
    for batch in [64, 1] {
        rows.extend(constructs::rows(packets, batch));
    }
    rows.push(random_programs());
    rows
}

/// The floor, the engine alone with packets copied in beforehand, and the whole device, receiving included.
fn l3_ecmp(packets: u64, routes: u32) -> Vec<Row> {
    let group = format!("l3-ecmp, {routes} routes");
    let w = lazy(move || Workload::new(packets, routes));
    let shared = w.clone();
    let mut rows = vec![Row::new(&group, "floor", move || {
        let mut frames = shared.frames.clone();
        Box::new(move || {
            black_box(floor(&mut frames));
            packets
        })
    })];
    for (code, make) in ENGINES {
        for size in [64, 16, 1] {
            let w = w.clone();
            rows.push(Row::new(&group, format!("engine{code}, batch {size}"), move || {
                let engine = make().engine(&w.program, &w.placement, &w.control);
                let (mut engine, mut loaded) = (engine.expect("an engine"), Loaded::new(&w.frames));
                Box::new(move || {
                    black_box(loaded.run(&mut engine, size));
                    packets
                })
            }));
        }
    }
    if routes <= 1000 {
        let w = w.clone();
        rows.push(Row::new(&group, "reference interpreter", move || {
            let few = w.frames.len() / 50;
            let mut reference = Reference::new(&w.program, &w.control, Default::default());
            let mut loaded = Loaded::new(&w.frames[..few]);
            Box::new(move || {
                black_box(loaded.run(&mut reference, 64));
                few as u64
            })
        }));
    }
    for (code, make) in ENGINES {
        for (name, mode) in [("functional", Mode::Functional), ("timed", Mode::Timed)] {
            let w = w.clone();
            rows.push(Row::new(&group, format!("switch{code}, {name}"), move || {
                let engine = make().engine(&w.program, &w.placement, &w.control);
                let (w, mut switch) = (w.clone(), switch(&w, Box::new(engine.expect("an engine")), mode));
                Box::new(move || {
                    black_box(drive(&mut switch, &w.frames));
                    packets
                })
            }));
        }
    }
    rows
}

fn flow_paths(flows: u64) -> Vec<Row> {
    let row = |scheme: &'static str| {
        let paths = lazy(move || FlowPaths::new(flows, scheme));
        Row::new("flow paths, Clos", scheme, move || {
            let paths = paths.clone();
            Box::new(move || paths.walk())
        })
    };
    ["recombine", "coprime"].map(row).into()
}

/// A leaf-spine of sixteen switches, per passage of a packet through a switch.
fn networks(packets: u64) -> Vec<Row> {
    type Run = (&'static str, &'static str, &'static [(&'static str, &'static str)]);
    const RUNS: [Run; 3] = [
        ("l3-ecmp", "l3-ecmp", &[]),
        ("INT on", "int", &[("watch", "all")]),
        ("INT off", "int", &[("watch", "none")]),
    ];
    let mut rows = Vec::new();
    for (name, program, params) in RUNS {
        let leaf_spine = lazy(move || LeafSpine::new(packets, program, params));
        for threads in [1, 2] {
            let leaf_spine = leaf_spine.clone();
            let row = Row::new("leaf-spine 16, a hop", format!("{name}, {threads} thread(s)"), move || {
                let (leaf_spine, mut network) = (leaf_spine.clone(), Some(leaf_spine.network()));
                Box::new(move || network.take().map_or(0, |network| leaf_spine.run(network, threads)))
            });
            rows.push(row.parallel(threads > 1));
        }
    }
    rows
}

/// RDMA hosts around leaf-spines, per passage of a packet through a switch: programs, numbers of hosts, and idle hosts. The
/// simulated time is such that networks of all sizes have some 100,000 hops.
fn closed_loops() -> Vec<Row> {
    type Run = (&'static str, &'static str, &'static [(&'static str, &'static str)], Shape, u64, usize);
    const EVALUATION: Shape = Shape { leaves: 8, spines: 8, hosts: 16, busy: 128 };
    const SMALL: Shape = Shape { leaves: 2, spines: 4, hosts: 8, busy: 16 };
    const LARGE: Shape = Shape { leaves: 32, spines: 16, hosts: 32, busy: 1024 };
    const CONWEAVE: &[(&str, &str)] =
        &[("flows", "32768"), ("reply", "12"), ("path_busy", "16"), ("resume_margin", "64")];
    const RUNS: [Run; 8] = [
        ("ecmp, 128 hosts", "ecmp", &[], EVALUATION, 50, 1),
        ("ecmp, 128 hosts, two threads", "ecmp", &[], EVALUATION, 50, 2),
        ("ecmp, 128 hosts, four times as long", "ecmp", &[], EVALUATION, 200, 1),
        ("ecmp, 16 hosts", "ecmp", &[], SMALL, 400, 1),
        ("ecmp, 1024 hosts", "ecmp", &[], LARGE, 10, 1),
        ("ecmp, 16 busy hosts of 1024", "ecmp", &[], Shape { busy: 16, ..LARGE }, 400, 1),
        ("conweave, 128 hosts", "conweave", CONWEAVE, EVALUATION, 50, 1),
        ("conweave, 128 hosts, two threads", "conweave", CONWEAVE, EVALUATION, 50, 2),
    ];
    let mut rows = Vec::new();
    for (name, program, params, shape, micros, threads) in RUNS {
        let made = lazy(move || ClosedLoop::new(shape, program, params, Duration::from_micros(micros)));
        let row = Row::new("closed loop, a hop", name, move || {
            let (made, mut network) = (made.clone(), Some(made.network()));
            Box::new(move || network.take().map_or(0, |network| made.run(network, threads)))
        });
        rows.push(row.parallel(threads > 1));
    }
    rows
}

/// Random programs drawn, placed, and run on both engines.
fn random_programs() -> Row {
    const CASES: u64 = 20;
    Row::new("random programs", "drawn, placed, compared", || {
        let (limits, chip) = (Limits::default(), ChipSpec::tofino2());
        Box::new(move || {
            for n in 0..CASES {
                let words: Vec<u32> = words(n).take(500).collect();
                let case = Case::drawn(&words, &limits);
                if let Ok(placement) = place(&case.program, &chip) {
                    compare(&case, &placement).expect("the engines agree");
                }
            }
            CASES
        })
    })
}
