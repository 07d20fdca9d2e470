//! Ternary match by bit vectors of lines, one for each value of each piece of the key that any line compares. The AND
//! of a packet's vectors has its matches; the first bit wins.
//!
//! A line is what one TCAM row compares: an entry has one line, with range keys a few. Lines are in groups of at most
//! 64, in the order in which they win. A full group is halved, so that a new line moves only lines of its group. Pieces
//! are bytes if one group is enough, else nibbles. From a few groups on, summaries give the groups that have a matching
//! line for each value of a piece.

use super::{KeyWord, Phv, Slot};
use crate::engine::batch::for_lanes;

/// Precedence of a line: priority, then age. The lowest matching line wins.
pub(in crate::engine) type Order = (u32, u64);

/// Set of values of up to four bits of a word; the bits are in one nibble of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Subset {
    pub(in crate::engine) word: u16,
    pub(in crate::engine) shift: u8,
    pub(in crate::engine) width: u8,
    /// Bit `v` is set if the line matches value `v`.
    pub(in crate::engine) values: u16,
}

/// Comparisons of one TCAM row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::engine) struct Line {
    /// Value and mask per word.
    pub(in crate::engine) words: Vec<(u32, u32)>,
    pub(in crate::engine) sets: Vec<Subset>,
}

impl Line {
    /// Returns true if the line matches value `found` of a piece: the bits of mask `piece` from bit `shift` of a word
    /// on.
    fn matches(&self, word: usize, shift: u8, piece: u32, found: u32) -> bool {
        let (value, mask) = (self.words[word].0 >> shift & piece, self.words[word].1 >> shift & piece);
        let inside =
            |s: &&Subset| usize::from(s.word) == word && s.shift >= shift && piece >> (s.shift - shift) != 0;
        found & mask == value & mask
            && self
                .sets
                .iter()
                .filter(inside)
                .all(|s| s.values >> (found >> (s.shift - shift) & ((1 << s.width) - 1)) & 1 == 1)
    }

    /// Returns true if the line compares any bit of a piece.
    fn cares(&self, word: usize, shift: u8, piece: u32) -> bool {
        let mask = self.words.get(word).map_or(0, |(_, mask)| mask >> shift & piece);
        let inside =
            |s: &Subset| usize::from(s.word) == word && s.shift >= shift && piece >> (s.shift - shift) != 0;
        mask != 0 || self.sets.iter().any(inside)
    }
}

/// Place of a piece of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    slot: Slot,
    shift: u8,
    word: u16,
}

/// A ternary structure.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Ternary {
    words: Vec<KeyWord>,
    pieces: Vec<Piece>,
    /// Mask of a piece's bits: 0xff or 0xf.
    piece: u32,
    groups: Vec<Group>,
    /// Row of each line: 64 places per group.
    rows: Vec<u32>,
    /// For every 64 groups, per piece and value: the groups with a line that matches the value.
    summaries: Vec<u64>,
}

/// Up to 64 lines.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Bit of each line in use.
    valid: u64,
    /// Per piece, the lines that match each of its values.
    vectors: Vec<u64>,
    order: Vec<Order>,
}

const GROUP: usize = 64;
/// Groups for which vectors of bytes are still small: 2 KB per byte and group.
const BYTE_GROUPS: usize = 1;
/// Number of groups from which on the use of summaries saves time.
const SUMMARY_GROUPS: usize = 4;

impl Ternary {
    /// Builds the structure from lines with their precedence and row, in order of precedence.
    pub(in crate::engine) fn new(words: &[KeyWord], lines: &[(Line, Order, u32)]) -> Ternary {
        let bits: u8 = if lines.len() <= GROUP * BYTE_GROUPS { 8 } else { 4 };
        let piece = (1 << bits) - 1;
        let mut pieces = Vec::new();
        for (w, word) in words.iter().enumerate() {
            for shift in (0..32).step_by(usize::from(bits)) {
                if lines.iter().any(|(line, ..)| line.cares(w, shift, piece)) {
                    pieces.push(Piece { slot: word.slot, shift, word: w as u16 });
                }
            }
        }
        let mut t = Ternary {
            words: words.to_vec(),
            pieces,
            piece,
            groups: Vec::new(),
            rows: Vec::new(),
            summaries: Vec::new(),
        };
        for chunk in lines.chunks(GROUP) {
            let vectors = t.pieces.iter().flat_map(|p| vectors(chunk, *p, piece)).collect();
            let valid = if chunk.len() == GROUP { u64::MAX } else { (1 << chunk.len()) - 1 };
            t.groups.push(Group {
                valid,
                vectors,
                order: chunk.iter().map(|(_, order, _)| *order).collect(),
            });
            t.rows.extend(chunk.iter().map(|(.., row)| *row));
            t.rows.resize(t.groups.len() * GROUP, 0);
        }
        t.summarise();
        t
    }

    /// Adds the lines of an entry after all lines that win over them. Returns false if the structure has no vectors for
    /// what a line compares, or is too large for its kind of pieces: it must be rebuilt.
    pub(in crate::engine) fn insert(&mut self, lines: &[Line], order: Order, row: u32) -> bool {
        let bits = self.piece.count_ones() as usize;
        let known = |line: &Line| {
            (0..self.words.len()).all(|w| {
                (0..32).step_by(bits).all(|shift| {
                    let here = |p: &Piece| usize::from(p.word) == w && usize::from(p.shift) == shift;
                    !line.cares(w, shift as u8, self.piece) || self.pieces.iter().any(here)
                })
            })
        };
        let lines_now: usize = self.groups.iter().map(|g| g.order.len()).sum();
        let outgrown = bits == 8 && lines_now + lines.len() > GROUP * BYTE_GROUPS;
        if outgrown || self.groups.is_empty() || !lines.iter().all(known) {
            return false;
        }
        for line in lines {
            self.insert_line(line, order, row);
        }
        true
    }

    fn insert_line(&mut self, line: &Line, order: Order, row: u32) {
        let behind = |g: &Group| g.order.first().is_some_and(|first| *first <= order);
        let mut at = self.groups.partition_point(behind).saturating_sub(1);
        if self.groups[at].order.len() == GROUP {
            self.split(at);
            at += usize::from(behind(&self.groups[at + 1]));
        }
        let values = self.piece + 1;
        let group = &mut self.groups[at];
        let place = group.order.partition_point(|o| *o <= order);
        let low = (1_u64 << place) - 1;
        let opened = |word: u64, bit: bool| word & low | u64::from(bit) << place | (word & !low) << 1;
        let kinds = self.pieces.iter().flat_map(|p| (0..values).map(move |found| (p, found)));
        for (word, (p, found)) in group.vectors.iter_mut().zip(kinds) {
            *word = opened(*word, line.matches(p.word.into(), p.shift, self.piece, found));
        }
        group.valid = opened(group.valid, true);
        let rows = &mut self.rows[at * GROUP..(at + 1) * GROUP];
        rows.copy_within(place..group.order.len(), place + 1);
        rows[place] = row;
        group.order.insert(place, order);
        self.summarise_group(at);
    }

    /// Removes the lines of an entry.
    pub(in crate::engine) fn remove(&mut self, order: Order) {
        loop {
            let at = self.groups.partition_point(|g| g.order.last().is_some_and(|last| *last < order));
            let Some(group) = self.groups.get_mut(at) else { return };
            let place = group.order.partition_point(|o| *o < order);
            if group.order.get(place) != Some(&order) {
                return;
            }
            let low = (1_u64 << place) - 1;
            let closed = |word: u64| word & low | word >> 1 & !low;
            group.vectors.iter_mut().for_each(|w| *w = closed(*w));
            group.valid = closed(group.valid);
            group.order.remove(place);
            let left = group.order.len();
            self.rows[at * GROUP..(at + 1) * GROUP].copy_within(place + 1..left + 1, place);
            self.summarise_group(at);
            self.merge(at);
        }
    }

    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.groups.iter().all(|g| g.order.is_empty())
    }

    /// Halves a full group.
    fn split(&mut self, at: usize) {
        const HALF: usize = GROUP / 2;
        let lower = u64::from(u32::MAX);
        let group = &mut self.groups[at];
        let upper = Group {
            valid: group.valid >> HALF,
            vectors: group.vectors.iter().map(|w| w >> HALF).collect(),
            order: group.order.split_off(HALF),
        };
        group.valid &= lower;
        group.vectors.iter_mut().for_each(|w| *w &= lower);
        let moved: Vec<u32> = self.rows[at * GROUP + HALF..(at + 1) * GROUP].to_vec();
        let place = (at + 1) * GROUP;
        self.rows.splice(place..place, moved.into_iter().chain(std::iter::repeat_n(0, HALF)));
        self.groups.insert(at + 1, upper);
        self.summarise();
    }

    /// Joins a group with the next one if the two are at most half full together, so that groups stay few.
    fn merge(&mut self, at: usize) {
        if self.groups.len() > 1 && self.groups[at].order.is_empty() {
            self.groups.remove(at);
            self.rows.drain(at * GROUP..(at + 1) * GROUP);
            return self.summarise();
        }
        let count = |g: Option<&Group>| g.map_or(GROUP, |g| g.order.len());
        let first = if count(self.groups.get(at)) + count(self.groups.get(at + 1)) <= GROUP / 2 {
            at
        } else if at > 0 && count(self.groups.get(at - 1)) + count(self.groups.get(at)) <= GROUP / 2 {
            at - 1
        } else {
            return;
        };
        let upper = self.groups.remove(first + 1);
        let group = &mut self.groups[first];
        let have = group.order.len();
        group.valid |= upper.valid << have;
        group.vectors.iter_mut().zip(&upper.vectors).for_each(|(into, from)| *into |= from << have);
        group.order.extend(&upper.order);
        let from = (first + 1) * GROUP;
        self.rows.copy_within(from..from + upper.order.len(), first * GROUP + have);
        self.rows.drain(from..from + GROUP);
        self.summarise();
    }

    fn summarise(&mut self) {
        let per_word = self.pieces.len() * (self.piece as usize + 1);
        self.summaries.clear();
        if self.groups.len() >= SUMMARY_GROUPS {
            self.summaries.resize(per_word * self.groups.len().div_ceil(GROUP), 0);
            (0..self.groups.len()).for_each(|g| self.summarise_group(g));
        }
    }

    fn summarise_group(&mut self, at: usize) {
        let per_word = self.pieces.len() * (self.piece as usize + 1);
        let Some(words) = self.summaries.get_mut(at / GROUP * per_word..(at / GROUP + 1) * per_word) else {
            return;
        };
        let bit = 1 << (at % GROUP);
        for (word, vector) in words.iter_mut().zip(&self.groups[at].vectors) {
            *word = if *vector == 0 { *word & !bit } else { *word | bit };
        }
    }

    #[inline]
    pub(in crate::engine) fn find<const N: usize>(&self, mask: u64, phv: &Phv<N>, rows: &mut [u32; 64]) {
        match self.groups.as_slice() {
            [group] => {
                let mut hits = [0u64; N];
                for_lanes::<N>(mask, |l| hits[l % N] = group.valid);
                let values = self.piece as usize + 1;
                for (p, vectors) in self.pieces.iter().zip(group.vectors.chunks_exact(values)) {
                    let column = phv.column(p.slot);
                    // The array has an element for each value, so no index is outside.
                    if let Ok(vectors) = <&[u64; 256]>::try_from(vectors) {
                        for_lanes::<N>(mask, |l| {
                            hits[l % N] &= vectors[usize::from((column[l % N].get() >> p.shift) as u8)];
                        });
                    } else if let Ok(vectors) = <&[u64; 16]>::try_from(vectors) {
                        for_lanes::<N>(mask, |l| {
                            hits[l % N] &= vectors[(column[l % N].get() >> p.shift & 0xf) as usize];
                        });
                    }
                }
                for_lanes::<N>(mask, |l| rows[l] = self.row(0, hits[l % N]));
            }
            _ => for_lanes::<N>(mask, |l| rows[l] = self.find_any(phv, l)),
        }
    }

    /// Returns the row of one lane.
    #[inline(always)]
    pub(in crate::engine) fn one<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        match self.groups.as_slice() {
            [group] => {
                // The index is counted up, because cutting the vectors into chunks would take a division.
                let (mut hits, mut first) = (group.valid, 0);
                for p in &self.pieces {
                    let value = phv.get(p.slot, lane) >> p.shift & self.piece;
                    hits &= group.vectors.get(first + value as usize).copied().unwrap_or(0);
                    first += self.piece as usize + 1;
                }
                self.row(0, hits)
            }
            _ => self.find_any(phv, lane),
        }
    }

    /// Returns the row of one lane among many groups.
    #[inline]
    fn find_any<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        if self.summaries.is_empty() { self.find_one(phv, lane) } else { self.find_summarised(phv, lane) }
    }

    /// Returns the row of the first of `hits` in a group; 0 if there is none.
    #[inline(always)]
    fn row(&self, group: usize, hits: u64) -> u32 {
        let best = group * GROUP + hits.trailing_zeros() as usize;
        if hits == 0 { 0 } else { self.rows.get(best).copied().unwrap_or(0) }
    }

    #[inline]
    fn find_one<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        for (g, group) in self.groups.iter().enumerate() {
            let hits = self.hits(group.valid, &group.vectors, phv, lane);
            if hits != 0 {
                return self.row(g, hits);
            }
        }
        0
    }

    /// As [`Self::find_one`], but only in the groups that the summaries leave.
    fn find_summarised<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        let per_word = self.pieces.len() * (self.piece as usize + 1);
        // A table without pieces matches everything in its first group.
        for (word, summary) in self.summaries.chunks_exact(per_word.max(1)).enumerate() {
            let mut left = self.hits(u64::MAX, summary, phv, lane);
            while left != 0 {
                let g = word * GROUP + left.trailing_zeros() as usize;
                left &= left - 1;
                let Some(group) = self.groups.get(g) else { break };
                let hits = self.hits(group.valid, &group.vectors, phv, lane);
                if hits != 0 {
                    return self.row(g, hits);
                }
            }
        }
        0
    }

    /// Returns the AND of `start` and the words for the packet's piece values.
    #[inline(always)]
    fn hits<const N: usize>(&self, start: u64, words: &[u64], phv: &Phv<N>, lane: usize) -> u64 {
        let values = self.piece as usize + 1;
        let mut hits = start;
        for (p, words) in self.pieces.iter().zip(words.chunks_exact(values)) {
            hits &= words[(phv.get(p.slot, lane) >> p.shift & self.piece) as usize];
            if hits == 0 {
                break;
            }
        }
        hits
    }
}

/// Returns, for each value of a piece, the lines that match it.
fn vectors(chunk: &[(Line, Order, u32)], at: Piece, piece: u32) -> impl Iterator<Item = u64> {
    (0..=piece).map(move |found| {
        let lines = chunk.iter().enumerate();
        lines.fold(0, |bits, (i, (line, ..))| {
            bits | u64::from(line.matches(at.word.into(), at.shift, piece, found)) << i
        })
    })
}
