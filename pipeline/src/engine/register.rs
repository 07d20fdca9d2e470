//! Accesses to registers and meters, each in the order in which packets enter.
//!
//! Operations run over a whole batch, so that two actions of one array, in different tables or entries, would
//! reach it one after the other and not packet by packet. Where an array has several users an access is
//! therefore only *noted* by its action, with index and operands as the stage found them, and done for all lanes
//! in order once the last user of the stage has run. What may not live here: what a register action or a meter
//! means.

use super::action::{EntryOf, Source, WideSource, value, wide_value};
use super::batch::{Phv, for_lanes};
use super::field::FieldAt;
use super::hash::HashPlan;
use crate::cover::Point;
use crate::ir::{Meter, Register, RegisterAction};
use crate::meters::Question;
use crate::pass::{MAX_BATCH, State};
use sluice_asic::salu::{Operands, SaluProgram};
use std::cell::Cell;

/// An operand from the packet.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Narrow(Source),
    Wide(WideSource),
    /// The position of a hash.
    Hash(u32),
}

/// Where a cell's number comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellAt {
    Source(Source),
    /// The matched entry; beyond every array on a miss.
    Entry,
    /// The position of a hash.
    Hash(u32),
}

/// An array behind a meter ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Array {
    Register(Register),
    Meter(Meter),
}

/// What an access does there.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Register(Register, Box<SaluProgram>),
    Meter(Meter),
    /// A register, and what its comparisons say is counted.
    Counted(Register, Box<SaluProgram>, Box<Compared>),
}

/// How often the comparisons of a register action had each joint outcome, the first comparison as the lowest bit.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    action: RegisterAction,
    times: [Cell<u64>; 16],
}

impl Compared {
    pub(super) fn new(action: RegisterAction) -> Compared {
        Compared { action, times: Default::default() }
    }

    fn count(&self, outcome: u8) {
        let times = &self.times[usize::from(outcome & 15)];
        times.set(times.get() + 1);
    }

    fn report(&self, salu: &SaluProgram, add: &mut impl FnMut(Point, u64)) {
        let total: u64 = self.times.iter().map(Cell::get).sum();
        let units = salu.comparators.iter().zip(0u8..).filter(|(c, _)| c.is_some());
        let mut compares = false;
        for (_, unit) in units {
            compares = true;
            let outcomes = self.times.iter().enumerate().filter(|(outcome, _)| outcome >> unit & 1 == 1);
            let holds = outcomes.map(|(_, times)| times.get()).sum();
            add(Point::Salu(self.action, Some((unit, true))), holds);
            add(Point::Salu(self.action, Some((unit, false))), total - holds);
        }
        if !compares {
            add(Point::Salu(self.action, None), total);
        }
    }
}

/// An access to an array by one action.
#[derive(Clone, Debug)]
pub(super) struct AccessPlan {
    pub(super) work: Work,
    pub(super) index: CellAt,
    /// Low and high operand, where the action uses them; of a meter the low one is its input.
    pub(super) operands: [Option<Operand>; 2],
    /// Output words and the fields that take them.
    pub(super) outputs: Vec<(u8, FieldAt)>,
    /// Where to note the access; `None` to do it at once.
    pub(super) note: Option<usize>,
}

/// Accesses noted for one array.
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

/// What meters know of the lanes' packets.
#[derive(Clone, Copy)]
pub(super) struct Stamps<'a> {
    /// Length of each lane's packet.
    pub(super) bytes: &'a [u32; MAX_BATCH],
    /// The data plane's clock in ns at its entry; filled for programs that ask.
    pub(super) now: &'a [u64; MAX_BATCH],
}

impl AccessPlan {
    /// Tells what was counted, and forgets it.
    pub(super) fn take_counts(&self, mut add: impl FnMut(Point, u64)) {
        if let Work::Counted(_, salu, compared) = &self.work {
            compared.report(salu, &mut add);
            compared.times.iter().for_each(|times| times.set(0));
        }
    }

    pub(super) fn array(&self) -> Array {
        match self.work {
            Work::Register(register, _) | Work::Counted(register, ..) => Array::Register(register),
            Work::Meter(meter) => Array::Meter(meter),
        }
    }

    /// Accesses the array for each lane of `mask`, or notes that it is to be done.
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "the parts of a batch, borrowed one by one")]
    pub(super) fn run<const N: usize>(
        &self,
        number: u32,
        mask: u64,
        phv: &Phv,
        entry: &EntryOf<'_>,
        hashes: &[HashPlan],
        stamps: Stamps<'_>,
        state: &mut State,
        notes: &mut [Notes],
    ) {
        match self.note.and_then(|n| notes.get_mut(n)) {
            None => for_lanes::<N>(mask, |l| {
                let index = self.cell(l, phv, entry, hashes);
                self.access(state, index, self.read(l, phv, entry, hashes), l, phv, stamps);
            }),
            Some(notes) => {
                notes.mask |= mask;
                for_lanes::<N>(mask, |l| {
                    notes.plan[l] = number;
                    notes.index[l] = self.cell(l, phv, entry, hashes);
                    notes.operands[l] = self.read(l, phv, entry, hashes);
                });
            }
        }
    }

    #[inline(always)]
    fn cell(&self, lane: usize, phv: &Phv, entry: &EntryOf<'_>, hashes: &[HashPlan]) -> u32 {
        match self.index {
            CellAt::Source(source) => value(source, lane, phv, entry),
            CellAt::Entry => entry.entry[lane],
            CellAt::Hash(plan) => hashes[plan as usize].eval(phv, lane) as u32,
        }
    }

    #[inline]
    fn read(&self, lane: usize, phv: &Phv, entry: &EntryOf<'_>, hashes: &[HashPlan]) -> (u64, u64) {
        let of = |operand: &Option<Operand>| match operand {
            None => 0,
            Some(Operand::Narrow(source)) => value(*source, lane, phv, entry).into(),
            Some(Operand::Wide(source)) => wide_value(source, lane, phv, entry) as u64,
            Some(Operand::Hash(plan)) => hashes[*plan as usize].eval(phv, lane),
        };
        (of(&self.operands[0]), of(&self.operands[1]))
    }

    /// One access; beyond the array nothing happens and the outputs are 0.
    #[inline]
    fn access(
        &self,
        state: &mut State,
        index: u32,
        (lo, hi): (u64, u64),
        lane: usize,
        phv: &Phv,
        stamps: Stamps<'_>,
    ) {
        let mut words = [0; 4];
        match &self.work {
            Work::Register(register, salu) => {
                if let Some(cell) = state.registers[*register].get_mut(index as usize) {
                    let operands = Operands { lo, hi, address: index, ..Operands::default() };
                    let outcome = salu.execute(*cell, &operands);
                    *cell = outcome.state;
                    words = outcome.outputs;
                }
            }
            Work::Counted(register, salu, compared) => {
                if let Some(cell) = state.registers[*register].get_mut(index as usize) {
                    let operands = Operands { lo, hi, address: index, ..Operands::default() };
                    let outcome = salu.execute(*cell, &operands);
                    compared.count(outcome.comparators);
                    *cell = outcome.state;
                    words = outcome.outputs;
                }
            }
            Work::Meter(meter) => {
                let (now, bytes) = (stamps.now[lane], stamps.bytes[lane]);
                let question = Question { now, bytes, input: lo as u32 };
                words[0] = state.meters[*meter].ask(index as usize, question);
            }
        }
        for (word, to) in &self.outputs {
            to.write(phv, lane, words[usize::from(word & 3)].into());
        }
    }
}

/// Does the accesses noted for an array, lane by lane.
pub(super) fn settle<const N: usize>(
    notes: &mut Notes,
    plans: &[AccessPlan],
    phv: &Phv,
    stamps: Stamps<'_>,
    state: &mut State,
) {
    let mask = std::mem::take(&mut notes.mask);
    for_lanes::<N>(mask, |l| {
        if let Some(plan) = plans.get(notes.plan[l] as usize) {
            plan.access(state, notes.index[l], notes.operands[l], l, phv, stamps);
        }
    });
}

/// The arrays that several actions use; the others need no notes.
pub(super) fn noted(plans: &[AccessPlan]) -> Vec<Array> {
    let mut arrays: Vec<Array> = plans.iter().map(AccessPlan::array).collect();
    arrays.sort_unstable();
    let repeated = arrays.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]);
    let mut list: Vec<Array> = repeated.collect();
    list.dedup();
    list
}
