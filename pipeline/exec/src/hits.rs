//! Lookups, counted by table and entry: [`State::hits`].

use crate::pass::State;
use sluice_control::{ControlState, EntryId};
use sluice_ir::Table;

impl State {
    /// Counts lookups by table and entry from this call on; `control` has the entries of the pipe.
    pub fn count_hits(&mut self, control: &ControlState) {
        self.hits = control.tables.values().map(|table| vec![0; table.slots.len() + 1]).collect();
    }

    /// Counts lookups of a table, if lookups are counted; row 0 is a miss, row n + 1 the entry of slot n.
    #[inline(always)]
    pub(crate) fn looked_up(&mut self, table: Table, row: u32, packets: u32) {
        if let Some(count) = self.hits[table].get_mut(row as usize) {
            *count += u64::from(packets);
        }
    }

    /// Lets the entry of a slot count from zero, because it was added or deleted.
    pub(crate) fn forget_hits(&mut self, table: Table, slot: EntryId) {
        let at = slot as usize + 1;
        if self.hits.get(table).is_some_and(|hits| !hits.is_empty()) {
            let hits = &mut self.hits[table];
            hits.resize(hits.len().max(at + 1), 0);
            hits[at] = 0;
        }
    }

    /// Adds the counted lookups of another state of the same program.
    pub fn add_hits(&mut self, other: &State) {
        for (sum, hits) in self.hits.values_mut().zip(other.hits.values()) {
            sum.resize(sum.len().max(hits.len()), 0);
            sum.iter_mut().zip(hits).for_each(|(sum, packets)| *sum += packets);
        }
    }

    /// Counts the lookups since `before` this many times more.
    pub fn repeat_hits(&mut self, before: &State, times: u64) {
        for (now, before) in self.hits.values_mut().zip(before.hits.values()) {
            for (now, before) in now.iter_mut().zip(before) {
                *now += now.saturating_sub(*before) * times;
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
        state.count_hits(&ControlState::new(&program));
        [0, 1].into_iter().for_each(|slot| state.apply(&program, Change::Inserted(acl, slot)).unwrap());
        // One miss, and packets of the entries in slots 0 and 1.
        [(0, 1), (1, 2), (2, 3)].into_iter().for_each(|(row, packets)| state.looked_up(acl, row, packets));
        let before = state.clone();
        state.looked_up(acl, 2, 4);
        state.repeat_hits(&before, 10);
        assert_eq!(state.hits[acl], [1, 2, 3 + 4 * 11]);
        // Only the entry that is replaced counts from zero.
        state.apply(&program, Change::Modified(acl, 1)).unwrap();
        assert_eq!(state.hits[acl], [1, 2, 47]);
        state.apply(&program, Change::Deleted(acl, 1)).unwrap();
        assert_eq!(state.hits[acl], [1, 2, 0]);
        let mut sum = State::new(&program, &Origin::default());
        [&state, &before].into_iter().for_each(|one| sum.add_hits(one));
        assert_eq!(sum.hits[acl], [2, 4, 3]);
    }
}
