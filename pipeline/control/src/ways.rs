//! Rows of exact tables: cuckoo hashing over the ways of a placed table (model: chip §3.1).
//!
//! An entry is in one row of one way, which a hash of its key picks. If all rows of a new key are taken, the driver moves
//! entries to other rows of theirs, breadth first and at most [`ExactLayout::moves`] after each other. If that frees no
//! row, the table is full, although other rows are free. Lookups do not depend on where an entry is, so executors do not
//! read this.

use super::{EntryId, TableState};
use rustc_hash::FxHashSet;
use sluice_asic::hash::splitmix64;
use sluice_ir::KeyValue;
use std::sync::Arc;

/// The ways of one part of an exact table, which is in one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartLayout {
    /// Rows of each way.
    pub rows: Vec<u32>,
    /// Entries per row.
    pub pack: u32,
}

/// The ways of an exact table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactLayout {
    /// Parts in search order; an entry is in the first part that takes it.
    pub parts: Vec<PartLayout>,
    /// Greatest number of entries that the driver moves for a new entry.
    pub moves: u32,
    /// Seed of the hash functions.
    pub seed: u64,
}

impl ExactLayout {
    /// Returns the number of places for entries.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        let of = |p: &PartLayout| p.rows.iter().map(|r| u64::from(*r)).sum::<u64>() * u64::from(p.pack);
        self.parts.iter().map(of).sum()
    }

    /// Returns the row that a key has in a way. The function stands for the chip's hash matrix, whose columns the compiler
    /// chooses: it spreads the keys evenly, and independently for each way.
    fn row(&self, key: &[KeyValue], part: usize, way: usize, rows: u32) -> u32 {
        let mut hash = splitmix64(self.seed ^ (part as u64) << 32 ^ way as u64);
        for column in key {
            let KeyValue::Exact(value) = column else { continue };
            hash = splitmix64(hash ^ *value as u64);
            if let high @ 1.. = (*value >> 64) as u64 {
                hash = splitmix64(hash ^ high.rotate_left(1));
            }
        }
        // The upper half of the product: an even choice of `rows`.
        (((hash >> 32) * u64::from(rows)) >> 32) as u32
    }
}

/// Number of an entry in a place, plus 1; 0 is a free place.
type Slot = u32;

/// Places of a table's entries.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    layout: Arc<ExactLayout>,
    /// Entry of each place, part after part, way after way, row after row.
    places: Vec<Slot>,
    /// Place of each entry, plus 1, by slot of the entry; 0 if it has none.
    at: Vec<u32>,
}

/// A place that the search has reached.
struct Reached {
    place: usize,
    /// Position in the list of the place whose entry would move here.
    from: Option<usize>,
    moves: u32,
}

impl Rows {
    /// Returns the places of all entries of `table`. Entries that find none, such as constant ones, have no place.
    pub(super) fn of(layout: &Arc<ExactLayout>, table: &TableState) -> Rows {
        let places = vec![0; usize::try_from(layout.capacity()).unwrap_or(0)];
        let mut rows = Rows { layout: Arc::clone(layout), places, at: Vec::new() };
        for (id, entry) in table.entries() {
            rows.insert(id, &entry.key, table);
        }
        rows
    }

    /// Finds a place for an entry and moves others there if it must. Returns false, and changes nothing, if no place is
    /// found. `table` has all entries that have places.
    pub(super) fn insert(&mut self, id: EntryId, key: &[KeyValue], table: &TableState) -> bool {
        let layout = Arc::clone(&self.layout);
        let mut first = 0;
        for (part, ways) in layout.parts.iter().enumerate() {
            if let Some(path) = self.path(part, first, key, table) {
                self.shift(&path, id);
                return true;
            }
            first += (ways.rows.iter().sum::<u32>() * ways.pack) as usize;
        }
        false
    }

    /// Frees the place of an entry.
    pub(super) fn remove(&mut self, id: EntryId) {
        let Some(at) = self.at.get_mut(id as usize) else { return };
        if let Some(place) = std::mem::take(at).checked_sub(1) {
            self.places[place as usize] = 0;
        }
    }

    /// Returns the places of a key in a part whose first place is `first`.
    fn candidates(&self, part: usize, first: usize, key: &[KeyValue]) -> Vec<usize> {
        let ways = &self.layout.parts[part];
        let (mut way_first, mut list) = (first, Vec::with_capacity(ways.rows.len() * ways.pack as usize));
        for (way, rows) in ways.rows.iter().enumerate() {
            let row = self.layout.row(key, part, way, *rows);
            let place = way_first + (row * ways.pack) as usize;
            list.extend(place..place + ways.pack as usize);
            way_first += (rows * ways.pack) as usize;
        }
        list
    }

    /// Returns places, the free one first, such that the entry of each place may move to the place before it, and the new
    /// entry to the last place.
    fn path(&self, part: usize, first: usize, key: &[KeyValue], table: &TableState) -> Option<Vec<usize>> {
        let reached = |place, from, moves| Reached { place, from, moves };
        let mut list: Vec<Reached> =
            self.candidates(part, first, key).into_iter().map(|p| reached(p, None, 0)).collect();
        let mut known: FxHashSet<usize> = list.iter().map(|r| r.place).collect();
        let mut next = 0;
        while next < list.len() {
            let Reached { place, moves, .. } = list[next];
            let Some(old) = self.places[place].checked_sub(1) else { return Some(Self::back(&list, next)) };
            if moves < self.layout.moves {
                let entry = table.slots.get(old as usize).and_then(Option::as_ref)?;
                for to in self.candidates(part, first, &entry.key) {
                    if known.insert(to) {
                        list.push(reached(to, Some(next), moves + 1));
                    }
                }
            }
            next += 1;
        }
        None
    }

    fn back(list: &[Reached], last: usize) -> Vec<usize> {
        let mut path = vec![list[last].place];
        let mut at = list[last].from;
        while let Some(from) = at {
            path.push(list[from].place);
            at = list[from].from;
        }
        path
    }

    /// Moves the entries along a path, and puts the new one at its end.
    fn shift(&mut self, path: &[usize], id: EntryId) {
        for pair in path.windows(2) {
            let moved = self.places[pair[1]];
            self.put(pair[0], moved);
        }
        if let Some(last) = path.last() {
            self.put(*last, id + 1);
        }
    }

    fn put(&mut self, place: usize, entry: Slot) {
        let slot = entry.saturating_sub(1) as usize;
        self.places[place] = entry;
        if self.at.len() <= slot {
            self.at.resize(slot + 1, 0);
        }
        self.at[slot] = place as u32 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Then};
    use sluice_ir::entity::Entity;
    use sluice_ir::{Action, ActionCall};

    fn layout(rows: &[u32], pack: u32, moves: u32) -> Arc<ExactLayout> {
        Arc::new(ExactLayout { parts: vec![PartLayout { rows: rows.to_vec(), pack }], moves, seed: 7 })
    }

    fn key(n: u32) -> Vec<KeyValue> {
        vec![KeyValue::Exact(u128::from(0x0a00_0000 + n)), KeyValue::Exact(17)]
    }

    fn empty() -> TableState {
        TableState { slots: Vec::new(), default: ActionCall { action: Action::new(0), args: Vec::new() } }
    }

    fn push(table: &mut TableState, key: Vec<KeyValue>) {
        let call = ActionCall { action: Action::new(0), args: Vec::new() };
        table.slots.push(Some(Entry { key, priority: 0, seq: 0, then: Then::Call(call), ttl: None }));
    }

    /// Inserts keys until one is refused. Every entry must be in a row of its key, and in no other.
    fn fill(layout: &Arc<ExactLayout>) -> (Rows, TableState) {
        let (mut table, mut id) = (empty(), 0);
        let mut rows = Rows::of(layout, &table);
        while rows.insert(id, &key(id), &table) {
            push(&mut table, key(id));
            id += 1;
        }
        for (id, entry) in table.entries() {
            let place = rows.at[id as usize] as usize - 1;
            assert_eq!(rows.places[place], id + 1);
            let mut first = 0;
            let found = layout.parts.iter().enumerate().any(|(part, ways)| {
                let found = rows.candidates(part, first, &entry.key).contains(&place);
                first += (ways.rows.iter().sum::<u32>() * ways.pack) as usize;
                found
            });
            assert!(found, "entry {id} is in a row that its key does not have");
        }
        assert_eq!(rows.places.iter().filter(|p| **p != 0).count(), table.slots.len());
        (rows, table)
    }

    #[test]
    fn four_ways_fill_to_about_ninety_percent() {
        // (rows of each way, entries per row, moves, least and greatest percent at the first refusal)
        for (rows, pack, moves, least, most) in [
            ([1024; 4], 1, 3, 90, 95),
            ([8192; 4], 1, 3, 88, 94),
            // One choice after the other without moves: the first refusal comes early.
            ([1024; 4], 1, 0, 5, 40),
            // Rows of several entries fill further.
            ([1024; 4], 4, 3, 98, 100),
        ] {
            let layout = layout(&rows, pack, moves);
            let (_, table) = fill(&layout);
            let percent = table.slots.len() as u64 * 100 / layout.capacity();
            assert!((least..=most).contains(&percent), "{rows:?} x {pack}, {moves} moves: {percent} %");
        }
    }

    #[test]
    fn a_refusal_changes_nothing_and_a_free_row_is_used_again() {
        let layout = layout(&[64; 4], 1, 2);
        let (mut rows, mut table) = fill(&layout);
        let id = table.slots.len() as EntryId;
        let before = rows.clone();
        assert!(!rows.insert(id, &key(id), &table));
        assert_eq!((&rows.places, &rows.at), (&before.places, &before.at));
        // The entry that is in one of the key's rows makes room.
        let place = rows.candidates(0, 0, &key(id))[0];
        let gone = rows.places[place] - 1;
        rows.remove(gone);
        table.slots[gone as usize] = None;
        assert!(rows.insert(id, &key(id), &table));
        assert_eq!(rows.places[place], id + 1);
    }

    #[test]
    fn the_second_part_takes_what_the_first_refuses() {
        let part = PartLayout { rows: vec![64; 4], pack: 1 };
        let layout = Arc::new(ExactLayout { parts: vec![part.clone(), part], moves: 2, seed: 7 });
        let (rows, table) = fill(&layout);
        assert!(table.slots.len() > 256, "{}", table.slots.len());
        assert_eq!(rows.places.iter().filter(|p| **p != 0).count(), table.slots.len());
    }

    #[test]
    fn places_depend_on_the_order_of_insertions_alone() {
        let layout = layout(&[64; 4], 1, 2);
        assert_eq!(fill(&layout).0.places, fill(&layout).0.places);
    }
}
