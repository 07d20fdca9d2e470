//! State of a program: registers, and cells that the control plane read. Counters are in the summary.

use crate::outcome::Outcome;
use serde::Serialize;
use sluice_control::{ArrayRef, Reading};
use sluice_ir::{Program, RegisterData};

/// Most elements of a register in a summary.
const SHOWN: usize = 32;

/// Registers and readings of a program: a document of schema `sluice.state/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterState {
    schema: &'static str,
    /// Name of the program.
    pub program: String,
    /// Registers with elements that differ from their first value, by pipe.
    pub registers: Vec<RegisterRow>,
    /// Cells that the control plane read, in order of time.
    pub readings: Vec<ReadingRow>,
}

/// A register of one pipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterRow {
    /// Name of the register.
    pub register: String,
    /// The pipe.
    pub pipe: usize,
    /// Number of elements.
    pub size: usize,
    /// Number of elements that differ from their first value.
    pub changed: usize,
    /// These elements; of a summary the first 32.
    pub elements: Vec<Element>,
}

/// An element of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Index.
    pub index: usize,
    /// Value; of a pair its low half.
    pub value: u64,
    /// The high half of a pair; `None` of a single value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<u64>,
}

/// A cell that the control plane read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadingRow {
    /// The cell and its value.
    #[serde(flatten)]
    pub cell: CellRow,
    /// Time of the reading, in ps.
    pub time_ps: u64,
    /// The pipe.
    pub pipe: u32,
}

/// A cell and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CellRow {
    /// A cell of a counter.
    Counter {
        /// Name of the counter.
        counter: String,
        /// Index.
        index: usize,
        /// Packets.
        packets: u64,
        /// Bytes.
        bytes: u64,
    },
    /// An element of a register.
    Register {
        /// Name of the register.
        register: String,
        /// The element.
        #[serde(flatten)]
        element: Element,
    },
}

impl Outcome<'_> {
    /// Returns all registers with elements that differ from their first value, and the readings; `None` if the program has no
    /// registers.
    #[must_use]
    pub fn state(&self) -> Option<RegisterState> {
        let program = self.view.program();
        (!program.registers.is_empty()).then(|| RegisterState {
            schema: "sluice.state/1",
            program: program.name.clone(),
            registers: self.changed_registers(usize::MAX),
            readings: self.reading_rows(),
        })
    }

    /// Returns the registers of a summary.
    pub(crate) fn registers_shown(&self) -> Vec<RegisterRow> {
        self.changed_registers(SHOWN)
    }

    /// Returns registers with elements that differ from their first value, by pipe; at most `most` elements of each.
    fn changed_registers(&self, most: usize) -> Vec<RegisterRow> {
        let mut rows = Vec::new();
        for (register, data) in self.view.program().registers.iter() {
            for (pipe, state) in self.pipes.iter().enumerate() {
                let cells = &state.registers[register];
                let changed = cells.changed().count();
                if changed > 0 {
                    let elements = cells.changed().take(most);
                    let elements = elements.map(|(i, cell)| Element::of(data, i, [cell.lo, cell.hi]));
                    rows.push(RegisterRow {
                        register: data.name.clone(),
                        pipe,
                        size: cells.len(),
                        changed,
                        elements: elements.collect(),
                    });
                }
            }
        }
        rows
    }

    /// Returns the cells that the control plane read, in order of time.
    pub(crate) fn reading_rows(&self) -> Vec<ReadingRow> {
        let program = self.view.program();
        self.readings.iter().map(|reading| ReadingRow::of(program, reading)).collect()
    }
}

impl ReadingRow {
    fn of(program: &Program, reading: &Reading) -> ReadingRow {
        let index = reading.index as usize;
        let cell = match reading.array {
            ArrayRef::Counter(counter) => {
                let [packets, bytes] = reading.values;
                CellRow::Counter { counter: program.counters[counter].name.clone(), index, packets, bytes }
            }
            ArrayRef::Register(register) => {
                let data = &program.registers[register];
                let element = Element::of(data, index, reading.values);
                CellRow::Register { register: data.name.clone(), element }
            }
        };
        ReadingRow { cell, time_ps: reading.time.as_ps(), pipe: reading.pipe }
    }
}

impl Element {
    fn of(data: &RegisterData, index: usize, [value, high]: [u64; 2]) -> Element {
        Element { index, value, high: data.format.has_hi().then_some(high) }
    }
}
