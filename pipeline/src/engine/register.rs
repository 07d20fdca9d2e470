//! Accesses to registers, each in the order in which packets enter.
//!
//! Operations run over a whole batch, so that two actions of one register, in different tables or entries,
//! would reach the array one after the other and not packet by packet. Where a register has several users an
//! access is therefore only *noted* by its action, with index and operands as the stage found them, and done
//! for all lanes in order once the last user of the stage has run. What may not live here: what a register
//! action means.

use super::action::{EntryOf, Source, WideSource, value, wide_value};
use super::batch::{Phv, for_lanes};
use super::field::FieldAt;
use crate::entity::Entity;
use crate::ir::Register;
use crate::pass::{MAX_BATCH, State};
use sluice_asic::salu::{Operands, SaluProgram};

/// An operand from the packet.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Narrow(Source),
    Wide(WideSource),
}

/// An access to a register by one action.
#[derive(Clone, Debug)]
pub(super) struct AccessPlan {
    pub(super) register: Register,
    pub(super) salu: SaluProgram,
    pub(super) index: Source,
    /// Low and high operand, where the action uses them.
    pub(super) operands: [Option<Operand>; 2],
    /// Output words and the fields that take them.
    pub(super) outputs: Vec<(u8, FieldAt)>,
    /// Where to note the access; `None` to do it at once.
    pub(super) note: Option<usize>,
}

/// Accesses noted for one register.
pub(super) struct Notes {
    mask: u64,
    /// Position of each lane's plan.
    plan: [u32; MAX_BATCH],
    index: [u32; MAX_BATCH],
    operands: [(u64, u64); MAX_BATCH],
}

impl Notes {
    pub(super) fn new() -> Notes {
        Notes { mask: 0, plan: [0; MAX_BATCH], index: [0; MAX_BATCH], operands: [(0, 0); MAX_BATCH] }
    }
}

impl AccessPlan {
    /// Accesses the register for each lane of `mask`, or notes that it is to be done.
    #[inline(never)]
    pub(super) fn run<const N: usize>(
        &self,
        number: u32,
        mask: u64,
        phv: &Phv,
        entry: &EntryOf<'_>,
        state: &mut State,
        notes: &mut [Notes],
    ) {
        match self.note.and_then(|n| notes.get_mut(n)) {
            None => {
                let cells = &mut state.registers[self.register];
                for_lanes::<N>(mask, |l| {
                    let index = value(self.index, l, phv, entry);
                    self.access(cells, index, self.read(l, phv, entry), l, phv);
                });
            }
            Some(notes) => {
                notes.mask |= mask;
                for_lanes::<N>(mask, |l| {
                    notes.plan[l] = number;
                    notes.index[l] = value(self.index, l, phv, entry);
                    notes.operands[l] = self.read(l, phv, entry);
                });
            }
        }
    }

    #[inline]
    fn read(&self, lane: usize, phv: &Phv, entry: &EntryOf<'_>) -> (u64, u64) {
        let of = |operand: &Option<Operand>| match operand {
            None => 0,
            Some(Operand::Narrow(source)) => value(*source, lane, phv, entry).into(),
            Some(Operand::Wide(source)) => wide_value(source, lane, phv, entry) as u64,
        };
        (of(&self.operands[0]), of(&self.operands[1]))
    }

    /// One access; beyond the array nothing happens and the outputs are 0.
    #[inline]
    fn access(
        &self,
        cells: &mut [sluice_asic::salu::State],
        index: u32,
        (lo, hi): (u64, u64),
        lane: usize,
        phv: &Phv,
    ) {
        let mut words = [0; 4];
        if let Some(cell) = cells.get_mut(index as usize) {
            let outcome =
                self.salu.execute(*cell, &Operands { lo, hi, address: index, ..Operands::default() });
            *cell = outcome.state;
            words = outcome.outputs;
        }
        for (word, to) in &self.outputs {
            to.write(phv, lane, words[usize::from(word & 3)].into());
        }
    }
}

/// Does the accesses noted for a register, lane by lane.
pub(super) fn settle<const N: usize>(notes: &mut Notes, plans: &[AccessPlan], phv: &Phv, state: &mut State) {
    let mask = std::mem::take(&mut notes.mask);
    for_lanes::<N>(mask, |l| {
        if let Some(plan) = plans.get(notes.plan[l] as usize) {
            let cells = &mut state.registers[plan.register];
            plan.access(cells, notes.index[l], notes.operands[l], l, phv);
        }
    });
}

/// Numbers the registers that several actions use; the others need no notes.
pub(super) fn noted(plans: &[AccessPlan]) -> Vec<Register> {
    let mut registers: Vec<Register> = plans.iter().map(|p| p.register).collect();
    registers.sort_unstable_by_key(|r| r.index());
    let repeated = registers.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]);
    let mut list: Vec<Register> = repeated.collect();
    list.dedup();
    list
}
