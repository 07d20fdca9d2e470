//! Side index over a table's entries: entries by key, and free slots. It is not part of the state's meaning.

use super::ways::{ExactLayout, Rows};
use super::{Entry, EntryId, TableState};
use rustc_hash::FxHashMap;
use sluice_ir::rows;
use sluice_ir::{KeyValue, Program, TableData};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Finds entries by key and priority, and free slots, without scanning the table.
#[derive(Clone, Default)]
pub(super) struct TableIndex {
    by_key: FxHashMap<(Vec<KeyValue>, u32), EntryId>,
    free: BTreeSet<EntryId>,
    next_seq: u64,
    slots: usize,
    /// TCAM rows in use, for tables with range keys; counted at first use.
    rows: Option<u64>,
    /// Ways of an exact table that is placed; `None`: its entries are limited by the table's size alone.
    layout: Option<Arc<ExactLayout>>,
    /// Places of the entries in the ways; made at the first insertion.
    places: Option<Rows>,
}

/// Indexes never make two states differ.
impl PartialEq for TableIndex {
    fn eq(&self, _: &TableIndex) -> bool {
        true
    }
}

impl Eq for TableIndex {}

impl std::fmt::Debug for TableIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TableIndex")
    }
}

impl TableIndex {
    /// Rebuilds the index if slots were added or removed without it.
    pub(super) fn refresh(&mut self, table: &TableState) {
        if self.is_fresh(table) {
            return;
        }
        let layout = self.layout.take();
        *self = TableIndex { slots: table.slots.len(), layout, ..TableIndex::default() };
        self.free = (0..table.slots.len() as EntryId).collect();
        for (id, entry) in table.entries() {
            self.by_key.insert((entry.key.clone(), entry.priority), id);
            self.free.remove(&id);
            self.next_seq = self.next_seq.max(entry.seq + 1);
        }
    }

    /// Forgets all entries, but not the table's ways.
    pub(super) fn clear(&mut self) {
        *self = TableIndex { layout: self.layout.take(), ..TableIndex::default() };
    }

    /// Returns true if the table has as many slots as the index knows.
    pub(super) fn is_fresh(&self, table: &TableState) -> bool {
        self.slots == table.slots.len()
    }

    /// Returns the entry with this key and priority.
    pub(super) fn find(&self, key: &(Vec<KeyValue>, u32)) -> Option<EntryId> {
        self.by_key.get(key).copied()
    }

    /// Returns the number of entries in the table.
    pub(super) fn live(&self) -> usize {
        self.slots - self.free.len()
    }

    /// Sets the ways of the placed table.
    pub(super) fn set_layout(&mut self, layout: Option<Arc<ExactLayout>>) {
        (self.layout, self.places) = (layout, None);
    }

    /// Returns the ways of the placed table.
    pub(super) fn layout(&self) -> Option<&Arc<ExactLayout>> {
        self.layout.as_ref()
    }

    /// Finds a place for a new entry in the ways of an exact table. Returns false if no place is found. The entry must be
    /// inserted next.
    pub(super) fn find_place(&mut self, table: &TableState, key: &[KeyValue]) -> bool {
        let Some(layout) = &self.layout else { return true };
        let places = self.places.get_or_insert_with(|| Rows::of(layout, table));
        places.insert(self.free.first().copied().unwrap_or(table.slots.len() as EntryId), key, table)
    }

    /// Inserts an entry into the lowest free slot, with the next sequence number.
    pub(super) fn insert(&mut self, table: &mut TableState, mut entry: Entry) -> EntryId {
        let id = self.free.pop_first().unwrap_or(table.slots.len() as EntryId);
        entry.seq = self.next_seq;
        self.next_seq += 1;
        self.by_key.insert((entry.key.clone(), entry.priority), id);
        match table.slots.get_mut(id as usize) {
            Some(slot) => *slot = Some(entry),
            None => table.slots.push(Some(entry)),
        }
        self.slots = table.slots.len();
        id
    }

    /// Frees a slot and returns the key of its entry.
    pub(super) fn remove(&mut self, table: &mut TableState, id: EntryId) -> Option<Vec<KeyValue>> {
        let entry = table.slots.get_mut(id as usize).and_then(Option::take)?;
        let named = (entry.key, entry.priority);
        self.by_key.remove(&named);
        self.free.insert(id);
        if let Some(places) = &mut self.places {
            places.remove(id);
        }
        Some(named.0)
    }

    /// Returns the number of TCAM rows that the entries of a table with range keys take.
    pub(super) fn rows(&mut self, program: &Program, data: &TableData, table: &TableState) -> u64 {
        let count = || table.entries().map(|(_, e)| rows::of_entry(program, data, &e.key)).sum();
        *self.rows.get_or_insert_with(count)
    }

    pub(super) fn add_rows(&mut self, rows: u64) {
        self.rows = self.rows.map(|taken| taken + rows);
    }

    pub(super) fn free_rows(&mut self, rows: u64) {
        self.rows = self.rows.map(|taken| taken.saturating_sub(rows));
    }
}
