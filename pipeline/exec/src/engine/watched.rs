//! Records which constant entries of a table packets have matched.

use super::batch::for_lanes;
use super::table::{EngineTable, LaneLookups};
use std::cell::Cell;

/// Marks of a table's constant entries.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Number of the first entry.
    first: u32,
    found: Vec<Cell<bool>>,
    /// True if some mark is set.
    any: Cell<bool>,
}

impl Watched {
    /// Returns marks for this many entries, numbered from `first` on.
    pub(super) fn new(first: u32, entries: usize) -> Watched {
        Watched { first, found: vec![Cell::new(false); entries], any: Cell::new(false) }
    }

    /// Marks the entries of the lanes of `mask`; a number past the last entry is a miss.
    pub(super) fn note<const N: usize>(&self, mask: u64, entry: &[u32; 64]) {
        for_lanes::<N>(mask, |l| self.note_entry(entry[l]));
    }

    #[inline]
    fn note_entry(&self, entry: u32) {
        if let Some(found) = self.found.get(entry as usize) {
            found.set(true);
            self.any.set(true);
        }
    }

    /// Reports the numbers of entries that matched since the last call.
    pub(super) fn take(&self, mut tell: impl FnMut(u32)) {
        if self.any.take() {
            let found = (self.first..).zip(&self.found).filter(|(_, found)| found.take());
            found.for_each(|(number, _)| tell(number));
        }
    }
}

impl EngineTable {
    /// Turns on marks for this many constant entries; the first one's number is given.
    pub(super) fn watch(&mut self, first: u32, entries: usize) {
        self.counts = true;
        self.watched = Some(Watched::new(first, entries));
    }

    /// Marks the matched entries, if marks are on.
    #[inline]
    pub(super) fn note<const N: usize>(&self, mask: u64, found: &LaneLookups) {
        if let Some(watched) = &self.watched {
            watched.note::<N>(mask, &found.entry);
        }
    }

    /// Returns true if marks are on.
    pub(super) const fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Marks the entry of one packet.
    #[inline]
    pub(super) fn note_entry(&self, entry: u32) {
        if let Some(watched) = &self.watched {
            watched.note_entry(entry);
        }
    }

    /// Reports the numbers of the constant entries that matched since the last call.
    pub(super) fn take_found(&self, tell: impl FnMut(u32)) {
        if let Some(watched) = &self.watched {
            watched.take(tell);
        }
    }
}
