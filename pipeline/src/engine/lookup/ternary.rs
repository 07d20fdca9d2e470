//! Ternary match: one bit vector of entries per value of each piece of the key that any entry cares
//! about; the AND of a packet's vectors leaves its matches, the first bit wins.
//!
//! Pieces are bytes while the vectors stay small, nibbles beyond.

use super::{KeyWord, Phv, Slot};
use crate::engine::batch::for_lanes;

/// A ternary structure.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Ternary {
    /// Where each piece of the key lies: column and shift.
    pieces: Vec<(Slot, u8)>,
    /// Bits of a piece as a mask: 0xff or 0xf.
    piece: u32,
    groups: Vec<Group>,
    /// Row of each entry, best first.
    rows: Vec<u32>,
}

/// Up to 64 entries.
#[derive(Clone, Debug)]
struct Group {
    /// A bit for each entry.
    valid: u64,
    /// Per piece, the entries that match each of its values.
    vectors: Vec<u64>,
}

/// Groups for which vectors of bytes are still small: 2 KB per byte and group.
const BYTE_GROUPS: usize = 1;

impl Ternary {
    /// Builds from `(value, mask)` per word, best entry first.
    pub(in crate::engine) fn new(words: &[KeyWord], entries: &[(Vec<(u32, u32)>, u32)]) -> Ternary {
        let bits: u8 = if entries.len() <= 64 * BYTE_GROUPS { 8 } else { 4 };
        let piece = (1 << bits) - 1;
        let mut pieces = Vec::new();
        let mut sources = Vec::new();
        for (w, word) in words.iter().enumerate() {
            for shift in (0..32).step_by(usize::from(bits)) {
                if entries.iter().any(|(key, _)| key[w].1 >> shift & piece != 0) {
                    pieces.push((word.slot, shift));
                    sources.push((w, shift));
                }
            }
        }
        let groups = entries
            .chunks(64)
            .map(|chunk| Group {
                valid: if chunk.len() == 64 { u64::MAX } else { (1 << chunk.len()) - 1 },
                vectors: sources.iter().flat_map(|&(w, shift)| vectors(chunk, w, shift, piece)).collect(),
            })
            .collect();
        Ternary { pieces, piece, groups, rows: entries.iter().map(|(_, row)| *row).collect() }
    }

    #[inline]
    pub(in crate::engine) fn find<const N: usize>(&self, mask: u64, phv: &Phv, rows: &mut [u32; 64]) {
        match self.groups.as_slice() {
            [group] => {
                let mut hits = [0u64; N];
                for_lanes::<N>(mask, |l| hits[l % N] = group.valid);
                let values = self.piece as usize + 1;
                for ((slot, shift), vectors) in self.pieces.iter().zip(group.vectors.chunks_exact(values)) {
                    let column = phv.column(*slot);
                    // As long as the piece has values: no index can be outside.
                    if let Ok(vectors) = <&[u64; 256]>::try_from(vectors) {
                        for_lanes::<N>(mask, |l| {
                            hits[l % N] &= vectors[usize::from((column[l].get() >> shift) as u8)];
                        });
                    }
                }
                for_lanes::<N>(mask, |l| rows[l] = self.row(0, hits[l % N]));
            }
            _ => for_lanes::<N>(mask, |l| rows[l] = self.find_one(phv, l)),
        }
    }

    /// The row of the best of `hits` in a group.
    #[inline(always)]
    fn row(&self, group: usize, hits: u64) -> u32 {
        let best = group * 64 + hits.trailing_zeros() as usize;
        if hits == 0 { 0 } else { self.rows.get(best).copied().unwrap_or(0) }
    }

    #[inline]
    fn find_one(&self, phv: &Phv, lane: usize) -> u32 {
        let values = self.piece as usize + 1;
        for (g, group) in self.groups.iter().enumerate() {
            let mut hits = group.valid;
            for ((slot, shift), vectors) in self.pieces.iter().zip(group.vectors.chunks_exact(values)) {
                hits &= vectors[(phv.get(*slot, lane) >> shift & self.piece) as usize];
                if hits == 0 {
                    break;
                }
            }
            if hits != 0 {
                return self.row(g, hits);
            }
        }
        0
    }
}

/// For each value of a piece the entries that match it.
fn vectors(
    chunk: &[(Vec<(u32, u32)>, u32)],
    word: usize,
    shift: u8,
    piece: u32,
) -> impl Iterator<Item = u64> {
    (0..=piece).map(move |found| {
        chunk.iter().enumerate().fold(0, |bits, (i, (key, _))| {
            let (value, mask) = (key[word].0 >> shift & piece, key[word].1 >> shift & piece);
            bits | u64::from(found & mask == value & mask) << i
        })
    })
}
