//! Entries of the shipped programs in the ways of their placed exact tables.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_control::{ControlError, ControlOp, ControlState, Then};
use sluice_exec::control_state;
use sluice_ir::{ActionCall, KeyValue, Program};
use sluice_place::report::Report;
use sluice_programs::catalogue;

#[test]
fn default_entries_have_rows_in_the_ways_of_the_placed_tables() {
    let mut fitted = 0;
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let ports = PortMap::default_for(&chip).unwrap();
        for shipped in catalogue().programs() {
            let program = shipped.build(&[]).unwrap();
            let Ok(placement) = place(&program, &chip) else { continue };
            let mut control = control_state(&program, &placement);
            for op in shipped.default_setup(&program, &ports).unwrap().ops {
                control
                    .apply(&program, op)
                    .unwrap_or_else(|e| panic!("{} on {}: {e}", shipped.name(), chip.name));
            }
            fitted += 1;
        }
    }
    assert!(fitted > 17, "{fitted}");
}

/// Inserts entries with keys `key(0)`, `key(1)` and so on until one is refused; returns their number and the error.
fn fill(
    (program, control): (&Program, &mut ControlState),
    table: &str,
    key: impl Fn(u32) -> Vec<KeyValue>,
) -> (u32, ControlError) {
    let table = program.table_named(table).unwrap();
    let action = program.tables[table].actions[0];
    let args = vec![0; program.actions[action].params.len()];
    for n in 0.. {
        let then = Then::Call(ActionCall { action, args: args.clone() });
        let op = ControlOp::InsertEntry { table, key: key(n), priority: 0, then };
        if let Err(error) = control.apply(program, op) {
            return (n, error);
        }
    }
    unreachable!("a table without end")
}

#[test]
fn a_full_flow_table_of_conweave_refuses_a_flow_near_the_expected_fill() {
    let program = catalogue().get("conweave").unwrap().build(&[]).unwrap();
    let placement = place(&program, &ChipSpec::tofino2()).unwrap();
    let mut control = control_state(&program, &placement);
    let key = |n: u32| {
        vec![KeyValue::Exact(0x0a00_0001), KeyValue::Exact((0x0a00_0100 + n).into()), KeyValue::Exact(49152)]
    };
    let (live, error) = fill((&program, &mut control), "flow", key);
    let text = error.to_string();
    assert!(text.starts_with(&format!("table `flow` is full at {live} of 4096 entries")), "{text}");
    // Four ways of 1024 rows with an entry each.
    assert!((3_686..=3_900).contains(&live), "{live}");
    let report = Report::new(&program, &placement);
    let of = report.tables.iter().find(|t| t.name == "flow").unwrap();
    assert_eq!((of.required, of.allocated, of.usable), (4096, 4096, 3686));
    // Without a placement, the size alone is the limit.
    let (live, _) = fill((&program, &mut ControlState::new(&program)), "flow", key);
    assert_eq!(live, 4096);
}

#[test]
fn a_table_that_its_key_indexes_takes_every_key() {
    let program = catalogue().get("pfc").unwrap().build(&[]).unwrap();
    let placement = place(&program, &ChipSpec::tofino2()).unwrap();
    let mut control = control_state(&program, &placement);
    let (live, error) =
        fill((&program, &mut control), "ipv4_class", |n| vec![KeyValue::Exact((n % 64).into())]);
    assert_eq!(live, 64, "{error}");
}
