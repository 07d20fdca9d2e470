//! Class tables: the entries that a buffer profile's maps mean for a program.
//!
//! A chip puts a packet into the queue and the priority group that its program chooses. A *class table* is where a program
//! makes that choice as a SAI switch does: each of its actions named by an entry has the parameters `queue` (for `qid`) and
//! `traffic_class` (3 bits, for `ingress_cos`), and its key says which map of the profile its entries come from:
//!
//! | key | map |
//! |---|---|
//! | one exact field of 6 bits | DSCP to traffic class |
//! | one exact field of 3 bits | PCP to traffic class |
//! | none | the traffic class of packets without a code point |

use crate::{ControlOp, ControlState, Then};
use sluice_asic::tm::buffer::{CodePoint, QosMaps};
use sluice_ir::{Action, ActionCall, KeyValue, MatchKind, Program, Table};

/// Names and order of the parameters of a class table's action.
const PARAMS: [&str; 2] = ["queue", "traffic_class"];

/// Where the entries of a class table come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Dscp,
    Pcp,
    Default,
}

/// Returns the source of a table's entries and the action that they name; `None` if it is not a class table.
fn class_table(program: &Program, table: Table) -> Option<(Source, Action)> {
    let data = &program.tables[table];
    let sets_class = |action: &&Action| {
        let params = &program.actions[**action].params;
        params.iter().map(|param| param.name.as_str()).eq(PARAMS)
    };
    let action = *data.actions.iter().find(sets_class)?;
    let source = match data.keys.as_slice() {
        [] => Source::Default,
        [key] if key.kind == MatchKind::Exact => match program.fields[key.field].width {
            6 => Source::Dscp,
            3 => Source::Pcp,
            _ => return None,
        },
        _ => return None,
    };
    Some((source, action))
}

/// Returns true if the table takes its entries from the maps of a buffer profile.
#[must_use]
pub fn is_class_table(program: &Program, table: Table) -> bool {
    class_table(program, table).is_some()
}

/// Returns the operations that write the maps into the program's class tables. A table that has entries is left alone.
#[must_use]
pub fn operations(program: &Program, state: &ControlState, maps: &QosMaps) -> Vec<ControlOp> {
    let mut ops = Vec::new();
    for table in program.tables.keys() {
        let Some((source, action)) = class_table(program, table) else { continue };
        if state.tables[table].entries().next().is_some() {
            continue;
        }
        let call = |point| {
            let class = maps.class(point);
            ActionCall { action, args: vec![class.queue.into(), class.tc.into()] }
        };
        let insert = |value: u8, point| ControlOp::InsertEntry {
            table,
            key: vec![KeyValue::Exact(value.into())],
            priority: 0,
            then: Then::Call(call(point)),
        };
        match source {
            Source::Dscp => ops.extend((0..64).map(|dscp| insert(dscp, CodePoint::Dscp(dscp)))),
            Source::Pcp => ops.extend((0..8).map(|pcp| insert(pcp, CodePoint::Pcp(pcp)))),
            Source::Default => ops.push(ControlOp::SetDefault { table, call: call(CodePoint::None) }),
        }
    }
    ops
}
