//! Fewer states: those that do nothing, do the same as another, or are never reached are left out.

use rustc_hash::{FxHashMap, FxHashSet};
use sluice_ir::entity::Entity;
use sluice_ir::{Next, ParserState, Program, SelectKey, StateData};

/// Leaves out states of both parsers that are not needed, and last arms that lead where the default leads.
pub(super) fn shorten(program: &mut Program) {
    program.states.values_mut().for_each(arms);
    let passed: Vec<Next> = (0..program.states.len())
        .map(|index| beyond(program, Next::State(ParserState::new(index))))
        .collect();
    redirect(program, &passed);
    let merged = merged(program);
    redirect(program, &merged);
    keep_reachable(program);
}

/// Leaves out the last arms if they lead where the default leads, unless they have value sets, which the control plane fills.
/// Bytes ahead that they compare are keys all the same, because the packet must have them.
fn arms(data: &mut StateData) {
    while data.arms.last().is_some_and(|arm| arm.next == data.default && arm.set.is_none()) {
        data.arms.pop();
    }
    if data.arms.is_empty() && !data.select.iter().any(|key| matches!(key, SelectKey::Lookahead(_))) {
        data.select.clear();
    }
}

/// Replaces states as targets.
fn redirect(program: &mut Program, to: &[Next]) {
    let new = |next: &mut Next| {
        if let Next::State(state) = *next {
            *next = to[state.index()];
        }
    };
    for data in program.states.values_mut() {
        new(&mut data.default);
        data.arms.iter_mut().for_each(|arm| new(&mut arm.next));
    }
    program.pipes.iter_mut().for_each(|pipe| new(&mut pipe.start));
}

/// Returns the first target that does something. A loop of states that do nothing has no end; the verifier reports it.
fn beyond(program: &Program, mut next: Next) -> Next {
    for _ in 0..program.states.len() {
        let Next::State(state) = next else { break };
        let data = &program.states[state];
        if !data.ops.is_empty() || !data.select.is_empty() {
            break;
        }
        next = data.default;
    }
    next
}

/// Returns for each state the first that does the same. States that lead to themselves or to each other are the same if nothing
/// that follows tells them apart, so classes of states start out large and are split by the classes of their targets.
fn merged(program: &Program) -> Vec<Next> {
    let mut first = alike(program);
    loop {
        let class = |next: Next| match next {
            Next::State(state) => Ok(first[state.index()]),
            end => Err(end == Next::Accept),
        };
        let mut known: FxHashMap<(usize, Vec<Result<usize, bool>>), usize> = FxHashMap::default();
        let mut split = Vec::new();
        for (state, data) in program.states.iter() {
            let targets = data.arms.iter().map(|arm| arm.next).chain([data.default]).map(class).collect();
            let index = state.index();
            split.push(*known.entry((first[index], targets)).or_insert(index));
        }
        if split == first {
            return first.into_iter().map(|index| Next::State(ParserState::new(index))).collect();
        }
        first = split;
    }
}

/// Returns for each state the index of the first that has the same operations, keys and values of arms, whatever follows.
fn alike(program: &Program) -> Vec<usize> {
    let arms = |a: &StateData, b: &StateData| {
        a.arms.len() == b.arms.len()
            && a.arms.iter().zip(&b.arms).all(|(a, b)| (&a.values, a.set) == (&b.values, b.set))
    };
    let same = |a: &StateData, b: &StateData| {
        (a.gress, &a.ops, &a.select) == (b.gress, &b.ops, &b.select) && arms(a, b)
    };
    let mut firsts: Vec<ParserState> = Vec::new();
    let mut to = Vec::new();
    for (state, data) in program.states.iter() {
        let first = firsts.iter().copied().find(|&first| same(&program.states[first], data));
        to.push(first.unwrap_or(state).index());
        if first.is_none() {
            firsts.push(state);
        }
    }
    to
}

/// Removes states that no path reaches.
fn keep_reachable(program: &mut Program) {
    let mut reached = FxHashSet::default();
    let mut work: Vec<Next> = program.pipes.iter().map(|pipe| pipe.start).collect();
    while let Some(next) = work.pop() {
        let Next::State(state) = next else { continue };
        if reached.insert(state) {
            let data = &program.states[state];
            work.extend(data.arms.iter().map(|arm| arm.next).chain([data.default]));
        }
    }
    let old = std::mem::take(&mut program.states);
    let mut to = Vec::new();
    for (state, data) in old.iter() {
        let kept = reached.contains(&state);
        to.push(if kept { Next::State(program.states.push(data.clone())) } else { Next::Reject });
    }
    redirect(program, &to);
}
