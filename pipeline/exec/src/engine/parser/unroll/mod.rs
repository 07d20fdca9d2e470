//! Unrolls the parser graph into nodes in which every header has a fixed offset. Paths that reach a state with the same
//! headers at the same offsets, cycles and counters share the nodes that follow.
//!
//! A parser with loops that only the packet bounds extracts its headers in any order. Its paths forget what they have
//! extracted, so that paths of the same length meet: all bytes of its headers go to columns, steps set validity bits, and the
//! deparser stores whole headers.

mod select;

use super::load::{Load, Loads};
use super::select::Select;
use super::{Leaf, Node, ParserCode, Step, Target};
use crate::cover::{Point, Points};
use crate::engine::action::{ActionCode, Lowering};
use crate::engine::batch::Slot;
use crate::engine::error::LowerError;
use crate::engine::field::{FieldAt, Piece, SlotMap};
use crate::packet::WINDOW;
use sluice_asic::gress::Gress;
use sluice_ir::entity::EntityMap;
use sluice_ir::parser_unroll::{CounterRange, LOOP_REACH, Pushed, StackCounts, UnrolledParser};
use sluice_ir::{
    CounterLoad, Expr, Field, Header, Home, Lookahead, Next, ParserOpKind, ParserState, Program,
};
use std::collections::{BTreeMap, VecDeque};

/// Most nodes that a parser may unroll into.
const MAX_NODES: usize = 1 << 17;
/// `parser_err`: no transition matched (model: chip §10).
const NO_MATCH: u16 = 0x001;
/// `parser_err`: the packet ends inside a header.
const PARTIAL_HEADER: u16 = 0x002;
/// `parser_err`: an extractor takes bytes that the packet does not have. A parser that clears containers as it writes them makes
/// zeros of these bytes instead.
const SOURCE_EXTRACTOR: u16 = 0x020;
/// `parser_err`: the counter was loaded from too large a field.
const COUNTER_RANGE: u16 = 0x004;
/// `parser_err`: a parser that writes a container once was to write it again.
const MULTI_WRITE: u16 = 0x100;
/// Bit of the counter's column that is set if the counter is not zero; the counter itself is in the bits below.
const NOT_ZERO: u8 = 8;
/// Bit of the counter's column that is set if the counter is negative.
const NEGATIVE: u8 = 7;

/// Builder of an unrolled parser. Loads are added last, when it is known which containers have columns.
pub(in crate::engine) struct ParserBuilder<'a> {
    program: &'a Program,
    gress: Gress,
    cycles: &'a EntityMap<ParserState, u16>,
    code: ParserCode,
    /// Header that each node extracts, with its offset.
    extracts: Vec<Option<(Header, u32)>>,
    /// Nodes by path; equal paths share a node.
    known: BTreeMap<Path, u32>,
    /// Nodes whose steps and select are not built yet.
    open: VecDeque<(usize, Path)>,
    /// Leaves by content.
    leaves: BTreeMap<Leaf, u16>,
    /// Columns for the bytes ahead that selects compare.
    ahead: Vec<Slot>,
    /// Column of the parser counter, once there is one.
    counter: Option<Slot>,
    /// Columns of the counters on the counter stack.
    pushed: Vec<Slot>,
    /// Offset of the end of the last byte that a load reads.
    reach: u32,
    /// If only the packet bounds loops of the parser: how it extracts headers.
    loops: Option<Repeats>,
    /// True if the parser writes a container once.
    writes_once: bool,
    /// Coverage points; `None` if coverage is not counted.
    points: Option<&'a Points>,
}

/// Parser whose paths forget what they have extracted.
struct Repeats {
    /// True if a header that is extracted again is the error "multi-write".
    writes_once: bool,
    /// Bits that say that a header was extracted, if the parser writes once.
    extracted: BTreeMap<Header, (Slot, u8)>,
    /// Columns of these bits.
    columns: Vec<Slot>,
    /// Validity bits that nodes set or clear, in order.
    valid: Vec<(usize, Header, bool)>,
}

/// Path that is being unrolled: its state, the next operation in the state, and what the parser did before.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Path {
    state: ParserState,
    op: usize,
    /// True in a node split off at `op`, after the range test of a counter load or the operations before a select.
    in_range: bool,
    leaf: Leaf,
    counter: CounterRange,
    /// Counters on the counter stack; the last is its top.
    pushed: Vec<Pushed>,
    elements: StackCounts,
}

/// Result of adding a path's operations to a node.
enum Rest {
    /// All operations are done; the select follows.
    Nothing,
    /// More operations follow, in another node.
    More,
    /// A counter load follows; values of the field above this one are an error.
    Above(FieldAt, u8),
    /// A header stack is full.
    Full,
    /// The packet ends in front of the next operation.
    Short,
    /// A header follows; if its bit says that it was extracted before, that is an error.
    Twice(Slot, u8),
}

impl<'a> ParserBuilder<'a> {
    pub(in crate::engine) fn new(
        program: &'a Program,
        gress: Gress,
        cycles: &'a EntityMap<ParserState, u16>,
        points: Option<&'a Points>,
        writes_once: bool,
    ) -> Self {
        let unrolled = UnrolledParser::of(program, gress);
        let loops = unrolled.is_ok_and(|unrolled| unrolled.is_bounded_by_packet()).then(|| Repeats {
            writes_once,
            extracted: BTreeMap::new(),
            columns: Vec::new(),
            valid: Vec::new(),
        });
        ParserBuilder {
            program,
            gress,
            cycles,
            code: ParserCode::default(),
            extracts: Vec::new(),
            known: BTreeMap::new(),
            open: VecDeque::new(),
            leaves: BTreeMap::new(),
            ahead: Vec::new(),
            counter: None,
            pushed: Vec::new(),
            reach: 0,
            loops,
            writes_once,
            points,
        }
    }

    /// Builds all nodes and leaves, except for the loads.
    pub(in crate::engine) fn unroll(&mut self, low: &mut Lowering<'_, '_>) -> Result<(), LowerError> {
        let start = self.program.pipe(self.gress).start;
        let target =
            self.target(start, Leaf::default(), CounterRange::default(), (&[], &StackCounts::default()))?;
        self.code.start = Some(self.counted(target, None, start)?);
        while let Some((id, path)) = self.open.pop_front() {
            self.fill(id, path, low)?;
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: Leaf) -> Result<u16, LowerError> {
        if let Some(&id) = self.leaves.get(&leaf) {
            return Ok(id);
        }
        let Ok(id) = u16::try_from(self.code.leaves.len()) else { return Err(self.too_many()) };
        self.leaves.insert(leaf.clone(), id);
        self.code.depth = self.code.depth.max(leaf.payload);
        self.code.errors.push(leaf.error);
        self.code.cycles.push(leaf.cycles);
        self.code.leaves.push(leaf);
        Ok(id)
    }

    fn too_many(&self) -> LowerError {
        LowerError::new(format!("the {} parser has more than {MAX_NODES} paths", self.gress))
    }

    fn target(
        &mut self,
        next: Next,
        mut leaf: Leaf,
        counter: CounterRange,
        (pushed, elements): (&[Pushed], &StackCounts),
    ) -> Result<Target, LowerError> {
        Ok(match next {
            Next::Accept => Target::Leaf(self.leaf(leaf)?),
            Next::Reject => Target::Leaf(self.leaf(Leaf { error: NO_MATCH, ..leaf })?),
            Next::State(state) => {
                if self.loops.is_none() {
                    leaf.cycles = leaf.cycles.saturating_add(self.state_cycles(state));
                }
                let (mut counter, mut pushed, elements) = (counter, pushed.to_vec(), elements.clone());
                if self.loops.is_some() {
                    // Paths with other counters meet, too.
                    counter = CounterRange::all();
                    pushed.iter_mut().for_each(|pushed| pushed.range = CounterRange::all());
                }
                let path = Path { state, op: 0, in_range: false, leaf, counter, pushed, elements };
                Target::Node(self.node(path)?)
            }
        })
    }

    /// Returns the error of a packet that ends in front of the path's next operation.
    fn partial(&self, path: &Path) -> u16 {
        let extracts = |kind: &ParserOpKind| match kind {
            ParserOpKind::Extract(header) => self.program.header_bits(*header) > 0,
            ParserOpKind::ExtractNext(_) | ParserOpKind::Lookahead(..) => true,
            _ => false,
        };
        let left = self.program.states[path.state].ops.get(path.op..).unwrap_or_default();
        match self.writes_once && left.iter().any(|op| extracts(&op.kind)) {
            true => PARTIAL_HEADER | SOURCE_EXTRACTOR,
            false => PARTIAL_HEADER,
        }
    }

    fn state_cycles(&self, state: ParserState) -> u16 {
        self.cycles.get(state).copied().unwrap_or(1)
    }

    /// Returns true if a column has the cycles of paths, and the path enters its state.
    fn enters(&self, path: &Path) -> bool {
        self.loops.is_some() && path.op == 0 && !path.in_range
    }

    /// Returns a node before `target` that counts the transition `way` and the state that it leads to. If coverage is
    /// not counted, returns `target`.
    fn counted(&mut self, target: Target, way: Option<Point>, next: Next) -> Result<Target, LowerError> {
        let Some(points) = self.points else { return Ok(target) };
        let into = if let Next::State(state) = next { Some(Point::State(state)) } else { None };
        let numbers = [way, into].into_iter().flatten().filter_map(|point| points.number(point));
        let steps = numbers.map(Step::Cover).collect();
        let id = self.code.nodes.len();
        if id >= MAX_NODES {
            return Err(self.too_many());
        }
        self.code.nodes.push(Node {
            need: 0,
            short: 0,
            loads: Loads::default(),
            steps,
            select: Select::Always(target),
        });
        self.extracts.push(None);
        Ok(Target::Node(id as u32))
    }

    /// Returns the node of a path. A new node is filled later, from a queue, because paths are too long for recursion.
    fn node(&mut self, path: Path) -> Result<u32, LowerError> {
        if let Some(&id) = self.known.get(&path) {
            return Ok(id);
        }
        let id = self.code.nodes.len();
        if id >= MAX_NODES {
            return Err(self.too_many());
        }
        let need = path.leaf.payload;
        if need as usize > WINDOW {
            return Err(too_deep(need));
        }
        // The step that counts the state's cycles does not run if the packet is too short for the state's first operation.
        let missed = if self.enters(&path) { self.state_cycles(path.state) } else { path.leaf.cycles };
        let short = self.leaf(Leaf { error: self.partial(&path), cycles: missed, ..path.leaf.clone() })?;
        let select = Select::Always(Target::Leaf(short));
        self.code.nodes.push(Node { need, short, loads: Loads::default(), steps: Vec::new(), select });
        self.extracts.push(None);
        self.known.insert(path.clone(), id as u32);
        self.open.push_back((id, path));
        Ok(id as u32)
    }

    /// Fills a node: the operations up to the next one for which the packet may be too short. A child node has the
    /// rest.
    fn fill(&mut self, id: usize, mut path: Path, low: &mut Lowering<'_, '_>) -> Result<(), LowerError> {
        let mut steps = Vec::new();
        if self.enters(&path) {
            let slot = *self.code.took.get_or_insert_with(|| low.slots.scratch());
            steps.push(Step::Took { slot, by: self.state_cycles(path.state) });
        }
        let rest = self.operations(id, &mut path, &mut steps, low)?;
        let select = match rest {
            Rest::Nothing => self.select(id, &path, &mut steps, low)?,
            Rest::More => Select::Always(Target::Node(self.node(path)?)),
            Rest::Full => {
                Select::Always(Target::Leaf(self.leaf(Leaf { error: NO_MATCH, ..path.leaf.clone() })?))
            }
            Rest::Short => {
                let short = self.leaf(Leaf { error: self.partial(&path), ..path.leaf.clone() })?;
                Select::Always(Target::Leaf(short))
            }
            Rest::Twice(slot, bit) => {
                let again = self.leaf(Leaf { error: MULTI_WRITE, ..path.leaf.clone() })?;
                path.in_range = true;
                let then = Target::Node(self.node(path)?);
                let piece = Piece { slot, at: bit, lo: 0, width: 1, keep: 0 };
                let at = FieldAt { pieces: [piece].into_iter().collect() };
                Select::Above { at, max: 0, then, above: Target::Leaf(again) }
            }
            Rest::Above(at, max) => {
                let above = self.leaf(Leaf { error: COUNTER_RANGE, ..path.leaf.clone() })?;
                path.in_range = true;
                let then = Target::Node(self.node(path)?);
                Select::Above { at, max: max.into(), then, above: Target::Leaf(above) }
            }
        };
        self.code.nodes[id].steps = steps;
        self.code.nodes[id].select = select;
        Ok(())
    }

    /// Adds a path's operations to a node. A node checks the packet's length once, before its operations, so an
    /// operation that may need more bytes must be the first of its node.
    fn operations(
        &mut self,
        id: usize,
        path: &mut Path,
        steps: &mut Vec<Step>,
        low: &mut Lowering<'_, '_>,
    ) -> Result<Rest, LowerError> {
        let state = &self.program.states[path.state];
        let mut first = true;
        while let Some(op) = state.ops.get(path.op) {
            match &op.kind {
                ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_) | ParserOpKind::Advance(_)
                    if !first =>
                {
                    return Ok(Rest::More);
                }
                ParserOpKind::Extract(h) => {
                    if let Some(rest) = self.before_extract(path, *h, low) {
                        return Ok(rest);
                    }
                    self.extract(id, *h, path, steps, low);
                }
                ParserOpKind::ExtractNext(stack) => {
                    let Some(h) = path.elements.next(self.program, *stack) else { return Ok(Rest::Full) };
                    if self.is_beyond(path, self.program.header_bits(h) / 8) {
                        return Ok(Rest::Short);
                    }
                    self.extract(id, h, path, steps, low);
                    path.elements.add(*stack);
                }
                ParserOpKind::Advance(bytes) if self.is_beyond(path, u32::from(*bytes)) => {
                    return Ok(Rest::Short);
                }
                ParserOpKind::Advance(bytes) => {
                    path.leaf.payload += u32::from(*bytes);
                    self.code.nodes[id].need = path.leaf.payload;
                }
                ParserOpKind::Lookahead(dst, at) => {
                    let width = self.program.fields[*dst].width;
                    let ahead = Lookahead { at: *at, width };
                    if self.is_beyond(path, ahead.reach()) {
                        return Ok(Rest::Short);
                    }
                    if !first && !self.within(id, &path.leaf, ahead) {
                        return Ok(Rest::More);
                    }
                    self.look(id, &path.leaf, ahead);
                    self.copy_ahead(path.leaf.payload, *dst, *at, steps, low);
                }
                ParserOpKind::SetCounter(CounterLoad::Field { field, max, .. })
                | ParserOpKind::PushCounter(CounterLoad::Field { field, max, .. }, _)
                    if !path.in_range && u32::from(*max) < largest(self.program, *field) =>
                {
                    return Ok(Rest::Above(low.slots.source(*field), *max));
                }
                ParserOpKind::SetCounter(load @ CounterLoad::Ahead { at, max, .. })
                | ParserOpKind::PushCounter(load @ CounterLoad::Ahead { at, max, .. }, _)
                    if !path.in_range =>
                {
                    let ahead = load.ahead().unwrap_or(Lookahead { at: *at, width: 8 });
                    if self.is_beyond(path, ahead.reach()) {
                        return Ok(Rest::Short);
                    }
                    if !first && !self.within(id, &path.leaf, ahead) {
                        return Ok(Rest::More);
                    }
                    self.look(id, &path.leaf, ahead);
                    let from = self.byte_ahead(low);
                    steps.push(self.load(path.leaf.payload + u32::from(*at) / 8, 1, from.pieces[0].slot));
                    return Ok(Rest::Above(from, *max));
                }
                ParserOpKind::SetCounter(load) | ParserOpKind::PushCounter(load, _) => {
                    let slot = self.counter_slot(low);
                    if let ParserOpKind::PushCounter(_, linked) = op.kind {
                        let to = self.pushed_slot(path.pushed.len(), low);
                        steps.push(Step::CopyCounter { from: slot, to });
                        path.pushed.push(Pushed { range: path.counter, linked });
                    }
                    path.counter = CounterRange::loaded(self.program, *load);
                    path.in_range = false;
                    steps.push(match load {
                        CounterLoad::Const(value) => Step::Set { slot, keep: 0, value: counter_word(*value) },
                        CounterLoad::Field { field, .. } => {
                            Step::LoadCounter { slot, from: low.slots.source(*field), load: *load }
                        }
                        CounterLoad::Ahead { .. } => {
                            Step::LoadCounter { slot, from: self.byte_ahead(low), load: *load }
                        }
                    });
                }
                ParserOpKind::PopCounter => {
                    path.counter =
                        path.pushed.pop().map_or_else(CounterRange::default, |pushed| pushed.range);
                    let (from, to) = (self.pushed_slot(path.pushed.len(), low), self.counter_slot(low));
                    steps.push(Step::CopyCounter { from, to });
                }
                ParserOpKind::AddCounter(by) => {
                    let slot = self.counter_slot(low);
                    path.counter = path.counter.plus(*by);
                    steps.push(Step::AddCounter { slot, by: *by as u8 });
                    let linked = Pushed::linked(&mut path.pushed);
                    let depth = linked.map(|below| below.range = CounterRange::all()).count();
                    for at in path.pushed.len() - depth..path.pushed.len() {
                        let slot = self.pushed_slot(at, low);
                        steps.push(Step::AddCounter { slot, by: *by as u8 });
                    }
                }
                ParserOpKind::Set(dst, value) => {
                    let mut code = ActionCode::default();
                    low.set(&mut code, *dst, value)?;
                    steps.push(written(code));
                }
                ParserOpKind::SetSlice(dst, hi, lo, value) => {
                    let mut code = ActionCode::default();
                    low.set_slice(&mut code, (*dst, *hi, *lo), value)?;
                    steps.push(written(code));
                }
                ParserOpKind::SetValid(h, valid) => {
                    match &mut self.loops {
                        Some(loops) => loops.valid.push((id, *h, *valid)),
                        None if *valid => _ = path.leaf.valid.insert(*h),
                        None => _ = path.leaf.valid.remove(h),
                    }
                    low.slots.valid_target(*h);
                }
                ParserOpKind::VerifyChecksum(dst, inputs) => {
                    steps.push(verify(self.program, low.slots, &path.leaf, *dst, inputs));
                }
                ParserOpKind::SubtractChecksum(dst, inputs) => {
                    let inputs = summed(self.program, low.slots, inputs);
                    steps.push(Step::Subtract { to: low.slots.target(*dst), inputs });
                }
            }
            first = false;
            path.op += 1;
        }
        Ok(Rest::Nothing)
    }

    fn extract(
        &mut self,
        id: usize,
        h: Header,
        path: &mut Path,
        steps: &mut Vec<Step>,
        low: &mut Lowering<'_, '_>,
    ) {
        let leaf = &mut path.leaf;
        self.extracts[id] = Some((h, leaf.payload));
        match &mut self.loops {
            Some(loops) => {
                loops.valid.push((id, h, true));
                if let Some(&(slot, bit)) = loops.extracted.get(&h) {
                    steps.push(Step::Set { slot, keep: !(1 << bit), value: 1 << bit });
                }
                // The deparser stores the whole header.
                self.program.headers[h].fields.iter().for_each(|&f| _ = low.slots.target(f));
                path.in_range = false;
            }
            None => {
                leaf.extracted.insert(h, leaf.payload);
                leaf.valid.insert(h);
            }
        }
        leaf.payload += self.program.header_bits(h) / 8;
        self.code.nodes[id].need = leaf.payload;
        // The leaf or a step sets the validity bit, because no parser reads it.
        low.slots.valid_target(h);
    }

    /// Returns what comes before the extraction of a header, if loops repeat.
    fn before_extract(&mut self, path: &Path, h: Header, low: &mut Lowering<'_, '_>) -> Option<Rest> {
        let beyond = self.is_beyond(path, self.program.header_bits(h) / 8).then_some(Rest::Short);
        let loops = self.loops.as_mut()?;
        if !loops.writes_once || path.in_range {
            return beyond;
        }
        if let Some(&(slot, bit)) = loops.extracted.get(&h) {
            return Some(Rest::Twice(slot, bit));
        }
        let number = loops.extracted.len();
        if number.is_multiple_of(32) {
            loops.columns.push(low.slots.scratch());
        }
        let (slot, bit) = (*loops.columns.last()?, (number % 32) as u8);
        loops.extracted.insert(h, (slot, bit));
        Some(Rest::Twice(slot, bit))
    }

    /// Returns true if a parser whose loops only the packet bounds does not reach this many more bytes.
    fn is_beyond(&self, path: &Path, bytes: u32) -> bool {
        self.loops.is_some() && path.leaf.payload + bytes > LOOP_REACH
    }

    /// Returns the column of the parser counter.
    fn counter_slot(&mut self, low: &mut Lowering<'_, '_>) -> Slot {
        *self.counter.get_or_insert_with(|| low.slots.scratch())
    }

    /// Returns the column of the byte ahead from which the counter is loaded.
    fn byte_ahead(&mut self, low: &mut Lowering<'_, '_>) -> FieldAt {
        if self.ahead.is_empty() {
            self.ahead.push(low.slots.scratch());
        }
        let piece = Piece { slot: self.ahead[0], at: 0, lo: 0, width: 8, keep: 0 };
        FieldAt { pieces: [piece].into_iter().collect() }
    }

    /// Returns the column of a counter on the counter stack.
    fn pushed_slot(&mut self, depth: usize, low: &mut Lowering<'_, '_>) -> Slot {
        while self.pushed.len() <= depth {
            self.pushed.push(low.slots.scratch());
        }
        self.pushed[depth]
    }

    /// Returns true if the node's length check covers the bytes of `ahead`.
    fn within(&self, id: usize, leaf: &Leaf, ahead: Lookahead) -> bool {
        leaf.payload + ahead.reach() <= self.code.nodes[id].need
    }

    /// Extends the node's length check to the bytes of `ahead`.
    fn look(&mut self, id: usize, leaf: &Leaf, ahead: Lookahead) {
        let need = &mut self.code.nodes[id].need;
        *need = (leaf.payload + ahead.reach()).max(*need);
        self.code.depth = self.code.depth.max(*need);
    }

    /// Adds steps that copy bits ahead to a field: whole bytes to whole containers, other bits to their place.
    fn copy_ahead(
        &mut self,
        from: u32,
        dst: Field,
        at: u16,
        steps: &mut Vec<Step>,
        low: &mut Lowering<'_, '_>,
    ) {
        let width = self.program.fields[dst].width;
        let to = low.slots.target(dst);
        let bit = |p: &Piece| u32::from(at) + u32::from(width) - u32::from(p.lo) - u32::from(p.width);
        let whole = |p: &Piece| bit(p) % 8 == 0 && p.at == 0 && matches!(p.width, 8 | 16 | 32);
        if to.pieces.iter().all(whole) {
            for p in &to.pieces {
                let load = self.load(from + bit(p) / 8, p.width / 8, p.slot);
                steps.push(load);
            }
            return;
        }
        let bits = self.key_ahead(from, Lookahead { at, width }, &mut 0, steps, low);
        let mut code = ActionCode::default();
        code.copy_bits(&to, &bits, width);
        steps.push(written(code));
    }

    fn load(&mut self, at: u32, bytes: u8, slot: Slot) -> Step {
        self.reach = self.reach.max(at + u32::from(bytes));
        Step::Load(Load::new(at, bytes, slot))
    }

    /// Adds the loads of all containers that have a column by now, and each leaf's validity bits.
    pub(in crate::engine) fn finish(mut self, slots: &SlotMap<'_>) -> Result<ParserCode, LowerError> {
        let depth = self.code.depth.max(self.reach);
        if depth as usize > WINDOW {
            return Err(too_deep(depth));
        }
        for (node, extract) in self.code.nodes.iter_mut().zip(&self.extracts) {
            let Some((header, at)) = *extract else { continue };
            let columns = header_columns(self.program, header, slots).into_iter();
            let load = |(offset, bytes, slot): (u32, u8, Option<Slot>)| {
                slot.map(|slot| Load::new(at + offset, bytes, slot))
            };
            node.loads = Loads::new(&columns.filter_map(load).collect::<Vec<_>>());
        }
        self.code.valid = self.code.leaves.iter().map(|leaf| valid_bits(leaf, slots)).collect();
        for (node, header, valid) in self.loops.iter().flat_map(|loops| &loops.valid) {
            let Some(pov) = slots.pov(*header) else { continue };
            let Some(slot) = slots.existing(pov.container) else { continue };
            let (keep, value) = (slots.kept(slot, !(1 << pov.bit)), u32::from(*valid) << pov.bit);
            self.code.nodes[*node].steps.push(Step::Set { slot, keep, value });
        }
        Ok(self.code)
    }
}

/// Returns the step for a write.
fn written(code: ActionCode) -> Step {
    match (code.only_constant(), code.only_moves()) {
        (Some((slot, keep, value)), _) => Step::Set { slot, keep, value },
        (None, Some(list)) => Step::Moves(list),
        (None, None) => Step::Do(code),
    }
}

/// Returns the validity bits of the headers that a path leaves valid: column, bits to keep, bits to set.
fn valid_bits(leaf: &Leaf, slots: &SlotMap<'_>) -> Box<[(Slot, u32, u32)]> {
    let mut columns: BTreeMap<Slot, u32> = BTreeMap::new();
    for pov in leaf.valid.iter().filter_map(|&h| slots.pov(h)) {
        if let Some(slot) = slots.existing(pov.container) {
            *columns.entry(slot).or_default() |= 1 << pov.bit;
        }
    }
    columns.into_iter().map(|(slot, bits)| (slot, slots.kept(slot, !bits), bits)).collect()
}

/// Returns the word of the counter's column for a value of the counter.
pub(in crate::engine) fn counter_word(value: u8) -> u32 {
    u32::from(value) | u32::from(value != 0) << NOT_ZERO
}

fn too_deep(bytes: u32) -> LowerError {
    LowerError::new(format!("its parser reads {bytes} bytes of a packet, more than {WINDOW}"))
}

/// Returns the largest value of a field of at most 8 bits.
fn largest(program: &Program, field: Field) -> u32 {
    (1 << program.fields[field].width.min(8)) - 1
}

/// Returns the containers of a header in wire order: byte offset, bytes, column if there is one.
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

/// Returns the step for a checksum verification: over packet bytes if the fields are those of a whole extracted header
/// in order, else over fields.
fn verify(program: &Program, slots: &mut SlotMap<'_>, leaf: &Leaf, dst: Field, inputs: &[Expr]) -> Step {
    let to = slots.target(dst);
    let home = |input: &Expr| if let Expr::Field(f) = input { Some(program.fields[*f].home) } else { None };
    if let Some(Home::Header(h)) = inputs.first().and_then(home) {
        let len = program.header_bits(h) / 8;
        if program.header_list(h) == inputs
            && len.is_multiple_of(2)
            && let Some(&at) = leaf.extracted.get(&h)
        {
            return Step::VerifyBytes { to, at, len };
        }
    }
    let inputs = summed(program, slots, inputs);
    Step::VerifyFields { to, inputs }
}

/// Returns the columns and widths of the inputs of a sum; zeros have no columns.
fn summed(program: &Program, slots: &mut SlotMap<'_>, inputs: &[Expr]) -> Vec<(FieldAt, u16)> {
    let one = |input: &Expr| match input {
        Expr::Field(f) => (slots.source(*f), program.fields[*f].width),
        zeros => (FieldAt::default(), zeros.width(program)),
    };
    inputs.iter().map(one).collect()
}
