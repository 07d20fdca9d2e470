//! Which steps of a control are due: a bit each, set by the outcome of an earlier step.
//!
//! A packet, or a batch, goes from one step that is due to the next; those that are not are never looked at. What
//! may not live here: what steps do.

/// Steps to set due.
#[derive(Clone, Debug, Default)]
pub(super) struct Wake {
    /// Word of the bit set, and bits of it.
    first: (u32, u64),
    /// The words behind it.
    more: Box<[(u32, u64)]>,
}

impl Wake {
    /// Of these steps.
    pub(super) fn of(steps: impl Iterator<Item = usize>) -> Wake {
        let mut words: Vec<(u32, u64)> = Vec::new();
        for step in steps {
            let (word, bit) = ((step / 64) as u32, 1 << (step % 64));
            match words.last_mut() {
                Some((w, bits)) if *w == word => *bits |= bit,
                _ => words.push((word, bit)),
            }
        }
        let first = words.first().copied().unwrap_or_default();
        Wake { first, more: words.into_iter().skip(1).collect() }
    }
}

/// An outcome of a step: a predicate, and the steps that run where it holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Arm {
    /// Nothing where nothing depends on the outcome.
    pub(super) decides: Option<usize>,
    /// The predicate's place, or that of those which lead nowhere.
    pred: usize,
    wake: Wake,
}

impl Arm {
    pub(super) fn of(decides: Option<usize>) -> Arm {
        Arm { decides, ..Arm::default() }
    }

    /// Finds what is due: the steps behind the one at `at` with this predicate. `nowhere` is the place of no predicate.
    pub(super) fn link(&mut self, at: usize, due: &[u16], nowhere: usize) {
        self.pred = self.decides.unwrap_or(nowhere);
        let steps = due.iter().enumerate().skip(at + 1);
        self.wake = Wake::of(steps.filter(|(_, p)| usize::from(**p) == self.pred).map(|(i, _)| i));
    }

    /// The outcome holds in these lanes.
    #[inline(always)]
    pub(super) fn take(&self, lanes: u64, preds: &mut [u64], open: &mut Open) {
        if lanes != 0 {
            preds[self.pred] = lanes;
            open.wake(&self.wake);
        }
    }
}

/// The steps that are due.
#[derive(Clone, Debug)]
pub(super) struct Open {
    words: Vec<u64>,
    /// The word with the lowest bit.
    at: usize,
}

impl Open {
    pub(super) fn new(steps: usize) -> Open {
        Open { words: vec![0; steps.div_ceil(64).max(1)], at: 0 }
    }

    pub(super) fn start(&mut self, with: &Wake) {
        self.at = 0;
        self.wake(with);
    }

    #[inline(always)]
    fn wake(&mut self, wake: &Wake) {
        let (word, bits) = wake.first;
        self.words[word as usize] |= bits;
        for (word, bits) in &wake.more {
            self.words[*word as usize] |= bits;
        }
    }

    /// Takes out the lowest step.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            let bits = self.words.get_mut(self.at)?;
            if *bits != 0 {
                let step = self.at * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                return Some(step);
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_order_and_only_behind_what_decided_them() {
        // Steps 0, 3 and 70 always, 2, 65 and 130 under predicate 1, which step 3 decides.
        let due: Vec<u16> = (0..131)
            .map(|step| match step {
                0 | 3 | 70 => 0,
                2 | 65 | 130 => 1,
                _ => 2,
            })
            .collect();
        let mut arm = Arm::of(Some(1));
        arm.link(3, &due, 3);
        let (mut open, mut preds) = (Open::new(due.len()), [0; 4]);
        for taken in [0, 6] {
            let mut order = Vec::new();
            open.start(&Wake::of([0, 3, 70].into_iter()));
            while let Some(step) = open.next() {
                order.push(step);
                if step == 3 {
                    arm.take(taken, &mut preds, &mut open);
                }
            }
            let all: &[usize] = if taken == 0 { &[0, 3, 70] } else { &[0, 3, 65, 70, 130] };
            assert_eq!(order, all);
        }
        assert_eq!(preds, [0, 6, 0, 0]);
    }
}
