//! Sets of headers of one gress.

use bitvec::boxed::BitBox;
use std::cmp::Ordering;

/// Position of a header in the sets of its gress. `None` is a header of another gress, which no set has or takes.
pub(super) type Bit = Option<usize>;

/// A set of headers, of any number. Sets that are compared or joined are of the same gress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderSet(BitBox);

impl HeaderSet {
    /// Returns the empty set of a gress with this number of headers.
    pub(super) fn empty(headers: usize) -> Self {
        HeaderSet(bitvec::bitbox![0; headers])
    }

    pub(super) fn has(&self, header: Bit) -> bool {
        header.and_then(|at| self.0.get(at)).is_some_and(|bit| *bit)
    }

    /// Returns the set with the header, or without it.
    pub(super) fn with(&self, header: Bit, valid: bool) -> Self {
        let mut set = self.clone();
        if let Some(at) = header {
            set.0.set(at, valid);
        }
        set
    }

    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0 &= &*other.0;
        self
    }

    pub(super) fn or(mut self, other: &Self) -> Self {
        self.0 |= &*other.0;
        self
    }
}

/// Headers that are declared later count more, as the digits of a number.
impl Ord for HeaderSet {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.as_raw_slice().iter().rev().cmp(other.0.as_raw_slice().iter().rev())
    }
}

impl PartialOrd for HeaderSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
