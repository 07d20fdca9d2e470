//! Class tables: the entries that a buffer profile's maps mean for a program.
//!
//! A program chooses the queue (`qid`) and the traffic class (`ingress_cos`) of each packet. A *class table* is a table in
//! which it makes this choice from a packet's code point, as a SAI switch does. It has an action whose parameters are
//! `queue` and `traffic_class`. Its key says which map of the buffer profile has its entries:
//!
//! | key | map |
//! |---|---|
//! | one exact field of 6 bits | DSCP to traffic class |
//! | one exact field of 3 bits | PCP to traffic class |
//! | none | the traffic class of packets without a code point |

use crate::{ControlOp, ControlState, Then};
use sluice_asic::tm::buffer::{CodePoint, QosMaps};
use sluice_ir::{Action, ActionCall, KeyValue, MatchKind, Program, Table};
use thiserror::Error;

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
        [key] if key.kind == MatchKind::Exact => match key.width(program) {
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

/// A map that leads a traffic class to a queue that a program's class table cannot name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`maps.tc_to_queue` puts traffic class {class} into queue {found}, but table `{table}` of program `{program}` has queues \
     0 to {last} for classes; give `maps.tc_to_queue` queues up to {last}, for example `\"{class}\" = {last}`"
)]
pub struct ClassError {
    /// Name of the program.
    pub program: String,
    /// Name of the table.
    pub table: String,
    /// The traffic class.
    pub class: u8,
    /// Its queue by the profile's maps.
    pub found: u8,
    /// Last queue that the table's action can name.
    pub last: u64,
}

/// Returns the operations that write the maps into the program's class tables. A table that has entries is left alone.
///
/// # Errors
/// If a map has a queue that a table's action cannot name.
pub fn operations(
    program: &Program,
    state: &ControlState,
    maps: &QosMaps,
) -> Result<Vec<ControlOp>, ClassError> {
    let mut ops = Vec::new();
    for table in program.tables.keys() {
        let Some((source, action)) = class_table(program, table) else { continue };
        if state.tables[table].entries().next().is_some() {
            continue;
        }
        let last = last_queue(program, action);
        let call = |point| {
            let class = maps.class(point);
            if u64::from(class.queue) > last {
                let (program, table) = (program.name.to_string(), program.tables[table].name.to_string());
                return Err(ClassError { program, table, class: class.tc, found: class.queue, last });
            }
            Ok(ActionCall { action, args: vec![class.queue.into(), class.tc.into()] })
        };
        let insert = |value: u8, point| {
            let (key, then) = (vec![KeyValue::Exact(value.into())], Then::Call(call(point)?));
            Ok(ControlOp::InsertEntry { table, key, priority: 0, then })
        };
        match source {
            Source::Dscp => {
                for dscp in 0..64 {
                    ops.push(insert(dscp, CodePoint::Dscp(dscp))?);
                }
            }
            Source::Pcp => {
                for pcp in 0..8 {
                    ops.push(insert(pcp, CodePoint::Pcp(pcp))?);
                }
            }
            Source::Default => ops.push(ControlOp::SetDefault { table, call: call(CodePoint::None)? }),
        }
    }
    Ok(ops)
}

/// Returns the last queue that the action of a class table can name: as many bits as its parameter has.
fn last_queue(program: &Program, action: Action) -> u64 {
    let width = program.actions[action].params.first().map_or(0, |queue| queue.width);
    1u64.checked_shl(width.into()).map_or(u64::MAX, |queues| queues - 1)
}
