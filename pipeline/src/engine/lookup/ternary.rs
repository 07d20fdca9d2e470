//! Ternary match: one bit vector of entries per value of each key nibble that any entry cares about;
//! the AND of a packet's vectors leaves its matches, the first bit wins.

use super::{KeyWord, Phv, Slot};
use crate::engine::batch::for_lanes;

/// A ternary structure.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Ternary {
    nibbles: Vec<(Slot, u8)>,
    /// Per group of 64 entries: the vector of valid entries, then 16 vectors per nibble.
    groups: Vec<(u64, Vec<[u64; 16]>)>,
    /// Row of each entry, best first.
    rows: Vec<u32>,
}

impl Ternary {
    /// Builds from `(value, mask)` per word, best entry first.
    pub(in crate::engine) fn new(words: &[KeyWord], entries: &[(Vec<(u32, u32)>, u32)]) -> Ternary {
        let mut nibbles = Vec::new();
        let mut sources = Vec::new();
        for (w, word) in words.iter().enumerate() {
            for shift in (0..32).step_by(4) {
                if entries.iter().any(|(key, _)| key[w].1 >> shift & 0xf != 0) {
                    nibbles.push((word.slot, shift));
                    sources.push((w, shift));
                }
            }
        }
        let groups = entries
            .chunks(64)
            .map(|chunk| {
                let valid = if chunk.len() == 64 { u64::MAX } else { (1 << chunk.len()) - 1 };
                (valid, sources.iter().map(|&(w, shift)| vectors(chunk, w, shift)).collect())
            })
            .collect();
        Ternary { nibbles, groups, rows: entries.iter().map(|(_, row)| *row).collect() }
    }

    #[inline]
    pub(in crate::engine) fn find(&self, mask: u64, phv: &Phv, rows: &mut [u32; 64]) {
        for_lanes(mask, |l| rows[l] = self.find_one(phv, l));
    }

    #[inline]
    fn find_one(&self, phv: &Phv, lane: usize) -> u32 {
        for (g, (valid, tables)) in self.groups.iter().enumerate() {
            let mut hits = *valid;
            for ((slot, shift), table) in self.nibbles.iter().zip(tables) {
                hits &= table[(phv.get(*slot, lane) >> shift & 0xf) as usize];
                if hits == 0 {
                    break;
                }
            }
            if hits != 0 {
                return self.rows[g * 64 + hits.trailing_zeros() as usize];
            }
        }
        0
    }
}

fn vectors(chunk: &[(Vec<(u32, u32)>, u32)], word: usize, shift: u8) -> [u64; 16] {
    std::array::from_fn(|nibble| {
        chunk.iter().enumerate().fold(0, |bits, (i, (key, _))| {
            let (value, mask) = (key[word].0 >> shift & 0xf, key[word].1 >> shift & 0xf);
            bits | u64::from(nibble as u32 & mask == value & mask) << i
        })
    })
}
