//! Abstract value: the sets of headers that can be valid at a point of a program.

use std::collections::BTreeSet;

/// Largest number of distinct sets that are kept.
const MAX_SETS: usize = 4096;

/// Possible sets of valid headers, one bit per header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Possible {
    /// Exactly these sets; empty if no packet reaches the point.
    Exact(BTreeSet<u128>),
    /// Any set that contains `must` and is contained in `may`.
    Between { must: u128, may: u128 },
}

impl Possible {
    /// Returns the value of a point that no packet reaches.
    pub(super) fn never() -> Self {
        Possible::Exact(BTreeSet::new())
    }

    /// Returns the value with exactly this set.
    pub(super) fn one(set: u128) -> Self {
        Possible::Exact(BTreeSet::from([set]))
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self, Possible::Exact(sets) if sets.is_empty())
    }

    /// Returns the headers that are valid in all sets.
    pub(super) fn must(&self) -> u128 {
        match self {
            Possible::Exact(sets) => sets.iter().fold(u128::MAX, |all, s| all & s),
            Possible::Between { must, .. } => *must,
        }
    }

    /// Returns the headers that are valid in some set.
    pub(super) fn may(&self) -> u128 {
        match self {
            Possible::Exact(sets) => sets.iter().fold(0, |any, s| any | s),
            Possible::Between { may, .. } => *may,
        }
    }

    /// Returns the first set, by number, without these headers.
    pub(super) fn example_without(&self, headers: u128) -> Option<u128> {
        match self {
            Possible::Exact(sets) => sets.iter().copied().find(|s| s & headers == 0),
            Possible::Between { must, .. } => Some(*must).filter(|s| s & headers == 0),
        }
    }

    /// Keeps the sets in which the header is valid, or invalid.
    pub(super) fn assume(&self, header: u128, valid: bool) -> Self {
        match self {
            Possible::Exact(sets) => {
                Possible::Exact(sets.iter().copied().filter(|s| (s & header != 0) == valid).collect())
            }
            Possible::Between { must, may } if valid && may & header != 0 => {
                Possible::Between { must: must | header, may: *may }
            }
            Possible::Between { must, may } if !valid && must & header == 0 => {
                Possible::Between { must: *must, may: may & !header }
            }
            Possible::Between { .. } => Possible::never(),
        }
    }

    /// Makes the header valid, or invalid, in all sets.
    pub(super) fn with(&self, header: u128, valid: bool) -> Self {
        let change = |s: u128| if valid { s | header } else { s & !header };
        match self {
            Possible::Exact(sets) => Possible::Exact(sets.iter().map(|&s| change(s)).collect()),
            Possible::Between { must, may } => Possible::Between { must: change(*must), may: change(*may) },
        }
    }

    /// Returns the union of both.
    pub(super) fn join(self, other: &Self) -> Self {
        if self.is_never() {
            return other.clone();
        }
        match (self, other) {
            (Possible::Exact(mut a), Possible::Exact(b)) => {
                a.extend(b);
                let joined = Possible::Exact(a);
                joined.narrow(MAX_SETS)
            }
            (a, b) if b.is_never() => a,
            (a, b) => Possible::Between { must: a.must() & b.must(), may: a.may() | b.may() },
        }
    }

    fn narrow(self, most: usize) -> Self {
        match &self {
            Possible::Exact(sets) if sets.len() > most => {
                Possible::Between { must: self.must(), may: self.may() }
            }
            _ => self,
        }
    }

    /// Returns the largest `size` over all sets.
    pub(super) fn largest(&self, size: impl Fn(u128) -> u32) -> u32 {
        match self {
            Possible::Exact(sets) => sets.iter().map(|&s| size(s)).max().unwrap_or(0),
            Possible::Between { may, .. } => size(*may),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(sets: &[u128]) -> Possible {
        Possible::Exact(sets.iter().copied().collect())
    }

    proptest! {
        /// A set that a value allows is also allowed by its widened form, after every step.
        #[test]
        fn widening_never_loses_a_set(a in proptest::collection::vec(0u128..64, 1..9), bit in 0u32..6, valid: bool) {
            let header = 1u128 << bit;
            let fine = exact(&a);
            let wide = fine.clone().narrow(0);
            for (fine, wide) in [
                (fine.assume(header, valid), wide.assume(header, valid)),
                (fine.with(header, valid), wide.with(header, valid)),
                (fine.clone().join(&exact(&[header])), wide.clone().join(&exact(&[header]))),
            ] {
                if let Possible::Exact(sets) = fine {
                    for s in sets {
                        prop_assert_eq!(s & wide.must(), wide.must());
                        prop_assert_eq!(s & !wide.may(), 0);
                    }
                }
            }
        }
    }

    #[test]
    fn validity_of_one_header_proves_another() {
        let p = exact(&[0b001, 0b111, 0b011]);
        assert_eq!(p.assume(0b100, true).must(), 0b111);
        assert_eq!(p.assume(0b010, false), exact(&[0b001]));
        assert!(p.assume(0b001, false).is_never());
        assert_eq!(p.example_without(0b010), Some(1));
    }

    #[test]
    fn too_many_sets_widen() {
        let mut p = Possible::never();
        for s in 0..=MAX_SETS as u128 {
            p = p.join(&Possible::one(s << 1 | 1));
        }
        assert_eq!(p, Possible::Between { must: 1, may: 0x3fff });
    }
}
