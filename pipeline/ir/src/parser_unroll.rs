//! Parser graphs unrolled by stacks and the counter, the form on which the verifier, the placer and the engine work.
//!
//! A node of the unrolled graph is a parser state together with all that is known before a packet arrives: how many
//! elements of each header stack were extracted, and the range of the parser counter. Loops that a stack or the counter
//! bounds become finitely many nodes. A loop that only the packet bounds, because every repetition takes bytes of it, stays
//! a loop of nodes, as it is one of states on the chip. A loop that nothing bounds is an error ([`UnrollError`]).

use crate::entity::Entity;
use crate::{
    CounterLoad, Field, Header, Next, ParserOpKind, ParserState, Program, SelectKey, Stack, StateData,
};
use sluice_asic::gress::Gress;
use sluice_asic::limits;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a packet that a parser can reach if the packet alone bounds one of its loops.
pub const LOOP_REACH: u32 = 448;

/// Most values on the counter stack; no chip has room for as many.
const MAX_PUSHED: usize = 8;

/// Range of values that the parser counter can have; the counter starts at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CounterRange {
    lo: i16,
    hi: i16,
}

/// Value on the counter stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pushed {
    /// Values that it can have.
    pub range: CounterRange,
    /// True if it changes with the value above it.
    pub linked: bool,
}

impl Pushed {
    /// Returns the values of a stack, whose top is last, that change with the counter.
    pub fn linked(stack: &mut [Pushed]) -> impl Iterator<Item = &mut Pushed> {
        stack.iter_mut().rev().take_while(|pushed| pushed.linked)
    }
}

impl CounterRange {
    const ALL: CounterRange = CounterRange { lo: i8::MIN as i16, hi: i8::MAX as i16 };

    /// Returns the range of all values.
    #[must_use]
    pub const fn all() -> CounterRange {
        CounterRange::ALL
    }

    /// Returns the range of all values that `load` can give the counter.
    pub fn loaded(program: &Program, load: CounterLoad) -> CounterRange {
        let width = match load {
            CounterLoad::Const(_) => 0,
            CounterLoad::Field { field, .. } => program.fields.get(field).map_or(8, |d| d.width.min(8)),
            CounterLoad::Ahead { .. } => 8,
        };
        let values = (0..=u8::MAX >> (8 - width).min(7)).filter_map(|v| load.value(v)).map(i16::from);
        let values =
            values.fold(None, |r: Option<CounterRange>, v| {
                Some(r.map_or(CounterRange { lo: v, hi: v }, |r| CounterRange {
                    lo: r.lo.min(v),
                    hi: r.hi.max(v),
                }))
            });
        values.unwrap_or_default()
    }

    /// Returns the range after the parser adds `by` to the counter; the full range if the sum may wrap.
    pub fn plus(self, by: i8) -> CounterRange {
        let moved = CounterRange { lo: self.lo + i16::from(by), hi: self.hi + i16::from(by) };
        if moved.lo < Self::ALL.lo || moved.hi > Self::ALL.hi { Self::ALL } else { moved }
    }

    /// Returns the part of the range with the given sign; `None` if it is empty.
    fn part(self, sign: Sign) -> Option<CounterRange> {
        let (lo, hi) = match sign {
            Sign::Negative => (self.lo, self.hi.min(-1)),
            Sign::Zero => (self.lo.max(0), self.hi.min(0)),
            Sign::Positive => (self.lo.max(1), self.hi),
        };
        (lo <= hi).then_some(CounterRange { lo, hi })
    }

    fn join(self, other: CounterRange) -> CounterRange {
        CounterRange { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Returns the transitions of `state`, its arms in order and then the default, each with the counter's range if the
    /// transition is taken; `None` if no counter value in this range allows the transition.
    pub fn transitions(self, state: &StateData) -> Vec<(Next, Option<CounterRange>)> {
        let mut open = [Sign::Negative, Sign::Zero, Sign::Positive].map(|s| (s, self.part(s)));
        let mut list = Vec::with_capacity(state.arms.len() + 1);
        // `sure`: nothing but the counter decides whether the transition is taken.
        let take = |open: &mut [(Sign, Option<CounterRange>); 3], values: &[(u128, u128)], sure: bool| {
            let mut taken: Option<CounterRange> = None;
            for (sign, part) in open {
                let Some(range) = *part else { continue };
                let (mut fits, mut sure) = (true, sure);
                for (key, &(value, mask)) in state.select.iter().zip(values) {
                    let bit = match key {
                        SelectKey::CounterIsZero => u128::from(*sign == Sign::Zero),
                        SelectKey::CounterIsNegative => u128::from(*sign == Sign::Negative),
                        _ => {
                            sure &= mask == 0;
                            continue;
                        }
                    };
                    fits &= bit & mask == value & mask;
                }
                if fits {
                    taken = Some(taken.map_or(range, |t| t.join(range)));
                    if sure {
                        *part = None;
                    }
                }
            }
            taken
        };
        for arm in &state.arms {
            list.push((arm.next, take(&mut open, &arm.values, arm.set.is_none())));
        }
        list.push((state.default, take(&mut open, &[], true)));
        list
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Negative,
    Zero,
    Positive,
}

/// Number of extracted elements of each header stack, indexed by [`Stack`] over both gresses; absent entries are 0. Of a
/// stack that no later state uses, elements are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StackCounts(Vec<u8>);

impl StackCounts {
    /// Returns the header that the next extraction from `stack` fills; `None` if the stack is full.
    pub fn next(&self, program: &Program, stack: Stack) -> Option<Header> {
        program.stacks[stack].headers.get(self.count(stack)).copied()
    }

    /// Returns the header that was extracted last from `stack`; `None` if none was.
    pub(crate) fn last(&self, program: &Program, stack: Stack) -> Option<Header> {
        program.stacks[stack].headers.get(self.count(stack).checked_sub(1)?).copied()
    }

    fn count(&self, stack: Stack) -> usize {
        self.0.get(stack.index()).map_or(0, |n| usize::from(*n))
    }

    /// Returns the counts indexed by stack, up to the last stack with an extracted element.
    pub fn counts(&self) -> &[u8] {
        &self.0
    }

    /// Counts one more extracted element of `stack`; the count stays at 255.
    pub fn add(&mut self, stack: Stack) {
        if self.0.len() <= stack.index() {
            self.0.resize(stack.index() + 1, 0);
        }
        self.0[stack.index()] = self.0[stack.index()].saturating_add(1);
    }

    /// Returns the counts of these stacks alone.
    fn of(&self, stacks: &BTreeSet<Stack>) -> StackCounts {
        let last = stacks.iter().rev().find(|stack| self.count(**stack) > 0);
        let mut counts = StackCounts(vec![0; last.map_or(0, |stack| stack.index() + 1)]);
        for stack in stacks.iter().filter(|stack| self.count(**stack) > 0) {
            counts.0[stack.index()] = self.0[stack.index()];
        }
        counts
    }

    /// Returns the field that a select key reads; `None` if the key reads no field.
    pub fn field(&self, program: &Program, key: SelectKey) -> Option<Field> {
        match key {
            SelectKey::Field(f) => Some(f),
            SelectKey::Last(stack, position) => {
                let header = self.last(program, stack)?;
                program.headers[header].fields.get(usize::from(position)).copied()
            }
            _ => None,
        }
    }
}

/// Configuration of the parser: a state with the known counter values and stack counts at its entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Configuration {
    /// Parser state.
    pub state: ParserState,
    /// Range of the counter.
    pub counter: CounterRange,
    /// Ranges of the values on the counter stack, bottom first.
    pub pushed: Vec<Pushed>,
    /// Extracted elements of each header stack.
    pub elements: StackCounts,
}

/// Effect of a parser state's operations in one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateEffect {
    /// Extracted headers, in order.
    pub extracted: Vec<Header>,
    /// Bytes by which the state moves on.
    pub bytes: u32,
    /// Bytes that the state needs, from its first byte on and with lookahead.
    pub reach: u32,
    /// Range of the counter after the operations.
    pub counter: CounterRange,
    /// Ranges on the counter stack after the operations, bottom first.
    pub(crate) pushed: Vec<Pushed>,
    /// Greatest depth of the counter stack during the operations.
    pub(crate) pushed_most: usize,
    /// True if an operation pops an empty counter stack.
    pub(crate) underflow: bool,
    /// Extracted elements of each header stack after the operations.
    pub elements: StackCounts,
    /// Header stack that is full when an operation extracts another element; parsing ends there. `None`: no overflow.
    pub full: Option<Stack>,
}

impl Configuration {
    /// Returns the effect of the state's operations in this configuration.
    pub fn effect(&self, program: &Program) -> StateEffect {
        let (pushed, elements) = (self.pushed.clone(), self.elements.clone());
        let mut e = StateEffect { counter: self.counter, pushed, elements, ..StateEffect::default() };
        let data = &program.states[self.state];
        for op in &data.ops {
            match &op.kind {
                ParserOpKind::Extract(h) => e.extract(program, *h),
                ParserOpKind::ExtractNext(stack) => match e.elements.next(program, *stack) {
                    Some(h) => {
                        e.extract(program, h);
                        e.elements.add(*stack);
                    }
                    None => {
                        e.full = Some(*stack);
                        return e;
                    }
                },
                ParserOpKind::Advance(bytes) => e.bytes += u32::from(*bytes),
                ParserOpKind::Lookahead(f, at) => {
                    let width = program.fields.get(*f).map_or(0, |d| d.width);
                    e.see(crate::Lookahead { at: *at, width }.reach());
                }
                ParserOpKind::SetCounter(load) => {
                    load.ahead().into_iter().for_each(|ahead| e.see(ahead.reach()));
                    e.counter = CounterRange::loaded(program, *load);
                }
                ParserOpKind::AddCounter(by) => {
                    e.counter = e.counter.plus(*by);
                    // How often the counter above changes is not known here; exact ranges would tell too many laps apart.
                    Pushed::linked(&mut e.pushed).for_each(|below| below.range = CounterRange::ALL);
                }
                ParserOpKind::PushCounter(load, linked) => {
                    load.ahead().into_iter().for_each(|ahead| e.see(ahead.reach()));
                    e.pushed.push(Pushed { range: e.counter, linked: *linked });
                    e.pushed_most = e.pushed_most.max(e.pushed.len());
                    e.counter = CounterRange::loaded(program, *load);
                }
                ParserOpKind::PopCounter => {
                    let top = e.pushed.pop();
                    e.underflow |= top.is_none();
                    e.counter = top.map_or_else(CounterRange::default, |top| top.range);
                }
                ParserOpKind::Set(..)
                | ParserOpKind::SetSlice(..)
                | ParserOpKind::SetValid(..)
                | ParserOpKind::VerifyChecksum(..)
                | ParserOpKind::SubtractChecksum(..) => {}
            }
            e.see(0);
        }
        for key in &data.select {
            if let SelectKey::Lookahead(ahead) = key {
                e.see(ahead.reach());
            }
        }
        e
    }

    /// Returns the distinct edges to other configurations or to an end, in order of the arms.
    fn edges(&self, program: &Program, used: &UsedStacks) -> Vec<Edge> {
        let effect = self.effect(program);
        if effect.full.is_some() {
            return vec![Edge::End(Next::Reject)];
        }
        let mut list = Vec::new();
        for (next, counter) in effect.counter.transitions(&program.states[self.state]) {
            let Some(counter) = counter else { continue };
            let edge = match next {
                Next::State(state) => {
                    let elements = match used.get(&state) {
                        Some(used) => effect.elements.of(used),
                        None => StackCounts::default(),
                    };
                    let pushed = effect.pushed.clone();
                    Edge::To(Configuration { state, counter, pushed, elements })
                }
                end => Edge::End(end),
            };
            if !list.contains(&edge) {
                list.push(edge);
            }
        }
        list
    }
}

impl StateEffect {
    fn extract(&mut self, program: &Program, h: Header) {
        self.extracted.push(h);
        self.bytes += program.header_bits(h).div_ceil(8);
    }

    fn see(&mut self, ahead: u32) {
        self.reach = self.reach.max(self.bytes + ahead);
    }
}

/// For states that use header stacks or lead to such states: the stacks.
type UsedStacks = BTreeMap<ParserState, BTreeSet<Stack>>;

/// Returns the stacks that each state of a gress, or a state that can follow it, uses.
fn used_stacks(program: &Program, gress: Gress) -> UsedStacks {
    let states = || program.states.iter().filter(|(_, data)| data.gress == gress);
    let own = |data: &StateData| -> BTreeSet<Stack> {
        let extracted = data.ops.iter().filter_map(|op| match op.kind {
            ParserOpKind::ExtractNext(stack) => Some(stack),
            _ => None,
        });
        let selected = data.select.iter().filter_map(|key| match key {
            SelectKey::Last(stack, _) => Some(*stack),
            _ => None,
        });
        extracted.chain(selected).collect()
    };
    let mut used: UsedStacks = states().map(|(state, data)| (state, own(data))).collect();
    used.retain(|_, stacks| !stacks.is_empty());
    // What a state uses, all states that lead to it use.
    let mut changed = !used.is_empty();
    while changed {
        changed = false;
        for (state, data) in states() {
            let mut all = used.get(&state).cloned().unwrap_or_default();
            let before = all.len();
            for next in data.arms.iter().map(|arm| arm.next).chain([data.default]) {
                if let Next::State(next) = next {
                    all.extend(used.get(&next).into_iter().flatten());
                }
            }
            if all.len() > before {
                changed = true;
                used.insert(state, all);
            }
        }
    }
    used
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Edge {
    To(Configuration),
    End(Next),
}

/// Successor of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// Node at this index of [`UnrolledParser::nodes`].
    Node(usize),
    /// End of parsing: accept or reject.
    End(Next),
}

/// Node of an unrolled parser.
#[derive(Clone, Debug)]
pub struct UnrolledNode {
    /// Configuration at the node's entry.
    pub config: Configuration,
    /// Effect of the state's operations in that configuration.
    pub effect: StateEffect,
    /// Distinct successors, in order of the arms.
    pub successors: Vec<Successor>,
}

/// Unrolled parser of one gress; it has no nodes if the parser accepts or rejects at once.
#[derive(Clone, Debug, Default)]
pub struct UnrolledParser {
    /// Reachable nodes: each is before its successors, except where a loop that only the packet bounds begins again.
    pub nodes: Vec<UnrolledNode>,
    /// For each node: true if such a loop can lead to its state again.
    pub repeats: Vec<bool>,
}

/// Reason why a parser cannot be unrolled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnrollError {
    /// States of a loop that neither a header stack, nor the counter, nor the packet bounds, in order.
    Loop(Vec<ParserState>),
    /// More nodes than [`limits::PARSER_NODES`], or more than `MAX_PUSHED` values on the counter stack.
    TooMany,
}

impl UnrolledParser {
    /// Unrolls the parser of `gress` by a depth-first search from its start state.
    pub fn of(program: &Program, gress: Gress) -> Result<UnrolledParser, UnrollError> {
        let Next::State(start) = program.pipe(gress).start else { return Ok(UnrolledParser::default()) };
        let (counter, pushed, elements) = (CounterRange::default(), Vec::new(), StackCounts::default());
        let start = Configuration { state: start, counter, pushed, elements };
        // Finished configurations in post-order: each is after all that it leads to. `done` has their indices.
        let mut done: BTreeMap<Configuration, usize> = BTreeMap::new();
        let mut finished: Vec<(Configuration, Vec<Edge>)> = Vec::new();
        // Configurations on the path from the start, each with its edges and the number of edges not yet visited.
        let used = used_stacks(program, gress);
        let enter = |config: Configuration| {
            let edges = config.edges(program, &used);
            let left = edges.len();
            (config, edges, left)
        };
        let mut path = vec![enter(start)];
        while let Some((config, edges, left)) = path.last_mut() {
            let Some(at) = left.checked_sub(1) else {
                done.insert(config.clone(), finished.len());
                finished.push((config.clone(), std::mem::take(edges)));
                path.pop();
                continue;
            };
            *left = at;
            let Edge::To(next) = edges[at].clone() else { continue };
            // The packet has to bound a loop; whether it does is seen when all nodes are known.
            if path.iter().any(|(c, ..)| *c == next) {
                continue;
            }
            if !done.contains_key(&next) {
                if limits::PARSER_NODES.is_below(done.len() + path.len() + 1)
                    || next.pushed.len() > MAX_PUSHED
                {
                    return Err(UnrollError::TooMany);
                }
                path.push(enter(next));
            }
        }
        let last = finished.len().saturating_sub(1);
        let node = |(config, edges): (Configuration, Vec<Edge>)| {
            let successor = |edge| match edge {
                Edge::To(config) => Successor::Node(last - done.get(&config).copied().unwrap_or(0)),
                Edge::End(next) => Successor::End(next),
            };
            let (effect, successors) = (config.effect(program), edges.into_iter().map(successor).collect());
            UnrolledNode { config, effect, successors }
        };
        let nodes: Vec<UnrolledNode> = finished.into_iter().rev().map(node).collect();
        if let Some(endless) = endless(&nodes) {
            return Err(UnrollError::Loop(endless));
        }
        let repeats = repeats(&nodes);
        Ok(UnrolledParser { nodes, repeats })
    }

    /// Returns true if only the packet bounds one of the loops.
    #[must_use]
    pub fn is_bounded_by_packet(&self) -> bool {
        self.repeats.contains(&true)
    }

    /// Returns the reachable states, each once, in order of their first node.
    pub fn states(&self) -> Vec<ParserState> {
        let mut list: Vec<ParserState> = Vec::new();
        for node in &self.nodes {
            if !list.contains(&node.config.state) {
                list.push(node.config.state);
            }
        }
        list
    }

    /// Returns for each node the greatest sum of `cost` over the nodes before it, over all paths from the start that repeat
    /// no loop that only the packet bounds; the sum saturates.
    pub fn max_before(&self, cost: impl Fn(&UnrolledNode) -> u32) -> Vec<u32> {
        let mut before = vec![0u32; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            let after = before[i].saturating_add(cost(node));
            for successor in &node.successors {
                if let Successor::Node(n) = *successor
                    && n > i
                {
                    before[n] = before[n].max(after);
                }
            }
        }
        before
    }
}

/// Returns the states of a loop that takes no byte of the packet, in order; `None` if there is none.
fn endless(nodes: &[UnrolledNode]) -> Option<Vec<ParserState>> {
    let idle = |n: usize| nodes[n].effect.bytes == 0;
    // Nodes are white, on the path, or done.
    let mut colour = vec![0_u8; nodes.len()];
    for start in (0..nodes.len()).filter(|&n| idle(n)) {
        if colour[start] != 0 {
            continue;
        }
        colour[start] = 1;
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((n, edge)) = path.last_mut() {
            let Some(successor) = nodes[*n].successors.get(*edge) else {
                colour[*n] = 2;
                path.pop();
                continue;
            };
            *edge += 1;
            let Successor::Node(next) = *successor else { continue };
            match colour[next] {
                1 => {
                    let first = path.iter().position(|(n, _)| *n == next).unwrap_or(0);
                    return Some(path[first..].iter().map(|(n, _)| nodes[*n].config.state).collect());
                }
                0 if idle(next) => {
                    colour[next] = 1;
                    path.push((next, 0));
                }
                _ => {}
            }
        }
    }
    None
}

/// Returns for each node whether it, or another node of its state, can be reached from itself. The order of the nodes is that in which a depth-first search
/// has left them, last one first, so the nodes that lead to a node and come no earlier are in loops with it.
fn repeats(nodes: &[UnrolledNode]) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (n, node) in nodes.iter().enumerate() {
        for successor in &node.successors {
            if let Successor::Node(next) = successor {
                before[*next].push(n);
            }
        }
    }
    let (mut seen, mut repeats) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    for first in 0..nodes.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut group = vec![first];
        let mut done = 0;
        while let Some(&n) = group.get(done) {
            done += 1;
            for &earlier in &before[n] {
                if !std::mem::replace(&mut seen[earlier], true) {
                    group.push(earlier);
                }
            }
        }
        if group.len() > 1 || before[first].contains(&first) {
            group.into_iter().for_each(|n| repeats[n] = true);
        }
    }
    // Before its loop, a state may be another node with another counter.
    let states: BTreeSet<ParserState> =
        nodes.iter().zip(&repeats).filter(|(_, again)| **again).map(|(node, _)| node.config.state).collect();
    nodes.iter().map(|node| states.contains(&node.config.state)).collect()
}
