//! A side index over a table's entries: by key, and which slots are free. Never part of a state's meaning.

use super::{Entry, EntryId, TableState};
use rustc_hash::FxHashMap;
use sluice_ir::rows;
use sluice_ir::{KeyValue, Program, TableData};
use std::collections::BTreeSet;

/// Finds entries by key and priority, and free slots, without a scan.
#[derive(Clone, Default)]
pub(super) struct TableIndex {
    by_key: FxHashMap<(Vec<KeyValue>, u32), EntryId>,
    free: BTreeSet<EntryId>,
    next_seq: u64,
    slots: usize,
    /// TCAM rows taken, in tables with range keys; counted when first asked for.
    rows: Option<u64>,
}

/// Two states are equal whatever their indexes have seen.
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
    /// Indexes the table anew if its slots were added to or removed without the index.
    pub(super) fn refresh(&mut self, table: &TableState) {
        if self.is_fresh(table) {
            return;
        }
        *self = TableIndex { slots: table.slots.len(), ..TableIndex::default() };
        self.free = (0..table.slots.len() as EntryId).collect();
        for (id, entry) in table.entries() {
            self.by_key.insert((entry.key.clone(), entry.priority), id);
            self.free.remove(&id);
            self.next_seq = self.next_seq.max(entry.seq + 1);
        }
    }

    /// Whether the table has as many slots as the index knows of.
    pub(super) fn is_fresh(&self, table: &TableState) -> bool {
        self.slots == table.slots.len()
    }

    /// The entry with this key and priority.
    pub(super) fn find(&self, key: &(Vec<KeyValue>, u32)) -> Option<EntryId> {
        self.by_key.get(key).copied()
    }

    /// Entries in the table.
    pub(super) fn live(&self) -> usize {
        self.slots - self.free.len()
    }

    /// Puts an entry into the lowest free slot, with the next sequence number.
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

    /// Empties a slot; returns the key of the entry that was there.
    pub(super) fn remove(&mut self, table: &mut TableState, id: EntryId) -> Option<Vec<KeyValue>> {
        let entry = table.slots.get_mut(id as usize).and_then(Option::take)?;
        let named = (entry.key, entry.priority);
        self.by_key.remove(&named);
        self.free.insert(id);
        Some(named.0)
    }

    /// TCAM rows that the entries of a table with range keys take.
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
