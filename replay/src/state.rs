//! What programs remember, as JSON: registers and what the control plane read of them. What may not live here:
//! counters, which have their own list.

use super::Plan;
use super::run::Done;
use serde_json::{Value, json};
use sluice_pipeline::control::ArrayRef;
use sluice_pipeline::ir::RegisterData;

/// Elements of a register that the summary shows.
pub(super) const SHOWN: usize = 32;

/// Registers with elements that differ from their first value, per pipe; at most `most` elements of each.
pub(super) fn registers(plan: &Plan<'_>, done: &Done<'_>, most: usize) -> Vec<Value> {
    let mut list = Vec::new();
    for (register, data) in plan.program.registers.iter() {
        for (pipe, state) in done.pipes.iter().enumerate() {
            let cells = &state.registers[register];
            let number = cells.changed().count();
            if number > 0 {
                let elements =
                    cells.changed().take(most).map(|(i, cell)| element(data, i, [cell.lo, cell.hi]));
                list.push(json!({
                    "register": data.name, "pipe": pipe, "size": cells.len(), "changed": number,
                    "elements": elements.collect::<Vec<_>>(),
                }));
            }
        }
    }
    list
}

/// All of them, for a file; nothing if the program has no registers.
pub(super) fn all(plan: &Plan<'_>, done: &Done<'_>) -> Option<Value> {
    (!plan.program.registers.is_empty()).then(|| {
        json!({
            "schema": "sluice.state/1",
            "program": plan.program.name,
            "registers": registers(plan, done, usize::MAX),
            "readings": readings(plan, done),
        })
    })
}

/// What the control plane read, in order of time.
pub(super) fn readings(plan: &Plan<'_>, done: &Done<'_>) -> Vec<Value> {
    let read = done.readings.iter().map(|r| {
        let (index, values) = (r.index as usize, r.values);
        let (kind, name, mut value) = match r.array {
            ArrayRef::Counter(c) => (
                "counter",
                &plan.program.counters[c].name,
                json!({ "index": index, "packets": values[0], "bytes": values[1] }),
            ),
            ArrayRef::Register(x) => {
                let data = &plan.program.registers[x];
                ("register", &data.name, element(data, index, values))
            }
        };
        value[kind] = name.as_str().into();
        value["time_ps"] = r.time.as_ps().into();
        value["pipe"] = r.pipe.into();
        value
    });
    read.collect()
}

/// An element; `high` only of pairs.
fn element(data: &RegisterData, index: usize, [low, high]: [u64; 2]) -> Value {
    if data.format.has_hi() {
        json!({ "index": index, "value": low, "high": high })
    } else {
        json!({ "index": index, "value": low })
    }
}
