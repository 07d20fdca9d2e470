//! All rows.

use crate::flow_paths::FlowPaths;
use crate::network::LeafSpine;
use crate::row::{Row, lazy};
use crate::workload::{Loaded, Workload, drive, floor, switch};
use crate::{ENGINES, constructs, conweave};
use sluice_asic::chip::ChipSpec;
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
                let (w, mut switch) = (w.clone(), switch(&w, engine.expect("an engine"), mode));
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
