//! Runs actions: each operation over all lanes of a mask.

use super::ActionCode;
use super::count::{count_at, count_cell, count_entry};
use super::{CarryAlu, Effects, MoveBits, Op, WideAlu, Word};
use crate::engine::batch::{Column, Phv, deposit, for_lanes};
use crate::engine::field::Piece;
use crate::engine::register::Stamps;
use crate::engine::source::{EntryOf, Source, value, wide_value};
use sluice_asic::alu::AluOp;

/// Runs an action for the lanes of `mask`. Out of line: batches run actions from several places.
#[inline(never)]
pub(in crate::engine) fn run<const N: usize>(
    code: &ActionCode,
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
    fx: &mut Effects<'_>,
) {
    run_ops::<N>(&code.ops, mask, phv, entry, fx);
}

/// Runs an action's operations. Inlined, because for one packet a call costs as much as the few operations of an
/// action.
#[inline(always)]
pub(in crate::engine) fn run_ops<const N: usize>(
    ops: &[Op],
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
    fx: &mut Effects<'_>,
) {
    for op in ops {
        match op {
            Op::Const { slot, keep, value } => deposit::<N>(phv.column(*slot), *keep, mask, |_| *value),
            Op::Arg { slot, keep, word } => {
                deposit::<N>(phv.column(*slot), *keep, mask, |l| entry.arg(l, *word));
            }
            Op::Args(run) => run.run::<N>(mask, phv, entry),
            Op::Consts(list) => {
                for (slot, keep, value) in list {
                    deposit::<N>(phv.column(*slot), *keep, mask, |_| *value);
                }
            }
            Op::Moves(list) => list.iter().for_each(|bits| bits.run::<N>(mask, phv)),
            Op::Move { slot, keep, src, right, left, mask: bits } => {
                let (slot, keep, src, right, left, bits) = (*slot, *keep, *src, *right, *left, *bits);
                MoveBits { slot, keep, src, right, left, mask: bits }.run::<N>(mask, phv);
            }
            Op::Alu { op, to, a, b } => alu::<N>(*op, to, a, b, mask, phv, entry),
            Op::Wide(wide) => wide.run::<N>(mask, phv, entry),
            Op::Carry(sum) => sum.run::<N>(mask, phv, entry),
            Op::Hash { plan, to } => fx.hashes[*plan as usize].run::<N>(mask, phv, to),
            Op::Count { counter, kind, index } => {
                count_at::<N>((*counter, *kind), *index, mask, phv, entry, fx);
            }
            Op::CountDirect { counter, kind } => count_entry::<N>((*counter, *kind), mask, entry, fx),
            Op::Access { plan } => access::<N>(*plan, mask, phv, entry, fx),
            Op::Drop { label } => {
                fx.dropped |= mask;
                for_lanes::<N>(mask, |l| fx.labels[l] = *label);
            }
            op => rare::<N>(op, mask, phv, entry, fx),
        }
    }
}

/// Runs operations that few actions have. Not inlined, because inlined code takes registers from every operation.
#[inline(never)]
fn rare<const N: usize>(op: &Op, mask: u64, phv: &Phv<N>, entry: &EntryOf<'_>, fx: &mut Effects<'_>) {
    match op {
        Op::Funnel { to, high, low, by } => {
            let (width, by) = (u32::from(to.width), u32::from(*by));
            let shifted = |high: u32, low: u32| ((u64::from(high) << width | u64::from(low)) >> by) as u32;
            alu_lanes::<N>(*to, *high, *low, mask, phv, entry, shifted);
        }
        Op::Random { draw, to } => {
            let numbers = &fx.random[*draw as usize];
            to.write_lanes::<N>(mask, phv, |l| numbers[l].into());
        }
        Op::HashSlice { plan, to, lo } => {
            let plan = &fx.hashes[*plan as usize];
            to.write_lanes::<N>(mask, phv, |l| plan.eval(phv, l).checked_shr((*lo).into()).unwrap_or(0));
        }
        Op::Masked { slot, bits, value, mask: under } => {
            masked::<N>(phv.column(*slot), *bits, (*value, *under), mask, entry);
        }
        Op::DropWhere { slot, bit, label } => {
            let column = phv.column(*slot);
            fx.dropped &= !mask;
            for_lanes::<N>(mask, |l| {
                fx.dropped |= u64::from(column[l % N].get() >> bit & 1) << l;
                fx.labels[l] = *label;
            });
        }
        Op::CountCell { counter, layout, index } => {
            count_cell::<N>((*counter, layout), *index, mask, phv, entry, fx);
        }
        _ => {}
    }
}

/// Performs or notes an access to a register or meter.
#[inline(never)]
fn access<const N: usize>(plan: u32, mask: u64, phv: &Phv<N>, entry: &EntryOf<'_>, fx: &mut Effects<'_>) {
    let access = &fx.accesses[plan as usize];
    let stamps = Stamps { bytes: fx.bytes, now: fx.now };
    access.run::<N>(plan, mask, phv, entry, fx.hashes, stamps, fx.state, fx.notes);
}

/// Sets bits under a mask. Not inlined, because few actions have such a set.
#[inline(never)]
fn masked<const N: usize>(
    column: &Column<N>,
    bits: u32,
    (value, under): (Word, Word),
    mask: u64,
    entry: &EntryOf<'_>,
) {
    let read = |word: Word, lane: usize| match word {
        Word::Const(v) => v,
        Word::Arg(n) => entry.arg(lane, n),
        Word::Flag(n) => 0_u32.wrapping_sub(entry.arg(lane, n) & 1),
    };
    for_lanes::<N>(mask, |l| {
        let under = read(under, l) & bits;
        column[l % N].set(column[l % N].get() & !under | read(value, l) & under);
    });
}

impl WideAlu {
    #[inline(never)]
    fn run<const N: usize>(&self, mask: u64, phv: &Phv<N>, entry: &EntryOf<'_>) {
        for_lanes::<N>(mask, |l| {
            let (a, b) = (wide_value(&self.a, l, phv, entry), wide_value(&self.b, l, phv, entry));
            self.to.write(phv, l, self.op.eval(a, b, u32::from(self.width)));
        });
    }
}

impl CarryAlu {
    #[inline(never)]
    fn run<const N: usize>(&self, mask: u64, phv: &Phv<N>, entry: &EntryOf<'_>) {
        let of = |[low, high]: [Source; 2], l: usize| {
            u64::from(value(high, l, phv, entry)) << 32 | u64::from(value(low, l, phv, entry))
        };
        let [low, high] = self.to.map(|p| (phv.column(p.slot), p));
        for_lanes::<N>(mask, |l| {
            let (a, b) = (of(self.a, l), of(self.b, l));
            let result = if self.subtract { a.wrapping_sub(b) } else { a.wrapping_add(b) };
            for ((column, p), part) in [(low, result as u32), (high, (result >> 32) as u32)] {
                column[l % N].set(column[l % N].get() & p.keep | (part & p.mask()) << p.at);
            }
        });
    }
}

#[inline(never)]
fn alu<const N: usize>(
    op: AluOp,
    to: &Piece,
    a: &Source,
    b: &Source,
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
) {
    let (to, a, b) = (*to, *a, *b);
    // Separate loops for the common operations, so that the loops do not choose the operation.
    match op {
        AluOp::Add => alu_lanes::<N>(to, a, b, mask, phv, entry, u32::wrapping_add),
        AluOp::Sub => alu_lanes::<N>(to, a, b, mask, phv, entry, u32::wrapping_sub),
        op => {
            let width = u32::from(to.width);
            alu_lanes::<N>(to, a, b, mask, phv, entry, |a, b| op.eval32(a, b, width));
        }
    }
}

#[inline(always)]
fn alu_lanes<const N: usize>(
    to: Piece,
    a: Source,
    b: Source,
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
    f: impl Fn(u32, u32) -> u32,
) {
    let column = phv.column(to.slot);
    let place = |result: u32| (result & to.mask()) << to.at;
    if let (Source::Column { slot, shift, mask: bits }, Source::Const(b)) = (a, b) {
        let from = phv.column(slot);
        deposit::<N>(column, to.keep, mask, |l| place(f(from[l % N].get() >> shift & bits, b)));
    } else {
        let of = |s: Source, l: usize| value(s, l, phv, entry);
        deposit::<N>(column, to.keep, mask, |l| place(f(of(a, l), of(b, l))));
    }
}
