//! Unrolling: the parser graph becomes a tree in which every path has nodes of its own. What may not live
//! here: running it.

use super::select::{Select, WideSelect, side_by_side};
use super::{Leaf, Node, ParserCode, Step, Target};
use crate::engine::LowerError;
use crate::engine::action::{ActionCode, Lowering};
use crate::engine::batch::Slot;
use crate::engine::field::{FieldAt, SlotMap};
use crate::entity::EntityMap;
use crate::ir::{Field, Header, Home, Next, ParserOpKind, ParserState, Program};
use crate::packet::WINDOW;
use sluice_asic::gress::Gress;

/// Most nodes that a parser may unroll into.
const MAX_NODES: usize = 4096;
/// `parser_err`: no transition matched (facts: asic §10).
const NO_MATCH: u16 = 0x001;
/// `parser_err`: the packet ends inside a header.
const PARTIAL_HEADER: u16 = 0x002;

/// Builds the tree; loads are added last, when it is known which containers have columns.
pub(in crate::engine) struct ParserBuilder<'a> {
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
    pub(in crate::engine) fn new(
        program: &'a Program,
        gress: Gress,
        cycles: &'a EntityMap<ParserState, u16>,
    ) -> Self {
        ParserBuilder { program, gress, cycles, code: ParserCode::default(), extracts: Vec::new() }
    }

    /// Unrolls everything but the loads.
    pub(in crate::engine) fn unroll(&mut self, low: &mut Lowering<'_, '_>) -> Result<(), LowerError> {
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
    pub(in crate::engine) fn finish(mut self, slots: &SlotMap<'_>) -> Result<ParserCode, LowerError> {
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

/// The containers of a header in wire order: byte offset, bytes, column if there is one.
pub(in crate::engine) fn header_columns(
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
