//! Actions as short lists of container operations, each run over all lanes at once.
//!
//! An entry's parameters are stored as *argument words*: already shifted to where an operation deposits
//! them. What may not live here: which action runs.

mod count;
mod generate;
mod lower;

use count::{count_at, count_cell, count_entry};
pub(super) use generate::{ActionText, Entry};
use lower::cut;
pub(super) use lower::{Base, Leaf, Lowering, Registers, leaf};

use super::batch::{Column, Phv, Slot, deposit, for_lanes};
use super::field::{FieldAt, Piece};
use super::hash::HashPlan;
use super::register::{AccessPlan, Notes, Stamps};
use crate::entity::Entity;
use crate::ir::{CounterKind, Label};
use crate::pass::State;
use sluice_asic::alu::AluOp;
use sluice_asic::counter::CounterLayout;

/// A value right-aligned in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    Column {
        slot: Slot,
        shift: u8,
        mask: u32,
    },
    Const(u32),
    /// Argument word of the entry.
    Arg(u16),
}

/// A value of any width.
#[derive(Clone, Debug)]
pub(super) enum WideSource {
    Field {
        at: FieldAt,
        lo: u16,
        width: u16,
    },
    Const(u128),
    /// Argument words, least significant first.
    Args {
        first: u16,
        words: u16,
    },
}

/// An operation on values that are wider than a container.
#[derive(Clone, Debug)]
pub(super) struct WideAlu {
    op: AluOp,
    width: u16,
    to: FieldAt,
    a: WideSource,
    b: WideSource,
}

/// A sum or difference in two containers of 32 bits, low part first.
#[derive(Clone, Debug)]
pub(super) struct CarryAlu {
    subtract: bool,
    to: [Piece; 2],
    a: [Source; 2],
    b: [Source; 2],
}

/// A container operation. `keep` are the bits of the destination that stay.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Const {
        slot: Slot,
        keep: u32,
        value: u32,
    },
    Arg {
        slot: Slot,
        keep: u32,
        word: u16,
    },
    /// Constants, and moves, that follow each other: dispatched once. Each is column, bits that stay, value; a move
    /// also has its source, both shifts and its mask.
    Consts(Box<[(Slot, u32, u32)]>),
    Moves(Box<[MoveBits]>),
    /// Neighbouring argument words to as many containers: a lane's words are found once.
    Args(ArgRun),
    /// `(src >> right << left) & mask` deposited; one of the shifts is zero.
    Move {
        slot: Slot,
        keep: u32,
        src: Slot,
        right: u8,
        left: u8,
        mask: u32,
    },
    Alu {
        op: AluOp,
        to: Piece,
        a: Source,
        b: Source,
    },
    Wide(Box<WideAlu>),
    Carry(Box<CarryAlu>),
    /// Two values side by side, shifted right by less than their joint width.
    Funnel {
        to: Piece,
        high: Source,
        low: Source,
        by: u8,
    },
    Hash {
        plan: u32,
        to: Box<FieldAt>,
    },
    Count {
        counter: u32,
        kind: CounterKind,
        index: Source,
    },
    CountDirect {
        counter: u32,
        kind: CounterKind,
    },
    /// An access to a register or meter: position of its plan.
    Access {
        plan: u32,
    },
    Drop {
        label: u32,
    },
    /// Counts in cells that wrap, or other lengths than the packets'; `None` is the matched entry's cell.
    CountCell {
        counter: u32,
        layout: Box<CounterLayout>,
        index: Option<Source>,
    },
    /// A random number: position among those that the gress draws.
    Random {
        draw: u32,
        to: Box<FieldAt>,
    },
    /// Bits of a hash from `lo` on.
    HashSlice {
        plan: u32,
        to: Box<FieldAt>,
        lo: u16,
    },
    /// The bits of `bits` that the mask has are set to the value's; both stand where they go.
    Masked {
        slot: Slot,
        bits: u32,
        value: Word,
        mask: Word,
    },
}

impl Op {
    /// This operation on argument words and the one that puts `word` into a container, as one, if they are
    /// neighbours. Each has its container, so that their order does not count.
    fn args_with(&self, slot: Slot, keep: u32, word: u16) -> Option<Op> {
        let run = match self {
            Op::Arg { slot, keep, word } => {
                let mut to = [(0, 0); ArgRun::MOST];
                to[0] = (*slot, *keep);
                ArgRun { first: *word, len: 1, to }
            }
            Op::Args(run) => *run,
            _ => return None,
        };
        run.with(slot, keep, word).map(Op::Args)
    }
}

/// An [`Op::Move`].
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveBits {
    pub(super) slot: Slot,
    pub(super) keep: u32,
    pub(super) src: Slot,
    pub(super) right: u8,
    pub(super) left: u8,
    pub(super) mask: u32,
}

impl MoveBits {
    #[inline(always)]
    pub(super) fn run<const N: usize>(self, mask: u64, phv: &Phv<N>) {
        let from = phv.column(self.src);
        let moved = |l: usize| (from[l % N].get() >> self.right << self.left) & self.mask;
        deposit::<N>(phv.column(self.slot), self.keep, mask, moved);
    }
}

/// Neighbouring argument words from `first` on, each with the container that it goes to and the bits of it that
/// stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArgRun {
    first: u16,
    len: u8,
    to: [(Slot, u32); ArgRun::MOST],
}

impl ArgRun {
    const MOST: usize = 4;

    /// The run with one word more, if that is its neighbour and there is room.
    fn with(mut self, slot: Slot, keep: u32, word: u16) -> Option<ArgRun> {
        let at =
            self.to.get_mut(usize::from(self.len)).filter(|_| word == self.first + u16::from(self.len))?;
        *at = (slot, keep);
        self.len += 1;
        Some(self)
    }

    fn run<const N: usize>(&self, mask: u64, phv: &Phv<N>, entry: &EntryOf<'_>) {
        let whole = self.to.iter().all(|(_, keep)| *keep == 0);
        match (self.len, whole) {
            (2, true) => self.words::<N, 2, true>(mask, phv, entry),
            (2, false) => self.words::<N, 2, false>(mask, phv, entry),
            (3, true) => self.words::<N, 3, true>(mask, phv, entry),
            (3, false) => self.words::<N, 3, false>(mask, phv, entry),
            (_, true) => self.words::<N, 4, true>(mask, phv, entry),
            (_, false) => self.words::<N, 4, false>(mask, phv, entry),
        }
    }

    /// `K` words to containers; of `WHOLE` ones nothing stays.
    #[inline(always)]
    fn words<const N: usize, const K: usize, const WHOLE: bool>(
        &self,
        mask: u64,
        phv: &Phv<N>,
        entry: &EntryOf<'_>,
    ) {
        let columns: [_; K] = std::array::from_fn(|i| phv.column(self.to[i].0));
        for_lanes::<N>(mask, |l| {
            let at = entry.base[l] as usize + usize::from(self.first);
            let Some(words) = entry.args.get(at..).and_then(|words| words.first_chunk::<K>()) else { return };
            for i in 0..K {
                let stays = if WHOLE { 0 } else { columns[i][l % N].get() & self.to[i].1 };
                columns[i][l % N].set(stays | words[i]);
            }
        });
    }
}

/// A word of action data, in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word {
    Const(u32),
    /// Argument word of the entry.
    Arg(u16),
    /// All bits, or none: an argument word of one bit.
    Flag(u16),
}

/// Where a parameter's bits go in an argument word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArgWord {
    param: u16,
    /// First bit of the parameter.
    lo: u16,
    width: u8,
    /// First bit of the word.
    at: u8,
}

/// A lowered action.
#[derive(Clone, Debug, Default)]
pub(super) struct ActionCode {
    pub(super) ops: Vec<Op>,
    args: Vec<ArgWord>,
    /// It accesses the cell of the entry that was found.
    pub(super) uses_entry: bool,
}

/// What running an action touches besides the PHV.
pub(super) struct Effects<'a> {
    pub(super) hashes: &'a [HashPlan],
    pub(super) accesses: &'a [AccessPlan],
    /// Accesses that wait for the end of the stage, per register that needs it.
    pub(super) notes: &'a mut [Notes],
    pub(super) state: &'a mut State,
    /// Length of each lane's packet.
    pub(super) bytes: &'a [u32; 64],
    /// Label of each lane in `dropped`, plus one.
    pub(super) labels: &'a mut [u32; 64],
    /// Lanes that an action gave a label.
    pub(super) dropped: u64,
    /// The data plane's clock in ns at each lane's entry.
    pub(super) now: &'a [u64; 64],
    /// What each generator of random numbers gives each lane.
    pub(super) random: &'a [[u32; 64]],
}

/// Argument words and matched entry of each lane.
pub(super) struct EntryOf<'a> {
    pub(super) args: &'a [u32],
    /// First argument word of each lane.
    pub(super) base: &'a [u32; 64],
    /// Direct-counter index of each lane; `u32::MAX` on a miss.
    pub(super) entry: &'a [u32; 64],
}

impl EntryOf<'_> {
    #[inline(always)]
    pub(super) fn arg(&self, lane: usize, word: u16) -> u32 {
        self.args[self.base[lane] as usize + usize::from(word)]
    }
}

/// Runs an action for the lanes of `mask`. Out of line: batches run actions from several places.
#[inline(never)]
pub(super) fn run<const N: usize>(
    code: &ActionCode,
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
    fx: &mut Effects<'_>,
) {
    run_ops::<N>(&code.ops, mask, phv, entry, fx);
}

/// The same, in line: for one packet a call costs as much as the few operations of an action.
#[inline(always)]
pub(super) fn run_ops<const N: usize>(
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

/// Operations that few actions have. Out of line, as all that is more than moving bits: what stands in line takes
/// registers from every operation.
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
        Op::CountCell { counter, layout, index } => {
            count_cell::<N>((*counter, layout), *index, mask, phv, entry, fx);
        }
        _ => {}
    }
}

/// An access to a register or meter.
#[inline(never)]
fn access<const N: usize>(plan: u32, mask: u64, phv: &Phv<N>, entry: &EntryOf<'_>, fx: &mut Effects<'_>) {
    let access = &fx.accesses[plan as usize];
    let stamps = Stamps { bytes: fx.bytes, now: fx.now };
    access.run::<N>(plan, mask, phv, entry, fx.hashes, stamps, fx.state, fx.notes);
}

/// A set under a mask. Out of line: few actions have one.
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

#[inline(always)]
pub(super) fn value<const N: usize>(s: Source, lane: usize, phv: &Phv<N>, entry: &EntryOf<'_>) -> u32 {
    match s {
        Source::Column { slot, shift, mask } => phv.get(slot, lane) >> shift & mask,
        Source::Const(v) => v,
        Source::Arg(word) => entry.arg(lane, word),
    }
}

pub(super) fn wide_value<const N: usize>(
    s: &WideSource,
    lane: usize,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
) -> u128 {
    match s {
        WideSource::Field { at, lo, width } => cut(at.read(phv, lane) >> lo, *width),
        WideSource::Const(v) => *v,
        WideSource::Args { first, words } => {
            (0..*words).fold(0, |v, w| v | u128::from(entry.arg(lane, first + w)) << (32 * w))
        }
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
    // The common operations get loops of their own, without the choice of operation inside.
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

/// A label that an action set, from the lane's label word.
pub(super) fn label_of(word: u32) -> Option<Label> {
    word.checked_sub(1).map(|i| Label::new(i as usize))
}
