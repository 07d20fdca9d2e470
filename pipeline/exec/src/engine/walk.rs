//! Memoised walk of one packet through the steps of a control.
//!
//! The steps that are due form a set; an outcome adds the steps that run under it, and the lowest step of the set is next.
//! Each set that occurred is a *place* with a number, and its successor by each outcome is remembered. A packet goes from
//! place to place by one table lookup and never visits steps that are not due.

use std::collections::BTreeMap;

/// Steps to set due, as words of a bit set.
#[derive(Clone, Debug, Default)]
pub(super) struct Wake(Box<[(u32, u64)]>);

impl Wake {
    /// Returns the set of these steps, which are ascending.
    pub(super) fn of(steps: impl Iterator<Item = usize>) -> Wake {
        let mut words: Vec<(u32, u64)> = Vec::new();
        for step in steps {
            let (word, bit) = ((step / 64) as u32, 1 << (step % 64));
            match words.last_mut() {
                Some((w, bits)) if *w == word => *bits |= bit,
                _ => words.push((word, bit)),
            }
        }
        Wake(words.into())
    }
}

/// Outcome of a step: a predicate, and the steps that run under it.
#[derive(Clone, Debug, Default)]
pub(super) struct Arm {
    /// `None` if nothing depends on the outcome.
    pub(super) decides: Option<usize>,
    /// Index of the predicate; the spare one if the outcome decides none.
    pred: usize,
    wake: Wake,
}

impl Arm {
    pub(super) fn of(decides: Option<usize>) -> Arm {
        Arm { decides, ..Arm::default() }
    }

    /// Finds the steps after step `at` that run under this predicate. `nowhere` is the index of the spare predicate.
    pub(super) fn link(&mut self, at: usize, due: &[u16], nowhere: usize) {
        self.pred = self.decides.unwrap_or(nowhere);
        let steps = due.iter().enumerate().skip(at + 1);
        self.wake = Wake::of(steps.filter(|(_, p)| usize::from(**p) == self.pred).map(|(i, _)| i));
    }

    /// Sets the predicate for these lanes of a batch.
    #[inline(always)]
    pub(super) fn decide(&self, lanes: u64, preds: &mut [u64]) {
        preds[self.pred] = lanes;
    }
}

/// Number of a place.
pub(super) type PlaceNumber = u32;

/// Number of no place: nothing is due.
const END: PlaceNumber = PlaceNumber::MAX;
/// The successor is not known yet.
const UNKNOWN: PlaceNumber = PlaceNumber::MAX - 1;
/// Most places that are remembered; beyond this all are forgotten.
const MOST: usize = 1 << 14;

/// A place: a set of due steps.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Lowest step of the set.
    step: u32,
    /// Index of its successors, one per outcome.
    first: u32,
}

/// Places that packets have visited.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    places: Vec<Known>,
    next: Vec<PlaceNumber>,
    sets: Vec<Box<[u64]>>,
    numbers: BTreeMap<Box<[u64]>, PlaceNumber>,
    /// Places at which packets, and queue-depth updates, start.
    starts: [PlaceNumber; 2],
    /// Words of a set.
    words: usize,
    most: usize,
}

impl Walk {
    /// Returns a walk through a control with this many steps.
    pub(super) fn new(steps: usize) -> Walk {
        let (places, next, sets, numbers) = (Vec::new(), Vec::new(), Vec::new(), BTreeMap::new());
        Walk { places, next, sets, numbers, starts: [UNKNOWN; 2], words: steps.div_ceil(64), most: MOST }
    }

    /// Returns the place at which a walk starts; `outcomes` returns the number of outcomes of a step.
    #[inline(always)]
    pub(super) fn start(
        &mut self,
        which: usize,
        due: &Wake,
        outcomes: impl Fn(usize) -> usize,
    ) -> PlaceNumber {
        let known = self.starts[which % 2];
        if known != UNKNOWN {
            return known;
        }
        let set = vec![0; self.words];
        self.begin(which, set, due, outcomes)
    }

    #[cold]
    fn begin(
        &mut self,
        which: usize,
        mut set: Vec<u64>,
        due: &Wake,
        outcomes: impl Fn(usize) -> usize,
    ) -> PlaceNumber {
        add(&mut set, due);
        let place = self.number(set, outcomes);
        self.starts[which % 2] = place;
        place
    }

    /// Returns the step of a place.
    #[inline(always)]
    pub(super) fn step(&self, at: PlaceNumber) -> Option<usize> {
        self.places.get(at as usize).map(|place| place.step as usize)
    }

    /// Returns the successor by an outcome that has occurred before.
    #[inline(always)]
    pub(super) fn next(&self, at: PlaceNumber, outcome: usize) -> Option<PlaceNumber> {
        let place = self.places.get(at as usize)?;
        self.next.get(place.first as usize + outcome).copied().filter(|next| *next != UNKNOWN)
    }

    /// Returns the successor by an outcome that makes these arms' steps due.
    #[cold]
    pub(super) fn learn(
        &mut self,
        at: PlaceNumber,
        outcome: usize,
        arms: &[&Arm],
        outcomes: impl Fn(usize) -> usize,
    ) -> PlaceNumber {
        let (Some(place), Some(set)) = (self.places.get(at as usize), self.sets.get(at as usize)) else {
            return END;
        };
        let (mut set, from) = (set.to_vec(), place.first as usize + outcome);
        set[place.step as usize / 64] &= !(1 << (place.step % 64));
        arms.iter().for_each(|arm| add(&mut set, &arm.wake));
        if self.places.len() >= self.most {
            // The successors of `at` are forgotten with all others.
            *self = Walk { most: self.most, words: self.words, ..Walk::new(0) };
            return self.number(set, outcomes);
        }
        let to = self.number(set, outcomes);
        if let Some(next) = self.next.get_mut(from) {
            *next = to;
        }
        to
    }

    /// Returns the number of a set, a new one if the set has not occurred before.
    fn number(&mut self, set: Vec<u64>, outcomes: impl Fn(usize) -> usize) -> PlaceNumber {
        let Some(word) = set.iter().position(|bits| *bits != 0) else { return END };
        let set: Box<[u64]> = set.into();
        if let Some(known) = self.numbers.get(&set) {
            return *known;
        }
        let step = word * 64 + set[word].trailing_zeros() as usize;
        let place = self.places.len() as PlaceNumber;
        self.places.push(Known { step: step as u32, first: self.next.len() as u32 });
        self.next.resize(self.next.len() + outcomes(step), UNKNOWN);
        self.sets.push(set.clone());
        self.numbers.insert(set, place);
        place
    }
}

fn add(set: &mut [u64], wake: &Wake) {
    for (word, bits) in &wake.0 {
        set[*word as usize] |= bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps 0, 3 and 70 always run; 2, 65 and 130 run under predicate 1, which step 3 decides.
    fn due() -> Vec<u16> {
        let pred = |step| match step {
            0 | 3 | 70 => 0,
            2 | 65 | 130 => 1,
            _ => 2,
        };
        (0..131).map(pred).collect()
    }

    fn order(walk: &mut Walk, arm: &Arm, taken: bool) -> Vec<usize> {
        let (mut order, always) = (Vec::new(), Wake::of([0, 3, 70].into_iter()));
        let mut at = walk.start(0, &always, |_| 2);
        while let Some(step) = walk.step(at) {
            order.push(step);
            let outcome = usize::from(step == 3 && taken);
            let arms: &[&Arm] = if outcome == 1 { &[arm] } else { &[] };
            at = walk.next(at, outcome).unwrap_or_else(|| walk.learn(at, outcome, arms, |_| 2));
        }
        order
    }

    #[test]
    fn steps_come_in_order_and_only_behind_what_decided_them() {
        let mut arm = Arm::of(Some(1));
        arm.link(3, &due(), 3);
        // With room for all places, and with room for so few that they are forgotten on the way.
        for most in [MOST, 1, 2] {
            let mut walk = Walk { most, ..Walk::new(131) };
            for taken in [false, true, false, true] {
                let all: &[usize] = if taken { &[0, 3, 65, 70, 130] } else { &[0, 3, 70] };
                assert_eq!(order(&mut walk, &arm, taken), all, "{most}");
            }
        }
        let mut preds = [0; 4];
        arm.decide(6, &mut preds);
        assert_eq!(preds, [0, 6, 0, 0]);
    }

    #[test]
    fn a_control_without_steps_ends_at_once() {
        let mut walk = Walk::new(0);
        let start = walk.start(0, &Wake::of(std::iter::empty()), |_| 1);
        assert_eq!(walk.step(start), None);
    }
}
