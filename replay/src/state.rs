//! State of a program as JSON: registers, and cells that the control plane read. Counters are in the summary.

use crate::outcome::Outcome;
use serde_json::{Value, json};
use sluice_control::ArrayRef;
use sluice_ir::RegisterData;

/// Most elements of a register in a summary.
const SHOWN: usize = 32;

impl Outcome<'_> {
    /// Returns all registers with elements that differ from their first value, and the readings, as a document of schema
    /// `sluice.state/1`; `None` if the program has no registers.
    #[must_use]
    pub fn state(&self) -> Option<Value> {
        let program = self.view.program();
        (!program.registers.is_empty()).then(|| {
            json!({
                "schema": "sluice.state/1",
                "program": program.name,
                "registers": self.changed_registers(usize::MAX),
                "readings": self.readings_json(),
            })
        })
    }

    /// Returns the key `registers` of a summary.
    pub(crate) fn registers_shown(&self) -> Vec<Value> {
        self.changed_registers(SHOWN)
    }

    /// Returns registers with elements that differ from their first value, by pipe; at most `most` elements of each.
    fn changed_registers(&self, most: usize) -> Vec<Value> {
        let mut list = Vec::new();
        for (register, data) in self.view.program().registers.iter() {
            for (pipe, state) in self.pipes.iter().enumerate() {
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

    /// Returns the cells that the control plane read, in order of time.
    pub(crate) fn readings_json(&self) -> Vec<Value> {
        let program = self.view.program();
        let read = self.readings.iter().map(|r| {
            let (index, values) = (r.index as usize, r.values);
            let (kind, name, mut value) = match r.array {
                ArrayRef::Counter(c) => (
                    "counter",
                    &program.counters[c].name,
                    json!({ "index": index, "packets": values[0], "bytes": values[1] }),
                ),
                ArrayRef::Register(x) => {
                    let data = &program.registers[x];
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
}

/// Returns an element; only pairs have `high`.
fn element(data: &RegisterData, index: usize, [low, high]: [u64; 2]) -> Value {
    if data.format.has_hi() {
        json!({ "index": index, "value": low, "high": high })
    } else {
        json!({ "index": index, "value": low })
    }
}
