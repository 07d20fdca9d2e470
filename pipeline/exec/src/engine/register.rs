//! Accesses to registers and meters, each in the order in which packets enter.
//!
//! Operations run over a whole batch, so two actions on one array, in different tables or entries, would access it one
//! after the other and not packet by packet. If an array has several users, an action therefore only *notes* an access,
//! with index and operands as they are in its stage, and all accesses run in order after the last user of the stage.
//! Decisions that do not depend on the packet, such as the source of an operand, are made once for all lanes: first indices
//! and operands are gathered, then the elements change, then the outputs are written to their fields.

use super::batch::{Phv, for_lanes};
use super::field::FieldAt;
use super::hash::HashPlan;
use super::source::{EntryOf, Source, WideSource, wide_value};
use crate::cover::Point;
use crate::pass::{MAX_BATCH, State};
use sluice_asic::salu::{Accesses, Constant, Operands, Prepared, SaluProgram, State as Element};
use sluice_control::cells::Cells;
use sluice_ir::meter_array::Question;
use sluice_ir::salu::{self, ParamRow};
use sluice_ir::{Meter, Register, RegisterAction};
use std::cell::Cell;

/// Operand from the packet.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Narrow(Source),
    Wide(WideSource),
    /// Index of a hash.
    Hash(u32),
}

/// Source of a cell's index.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellAt {
    Source(Source),
    /// The matched entry; past the end of every array on a miss.
    Entry,
    /// Index of a hash.
    Hash(u32),
}

/// Array with a meter ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Array {
    Register(Register),
    Meter(Meter),
}

/// Kind of an access.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Register action, with the register file rows of its parameters.
    Register(Register, Prepared, Vec<ParamRow>),
    Meter(Meter),
    /// Register action whose comparisons are counted for coverage.
    Counted(Register, Box<SaluProgram>, Vec<ParamRow>, Box<Compared>),
}

/// Number of times that the comparisons of a register action had each joint outcome; the first comparison is the lowest
/// bit.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    action: RegisterAction,
    times: [Cell<u64>; 16],
}

impl Compared {
    pub(super) fn new(action: RegisterAction) -> Compared {
        Compared { action, times: Default::default() }
    }

    /// Runs the action on an element and counts the outcome of its comparisons; returns the output words.
    #[inline]
    pub(super) fn execute(
        &self,
        salu: &SaluProgram,
        element: &mut Element,
        ([lo, hi], address): ([u64; 2], u32),
        params: [i64; Constant::PARAMS],
    ) -> [u32; 4] {
        let outcome = salu.execute(*element, &Operands { lo, hi, address, params });
        let times = &self.times[usize::from(outcome.comparators & 15)];
        times.set(times.get() + 1);
        *element = outcome.state;
        outcome.outputs
    }

    fn report(&self, salu: &SaluProgram, add: &mut impl FnMut(Point, u64)) {
        let total: u64 = self.times.iter().map(Cell::get).sum();
        if total == 0 {
            return;
        }
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

/// Access of one action to an array.
#[derive(Clone, Debug)]
pub(super) struct AccessPlan {
    pub(super) work: Work,
    pub(super) index: CellAt,
    /// Low and high operand, if the action uses them; of a meter, the low one is its input.
    pub(super) operands: [Option<Operand>; 2],
    /// Output words and the fields to which they are written.
    pub(super) outputs: Vec<(u8, FieldAt)>,
    /// Index of the array among those with several users, to note the access; `None`: the access runs at once.
    pub(super) note: Option<usize>,
}

/// Operands and outputs of the lanes' accesses to one array.
#[derive(Clone)]
pub(super) struct Notes {
    mask: u64,
    /// Plan of each lane's access.
    plan: [u32; MAX_BATCH],
    index: [u32; MAX_BATCH],
    /// Low and high operand of each lane.
    operands: [[u64; MAX_BATCH]; 2],
    /// Output words.
    words: [[u32; 4]; MAX_BATCH],
}

impl Notes {
    pub(super) fn new() -> Notes {
        let operands = [[0; MAX_BATCH]; 2];
        Notes { mask: 0, plan: [0; MAX_BATCH], index: [0; MAX_BATCH], operands, words: [[0; 4]; MAX_BATCH] }
    }
}

/// Inputs of meters from the lanes' packets.
#[derive(Clone, Copy)]
pub(super) struct Stamps<'a> {
    /// Length of each lane's packet.
    pub(super) bytes: &'a [u32; MAX_BATCH],
    /// Time of entry, in ns of the data plane's clock; set for programs with meters.
    pub(super) now: &'a [u64; MAX_BATCH],
}

impl AccessPlan {
    /// Reports the counted outcomes and resets them.
    pub(super) fn take_counts(&self, mut add: impl FnMut(Point, u64)) {
        if let Work::Counted(_, salu, _, compared) = &self.work {
            compared.report(salu, &mut add);
            compared.times.iter().for_each(|times| times.set(0));
        }
    }

    pub(super) fn array(&self) -> Array {
        match self.work {
            Work::Register(register, ..) | Work::Counted(register, ..) => Array::Register(register),
            Work::Meter(meter) => Array::Meter(meter),
        }
    }

    /// Accesses the array for each lane of `mask`, or notes the accesses.
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "the parts of a batch, borrowed one by one")]
    pub(super) fn run<const N: usize>(
        &self,
        number: u32,
        mask: u64,
        phv: &Phv<N>,
        entry: &EntryOf<'_>,
        hashes: &[HashPlan],
        stamps: Stamps<'_>,
        state: &mut State,
        notes: &mut [Notes],
    ) {
        // The last notes are for accesses that run at once.
        let at = self.note.unwrap_or(notes.len().saturating_sub(1));
        let Some(notes) = notes.get_mut(at) else { return };
        self.gather::<N>(mask, phv, entry, hashes, notes);
        if self.note.is_none() {
            self.perform::<N>(mask, notes, phv, stamps, state);
        } else {
            notes.mask |= mask;
            for_lanes::<N>(mask, |l| notes.plan[l] = number);
        }
    }

    /// Gathers index and operands of each lane of `mask`.
    #[inline]
    fn gather<const N: usize>(
        &self,
        mask: u64,
        phv: &Phv<N>,
        entry: &EntryOf<'_>,
        hashes: &[HashPlan],
        notes: &mut Notes,
    ) {
        let Notes { index, operands, .. } = notes;
        match self.index {
            CellAt::Source(source) => narrow::<N>(source, mask, phv, entry, |l, v| index[l] = v),
            CellAt::Entry => for_lanes::<N>(mask, |l| index[l] = entry.entry[l]),
            CellAt::Hash(plan) => hashes[plan as usize].each::<N>(mask, phv, |l, v| index[l] = v as u32),
        }
        for (operand, to) in self.operands.iter().zip(operands) {
            match operand {
                // The input of an earlier access would be a colour or a sample that this packet does not have.
                None if matches!(self.work, Work::Meter(_)) => for_lanes::<N>(mask, |l| to[l] = 0),
                None => {}
                Some(Operand::Narrow(source)) => {
                    narrow::<N>(*source, mask, phv, entry, |l, v| to[l] = v.into());
                }
                Some(Operand::Wide(source)) => {
                    for_lanes::<N>(mask, |l| to[l] = wide_value(source, l, phv, entry) as u64);
                }
                Some(Operand::Hash(plan)) => hashes[*plan as usize].each::<N>(mask, phv, |l, v| to[l] = v),
            }
        }
    }

    /// Runs the accesses of the lanes of `mask`, in order. An access past the end of the array changes nothing, and its
    /// outputs are 0.
    #[inline]
    fn perform<const N: usize>(
        &self,
        mask: u64,
        notes: &mut Notes,
        phv: &Phv<N>,
        stamps: Stamps<'_>,
        state: &mut State,
    ) {
        let Notes { index, operands, words, .. } = notes;
        match &self.work {
            Work::Register(register, ..) | Work::Counted(register, ..)
                if busy(state, *register).is_some() =>
            {
                let word = busy(state, *register).unwrap_or_default();
                for_lanes::<N>(mask, |l| words[l] = [word, 0, 0, 0]);
            }
            Work::Register(register, action, rows) => {
                let params = params(rows, state, *register);
                let cells = &mut state.registers[*register];
                action.make(&params, InOrder::<N> { mask, cells, index, operands, words });
            }
            Work::Counted(register, salu, rows, compared) => {
                let params = params(rows, state, *register);
                let cells = &mut state.registers[*register];
                for_lanes::<N>(mask, |l| {
                    let operands = ([operands[0][l], operands[1][l]], index[l]);
                    let cell = cells.get_mut(index[l] as usize);
                    words[l] = cell.map_or([0; 4], |cell| compared.execute(salu, cell, operands, params));
                });
            }
            Work::Meter(meter) => {
                let meter = &mut state.meters[*meter];
                for_lanes::<N>(mask, |l| {
                    let (now, bytes) = (stamps.now[l], stamps.bytes[l]);
                    let question = Question { now, bytes, input: operands[0][l] as u32 };
                    words[l][0] = meter.ask(index[l] as usize, question);
                });
            }
        }
        for (word, to) in &self.outputs {
            to.write_lanes::<N>(mask, phv, |l| words[l][usize::from(word & 3)].into());
        }
    }
}

/// Returns the output word of a register that is being cleared.
#[inline]
pub(super) fn busy(state: &State, register: Register) -> Option<u32> {
    state.busy.get(register).copied().flatten()
}

/// Returns the current parameters of a register.
#[inline]
pub(super) fn params(rows: &[ParamRow], state: &State, register: Register) -> [i64; Constant::PARAMS] {
    match rows {
        [] => [0; Constant::PARAMS],
        rows => salu::values(rows, &state.params[register]),
    }
}

/// Accesses the elements of a register, lane by lane.
struct InOrder<'a, const N: usize> {
    mask: u64,
    cells: &'a mut Cells<Element>,
    index: &'a [u32; MAX_BATCH],
    operands: &'a [[u64; MAX_BATCH]; 2],
    words: &'a mut [[u32; 4]; MAX_BATCH],
}

impl<const N: usize> Accesses for InOrder<'_, N> {
    type Result = ();

    #[inline(always)]
    fn each(self, access: impl Fn(&mut Element, [u64; 2], u32) -> [u32; 4]) {
        let InOrder { mask, cells, index, operands: [lo, hi], words } = self;
        for_lanes::<N>(mask, |l| {
            words[l] = match cells.get_mut(index[l] as usize) {
                Some(cell) => access(cell, [lo[l], hi[l]], index[l]),
                None => [0; 4],
            };
        });
    }
}

/// Calls `put` with the value of a source in each lane of `mask`.
#[inline(always)]
fn narrow<const N: usize>(
    source: Source,
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
    mut put: impl FnMut(usize, u32),
) {
    match source {
        Source::Column { slot, shift, mask: bits } => {
            let column = phv.column(slot);
            for_lanes::<N>(mask, |l| put(l, column[l % N].get() >> shift & bits));
        }
        Source::Const(v) => for_lanes::<N>(mask, |l| put(l, v)),
        Source::Arg(word) => for_lanes::<N>(mask, |l| put(l, entry.arg(l, word))),
    }
}

/// Runs the accesses noted for an array, lane by lane.
pub(super) fn settle<const N: usize>(
    notes: &mut Notes,
    plans: &[AccessPlan],
    phv: &Phv<N>,
    stamps: Stamps<'_>,
    state: &mut State,
) {
    let mut rest = std::mem::take(&mut notes.mask);
    while rest != 0 {
        // Adjacent lanes with one plan run together.
        let first = notes.plan[rest.trailing_zeros() as usize % MAX_BATCH];
        let mut run = 0;
        while rest != 0 && notes.plan[rest.trailing_zeros() as usize % MAX_BATCH] == first {
            run |= rest & rest.wrapping_neg();
            rest &= rest - 1;
        }
        if let Some(plan) = plans.get(first as usize) {
            plan.perform::<N>(run, notes, phv, stamps, state);
        }
    }
}

/// Returns the arrays with several users; the others need no notes.
pub(super) fn noted(plans: &[AccessPlan]) -> Vec<Array> {
    let mut arrays: Vec<Array> = plans.iter().map(AccessPlan::array).collect();
    arrays.sort_unstable();
    let repeated = arrays.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]);
    let mut list: Vec<Array> = repeated.collect();
    list.dedup();
    list
}
