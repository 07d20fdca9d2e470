//! Actions as short lists of container operations, each run over all lanes at once.
//!
//! An entry's parameters are stored as *argument words*: already shifted to where an operation deposits them.

mod code;
mod count;
mod generate;
mod lower;
mod run;

pub(super) use generate::{ActionText, Entry};
pub(super) use lower::{Lowering, Registers};
pub(super) use run::{run, run_ops};

use super::batch::{Phv, Slot, deposit, for_lanes};
use super::field::{FieldAt, Piece};
use super::hash::HashPlan;
use super::register::{AccessPlan, Notes};
use super::source::{EntryOf, Source, WideSource};
use crate::pass::State;
use sluice_asic::alu::AluOp;
use sluice_asic::counter::CounterLayout;
use sluice_ir::entity::Entity;
use sluice_ir::{CounterKind, Label};

/// An operation on values that are wider than a container.
#[derive(Clone, Debug)]
pub(super) struct WideAlu {
    op: AluOp,
    width: u16,
    to: FieldAt,
    a: WideSource,
    b: WideSource,
}

/// Sum or difference of a field in two containers, low part first; the low part has 32 bits.
#[derive(Clone, Debug)]
pub(super) struct CarryAlu {
    subtract: bool,
    to: [Piece; 2],
    a: [Source; 2],
    b: [Source; 2],
}

/// Operation on containers. `keep` masks the bits of the destination that do not change.
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
    /// Adjacent constants, dispatched once; `Moves` are adjacent moves. A constant has its column, `keep` and value.
    Consts(Box<[(Slot, u32, u32)]>),
    Moves(Box<[MoveBits]>),
    /// Argument words with adjacent numbers, each to its container. A lane's words are looked up once.
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
    /// Concatenation of two values, shifted right by less than its width.
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
    /// Access to a register or meter, by the index of its plan.
    Access {
        plan: u32,
    },
    Drop {
        label: u32,
    },
    /// Drops the lanes in which this bit, `drop_ctl` bit 0, is set, and no others.
    DropWhere {
        slot: Slot,
        bit: u8,
        label: u32,
    },
    /// Counts in cells that wrap, or with adjusted packet lengths; `None` is the matched entry's cell.
    CountCell {
        counter: u32,
        layout: Box<CounterLayout>,
        index: Option<Source>,
    },
    /// Random number, by the index of its generator among those of the gress.
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
    /// Sets the column bits that are in both `bits` and `mask` to those of `value`. Both words are shifted to the
    /// column's bits.
    Masked {
        slot: Slot,
        bits: u32,
        value: Word,
        mask: Word,
    },
}

impl Op {
    /// Returns this operation joined with one that writes argument word `word` to a container; `None` if the words are
    /// not adjacent. Each word has its own container, so the order of the writes does not matter.
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

/// Fields of an [`Op::Move`].
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

/// Argument words with adjacent numbers from `first` on, each with its container and the bits of the container that do
/// not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArgRun {
    first: u16,
    len: u8,
    to: [(Slot, u32); ArgRun::MOST],
}

impl ArgRun {
    const MOST: usize = 4;

    /// Returns the run with one more word; `None` if the word is not adjacent or the run is full.
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

    /// Writes `K` words to their containers. With `WHOLE`, no container keeps any bits.
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

/// Word of action data, shifted to the bits of its container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word {
    Const(u32),
    /// Argument word of the entry.
    Arg(u16),
    /// All ones or zero, from an argument word of one bit.
    Flag(u16),
}

/// Bits of a parameter in an argument word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArgWord {
    param: u16,
    /// Lowest bit of the parameter.
    lo: u16,
    width: u8,
    /// Bit of the word for the parameter's bit `lo`.
    at: u8,
}

/// A lowered action.
#[derive(Clone, Debug, Default)]
pub(super) struct ActionCode {
    pub(super) ops: Vec<Op>,
    args: Vec<ArgWord>,
    /// True if the action accesses the cell of the matched entry.
    pub(super) uses_entry: bool,
}

/// Data other than the PHV that an action reads or changes.
pub(super) struct Effects<'a> {
    pub(super) hashes: &'a [HashPlan],
    pub(super) accesses: &'a [AccessPlan],
    /// Noted accesses of each array with several users; the last element is for accesses that run at once.
    pub(super) notes: &'a mut [Notes],
    pub(super) state: &'a mut State,
    /// Length of each lane's packet.
    pub(super) bytes: &'a [u32; 64],
    /// Label of each lane in `dropped`, plus one.
    pub(super) labels: &'a mut [u32; 64],
    /// Lanes that an action dropped with a label.
    pub(super) dropped: u64,
    /// Time of each lane's entry, in ns of the data plane's clock.
    pub(super) now: &'a [u64; 64],
    /// Number that each random number generator drew for each lane.
    pub(super) random: &'a [[u32; 64]],
}

/// Returns the label of a lane's label word; `None` for 0.
pub(super) fn label_of(word: u32) -> Option<Label> {
    word.checked_sub(1).map(|i| Label::new(i as usize))
}
