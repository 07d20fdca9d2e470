//! Actions as short lists of container operations, each run over all lanes at once.
//!
//! An entry's parameters are stored as *argument words*: already shifted to where an operation deposits them.

mod code;
mod count;
mod generate;
mod lower;
mod run;

pub(super) use generate::{ActionText, Entry};
pub(super) use lower::{Base, Leaf, Lowering, Registers, leaf};
pub(super) use run::{run, run_ops, value, wide_value};

use super::batch::{Phv, Slot, deposit, for_lanes};
use super::field::{FieldAt, Piece};
use super::hash::HashPlan;
use super::register::{AccessPlan, Notes};
use crate::pass::State;
use sluice_asic::alu::AluOp;
use sluice_asic::counter::CounterLayout;
use sluice_ir::entity::Entity;
use sluice_ir::{CounterKind, Label};

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

/// A label that an action set, from the lane's label word.
pub(super) fn label_of(word: u32) -> Option<Label> {
    word.checked_sub(1).map(|i| Label::new(i as usize))
}
