//! Which fixed entries of a table packets have found.

use super::batch::for_lanes;
use super::table::{EngineTable, Found};
use std::cell::Cell;

/// Marks of the entries of a table that the program fixes.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// The number of the first one.
    first: u32,
    found: Vec<Cell<bool>>,
    /// Some mark is set.
    any: Cell<bool>,
}

impl Watched {
    /// So many entries, numbered from `first` on.
    pub(super) fn new(first: u32, entries: usize) -> Watched {
        Watched { first, found: vec![Cell::new(false); entries], any: Cell::new(false) }
    }

    /// The lanes of `mask` found these entries; a number beyond all is a miss.
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

    /// Tells the numbers of those that were found since the last time.
    pub(super) fn take(&self, mut tell: impl FnMut(u32)) {
        if self.any.take() {
            let found = (self.first..).zip(&self.found).filter(|(_, found)| found.take());
            found.for_each(|(number, _)| tell(number));
        }
    }
}

impl EngineTable {
    /// Has noted which of so many fixed entries are found; the first one's number is given.
    pub(super) fn watch(&mut self, first: u32, entries: usize) {
        self.counts = true;
        self.watched = Some(Watched::new(first, entries));
    }

    /// Notes what was found, if somebody asks.
    #[inline]
    pub(super) fn note<const N: usize>(&self, mask: u64, found: &Found) {
        if let Some(watched) = &self.watched {
            watched.note::<N>(mask, &found.entry);
        }
    }

    /// Whether somebody asks which entries are found.
    pub(super) const fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Notes what one packet found.
    #[inline]
    pub(super) fn note_entry(&self, entry: u32) {
        if let Some(watched) = &self.watched {
            watched.note_entry(entry);
        }
    }

    /// Tells the numbers of the fixed entries found since the last time.
    pub(super) fn take_found(&self, tell: impl FnMut(u32)) {
        if let Some(watched) = &self.watched {
            watched.take(tell);
        }
    }
}
