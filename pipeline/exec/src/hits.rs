//! Lookups, counted by table and entry: [`State::hits`].

use crate::pass::State;
use sluice_control::cells::Cells;
use sluice_ir::{Program, Table};

impl State {
    /// Counts lookups by table and entry from this call on.
    pub fn count_hits(&mut self, program: &Program) {
        self.hits = program.tables.values().map(|t| Cells::new(t.size as usize + 1, 0)).collect();
    }

    /// Counts lookups of a table, if lookups are counted; row 0 is a miss, row n + 1 the entry of slot n.
    #[inline(always)]
    pub(crate) fn looked_up(&mut self, table: Table, row: u32, packets: u32) {
        if let Some(count) = self.hits[table].get_mut(row as usize) {
            *count += u64::from(packets);
        }
    }

    /// Adds counted lookups of another state of the same program.
    pub fn add_hits(&mut self, other: &State) {
        for (sum, hits) in self.hits.values_mut().zip(other.hits.values()) {
            for (row, packets) in hits.changed() {
                sum.get_mut(row).into_iter().for_each(|sum| *sum += packets);
            }
        }
    }

    /// Counts the lookups since `before` this many times more.
    pub fn repeat_hits(&mut self, before: &State, times: u64) {
        for (now, before) in self.hits.values_mut().zip(before.hits.values()) {
            let counted: Vec<(usize, u64)> = now.changed().collect();
            for (row, packets) in counted {
                let more = packets.saturating_sub(before.get(row).copied().unwrap_or(0));
                now.get_mut(row).into_iter().for_each(|count| *count += more * times);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_control::Change;
    use sluice_ir::meter_array::Origin;
    use sluice_samples::router::router;

    #[test]
    fn lookups_are_counted_by_entry_if_they_are_asked_for() {
        let program = router();
        let acl = program.table_named("acl").unwrap();
        let mut state = State::new(&program, &Origin::default());
        state.looked_up(acl, 1, 1);
        assert!(state.hits[acl].is_empty());
        state.count_hits(&program);
        // One miss, and packets of the entries in slots 0 and 1.
        [(0, 1), (1, 2), (2, 3)].into_iter().for_each(|(row, packets)| state.looked_up(acl, row, packets));
        let before = state.clone();
        state.looked_up(acl, 2, 4);
        state.repeat_hits(&before, 10);
        assert_eq!(state.hits[acl][..3], [1, 2, 3 + 4 * 11]);
        // Only the entry that is replaced counts from zero.
        state.apply(&program, Change::Modified(acl, 1)).unwrap();
        assert_eq!(state.hits[acl][..3], [1, 2, 47]);
        state.apply(&program, Change::Deleted(acl, 1)).unwrap();
        assert_eq!(state.hits[acl][..3], [1, 2, 0]);
        let mut sum = State::new(&program, &Origin::default());
        sum.count_hits(&program);
        [&state, &before].into_iter().for_each(|one| sum.add_hits(one));
        assert_eq!(sum.hits[acl][..3], [2, 4, 3]);
    }
}
