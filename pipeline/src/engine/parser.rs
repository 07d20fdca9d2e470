//! The parser graph unrolled into a tree of paths, in which every header has a fixed place.
//!
//! Nodes stand before their children; a batch walks the list once, each node with the mask of its lanes.
//! Bytes that nothing reads or rewrites are not copied into columns. What may not live here: emission.

use super::LowerError;
use super::action::{ActionCode, Lowering};
use super::batch::{Column, Phv, Slot, deposit, for_lanes, lanes_where};
use super::field::{FieldAt, SlotMap};
use crate::entity::EntityMap;
use crate::ir::{Field, Header, Home, Next, ParserOpKind, ParserState, Program};
use crate::packet::WINDOW;
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

/// Most nodes that a parser may unroll into.
const MAX_NODES: usize = 4096;
/// `parser_err`: no transition matched (facts: asic §10).
const NO_MATCH: u16 = 0x001;
/// `parser_err`: the packet ends inside a header.
const PARTIAL_HEADER: u16 = 0x002;

/// How parsing ended: where every extracted header stands and where the payload begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaf {
    pub(super) extracted: BTreeMap<Header, u32>,
    pub(super) payload: u32,
    /// `parser_err`; 0 when parsing ended well.
    pub(super) error: u16,
    pub(super) cycles: u16,
}

/// Where to go: a node or a leaf.
#[derive(Clone, Copy, Debug)]
enum Target {
    Node(u32),
    Leaf(u16),
}

#[derive(Clone, Debug)]
enum Step {
    /// Container bytes from the packet.
    Load { at: u32, bytes: u8, slot: Slot },
    /// A validity bit or a constant field.
    Set { slot: Slot, keep: u32, value: u32 },
    /// Fields set by the state.
    Do(ActionCode),
    /// Sets a 1-bit field when the sum over packet bytes is not all ones.
    VerifyBytes { to: FieldAt, at: u32, len: u32 },
    /// The same over fields in any order.
    VerifyFields { to: FieldAt, inputs: Vec<(FieldAt, u16)> },
}

#[derive(Clone, Debug)]
enum Select {
    Always(Target),
    /// One field in one column.
    Word {
        slot: Slot,
        shift: u8,
        mask: u32,
        arms: Vec<(u32, u32, Target)>,
        default: Target,
    },
    /// Fields side by side, at most 64 bits of them.
    Side {
        pieces: Vec<SidePiece>,
        arms: Vec<(u64, u64, Target)>,
        default: Target,
    },
    /// More bits.
    Wide(WideSelect),
}

/// A select over up to 128 bits: fields side by side, most significant first.
#[derive(Clone, Debug)]
struct WideSelect {
    fields: Vec<(FieldAt, u16)>,
    arms: Vec<(u128, u128, Target)>,
    default: Target,
}

/// Bits of a column that stand at bit `up` of a select's value.
#[derive(Clone, Copy, Debug)]
struct SidePiece {
    slot: Slot,
    shift: u8,
    mask: u32,
    up: u8,
}

#[derive(Clone, Debug)]
struct Node {
    /// The head must have this many bytes.
    need: u32,
    /// Where lanes go that have fewer.
    short: u16,
    steps: Vec<Step>,
    select: Select,
}

/// A lowered parser.
#[derive(Debug, Default)]
pub(super) struct ParserCode {
    nodes: Vec<Node>,
    start: Option<Target>,
    pub(super) leaves: Vec<Leaf>,
    /// `parser_err` of each leaf.
    errors: Vec<u16>,
    /// Parser cycles of each leaf's path.
    pub(super) cycles: Vec<u16>,
    /// Bytes of the longest path.
    pub(super) depth: u32,
}

/// Scratch of a run.
#[derive(Debug, Default)]
pub(super) struct ParserScratch {
    masks: Vec<u64>,
}

/// Builds the tree; loads are added last, when it is known which containers have columns.
pub(super) struct ParserBuilder<'a> {
    program: &'a Program,
    gress: Gress,
    cycles: &'a EntityMap<ParserState, u16>,
    code: ParserCode,
    /// Per node: the header that it extracts and where.
    extracts: Vec<Option<(Header, u32)>>,
}

/// A path being unrolled: state, next operation, what came before.
#[derive(Clone)]
struct Path {
    state: ParserState,
    op: usize,
    leaf: Leaf,
}

impl<'a> ParserBuilder<'a> {
    pub(super) fn new(program: &'a Program, gress: Gress, cycles: &'a EntityMap<ParserState, u16>) -> Self {
        ParserBuilder { program, gress, cycles, code: ParserCode::default(), extracts: Vec::new() }
    }

    /// Unrolls everything but the loads.
    pub(super) fn unroll(&mut self, low: &mut Lowering<'_, '_>) -> Result<(), LowerError> {
        let start = self.program.pipe(self.gress).start;
        let target = self.target(start, &Leaf::default(), low)?;
        self.code.start = Some(target);
        Ok(())
    }

    fn leaf(&mut self, leaf: Leaf) -> u16 {
        self.code.depth = self.code.depth.max(leaf.payload);
        self.code.errors.push(leaf.error);
        self.code.cycles.push(leaf.cycles);
        self.code.leaves.push(leaf);
        self.code.leaves.len() as u16 - 1
    }

    fn target(
        &mut self,
        next: Next,
        so_far: &Leaf,
        low: &mut Lowering<'_, '_>,
    ) -> Result<Target, LowerError> {
        Ok(match next {
            Next::Accept => Target::Leaf(self.leaf(so_far.clone())),
            Next::Reject => Target::Leaf(self.leaf(Leaf { error: NO_MATCH, ..so_far.clone() })),
            Next::State(state) => {
                let mut leaf = so_far.clone();
                leaf.cycles += self.cycles.get(state).copied().unwrap_or(1);
                Target::Node(self.node(Path { state, op: 0, leaf }, low)?)
            }
        })
    }

    /// One node: operations up to and including the first extraction, the rest in a child.
    fn node(&mut self, mut path: Path, low: &mut Lowering<'_, '_>) -> Result<u32, LowerError> {
        let id = self.code.nodes.len();
        if id >= MAX_NODES {
            return Err(LowerError::new(format!(
                "the {} parser has more than {MAX_NODES} paths",
                self.gress
            )));
        }
        let short = self.leaf(Leaf { error: PARTIAL_HEADER, ..path.leaf.clone() });
        let need = path.leaf.payload;
        self.code.nodes.push(Node {
            need,
            short,
            steps: Vec::new(),
            select: Select::Always(Target::Leaf(short)),
        });
        self.extracts.push(None);
        let state = &self.program.states[path.state];
        let mut steps = Vec::new();
        let mut rest = false;
        while let Some(op) = state.ops.get(path.op) {
            match &op.kind {
                ParserOpKind::Extract(h) => {
                    // The length check comes first in a node, so an extraction must too.
                    if self.extracts[id].is_some() || !steps.is_empty() {
                        rest = true;
                        break;
                    }
                    self.extract(id, *h, &mut path.leaf, &mut steps, low);
                }
                ParserOpKind::Set(dst, value) => {
                    let mut code = ActionCode::default();
                    low.set(&mut code, *dst, value)?;
                    steps.push(match code.only_constant() {
                        Some((slot, keep, value)) => Step::Set { slot, keep, value },
                        None => Step::Do(code),
                    });
                }
                ParserOpKind::VerifyChecksum(dst, inputs) => {
                    steps.push(verify(self.program, low.slots, &path.leaf, *dst, inputs));
                }
            }
            path.op += 1;
        }
        self.code.nodes[id].need = path.leaf.payload;
        self.code.nodes[id].steps = steps;
        let select =
            if rest { Select::Always(Target::Node(self.node(path, low)?)) } else { self.select(&path, low)? };
        self.code.nodes[id].select = select;
        Ok(id as u32)
    }

    fn extract(
        &mut self,
        id: usize,
        h: Header,
        leaf: &mut Leaf,
        steps: &mut Vec<Step>,
        low: &mut Lowering<'_, '_>,
    ) {
        self.extracts[id] = Some((h, leaf.payload));
        leaf.extracted.insert(h, leaf.payload);
        leaf.payload += self.program.header_bits(h) / 8;
        if let Some((slot, bit)) = low.slots.valid_target(h) {
            let keep = low.slots.kept(slot, !(1 << bit));
            steps.push(Step::Set { slot, keep, value: 1 << bit });
        }
    }

    fn select(&mut self, path: &Path, low: &mut Lowering<'_, '_>) -> Result<Select, LowerError> {
        let state = &self.program.states[path.state];
        let fields: Vec<(FieldAt, u16)> =
            state.select.iter().map(|&f| (low.slots.source(f), self.program.fields[f].width)).collect();
        let mut arms = Vec::new();
        for arm in &state.arms {
            let (mut value, mut mask) = (0u128, 0u128);
            for ((v, m), (_, width)) in arm.values.iter().zip(&fields) {
                value = value << width | v & m;
                mask = mask << width | m;
            }
            arms.push((value, mask, self.target(arm.next, &path.leaf, low)?));
        }
        let default = self.target(state.default, &path.leaf, low)?;
        if arms.is_empty() {
            return Ok(Select::Always(default));
        }
        if let [(at, _)] = fields.as_slice()
            && let Some(p) = at.single()
        {
            let arms = arms.into_iter().map(|(v, m, t)| (v as u32, m as u32, t)).collect();
            return Ok(Select::Word { slot: p.slot, shift: p.at, mask: p.mask(), arms, default });
        }
        match fields.iter().map(|(_, w)| u32::from(*w)).sum::<u32>() {
            0..=64 => {
                let arms = arms.into_iter().map(|(v, m, t)| (v as u64, m as u64, t)).collect();
                Ok(Select::Side { pieces: side_by_side(&fields), arms, default })
            }
            65..=128 => Ok(Select::Wide(WideSelect { fields, arms, default })),
            _ => Err(LowerError::new(format!("state `{}` selects on more than 128 bits", state.name))),
        }
    }

    /// Adds the loads of all containers that have a column by now.
    pub(super) fn finish(mut self, slots: &SlotMap<'_>) -> Result<ParserCode, LowerError> {
        if self.code.depth as usize > WINDOW {
            let depth = self.code.depth;
            return Err(LowerError::new(format!("it parses {depth} bytes, more than {WINDOW}")));
        }
        for (node, extract) in self.code.nodes.iter_mut().zip(&self.extracts) {
            let Some((header, at)) = *extract else { continue };
            let mut loads: Vec<Step> = header_columns(self.program, header, slots)
                .into_iter()
                .filter_map(|(offset, bytes, slot)| {
                    slot.map(|slot| Step::Load { at: at + offset, bytes, slot })
                })
                .collect();
            loads.append(&mut node.steps);
            node.steps = loads;
        }
        Ok(self.code)
    }
}

/// The pieces of a select's fields, the first field most significant.
fn side_by_side(fields: &[(FieldAt, u16)]) -> Vec<SidePiece> {
    let mut list = Vec::new();
    let mut low = 0u16;
    for (at, width) in fields.iter().rev() {
        for p in &at.pieces {
            let up = (low + u16::from(p.lo)) as u8;
            list.push(SidePiece { slot: p.slot, shift: p.at, mask: p.mask(), up });
        }
        low += width;
    }
    list
}

/// The containers of a header in wire order: byte offset, bytes, column if there is one.
pub(super) fn header_columns(
    program: &Program,
    header: Header,
    slots: &SlotMap<'_>,
) -> Vec<(u32, u8, Option<Slot>)> {
    let mut list: Vec<(u32, u32, sluice_asic::phv::Container)> = Vec::new();
    let mut bit = 0u32;
    for &f in &program.headers[header].fields {
        for s in slots.allocation().fields.get(f).map_or(&[][..], Vec::as_slice) {
            match list.last_mut() {
                Some((_, bits, c)) if *c == s.container => *bits += u32::from(s.width),
                _ => list.push((bit, u32::from(s.width), s.container)),
            }
            bit += u32::from(s.width);
        }
    }
    list.into_iter().map(|(bit, bits, c)| (bit / 8, (bits / 8) as u8, slots.existing(c))).collect()
}

/// A checksum verification: over packet bytes when the fields are a whole extracted header in order.
fn verify(program: &Program, slots: &mut SlotMap<'_>, leaf: &Leaf, dst: Field, inputs: &[Field]) -> Step {
    let to = slots.target(dst);
    if let Some(Home::Header(h)) = inputs.first().map(|&f| program.fields[f].home) {
        let len = program.header_bits(h) / 8;
        if program.headers[h].fields == inputs
            && len.is_multiple_of(2)
            && let Some(&at) = leaf.extracted.get(&h)
        {
            return Step::VerifyBytes { to, at, len };
        }
    }
    let inputs = inputs.iter().map(|&f| (slots.source(f), program.fields[f].width)).collect();
    Step::VerifyFields { to, inputs }
}

/// Ones' complement sum of big-endian 16-bit words, an odd byte padded with zero, folded to 16 bits.
#[inline(always)]
pub(super) fn sum_bytes(bytes: &[u8]) -> u16 {
    // 2^16 is 1 modulo 2^16 - 1, so words of any multiple of 16 bits may be summed.
    let (words, rest) = bytes.as_chunks::<4>();
    let mut sum: u64 = words.iter().map(|w| u64::from(u32::from_be_bytes(*w))).sum();
    let mut last = [0u8; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum += u64::from(u32::from_be_bytes(last));
    fold16(sum)
}

/// The same over field values laid side by side, most significant bit first.
pub(super) fn sum_fields(inputs: &[(FieldAt, u16)], phv: &Phv, lane: usize) -> u16 {
    let (mut sum, mut word, mut filled) = (0u64, 0u32, 0u16);
    for (at, width) in inputs {
        let value = at.read(phv, lane);
        let mut left = *width;
        while left > 0 {
            let take = left.min(16 - filled);
            let bits = (value >> (left - take)) as u32 & ((1u32 << take) - 1);
            word = word << take | bits;
            filled += take;
            left -= take;
            if filled == 16 {
                sum += u64::from(word);
                (word, filled) = (0, 0);
            }
        }
    }
    if filled > 0 {
        sum += u64::from(word << (16 - filled));
    }
    fold16(sum)
}

/// Folds with end-around carry: 64 bits to 33, to 18, to 17, to 16.
#[inline(always)]
fn fold16(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The lanes' packets: the bytes from each one's first on, and how many of them are its head's.
pub(super) struct Heads<'a, const N: usize> {
    pub(super) windows: [&'a [u8; WINDOW]; N],
    pub(super) len: &'a [u32; 64],
}

/// How the parsing of a batch ended.
pub(super) struct Ended<'a> {
    /// The leaf of each lane.
    pub(super) leaf: &'a mut [u16; 64],
    /// Lanes whose leaf is an error.
    pub(super) failed: u64,
}

impl ParserCode {
    /// Parses the lanes of `mask`.
    pub(super) fn run<const N: usize>(
        &self,
        mask: u64,
        heads: &Heads<'_, N>,
        phv: &Phv,
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
                    node.steps.iter().for_each(|step| run_step(step, 1, heads, phv, &mut act));
                    node.select.one(phv)
                };
            }
            self.go::<N>(target, 1, &mut [], ended);
            return;
        }
        scratch.masks.clear();
        scratch.masks.resize(self.nodes.len(), 0);
        let masks = &mut scratch.masks;
        self.go::<N>(start, mask, masks, ended);
        for (i, node) in self.nodes.iter().enumerate() {
            let mut here = masks[i];
            if here == 0 {
                continue;
            }
            let short = lanes_where::<N>(here, |l| heads.len[l] < node.need);
            if short != 0 {
                self.go::<N>(Target::Leaf(node.short), short, masks, ended);
                here &= !short;
            }
            if here != 0 {
                node.steps.iter().for_each(|step| run_step(step, here, heads, phv, &mut act));
                node.select.run::<N>(here, phv, |target, lanes| self.go::<N>(target, lanes, masks, ended));
            }
        }
    }

    #[inline(always)]
    fn go<const N: usize>(&self, target: Target, lanes: u64, masks: &mut [u64], ended: &mut Ended<'_>) {
        match target {
            Target::Node(n) => masks[n as usize] |= lanes,
            Target::Leaf(id) => {
                if self.errors[usize::from(id)] != 0 {
                    ended.failed |= lanes;
                }
                for_lanes::<N>(lanes, |l| ended.leaf[l] = id);
            }
        }
    }
}

#[inline]
fn run_step<const N: usize>(
    step: &Step,
    mask: u64,
    heads: &Heads<'_, N>,
    phv: &Phv,
    act: &mut impl FnMut(&ActionCode, u64),
) {
    match step {
        Step::Load { at, bytes, slot } => load(*at as usize, *bytes, phv.column(*slot), mask, heads),
        Step::Set { slot, keep, value } => deposit::<N>(phv.column(*slot), *keep, mask, |_| *value),
        Step::Do(code) => act(code, mask),
        Step::VerifyBytes { to, at, len } => {
            let (first, end) = (*at as usize, *at as usize + *len as usize);
            if let (20, Some(_)) = (*len, heads.windows[0].get(first..end)) {
                // The IPv4 header without options: the length is known, and the sum unrolled.
                let wrong = |l: usize| {
                    let header = heads.windows[l % N].get(first..).and_then(|b| b.first_chunk::<20>());
                    header.is_none_or(|h| sum_bytes(h) != 0xffff)
                };
                to.write_lanes::<N>(mask, phv, |l| u64::from(wrong(l)));
            } else {
                let wrong = |l: usize| sum_bytes(&heads.windows[l % N][first..end]) != 0xffff;
                to.write_lanes::<N>(mask, phv, |l| u64::from(wrong(l)));
            }
        }
        Step::VerifyFields { to, inputs } => {
            to.write_lanes::<N>(mask, phv, |l| u64::from(sum_fields(inputs, phv, l) != 0xffff));
        }
    }
}

/// Copies container bytes of each lane's packet to a column.
#[inline(always)]
fn load<const N: usize>(at: usize, bytes: u8, column: &Column, mask: u64, heads: &Heads<'_, N>) {
    // Lowering keeps every load within the window; the test here spares one per lane.
    if at > WINDOW - 4 {
        let bytes = usize::from(bytes);
        for_lanes::<N>(mask, |l| {
            let of_lane = &heads.windows[l % N][at..at + bytes];
            column[l].set(of_lane.iter().fold(0, |word, b| word << 8 | u32::from(*b)));
        });
        return;
    }
    let word = |l: usize| {
        let w = heads.windows[l % N];
        u32::from_be_bytes([w[at], w[at + 1], w[at + 2], w[at + 3]])
    };
    match bytes {
        1 => for_lanes::<N>(mask, |l| column[l].set(u32::from(heads.windows[l % N][at]))),
        2 => for_lanes::<N>(mask, |l| column[l].set(word(l) >> 16)),
        _ => for_lanes::<N>(mask, |l| column[l].set(word(l))),
    }
}

impl Select {
    /// Hands the lanes of each target to `go`.
    #[inline]
    fn run<const N: usize>(&self, mask: u64, phv: &Phv, mut go: impl FnMut(Target, u64)) {
        match self {
            Select::Always(target) => go(*target, mask),
            Select::Word { slot, shift, mask: bits, arms, default } => {
                let column = phv.column(*slot);
                let found = |l: usize| column[l].get() >> shift & bits;
                by_arms(mask, arms, *default, |rest, v, m| lanes_where::<N>(rest, |l| found(l) & m == v), go);
            }
            Select::Side { pieces, arms, default } => {
                let mut values = [0u64; N];
                for p in pieces {
                    let column = phv.column(p.slot);
                    for_lanes::<N>(mask, |l| {
                        values[l % N] |= u64::from(column[l].get() >> p.shift & p.mask) << p.up;
                    });
                }
                let found = |l: usize| values[l % N];
                by_arms(mask, arms, *default, |rest, v, m| lanes_where::<N>(rest, |l| found(l) & m == v), go);
            }
            Select::Wide(wide) => for_lanes::<N>(mask, |l| go(wide.target(phv, l), 1 << l)),
        }
    }

    /// Where the packet of lane 0 goes.
    #[inline]
    fn one(&self, phv: &Phv) -> Target {
        match self {
            Select::Always(target) => *target,
            Select::Word { slot, shift, mask, arms, default } => {
                let found = phv.get(*slot, 0) >> shift & mask;
                arms.iter().find(|(v, m, _)| found & m == *v).map_or(*default, |(_, _, t)| *t)
            }
            Select::Side { pieces, arms, default } => {
                let side = |p: &SidePiece| u64::from(phv.get(p.slot, 0) >> p.shift & p.mask) << p.up;
                let found = pieces.iter().fold(0, |value, p| value | side(p));
                arms.iter().find(|(v, m, _)| found & m == *v).map_or(*default, |(_, _, t)| *t)
            }
            Select::Wide(wide) => wide.target(phv, 0),
        }
    }
}

/// Hands `go` the lanes that take each arm, the first that matches; `takes` says which of some lanes match.
#[inline(always)]
fn by_arms<V: Copy>(
    mask: u64,
    arms: &[(V, V, Target)],
    default: Target,
    takes: impl Fn(u64, V, V) -> u64,
    mut go: impl FnMut(Target, u64),
) {
    let mut rest = mask;
    for &(value, care, target) in arms {
        let taken = takes(rest, value, care);
        if taken != 0 {
            go(target, taken);
            rest &= !taken;
        }
        if rest == 0 {
            return;
        }
    }
    go(default, rest);
}

impl WideSelect {
    fn target(&self, phv: &Phv, lane: usize) -> Target {
        let value = self.fields.iter().fold(0u128, |v, (at, width)| v << width | at.read(phv, lane));
        self.arms.iter().find(|(v, m, _)| value & m == *v).map_or(self.default, |(_, _, t)| *t)
    }
}
