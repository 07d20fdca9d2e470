//! Abstract value: the sets of headers that can be valid at a point of a program.

use super::header_set::{Bit, HeaderSet};
use std::collections::BTreeSet;

/// Largest number of distinct sets that are kept.
const MAX_SETS: usize = 4096;

/// Possible sets of valid headers, all of one gress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Possible {
    /// Exactly these sets; empty if no packet reaches the point.
    Exact(BTreeSet<HeaderSet>),
    /// Any set that contains `must` and is contained in `may`.
    Between { must: HeaderSet, may: HeaderSet },
}

impl Possible {
    /// Returns the value of a point that no packet reaches.
    pub(super) fn never() -> Self {
        Possible::Exact(BTreeSet::new())
    }

    /// Returns the value with exactly this set.
    pub(super) fn one(set: HeaderSet) -> Self {
        Possible::Exact(BTreeSet::from([set]))
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self, Possible::Exact(sets) if sets.is_empty())
    }

    /// Returns true if the header is valid in all sets.
    pub(super) fn must(&self, header: Bit) -> bool {
        match self {
            Possible::Exact(sets) => sets.iter().all(|s| s.has(header)),
            Possible::Between { must, .. } => must.has(header),
        }
    }

    /// Returns true if the header is valid in some set.
    pub(super) fn may(&self, header: Bit) -> bool {
        match self {
            Possible::Exact(sets) => sets.iter().any(|s| s.has(header)),
            Possible::Between { may, .. } => may.has(header),
        }
    }

    /// Returns the first set without this header.
    pub(super) fn example_without(&self, header: Bit) -> Option<&HeaderSet> {
        match self {
            Possible::Exact(sets) => sets.iter().find(|s| !s.has(header)),
            Possible::Between { must, .. } => Some(must).filter(|s| !s.has(header)),
        }
    }

    /// Keeps the sets in which the header is valid, or invalid.
    pub(super) fn assume(&self, header: Bit, valid: bool) -> Self {
        match self {
            Possible::Exact(sets) => {
                Possible::Exact(sets.iter().filter(|s| s.has(header) == valid).cloned().collect())
            }
            Possible::Between { must, may } if valid && may.has(header) => {
                Possible::Between { must: must.with(header, true), may: may.clone() }
            }
            Possible::Between { must, may } if !valid && !must.has(header) => {
                Possible::Between { must: must.clone(), may: may.with(header, false) }
            }
            Possible::Between { .. } => Possible::never(),
        }
    }

    /// Makes the header valid, or invalid, in all sets.
    pub(super) fn with(&self, header: Bit, valid: bool) -> Self {
        match self {
            Possible::Exact(sets) => Possible::Exact(sets.iter().map(|s| s.with(header, valid)).collect()),
            Possible::Between { must, may } => {
                Possible::Between { must: must.with(header, valid), may: may.with(header, valid) }
            }
        }
    }

    /// Returns the union of both.
    pub(super) fn join(self, other: &Self) -> Self {
        match (self, other) {
            (Possible::Exact(mut a), Possible::Exact(b)) => {
                for set in b {
                    if !a.contains(set) {
                        a.insert(set.clone());
                    }
                }
                Possible::Exact(a).narrow(MAX_SETS)
            }
            (a, b) => match (a.bounds(), b.bounds()) {
                (Some(a), Some(b)) => Possible::Between { must: a.0.and(&b.0), may: a.1.or(&b.1) },
                (Some(_), None) => a,
                (None, _) => b.clone(),
            },
        }
    }

    /// Returns the headers that are valid in all sets and those that are valid in some set; `None` if there is no set.
    fn bounds(&self) -> Option<(HeaderSet, HeaderSet)> {
        match self {
            Possible::Exact(sets) => {
                let first = sets.first()?.clone();
                let fold = |(must, may): (HeaderSet, HeaderSet), s: &HeaderSet| (must.and(s), may.or(s));
                Some(sets.iter().fold((first.clone(), first), fold))
            }
            Possible::Between { must, may } => Some((must.clone(), may.clone())),
        }
    }

    /// Gives up single sets if there are more than `most`.
    fn narrow(self, most: usize) -> Self {
        match &self {
            Possible::Exact(sets) if sets.len() > most => {
                self.bounds().map_or(self, |(must, may)| Possible::Between { must, may })
            }
            Possible::Exact(_) | Possible::Between { .. } => self,
        }
    }

    /// Returns the largest `size` over all sets.
    pub(super) fn largest(&self, size: impl Fn(&HeaderSet) -> u32) -> u32 {
        match self {
            Possible::Exact(sets) => sets.iter().map(size).max().unwrap_or(0),
            Possible::Between { may, .. } => size(may),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The set of the headers whose bits a number has.
    fn set(bits: u32) -> HeaderSet {
        (0..32).fold(HeaderSet::empty(32), |set, bit| set.with(Some(bit), bits >> bit & 1 == 1))
    }

    fn exact(sets: &[u32]) -> Possible {
        Possible::Exact(sets.iter().copied().map(set).collect())
    }

    proptest! {
        /// A set that a value allows is also allowed by its widened form, after every step.
        #[test]
        fn widening_never_loses_a_set(a in proptest::collection::vec(0u32..64, 1..9), bit in 0usize..6, valid: bool) {
            let header = Some(bit);
            let fine = exact(&a);
            let wide = fine.clone().narrow(0);
            for (fine, wide) in [
                (fine.assume(header, valid), wide.assume(header, valid)),
                (fine.with(header, valid), wide.with(header, valid)),
                (fine.clone().join(&exact(&[1 << bit])), wide.clone().join(&exact(&[1 << bit]))),
            ] {
                if let Possible::Exact(sets) = fine {
                    for s in sets {
                        let (must, may) = wide.bounds().unwrap();
                        prop_assert_eq!(s.clone().and(&must), must);
                        prop_assert_eq!(s.or(&may), may);
                    }
                }
            }
        }

        /// Sets are in the order of the numbers whose bits they are.
        #[test]
        fn sets_are_in_the_order_of_numbers(a: u32, b: u32) {
            prop_assert_eq!(set(a).cmp(&set(b)), a.cmp(&b));
        }
    }

    #[test]
    fn validity_of_one_header_proves_another() {
        let p = exact(&[0b001, 0b111, 0b011]);
        assert_eq!(p.assume(Some(2), true).bounds().unwrap().0, set(0b111));
        assert_eq!(p.assume(Some(1), false), exact(&[0b001]));
        assert!(p.assume(Some(0), false).is_never());
        assert_eq!(p.example_without(Some(1)), Some(&set(1)));
    }

    #[test]
    fn too_many_sets_widen() {
        let mut p = Possible::never();
        for s in 0..=MAX_SETS as u32 {
            p = p.join(&Possible::one(set(s << 1 | 1)));
        }
        assert_eq!(p, Possible::Between { must: set(1), may: set(0x3fff) });
    }
}
