//! Exact match: open addressing over the key's container words, or an index where the key is small.

use super::{KeyWord, Phv};
use crate::engine::batch::for_lanes;

/// An exact-match structure over `K` words.
#[derive(Clone, Debug)]
pub(in crate::engine) enum Exact {
    /// One word whose values are small: the row stands at the value.
    Index {
        word: KeyWord,
        shift: u8,
        rows: Vec<u32>,
    },
    One(Buckets<1>),
    Two(Buckets<2>),
    Three(Buckets<3>),
    Four(Buckets<4>),
    Many(ManyWords),
}

/// Open addressing with linear probing, at most half full.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Buckets<const K: usize> {
    words: [KeyWord; K],
    /// Key and row; row 0 is an empty bucket.
    buckets: Vec<([u32; K], u32)>,
    shift: u32,
}

/// Keys in more words than chips usually need: the same, with the keys in one slab.
#[derive(Clone, Debug)]
pub(in crate::engine) struct ManyWords {
    words: Vec<KeyWord>,
    keys: Vec<u32>,
    rows: Vec<u32>,
    shift: u32,
}

/// Values below this are worth an index.
const INDEX_LIMIT: u32 = 1 << 16;

impl Exact {
    /// Builds from keys (one value per word) with their rows.
    pub(in crate::engine) fn new(words: &[KeyWord], entries: &[(Vec<u32>, u32)]) -> Exact {
        if let [word] = words {
            let shift = word.mask.trailing_zeros().min(31) as u8;
            let highest = entries.iter().map(|(k, _)| k[0] >> shift).max().unwrap_or(0);
            let dense = highest < 1024 || (highest as usize) < entries.len() * 8;
            if highest < INDEX_LIMIT && dense {
                let mut rows = vec![0; highest as usize + 1];
                for (key, row) in entries {
                    rows[(key[0] >> shift) as usize] = *row;
                }
                return Exact::Index { word: *word, shift, rows };
            }
        }
        match words.len() {
            1 => Exact::One(Buckets::new(words, entries)),
            2 => Exact::Two(Buckets::new(words, entries)),
            3 => Exact::Three(Buckets::new(words, entries)),
            4 => Exact::Four(Buckets::new(words, entries)),
            _ => Exact::Many(ManyWords::new(words, entries)),
        }
    }

    #[inline]
    pub(in crate::engine) fn find<const N: usize>(&self, mask: u64, phv: &Phv, rows: &mut [u32; 64]) {
        match self {
            Exact::Index { word, shift, rows: table } => {
                let column = phv.column(word.slot);
                for_lanes::<N>(mask, |l| {
                    let value = (column[l].get() & word.mask) >> shift;
                    rows[l] = table.get(value as usize).copied().unwrap_or(0);
                });
            }
            Exact::One(t) => t.find::<N>(mask, phv, rows),
            Exact::Two(t) => t.find::<N>(mask, phv, rows),
            Exact::Three(t) => t.find::<N>(mask, phv, rows),
            Exact::Four(t) => t.find::<N>(mask, phv, rows),
            Exact::Many(t) => for_lanes::<N>(mask, |l| rows[l] = t.find(phv, l)),
        }
    }
}

/// Multiplicative mixing, one step per word: fixed, so that runs repeat.
#[inline(always)]
fn mix(hash: u64, word: u32) -> u64 {
    (hash ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

/// Position of a hash in a table of `2^(64 - shift)` buckets.
#[inline(always)]
fn bucket(hash: u64, shift: u32) -> usize {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
}

fn shift_for(entries: usize) -> u32 {
    64 - (entries.max(1) * 2).next_power_of_two().trailing_zeros().max(1)
}

impl<const K: usize> Buckets<K> {
    fn new(words: &[KeyWord], entries: &[(Vec<u32>, u32)]) -> Self {
        let shift = shift_for(entries.len());
        let mut buckets = vec![([0; K], 0); 1 << (64 - shift)];
        for (key, row) in entries {
            let key: [u32; K] = std::array::from_fn(|i| key[i]);
            let mut at = bucket(key.iter().fold(0, |h, w| mix(h, *w)), shift);
            while buckets[at].1 != 0 {
                at = (at + 1) & (buckets.len() - 1);
            }
            buckets[at] = (key, *row);
        }
        Buckets { words: std::array::from_fn(|i| words[i]), buckets, shift }
    }

    #[inline(always)]
    fn find<const N: usize>(&self, mask: u64, phv: &Phv, rows: &mut [u32; 64]) {
        let columns = self.words.map(|w| phv.column(w.slot));
        let last = self.buckets.len() - 1;
        for_lanes::<N>(mask, |l| {
            let key: [u32; K] = std::array::from_fn(|i| columns[i][l].get() & self.words[i].mask);
            let mut at = bucket(key.iter().fold(0, |h, w| mix(h, *w)), self.shift);
            rows[l] = loop {
                let (found, row) = &self.buckets[at & last];
                if *row == 0 || *found == key {
                    break *row;
                }
                at += 1;
            };
        });
    }
}

impl ManyWords {
    fn new(words: &[KeyWord], entries: &[(Vec<u32>, u32)]) -> Self {
        let shift = shift_for(entries.len());
        let buckets = 1usize << (64 - shift);
        let mut t = ManyWords {
            words: words.to_vec(),
            keys: vec![0; buckets * words.len()],
            rows: vec![0; buckets],
            shift,
        };
        for (key, row) in entries {
            let mut at = bucket(key.iter().fold(0, |h, w| mix(h, *w)), shift);
            while t.rows[at] != 0 {
                at = (at + 1) & (buckets - 1);
            }
            t.keys[at * words.len()..(at + 1) * words.len()].copy_from_slice(key);
            t.rows[at] = *row;
        }
        t
    }

    fn find(&self, phv: &Phv, lane: usize) -> u32 {
        let read = |w: &KeyWord| phv.get(w.slot, lane) & w.mask;
        let mut at = bucket(self.words.iter().fold(0, |h, w| mix(h, read(w))), self.shift);
        loop {
            at &= self.rows.len() - 1;
            let key = &self.keys[at * self.words.len()..(at + 1) * self.words.len()];
            if self.rows[at] == 0 || self.words.iter().zip(key).all(|(w, k)| read(w) == *k) {
                return self.rows[at];
            }
            at += 1;
        }
    }
}
