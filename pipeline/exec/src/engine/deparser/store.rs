//! Stores of containers to packet bytes, grouped by width, and checksums over the stored bytes.

use crate::engine::batch::{Phv, Slot, for_lanes, lanes_where};
use crate::engine::checksum::{sum_bytes_without, sum_fields};
use crate::engine::field::FieldAt;
use crate::packet::WINDOW;
use std::cell::Cell;

/// Store of one container; its offset is relative to the packet's new first byte.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Store {
    pub(in crate::engine) at: u32,
    pub(in crate::engine) bytes: u8,
    /// `None` stores zeros: the header became valid, but nothing ever sets the field.
    pub(in crate::engine) slot: Option<Slot>,
}

/// Store of a container of 1, 2 or 4 bytes, with at least four bytes of the window left.
#[derive(Clone, Copy, Debug)]
struct At {
    to: u16,
    slot: Slot,
}

/// The stores of a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores {
    words: Box<[At]>,
    halves: Box<[At]>,
    bytes: Box<[At]>,
    /// Stores of zeros, of other lengths, and to the last bytes of the window or beyond it.
    others: Box<[Store]>,
}

impl Stores {
    /// Groups stores by width. No two of `list` write the same byte, so the order does not matter.
    pub(super) fn new(list: &[Store]) -> Stores {
        let near = |s: &Store| s.at + 4 <= WINDOW as u32 && matches!(s.bytes, 1 | 2 | 4);
        let of = |bytes: u8| {
            let list = list.iter().filter(|s| near(s) && s.bytes == bytes);
            list.filter_map(|s| s.slot.map(|slot| At { to: s.at as u16, slot })).collect()
        };
        let others = list.iter().filter(|s| !near(s) || s.slot.is_none()).copied().collect();
        Stores { words: of(4), halves: of(2), bytes: of(1), others }
    }

    /// Writes the lanes of `mask`; `first` returns the offset of each lane's packet in `heads`.
    #[inline(always)]
    pub(super) fn run<const N: usize>(
        &self,
        mask: u64,
        phv: &Phv<N>,
        heads: &mut [u8],
        first: impl Fn(usize) -> usize,
    ) {
        let heads = Cell::from_mut(heads).as_slice_of_cells();
        // `heads` ends with padding of this length.
        let Some(any) = heads.first_chunk::<WINDOW>() else { return };
        let mut windows = [any; N];
        for_lanes::<N>(mask, |l| {
            let window = heads.get(first(l)..).and_then(<[_]>::first_chunk);
            windows[l % N] = window.unwrap_or(any);
        });
        for store in &self.words {
            let (at, column) = (store.to(), phv.column(store.slot));
            for_lanes::<N>(mask, |l| put(windows[l % N], at, column[l % N].get().to_be_bytes()));
        }
        for store in &self.halves {
            let (at, column) = (store.to(), phv.column(store.slot));
            for_lanes::<N>(mask, |l| put(windows[l % N], at, (column[l % N].get() as u16).to_be_bytes()));
        }
        for store in &self.bytes {
            let (at, column) = (store.to(), phv.column(store.slot));
            for_lanes::<N>(mask, |l| windows[l % N][at].set(column[l % N].get() as u8));
        }
        for store in &self.others {
            for_lanes::<N>(mask, |l| store.write(heads, first(l), phv, l));
        }
    }
}

impl At {
    #[inline(always)]
    fn to(self) -> usize {
        usize::from(self.to).min(WINDOW - 4)
    }
}

#[inline(always)]
fn put<const B: usize>(window: &[Cell<u8>; WINDOW], at: usize, bytes: [u8; B]) {
    for i in 0..B {
        window[at + i].set(bytes[i]);
    }
}

impl Store {
    #[inline(never)]
    fn write<const N: usize>(self, heads: &[Cell<u8>], first: usize, phv: &Phv<N>, lane: usize) {
        let word = self.slot.map_or(0, |slot| phv.get(slot, lane)).to_be_bytes();
        let at = first + self.at as usize;
        let Some(cells) = heads.get(at..at + usize::from(self.bytes)) else { return };
        // A store of zeros may be longer than a word.
        let value = word.iter().skip(word.len().saturating_sub(cells.len())).chain(std::iter::repeat(&0));
        cells.iter().zip(value).for_each(|(cell, byte)| cell.set(*byte));
    }
}

/// Checksum to write; the header's offset is relative to the packet's new first byte.
#[derive(Clone, Debug)]
pub(super) struct ChecksumAt {
    pub(super) header: u32,
    /// Length of the header, bytes.
    pub(super) bytes: u32,
    /// Offset of the checksum in the header, bytes.
    pub(super) offset: u32,
    /// Input fields; those of invalid headers, and zeros, have no column. `None` if the inputs are the rest of the header.
    pub(super) fields: Option<Vec<(FieldAt, u16)>>,
    /// 1-bit field that must be 1.
    pub(super) when: Option<FieldAt>,
    pub(super) zeros_as_ones: bool,
}

impl ChecksumAt {
    /// Writes the checksums of the lanes of `mask`.
    #[inline(always)]
    pub(super) fn run<const N: usize>(
        &self,
        mask: u64,
        phv: &Phv<N>,
        heads: &mut [u8],
        first: impl Fn(usize) -> usize,
    ) {
        let (header, at) = (self.header as usize, self.offset as usize);
        let mask = match &self.when {
            Some(when) => mask & lanes_where::<N>(mask, |l| when.read32(phv, l) == 1),
            None => mask,
        };
        if let Some(fields) = &self.fields {
            for_lanes::<N>(mask, |l| self.put(heads, first(l), sum_fields(fields, phv, l)));
        } else if self.bytes == 20 {
            // The IPv4 header without options: the length is known, and the sum unrolled.
            for_lanes::<N>(mask, |l| {
                let bytes = heads.get(first(l) + header..).and_then(<[u8]>::first_chunk::<20>);
                let sum = bytes.map_or(0, |bytes| sum_bytes_without(bytes, at));
                self.put(heads, first(l), sum);
            });
        } else {
            for_lanes::<N>(mask, |l| {
                let bytes = heads.get(first(l) + header..).and_then(|b| b.get(..self.bytes as usize));
                let sum = bytes.map_or(0, |bytes| sum_bytes_without(bytes, at));
                self.put(heads, first(l), sum);
            });
        }
    }

    #[inline(always)]
    fn put(&self, heads: &mut [u8], first: usize, sum: u16) {
        let value = if self.zeros_as_ones && sum == u16::MAX { sum } else { !sum };
        let at = first + (self.header + self.offset) as usize;
        if let Some(bytes) = heads.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *bytes = value.to_be_bytes();
        }
    }
}
