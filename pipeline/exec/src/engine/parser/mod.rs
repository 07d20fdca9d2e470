//! The parser graph, unrolled into nodes in which every header has a fixed offset.
//!
//! A batch runs the nodes that have lanes, lowest first, each with the mask of its lanes. Bytes that nothing reads or
//! rewrites are not copied into columns. This module has the nodes and runs them; `unroll` builds them.

mod generate;
mod load;
mod select;
mod unroll;

pub(super) use unroll::{ParserBuilder, counter_word, header_columns};

use super::action::{ActionCode, MoveBits};
use super::batch::{Phv, Slot, deposit, for_lanes, lanes_where};
use super::checksum::{sum_bytes, sum_fields};
use super::field::FieldAt;
use crate::packet::WINDOW;
use load::{Load, Loads};
use select::Select;
use sluice_control::ControlState;
use sluice_ir::{CounterLoad, Header, ValueSet};
use std::collections::{BTreeMap, BTreeSet};

/// End of a parse path: the byte offset of every extracted header, and of the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Leaf {
    pub(super) extracted: BTreeMap<Header, u32>,
    /// Headers that are valid at the end of the path.
    pub(super) valid: BTreeSet<Header>,
    pub(super) payload: u32,
    /// `parser_err`; 0 if parsing ended well.
    pub(super) error: u16,
    pub(super) cycles: u16,
}

/// Target of a select: a node or a leaf.
#[derive(Clone, Copy, Debug)]
enum Target {
    Node(u32),
    Leaf(u16),
}

#[derive(Clone, Debug)]
enum Step {
    /// Load of bytes ahead of the parser; loads of the node's header are in `Node::loads`.
    Load(Load),
    /// A validity bit or a constant field.
    Set { slot: Slot, keep: u32, value: u32 },
    /// Sets a field in a way that is neither `Set` nor `Moves`.
    Do(ActionCode),
    /// Sets fields to bits of other fields.
    Moves(Box<[MoveBits]>),
    /// Sets a 1-bit field to 1 if the sum over packet bytes is not all ones.
    VerifyBytes { to: FieldAt, at: u32, len: u32 },
    /// As `VerifyBytes`, over fields in any order.
    VerifyFields { to: FieldAt, inputs: Vec<(FieldAt, u16)> },
    /// Subtracts fields from a checksum field.
    Subtract { to: FieldAt, inputs: Vec<(FieldAt, u16)> },
    /// Sets the counter from a field.
    LoadCounter { slot: Slot, from: FieldAt, load: CounterLoad },
    /// Adds to the cycles that the path took.
    Took { slot: Slot, by: u16 },
    /// Adds to the counter, modulo 256.
    AddCounter { slot: Slot, by: u8 },
    /// Copies the counter to or from its stack.
    CopyCounter { from: Slot, to: Slot },
    /// Counts the lanes that reach a coverage point.
    Cover(u32),
}

#[derive(Clone, Debug)]
struct Node {
    /// Bytes that the packet's head must have.
    need: u32,
    /// Leaf of lanes whose head is shorter.
    short: u16,
    /// Loads of the header's containers that have columns. Apart from the steps, so that they are not dispatched one by
    /// one.
    loads: Loads,
    steps: Vec<Step>,
    select: Select,
}

/// A lowered parser.
#[derive(Clone, Debug, Default)]
pub(super) struct ParserCode {
    nodes: Vec<Node>,
    start: Option<Target>,
    pub(super) leaves: Vec<Leaf>,
    /// Validity bits that each leaf sets: column, bits to keep, bits to set.
    valid: Vec<Box<[(Slot, u32, u32)]>>,
    /// `parser_err` of each leaf.
    errors: Vec<u16>,
    /// Parser cycles of each leaf's path, or of its last state if a column has those of the others.
    pub(super) cycles: Vec<u16>,
    /// Column with the cycles of a path's states, if only the packet bounds loops of the parser.
    pub(super) took: Option<Slot>,
    /// Length of the longest path, bytes.
    pub(super) depth: u32,
}

/// Scratch memory of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct ParserScratch {
    /// Lanes at each node; all zero between runs.
    masks: Vec<u64>,
    /// Bit set of the nodes that have lanes.
    open: Vec<u64>,
}

/// Packets of the lanes: a window that begins at each packet's first byte, and the number of its bytes that belong to
/// the packet's head.
pub(super) struct Heads<'a, const N: usize> {
    pub(super) windows: [&'a [u8; WINDOW]; N],
    pub(super) len: &'a [u32; 64],
    /// Smallest value of `len`.
    pub(super) shortest: u32,
}

/// Result of parsing a batch.
pub(super) struct Ended<'a> {
    /// Leaf of each lane.
    pub(super) leaf: &'a mut [u16; 64],
    /// Lanes whose leaf is an error.
    pub(super) failed: u64,
    /// Lanes with a wrong checksum.
    pub(super) wrong: u64,
    /// Number of lanes that reached each coverage point; empty if coverage is not counted.
    pub(super) reached: &'a mut [u64],
}

impl ParserCode {
    /// Takes the members of a value set, or of all of them, from the control plane's state.
    pub(super) fn compile(&mut self, set: Option<ValueSet>, control: &ControlState) {
        let selects = self.nodes.iter_mut().filter_map(|node| match &mut node.select {
            Select::Sets(sets) => Some(&mut sets.arms),
            _ => None,
        });
        let members = selects.flatten().filter_map(|arm| arm.set.as_mut());
        members.filter(|of| set.is_none_or(|set| of.set == set)).for_each(|of| of.compile(control));
    }

    /// Returns true if an arm of a node's select takes these concatenated fields.
    pub(super) fn takes(&self, node: usize, arm: usize, value: u128) -> bool {
        match self.nodes.get(node).map(|node| &node.select) {
            Some(Select::Sets(sets)) => sets.arms.get(arm).is_some_and(|arm| arm.takes(value)),
            _ => false,
        }
    }

    /// Parses the lanes of `mask`.
    pub(super) fn run<const N: usize>(
        &self,
        mask: u64,
        heads: &Heads<'_, N>,
        phv: &Phv<N>,
        scratch: &mut ParserScratch,
        ended: &mut Ended<'_>,
        mut act: impl FnMut(&ActionCode, u64),
    ) {
        let Some(start) = self.start else { return };
        if N == 1 {
            // One packet takes one path.
            let mut target = start;
            while let Target::Node(n) = target {
                let node = &self.nodes[n as usize];
                target = if heads.len[0] < node.need {
                    Target::Leaf(node.short)
                } else {
                    node.loads.run(1, heads, phv);
                    for step in &node.steps {
                        run_step(step, 1, heads, phv, ended, &mut act);
                    }
                    node.select.one(phv)
                };
            }
            self.go::<N>(target, 1, phv, scratch, ended);
            return;
        }
        scratch.masks.resize(self.nodes.len(), 0);
        scratch.open.resize(self.nodes.len().div_ceil(64), 0);
        self.go::<N>(start, mask, phv, scratch, ended);
        let mut word = 0;
        while let Some(open) = scratch.open.get_mut(word) {
            if *open == 0 {
                word += 1;
                continue;
            }
            let at = word * 64 + open.trailing_zeros() as usize;
            *open &= *open - 1;
            let node = &self.nodes[at];
            let mut here = std::mem::take(&mut scratch.masks[at]);
            if heads.shortest < node.need {
                let short = lanes_where::<N>(here, |l| heads.len[l] < node.need);
                if short != 0 {
                    self.go::<N>(Target::Leaf(node.short), short, phv, scratch, ended);
                }
                here &= !short;
            }
            if here != 0 {
                node.loads.run(here, heads, phv);
                for step in &node.steps {
                    run_step(step, here, heads, phv, ended, &mut act);
                }
                // A shared node may have a lower number than its predecessor.
                let mut first = word;
                node.select.run::<N>(here, phv, |target, lanes| {
                    if let Target::Node(n) = target {
                        first = first.min(n as usize / 64);
                    }
                    self.go::<N>(target, lanes, phv, scratch, ended);
                });
                word = first;
            }
        }
    }

    /// Returns `parser_err` of a leaf.
    #[inline(always)]
    pub(super) fn error(&self, leaf: u16) -> u16 {
        self.errors.get(usize::from(leaf)).copied().unwrap_or(0)
    }

    /// Returns the parser cycles of a leaf, without those that a column has.
    #[inline(always)]
    pub(super) fn cycles(&self, leaf: u16) -> u16 {
        self.cycles.get(usize::from(leaf)).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn go<const N: usize>(
        &self,
        target: Target,
        lanes: u64,
        phv: &Phv<N>,
        scratch: &mut ParserScratch,
        ended: &mut Ended<'_>,
    ) {
        match target {
            Target::Node(n) => {
                let n = n as usize;
                scratch.masks[n] |= lanes;
                scratch.open[n / 64] |= 1 << (n % 64);
            }
            Target::Leaf(id) => {
                if self.errors[usize::from(id)] != 0 {
                    ended.failed |= lanes;
                }
                for_lanes::<N>(lanes, |l| ended.leaf[l] = id);
                for (slot, keep, value) in &self.valid[usize::from(id)] {
                    deposit::<N>(phv.column(*slot), *keep, lanes, |_| *value);
                }
            }
        }
    }
}

/// Runs a step.
#[inline]
fn run_step<const N: usize>(
    step: &Step,
    mask: u64,
    heads: &Heads<'_, N>,
    phv: &Phv<N>,
    ended: &mut Ended<'_>,
    act: &mut impl FnMut(&ActionCode, u64),
) {
    match step {
        Step::Load(load) => load.run(mask, heads, phv),
        Step::Set { slot, keep, value } => deposit::<N>(phv.column(*slot), *keep, mask, |_| *value),
        Step::Do(code) => act(code, mask),
        Step::Moves(list) => list.iter().for_each(|bits| bits.run::<N>(mask, phv)),
        Step::VerifyBytes { to, at, len } => {
            let (first, end) = (*at as usize, *at as usize + *len as usize);
            let mut wrong = 0;
            if let (20, Some(_)) = (*len, heads.windows[0].get(first..end)) {
                // The IPv4 header without options: the length is known, and the sum unrolled.
                for_lanes::<N>(mask, |l| {
                    let header = heads.windows[l % N].get(first..).and_then(|b| b.first_chunk::<20>());
                    wrong |= u64::from(header.is_none_or(|h| sum_bytes(h) != 0xffff)) << l;
                });
            } else {
                for_lanes::<N>(mask, |l| {
                    wrong |= u64::from(sum_bytes(&heads.windows[l % N][first..end]) != 0xffff) << l;
                });
            }
            to.write_lanes::<N>(wrong, phv, |_| 1);
            ended.wrong |= wrong;
        }
        Step::VerifyFields { to, inputs } => {
            let mut wrong = 0;
            for_lanes::<N>(mask, |l| wrong |= u64::from(sum_fields(inputs, phv, l) != 0xffff) << l);
            to.write_lanes::<N>(wrong, phv, |_| 1);
            ended.wrong |= wrong;
        }
        Step::Subtract { to, inputs } => {
            to.write_lanes::<N>(mask, phv, |l| {
                let rest = to.read32(phv, l) + u32::from(!sum_fields(inputs, phv, l));
                u64::from((rest & 0xffff) + (rest >> 16))
            });
        }
        Step::LoadCounter { slot, from, load } => {
            let column = phv.column(*slot);
            for_lanes::<N>(mask, |l| {
                // `Select::Above` sends a value beyond the range to an error leaf.
                let value = load.value(from.read32(phv, l) as u8).unwrap_or_default();
                column[l % N].set(counter_word(value as u8));
            });
        }
        Step::CopyCounter { from, to } => {
            let (from, to) = (phv.column(*from), phv.column(*to));
            for_lanes::<N>(mask, |l| to[l % N].set(from[l % N].get()));
        }
        Step::Cover(point) => {
            if let Some(times) = ended.reached.get_mut(*point as usize) {
                *times += u64::from(mask.count_ones());
            }
        }
        Step::Took { slot, by } => {
            let column = phv.column(*slot);
            for_lanes::<N>(mask, |l| column[l % N].set(column[l % N].get().saturating_add((*by).into())));
        }
        Step::AddCounter { slot, by } => {
            let column = phv.column(*slot);
            for_lanes::<N>(mask, |l| {
                column[l % N].set(counter_word((column[l % N].get() as u8).wrapping_add(*by)))
            });
        }
    }
}
