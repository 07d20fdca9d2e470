//! PHVs of a batch, stored by column, and iteration over its lanes.
//!
//! Code over lanes is compiled twice, for `N` = 1 and for `N` = [`MAX_BATCH`] lanes, because an event-driven device often
//! has a single packet, and a loop over one lane costs more than its body.

use crate::pass::MAX_BATCH;
use std::cell::Cell;

/// Index of a column: one container, or a shadow of one, in every lane.
pub(super) type Slot = u16;

/// One container of every lane. The values are `Cell`s, because an operation may read and write columns of one batch.
pub(super) type Column<const N: usize> = [Cell<u32>; N];

/// PHVs of a batch of at most `N` passes. For one pass this is a list of words.
#[derive(Clone)]
pub(super) struct Phv<const N: usize> {
    columns: Vec<Column<N>>,
}

impl<const N: usize> Phv<N> {
    pub(super) fn new(slots: usize) -> Phv<N> {
        Phv { columns: (0..slots).map(|_| [const { Cell::new(0) }; N]).collect() }
    }

    #[inline(always)]
    pub(super) fn column(&self, slot: Slot) -> &Column<N> {
        &self.columns[usize::from(slot)]
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: Slot, lane: usize) -> u32 {
        self.columns[usize::from(slot)][lane % N].get()
    }

    /// Returns all columns as plain words if there are exactly `S`.
    #[inline(always)]
    pub(super) fn words<const S: usize>(&self) -> Option<&[Cell<u32>; S]> {
        self.columns.as_flattened().first_chunk().filter(|_| N == 1)
    }

    /// Sets every field of the first `lanes` lanes to zero, as at the start of a pass.
    pub(super) fn clear(&mut self, lanes: usize) {
        if lanes * 2 >= N {
            // One long fill is cheaper than many short ones.
            self.columns.as_flattened_mut().fill(Cell::new(0));
            return;
        }
        for column in &mut self.columns {
            for cell in &mut column[..lanes] {
                // A constant: builds with little optimisation would call a function for each.
                *cell = const { Cell::new(0) };
            }
        }
    }
}

/// Calls `f` for every lane of `mask`, in order. With one lane, the mask is 0 or 1.
#[inline(always)]
pub(super) fn for_lanes<const N: usize>(mask: u64, mut f: impl FnMut(usize)) {
    if N == 1 {
        if mask != 0 {
            f(0);
        }
    } else if mask & mask.wrapping_add(1) == 0 {
        // All lanes up to the highest: the common case, and the one that vectorises.
        for lane in 0..(mask.trailing_ones() as usize).min(MAX_BATCH) {
            f(lane);
        }
    } else {
        let mut rest = mask;
        while rest != 0 {
            f(rest.trailing_zeros() as usize % MAX_BATCH);
            rest &= rest - 1;
        }
    }
}

/// Returns the lanes of `mask` for which `f` returns true. `f` may be called for lanes outside the mask; these results are
/// ignored.
#[inline(always)]
pub(super) fn lanes_where<const N: usize>(mask: u64, f: impl Fn(usize) -> bool) -> u64 {
    if N == 1 {
        return u64::from(mask != 0 && f(0));
    }
    if mask.count_ones() < 8 {
        let mut found = 0;
        for_lanes::<N>(mask, |lane| found |= u64::from(f(lane)) << lane);
        return found;
    }
    // A byte per lane vectorises; eight of them make eight bits by one multiplication.
    let pack = |eight: [u8; 8]| u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let lanes = MAX_BATCH - mask.leading_zeros() as usize;
    let mut found = 0;
    if lanes > MAX_BATCH / 2 {
        let bytes: [u8; MAX_BATCH] = std::array::from_fn(|lane| u8::from(f(lane)));
        for eight in bytes.as_chunks::<8>().0.iter().rev() {
            found = found << 8 | pack(*eight);
        }
    } else {
        for first in (0..lanes).step_by(8) {
            let eight = std::array::from_fn(|i| u8::from(f((first + i) % MAX_BATCH)));
            found |= pack(eight) << first;
        }
    }
    mask & found
}

/// Writes the bits of each lane of `mask` to a column and leaves the bits of `keep`.
#[inline(always)]
pub(super) fn deposit<const N: usize>(column: &Column<N>, keep: u32, mask: u64, bits: impl Fn(usize) -> u32) {
    if keep == 0 {
        for_lanes::<N>(mask, |l| column[l % N].set(bits(l)));
    } else {
        for_lanes::<N>(mask, |l| column[l % N].set(column[l % N].get() & keep | bits(l)));
    }
}

/// Returns a mask of the first `lanes` lanes.
pub(super) const fn first_lanes(lanes: usize) -> u64 {
    if lanes >= 64 { u64::MAX } else { (1 << lanes) - 1 }
}
