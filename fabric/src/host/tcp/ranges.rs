//! Disjoint ranges of positions in order: the bytes after the first missing one, at the receiver (received) and at the
//! sender (selectively acknowledged).

/// Ranges `start..end` in ascending order; no two touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    pub(super) const fn new() -> Ranges {
        Ranges(Vec::new())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the last range, the one with the highest positions.
    pub(super) fn last(&self) -> Option<(u64, u64)> {
        self.0.last().copied()
    }

    /// Returns the ranges from the highest to the lowest.
    pub(super) fn descending(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().rev().copied()
    }

    /// Returns the range that contains a position.
    pub(super) fn around(&self, position: u64) -> Option<(u64, u64)> {
        let range = self.0.get(self.0.partition_point(|range| range.1 <= position)).copied();
        range.filter(|range| range.0 <= position)
    }

    /// Adds `start..end` and passes the parts of it that were in no range to `new`, in ascending order.
    pub(super) fn insert(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        // Ranges that overlap or touch the new one.
        let first = self.0.partition_point(|range| range.1 < start);
        let after = self.0.partition_point(|range| range.0 <= end);
        let (mut from, mut to, mut covered) = (start, end, start);
        for range in self.0.get(first..after).unwrap_or_default() {
            if covered < range.0 {
                new(covered, range.0);
            }
            covered = covered.max(range.1);
            (from, to) = (from.min(range.0), to.max(range.1));
        }
        if covered < end {
            new(covered, end);
        }
        self.0.splice(first..after, [(from, to)]);
    }

    /// Removes all positions before `position`.
    pub(super) fn remove_before(&mut self, position: u64) {
        let gone = self.0.partition_point(|range| range.1 <= position);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(position);
        }
    }

    /// Removes the first range if it begins at `position` or before, and returns its end.
    pub(super) fn take_at(&mut self, position: u64) -> Option<u64> {
        let first = self.0.first().copied().filter(|range| range.0 <= position)?;
        self.0.remove(0);
        Some(first.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn touching_ranges_join_and_new_parts_are_told() {
        let mut ranges = Ranges::default();
        let mut add = |start, end| {
            let mut new = Vec::new();
            ranges.insert(start, end, |from, to| new.push((from, to)));
            (new, ranges.0.clone())
        };
        assert_eq!(add(10, 20), (vec![(10, 20)], vec![(10, 20)]));
        assert_eq!(add(30, 40), (vec![(30, 40)], vec![(10, 20), (30, 40)]));
        assert_eq!(add(15, 35), (vec![(20, 30)], vec![(10, 40)]));
        assert_eq!(add(40, 50), (vec![(40, 50)], vec![(10, 50)]));
        assert_eq!(add(12, 50), (vec![], vec![(10, 50)]));
        assert_eq!((ranges.around(10), ranges.around(50), ranges.take_at(9)), (Some((10, 50)), None, None));
        ranges.remove_before(30);
        assert_eq!((ranges.last(), ranges.take_at(30)), (Some((30, 50)), Some(50)));
    }

    proptest! {
        #[test]
        fn ranges_are_sets(adds in prop::collection::vec((0u64..60, 0u64..20), 0..20), cut in 0u64..60) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, len) in adds {
                let mut fresh = BTreeSet::new();
                ranges.insert(start, start + len, |from, to| fresh.extend(from..to));
                let expected: BTreeSet<u64> = (start..start + len).filter(|at| !set.contains(at)).collect();
                prop_assert_eq!(&fresh, &expected);
                set.extend(fresh);
            }
            ranges.remove_before(cut);
            set.retain(|at| *at >= cut);
            let held: BTreeSet<u64> = ranges.descending().flat_map(|(from, to)| from..to).collect();
            prop_assert_eq!(held, set);
            prop_assert!(ranges.0.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
