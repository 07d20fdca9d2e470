//! Register writes and meter configurations of the control plane.

use super::Change;
use sluice_asic::salu::State as Element;
use sluice_ir::{Meter, MeterConfig, Register};
use std::collections::BTreeMap;

/// The last write or configuration of every cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayWrites {
    /// Elements by register and index. Index `None`: every element without a separate entry. Value `None`: the
    /// initial value.
    pub registers: BTreeMap<(Register, Option<u32>), Option<Element>>,
    /// Configurations by meter and cell, with the same index. Configuration `None`: no limits.
    pub meters: BTreeMap<(Meter, Option<u32>), Option<MeterConfig>>,
    /// Values of register parameters, by position.
    pub params: BTreeMap<(Register, u8), u32>,
}

impl ArrayWrites {
    pub(super) fn write(&mut self, register: Register, index: Option<u32>, value: Option<Element>) {
        if index.is_none() {
            self.registers.retain(|(r, _), _| *r != register);
        }
        self.registers.insert((register, index), value);
    }

    pub(super) fn configure(&mut self, meter: Meter, index: Option<u32>, config: Option<MeterConfig>) {
        if index.is_none() {
            self.meters.retain(|(m, _), _| *m != meter);
        }
        self.meters.insert((meter, index), config);
    }

    /// Returns the writes that differ from those in `common`.
    #[must_use]
    pub fn differences_from(&self, common: &ArrayWrites) -> ArrayWrites {
        let mut own = self.clone();
        own.registers.retain(|cell, value| common.registers.get(cell) != Some(value));
        own.meters.retain(|cell, config| common.meters.get(cell) != Some(config));
        own.params.retain(|param, value| common.params.get(param) != Some(value));
        own
    }

    /// Returns the changes that bring a new state to these writes.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        let registers = self.registers.iter().map(|((r, i), v)| Change::Register(*r, *i, *v));
        let params = self.params.iter().map(|((r, n), v)| Change::Param(*r, *n, *v));
        registers.chain(self.meters.iter().map(|((m, i), c)| Change::Meter(*m, *i, *c))).chain(params)
    }
}
