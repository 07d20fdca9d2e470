//! Loads of packet bytes into columns. A header's loads are grouped by width, so that the width is not tested for each
//! load.

use super::Heads;
use crate::engine::batch::{Phv, Slot, for_lanes};
use crate::packet::WINDOW;

/// Load of a container's bytes from anywhere in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Offset of the 4-byte word that is read: that of the bytes, unless they are in the last bytes of the window.
    pub(super) from: u16,
    /// Bits by which the word is shifted left, to drop the bytes before, and then right: by 24, 16 or 0 for one, two or
    /// four bytes.
    pub(super) up: u8,
    pub(super) right: u8,
    pub(super) slot: Slot,
}

/// Load whose offset has at least four bytes of the window left, so that a whole word can be read.
#[derive(Clone, Copy, Debug)]
struct At {
    from: u16,
    slot: Slot,
}

/// The loads of a header.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    words: Box<[At]>,
    halves: Box<[At]>,
    bytes: Box<[At]>,
    /// Loads from the last bytes of the window.
    last: Box<[Load]>,
}

impl Loads {
    /// Groups loads by width. `list` names no column twice, so the order does not matter.
    pub(super) fn new(list: &[Load]) -> Loads {
        let of = |right: u8| {
            let list = list.iter().filter(|l| l.up == 0 && l.right == right);
            list.map(|l| At { from: l.from, slot: l.slot }).collect()
        };
        let last = list.iter().filter(|l| l.up > 0).copied().collect();
        Loads { words: of(0), halves: of(16), bytes: of(24), last }
    }

    /// Returns all loads.
    pub(super) fn all(&self) -> impl Iterator<Item = Load> + '_ {
        let whole = [(&self.words, 0), (&self.halves, 16), (&self.bytes, 24)];
        let load = |at: &At, right| Load { from: at.from, up: 0, right, slot: at.slot };
        let whole =
            whole.into_iter().flat_map(move |(list, right)| list.iter().map(move |at| load(at, right)));
        whole.chain(self.last.iter().copied())
    }

    /// Copies the bytes of each lane's packet to the columns.
    #[inline(always)]
    pub(super) fn run<const N: usize>(&self, mask: u64, heads: &Heads<'_, N>, phv: &Phv<N>) {
        for load in &self.words {
            let (at, column) = (load.from(), phv.column(load.slot));
            for_lanes::<N>(mask, |l| column[l % N].set(word(heads.windows[l % N], at)));
        }
        for load in &self.halves {
            let (at, column) = (load.from(), phv.column(load.slot));
            for_lanes::<N>(mask, |l| column[l % N].set(word(heads.windows[l % N], at) >> 16));
        }
        for load in &self.bytes {
            let (at, column) = (load.from(), phv.column(load.slot));
            for_lanes::<N>(mask, |l| column[l % N].set(u32::from(heads.windows[l % N][at])));
        }
        for load in &self.last {
            load.run(mask, heads, phv);
        }
    }
}

impl At {
    #[inline(always)]
    fn from(self) -> usize {
        usize::from(self.from).min(WINDOW - 4)
    }
}

#[inline(always)]
fn word(window: &[u8; WINDOW], at: usize) -> u32 {
    u32::from_be_bytes([window[at], window[at + 1], window[at + 2], window[at + 3]])
}

impl Load {
    pub(super) const fn new(at: u32, bytes: u8, slot: Slot) -> Load {
        let right = match bytes {
            1 => 24,
            2 => 16,
            _ => 0,
        };
        let last = WINDOW as u32 - 4;
        // `ParserBuilder::finish` refuses loads beyond the window.
        let (from, up) = if at <= last { (at as u16, 0) } else { (last as u16, 8 * ((at - last) % 4) as u8) };
        Load { from, up, right, slot }
    }

    /// Copies the bytes of each lane's packet to the column.
    #[inline(always)]
    pub(super) fn run<const N: usize>(self, mask: u64, heads: &Heads<'_, N>, phv: &Phv<N>) {
        let (from, column) = (usize::from(self.from).min(WINDOW - 4), phv.column(self.slot));
        for_lanes::<N>(mask, |l| {
            let word = word(heads.windows[l % N], from);
            column[l % N].set(word << (self.up % 32) >> (self.right % 32));
        });
    }
}
