//! The ways through a parser, with what is known on them before a packet comes: how many elements of each stack
//! were extracted, and between which values the counter is. Loops that stacks or the counter bound unroll into
//! finitely many places.
//!
//! Verifier, placement and engine work on this form.

use crate::entity::Entity;
use crate::{
    CounterLoad, Field, Header, Next, ParserOpKind, ParserState, Program, SelectKey, Stack, StateData,
};
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

/// Most places that a parser may unroll into.
const MAX_PLACES: usize = 1 << 14;

/// Most counters on the stack: no chip has as many.
const MAX_PUSHED: usize = 8;

/// Values that the counter can have; at first zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CounterRange {
    lo: i16,
    hi: i16,
}

impl CounterRange {
    const ALL: CounterRange = CounterRange { lo: i8::MIN as i16, hi: i8::MAX as i16 };

    /// Every value that a load can give.
    pub fn loaded(program: &Program, load: CounterLoad) -> CounterRange {
        let width = match load {
            CounterLoad::Const(_) => 0,
            CounterLoad::Field { field, .. } => program.fields.get(field).map_or(8, |d| d.width.min(8)),
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

    /// The range after the parser adds `by` to the counter; the full range if the sum may wrap.
    pub fn plus(self, by: i8) -> CounterRange {
        let moved = CounterRange { lo: self.lo + i16::from(by), hi: self.hi + i16::from(by) };
        if moved.lo < Self::ALL.lo || moved.hi > Self::ALL.hi { Self::ALL } else { moved }
    }

    /// The part of the range in which the counter is negative, zero or positive.
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

    /// Where a state can go on with the counter in this range: each arm, then the default; `None` if that one
    /// cannot be taken.
    pub fn ways(self, state: &StateData) -> Vec<(Next, Option<CounterRange>)> {
        let mut open = [Sign::Negative, Sign::Zero, Sign::Positive].map(|s| (s, self.part(s)));
        let mut list = Vec::with_capacity(state.arms.len() + 1);
        let take = |open: &mut [(Sign, Option<CounterRange>); 3], values: &[(u128, u128)]| {
            let mut taken: Option<CounterRange> = None;
            for (sign, part) in open {
                let Some(range) = *part else { continue };
                let (mut fits, mut sure) = (true, true);
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
            list.push((arm.next, take(&mut open, &arm.values)));
        }
        list.push((state.default, take(&mut open, &[])));
        list
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Negative,
    Zero,
    Positive,
}

/// How many elements of each stack were extracted; stacks of both gresses have a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken(Vec<u8>);

impl Taken {
    /// The element that comes next, if there is one.
    pub fn next(&self, program: &Program, stack: Stack) -> Option<Header> {
        program.stacks[stack].headers.get(self.count(stack)).copied()
    }

    /// The element that was extracted last, if there is one.
    pub(crate) fn last(&self, program: &Program, stack: Stack) -> Option<Header> {
        program.stacks[stack].headers.get(self.count(stack).checked_sub(1)?).copied()
    }

    fn count(&self, stack: Stack) -> usize {
        self.0.get(stack.index()).map_or(0, |n| usize::from(*n))
    }

    /// Counts by stack, as far as any element was extracted.
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

    /// The field that a select key reads, if any.
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

/// A place in the unrolled parser.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The parser state.
    pub state: ParserState,
    /// Values that the counter can have.
    pub counter: CounterRange,
    /// Counters on the stack, the last one on top.
    pub pushed: Vec<CounterRange>,
    /// Extracted elements of each stack.
    pub taken: Taken,
}

/// What a place does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Headers extracted, in order.
    pub extracted: Vec<Header>,
    /// Bytes moved past.
    pub bytes: u32,
    /// Bytes from the first one that are needed, lookahead included.
    pub reach: u32,
    /// The counter after the operations.
    pub counter: CounterRange,
    /// The counter's stack after the operations.
    pub(crate) pushed: Vec<CounterRange>,
    /// Most counters that are on the stack at a time.
    pub(crate) pushed_most: usize,
    /// The counter is taken from a stack that is empty.
    pub(crate) underflow: bool,
    /// Stack elements extracted after the operations.
    pub taken: Taken,
    /// A stack that has no room for what is extracted: nothing follows.
    pub full: Option<Stack>,
}

impl Place {
    /// What the operations of the state do here.
    pub fn effect(&self, program: &Program) -> Effect {
        let (pushed, taken) = (self.pushed.clone(), self.taken.clone());
        let mut e = Effect { counter: self.counter, pushed, taken, ..Effect::default() };
        let data = &program.states[self.state];
        for op in &data.ops {
            match &op.kind {
                ParserOpKind::Extract(h) => e.extract(program, *h),
                ParserOpKind::ExtractNext(stack) => match e.taken.next(program, *stack) {
                    Some(h) => {
                        e.extract(program, h);
                        e.taken.add(*stack);
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
                ParserOpKind::SetCounter(load) => e.counter = CounterRange::loaded(program, *load),
                ParserOpKind::AddCounter(by) => e.counter = e.counter.plus(*by),
                ParserOpKind::PushCounter(load) => {
                    e.pushed.push(e.counter);
                    e.pushed_most = e.pushed_most.max(e.pushed.len());
                    e.counter = CounterRange::loaded(program, *load);
                }
                ParserOpKind::PopCounter => {
                    let top = e.pushed.pop();
                    e.underflow |= top.is_none();
                    e.counter = top.unwrap_or_default();
                }
                ParserOpKind::Set(..)
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

    /// Where it goes on, each place or end once, in order of the arms.
    fn nexts(&self, program: &Program) -> Vec<Goes> {
        let effect = self.effect(program);
        if effect.full.is_some() {
            return vec![Goes::End(Next::Reject)];
        }
        let mut list = Vec::new();
        for (next, counter) in effect.counter.ways(&program.states[self.state]) {
            let Some(counter) = counter else { continue };
            let goes = match next {
                Next::State(state) => {
                    let (pushed, taken) = (effect.pushed.clone(), effect.taken.clone());
                    Goes::To(Place { state, counter, pushed, taken })
                }
                end => Goes::End(end),
            };
            if !list.contains(&goes) {
                list.push(goes);
            }
        }
        list
    }
}

impl Effect {
    fn extract(&mut self, program: &Program, h: Header) {
        self.extracted.push(h);
        self.bytes += program.header_bits(h).div_ceil(8);
    }

    fn see(&mut self, ahead: u32) {
        self.reach = self.reach.max(self.bytes + ahead);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Goes {
    To(Place),
    End(Next),
}

/// What follows a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// The place at this position of [`Ways::places`].
    Place(usize),
    /// The end of parsing.
    End(Next),
}

/// A place with what it does and what follows.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The place.
    pub place: Place,
    /// Its effect on counter and stacks.
    pub effect: Effect,
    /// Each once, in the order of the arms.
    pub follows: Vec<Follow>,
}

/// The unrolled parser of a gress: places that can be reached, each before those that follow it.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// Reachable places; each is before those that follow it.
    pub places: Vec<Stop>,
}

/// Why a parser cannot be unrolled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endless {
    /// These states follow each other without end.
    Loop(Vec<ParserState>),
    /// More than `MAX_PLACES` places, or `MAX_PUSHED` counters on the stack.
    TooMany,
}

impl Ways {
    /// Unrolls the parser of `gress`.
    pub fn of(program: &Program, gress: Gress) -> Result<Ways, Endless> {
        let Next::State(start) = program.pipe(gress).start else { return Ok(Ways::default()) };
        let (counter, pushed, taken) = (CounterRange::default(), Vec::new(), Taken::default());
        let start = Place { state: start, counter, pushed, taken };
        // Finished places, each after all that follow it, and where each stands among them.
        let mut done: BTreeMap<Place, usize> = BTreeMap::new();
        let mut finished: Vec<(Place, Vec<Goes>)> = Vec::new();
        // Places on the way from the start, each with all that follows and how much of that is not yet visited.
        let enter = |place: Place| {
            let nexts = place.nexts(program);
            let left = nexts.len();
            (place, nexts, left)
        };
        let mut path = vec![enter(start)];
        while let Some((place, nexts, left)) = path.last_mut() {
            let Some(at) = left.checked_sub(1) else {
                done.insert(place.clone(), finished.len());
                finished.push((place.clone(), std::mem::take(nexts)));
                path.pop();
                continue;
            };
            *left = at;
            let Goes::To(next) = nexts[at].clone() else { continue };
            if let Some(first) = path.iter().position(|(p, ..)| *p == next) {
                return Err(Endless::Loop(path[first..].iter().map(|(p, ..)| p.state).collect()));
            }
            if !done.contains_key(&next) {
                if done.len() + path.len() >= MAX_PLACES || next.pushed.len() > MAX_PUSHED {
                    return Err(Endless::TooMany);
                }
                path.push(enter(next));
            }
        }
        let last = finished.len().saturating_sub(1);
        let stop = |(place, nexts): (Place, Vec<Goes>)| {
            let follow = |goes| match goes {
                Goes::To(place) => Follow::Place(last - done.get(&place).copied().unwrap_or(0)),
                Goes::End(next) => Follow::End(next),
            };
            Stop { effect: place.effect(program), follows: nexts.into_iter().map(follow).collect(), place }
        };
        Ok(Ways { places: finished.into_iter().rev().map(stop).collect() })
    }

    /// The states that can be reached, each once, in order of their first place.
    pub fn states(&self) -> Vec<ParserState> {
        let mut list: Vec<ParserState> = Vec::new();
        for stop in &self.places {
            if !list.contains(&stop.place.state) {
                list.push(stop.place.state);
            }
        }
        list
    }

    /// The most of what `cost` says of places that a way adds up to before each place.
    pub fn most_before(&self, cost: impl Fn(&Stop) -> u32) -> Vec<u32> {
        let mut before = vec![0u32; self.places.len()];
        for (i, stop) in self.places.iter().enumerate() {
            let after = before[i].saturating_add(cost(stop));
            for follow in &stop.follows {
                if let Follow::Place(n) = follow {
                    before[*n] = before[*n].max(after);
                }
            }
        }
        before
    }
}
