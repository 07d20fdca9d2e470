//! Exact match: a hash table with open addressing over the key's container words, or an array if the key is small.
//!
//! Adding or removing a key touches no others except those that probe past it. A table that is half full doubles.

use super::{KeyWord, Phv};
use crate::engine::batch::for_lanes;

/// An exact-match structure over `K` words.
#[derive(Clone, Debug)]
pub(in crate::engine) enum Exact {
    /// One word with small values: the rows are indexed by the value.
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
    held: usize,
}

/// Keys of more words than chips usually need: as [`Buckets`], with all keys in one list.
#[derive(Clone, Debug)]
pub(in crate::engine) struct ManyWords {
    words: Vec<KeyWord>,
    keys: Vec<u32>,
    rows: Vec<u32>,
    shift: u32,
    held: usize,
}

/// Keys with all values below this may be in an array.
const INDEX_LIMIT: u32 = 1 << 16;

impl Exact {
    /// Builds the structure from keys, one value per word, and their rows.
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

    /// Adds a new key. Returns false if the structure cannot hold the key and must be rebuilt.
    pub(in crate::engine) fn insert(&mut self, key: &[u32], row: u32) -> bool {
        match self {
            Exact::Index { shift, rows, .. } => {
                let at = (key[0] >> *shift) as usize;
                if at >= rows.len() {
                    // This count is rare, because the array at least doubles when it grows.
                    let held = rows.iter().filter(|r| **r != 0).count();
                    if at >= INDEX_LIMIT as usize || at >= 1024 && at >= held * 8 {
                        return false;
                    }
                    rows.resize((at + 1).next_power_of_two(), 0);
                }
                rows[at] = row;
            }
            Exact::One(t) => t.insert(key, row),
            Exact::Two(t) => t.insert(key, row),
            Exact::Three(t) => t.insert(key, row),
            Exact::Four(t) => t.insert(key, row),
            Exact::Many(t) => t.insert(key, row),
        }
        true
    }

    /// Returns the row of a key.
    pub(in crate::engine) fn get(&self, key: &[u32]) -> Option<u32> {
        let row = match self {
            Exact::Index { shift, rows, .. } => rows.get((key[0] >> *shift) as usize).copied().unwrap_or(0),
            Exact::One(t) => t.buckets[t.place(key)].1,
            Exact::Two(t) => t.buckets[t.place(key)].1,
            Exact::Three(t) => t.buckets[t.place(key)].1,
            Exact::Four(t) => t.buckets[t.place(key)].1,
            Exact::Many(t) => t.rows[t.place(key)],
        };
        Some(row).filter(|r| *r != 0)
    }

    /// Removes a key; returns its row.
    pub(in crate::engine) fn remove(&mut self, key: &[u32]) -> Option<u32> {
        match self {
            Exact::Index { shift, rows, .. } => {
                let row = rows.get_mut((key[0] >> *shift) as usize)?;
                Some(std::mem::take(row)).filter(|r| *r != 0)
            }
            Exact::One(t) => t.remove(key),
            Exact::Two(t) => t.remove(key),
            Exact::Three(t) => t.remove(key),
            Exact::Four(t) => t.remove(key),
            Exact::Many(t) => t.remove(key),
        }
    }

    #[inline]
    pub(in crate::engine) fn find<const N: usize>(&self, mask: u64, phv: &Phv<N>, rows: &mut [u32; 64]) {
        match self {
            Exact::Index { word, shift, rows: table } => {
                let column = phv.column(word.slot);
                for_lanes::<N>(mask, |l| rows[l] = indexed(table, *word, *shift, column[l % N].get()));
            }
            Exact::One(t) => t.find::<N>(mask, phv, rows),
            Exact::Two(t) => t.find::<N>(mask, phv, rows),
            Exact::Three(t) => t.find::<N>(mask, phv, rows),
            Exact::Four(t) => t.find::<N>(mask, phv, rows),
            Exact::Many(t) => for_lanes::<N>(mask, |l| rows[l] = t.find(phv, l)),
        }
    }
}

impl Exact {
    /// Returns the row of a key whose words are cut to the key's bits.
    #[inline(always)]
    pub(super) fn row_of<const K: usize>(&self, key: [u32; K]) -> u32 {
        // `K` is known to the compiler, and few variants have that many words.
        match (self, key.as_slice()) {
            (Exact::Index { shift, rows, .. }, [a]) => rows.get((a >> shift) as usize).copied().unwrap_or(0),
            (Exact::One(t), [a]) => t.row_of([*a]),
            (Exact::Two(t), [a, b]) => t.row_of([*a, *b]),
            (Exact::Three(t), [a, b, c]) => t.row_of([*a, *b, *c]),
            (Exact::Four(t), [a, b, c, d]) => t.row_of([*a, *b, *c, *d]),
            (Exact::Many(t), key) => t.row_of(key),
            _ => 0,
        }
    }

    /// Returns the row of one lane.
    #[inline(always)]
    pub(in crate::engine) fn one<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        match self {
            Exact::Index { word, shift, rows } => indexed(rows, *word, *shift, phv.get(word.slot, lane)),
            Exact::One(t) => t.one(phv, lane),
            Exact::Two(t) => t.one(phv, lane),
            Exact::Three(t) => t.one(phv, lane),
            Exact::Four(t) => t.one(phv, lane),
            Exact::Many(t) => t.find(phv, lane),
        }
    }
}

/// Returns the row for the value of a word.
#[inline(always)]
fn indexed(rows: &[u32], word: KeyWord, shift: u8, found: u32) -> u32 {
    rows.get(((found & word.mask) >> shift) as usize).copied().unwrap_or(0)
}

/// Mixes a word into a hash by multiplication. The constant is fixed, so that runs repeat.
#[inline(always)]
fn mix(hash: u64, word: u32) -> u64 {
    (hash ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

/// Returns the bucket of a hash in a table of `2^(64 - shift)` buckets.
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
        let buckets = vec![([0; K], 0); 1 << (64 - shift)];
        let mut t = Buckets { words: std::array::from_fn(|i| words[i]), buckets, shift, held: 0 };
        entries.iter().for_each(|(key, row)| t.insert(key, *row));
        t
    }

    fn home(&self, key: &[u32]) -> usize {
        bucket(key.iter().fold(0, |h, w| mix(h, *w)), self.shift)
    }

    fn insert(&mut self, key: &[u32], row: u32) {
        if (self.held + 1) * 2 > self.buckets.len() {
            let old = std::mem::take(&mut self.buckets);
            self.buckets = vec![([0; K], 0); old.len() * 2];
            (self.shift, self.held) = (self.shift - 1, 0);
            old.iter().filter(|(_, row)| *row != 0).for_each(|(key, row)| self.insert(key, *row));
        }
        let mut at = self.home(key);
        while self.buckets[at].1 != 0 {
            at = (at + 1) & (self.buckets.len() - 1);
        }
        self.buckets[at] = (std::array::from_fn(|i| key[i]), row);
        self.held += 1;
    }

    /// Returns the bucket of a key, or the empty bucket where the key belongs.
    fn place(&self, key: &[u32]) -> usize {
        let mut at = self.home(key);
        while self.buckets[at].1 != 0 && self.buckets[at].0[..] != *key {
            at = (at + 1) & (self.buckets.len() - 1);
        }
        at
    }

    fn remove(&mut self, key: &[u32]) -> Option<u32> {
        let last = self.buckets.len() - 1;
        let mut at = self.place(key);
        let row = Some(self.buckets[at].1).filter(|r| *r != 0)?;
        let mut next = at;
        loop {
            next = (next + 1) & last;
            if self.buckets[next].1 == 0 {
                break;
            }
            // Moves back an entry that would not be found across the hole.
            let home = self.home(&self.buckets[next].0);
            if next.wrapping_sub(home) & last >= next.wrapping_sub(at) & last {
                self.buckets[at] = self.buckets[next];
                at = next;
            }
        }
        self.buckets[at] = ([0; K], 0);
        self.held -= 1;
        Some(row)
    }

    #[inline(always)]
    fn find<const N: usize>(&self, mask: u64, phv: &Phv<N>, rows: &mut [u32; 64]) {
        let columns = self.words.map(|w| phv.column(w.slot));
        for_lanes::<N>(mask, |l| {
            rows[l] = self.row_of(std::array::from_fn(|i| columns[i][l % N].get() & self.words[i].mask));
        });
    }

    #[inline(always)]
    fn one<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        self.row_of(self.words.map(|w| phv.get(w.slot, lane) & w.mask))
    }

    /// Returns the row of a key; 0 if there is none.
    #[inline(always)]
    fn row_of(&self, key: [u32; K]) -> u32 {
        let last = self.buckets.len() - 1;
        let mut at = bucket(key.iter().fold(0, |h, w| mix(h, *w)), self.shift);
        loop {
            let (found, row) = &self.buckets[at & last];
            if *row == 0 || *found == key {
                return *row;
            }
            at += 1;
        }
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
            held: 0,
        };
        entries.iter().for_each(|(key, row)| t.insert(key, *row));
        t
    }

    fn key(&self, at: usize) -> &[u32] {
        &self.keys[at * self.words.len()..(at + 1) * self.words.len()]
    }

    fn home(&self, key: &[u32]) -> usize {
        bucket(key.iter().fold(0, |h, w| mix(h, *w)), self.shift)
    }

    fn insert(&mut self, key: &[u32], row: u32) {
        let words = self.words.len();
        if (self.held + 1) * 2 > self.rows.len() {
            let count = self.rows.len();
            let (rows, keys) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.keys));
            (self.rows, self.keys) = (vec![0; count * 2], vec![0; count * 2 * words]);
            (self.shift, self.held) = (self.shift - 1, 0);
            let old = keys.chunks_exact(words.max(1)).zip(rows).filter(|(_, row)| *row != 0);
            old.for_each(|(key, row)| self.insert(key, row));
        }
        let mut at = self.home(key);
        while self.rows[at] != 0 {
            at = (at + 1) & (self.rows.len() - 1);
        }
        self.keys[at * words..(at + 1) * words].copy_from_slice(key);
        self.rows[at] = row;
        self.held += 1;
    }

    fn place(&self, key: &[u32]) -> usize {
        let mut at = self.home(key);
        while self.rows[at] != 0 && self.key(at) != key {
            at = (at + 1) & (self.rows.len() - 1);
        }
        at
    }

    fn remove(&mut self, key: &[u32]) -> Option<u32> {
        let (last, words) = (self.rows.len() - 1, self.words.len());
        let mut at = self.place(key);
        let row = Some(self.rows[at]).filter(|r| *r != 0)?;
        let mut next = at;
        loop {
            next = (next + 1) & last;
            if self.rows[next] == 0 {
                break;
            }
            let home = self.home(self.key(next));
            if next.wrapping_sub(home) & last >= next.wrapping_sub(at) & last {
                self.keys.copy_within(next * words..(next + 1) * words, at * words);
                self.rows[at] = self.rows[next];
                at = next;
            }
        }
        self.rows[at] = 0;
        self.held -= 1;
        Some(row)
    }

    fn row_of(&self, key: &[u32]) -> u32 {
        self.rows.get(self.place(key)).copied().unwrap_or(0)
    }

    fn find<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
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
