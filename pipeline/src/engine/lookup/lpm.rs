//! Longest prefix: a leaf-pushed trie, 16 bits at the root and 8 below, one root per value of the exact
//! key columns beside the prefix.

use super::{Exact, KeyWord, Phv};
use crate::engine::batch::for_lanes;
use crate::engine::field::FieldAt;

/// Set in a trie word that points to a child node; otherwise the word is a row.
const CHILD: u32 = 1 << 31;
const ROOT_BITS: u32 = 16;
const NODE_BITS: u32 = 8;

/// A longest-prefix structure.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Lpm {
    field: FieldAt,
    width: u32,
    /// Which root: by the exact columns, or always the first.
    roots: Option<Exact>,
    /// Roots one after the other, then nodes.
    root: Vec<u32>,
    nodes: Vec<u32>,
}

/// A prefix: exact words, value (right-aligned in the field's width), length, row.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Prefix {
    pub(in crate::engine) exact: Vec<u32>,
    pub(in crate::engine) value: u128,
    pub(in crate::engine) len: u16,
    pub(in crate::engine) row: u32,
}

impl Lpm {
    /// Builds from prefixes; equal ones do not occur.
    pub(in crate::engine) fn new(
        field: &FieldAt,
        width: u16,
        words: &[KeyWord],
        mut prefixes: Vec<Prefix>,
    ) -> Lpm {
        prefixes.sort_by(|a, b| a.exact.cmp(&b.exact).then(a.len.cmp(&b.len)));
        let mut lpm = Lpm {
            field: field.clone(),
            width: u32::from(width),
            roots: None,
            root: Vec::new(),
            nodes: Vec::new(),
        };
        let mut keys: Vec<(Vec<u32>, u32)> = Vec::new();
        for p in &prefixes {
            if keys.last().is_none_or(|(k, _)| *k != p.exact) {
                keys.push((p.exact.clone(), keys.len() as u32 + 1));
                lpm.root.resize(lpm.root.len() + (1 << ROOT_BITS), 0);
            }
            // Ascending lengths: a longer prefix overwrites the part of a shorter one that it covers.
            lpm.insert(keys.len() - 1, p);
        }
        if !words.is_empty() {
            lpm.roots = Some(Exact::new(words, &keys));
        } else if keys.is_empty() {
            lpm.root.resize(1 << ROOT_BITS, 0);
        }
        lpm
    }

    fn insert(&mut self, root: usize, p: &Prefix) {
        let aligned = p.value << (128 - self.width);
        let len = u32::from(p.len);
        let (mut base, mut in_root, mut depth, mut bits) = (root << ROOT_BITS, true, 0, ROOT_BITS);
        while len > depth + bits {
            let at = base + index(aligned, depth, bits);
            let word = if in_root { self.root[at] } else { self.nodes[at] };
            let child = if word & CHILD != 0 {
                (word & !CHILD) as usize
            } else {
                let child = self.nodes.len() >> NODE_BITS;
                self.nodes.resize(self.nodes.len() + (1 << NODE_BITS), word);
                let list = if in_root { &mut self.root } else { &mut self.nodes };
                list[at] = child as u32 | CHILD;
                child
            };
            (base, in_root, depth, bits) = (child << NODE_BITS, false, depth + bits, NODE_BITS);
        }
        let first = base + index(aligned, depth, bits);
        let count = 1usize << (depth + bits - len.max(depth));
        let list = if in_root { &mut self.root } else { &mut self.nodes };
        list[first..first + count].fill(p.row);
    }

    #[inline]
    pub(in crate::engine) fn find<const N: usize>(&self, mask: u64, phv: &Phv, rows: &mut [u32; 64]) {
        let mut roots = [1u32; 64];
        if let Some(exact) = &self.roots {
            exact.find::<N>(mask, phv, &mut roots);
        }
        match self.field.single() {
            // The whole field in one container: no 128-bit arithmetic.
            Some(p) if self.width <= 32 => {
                let column = phv.column(p.slot);
                let up = 32 - self.width;
                for_lanes::<N>(mask, |l| {
                    let key = (column[l].get() >> p.at & p.mask()) << up;
                    rows[l] = roots[l].checked_sub(1).map_or(0, |root| self.walk32(root as usize, key));
                });
            }
            _ => for_lanes::<N>(mask, |l| {
                let key = self.field.read(phv, l) << (128 - self.width);
                rows[l] = roots[l].checked_sub(1).map_or(0, |root| self.walk(root as usize, key));
            }),
        }
    }

    #[inline(always)]
    fn walk32(&self, root: usize, key: u32) -> u32 {
        let mut word = self.root[root << ROOT_BITS | (key >> 16) as usize];
        let mut shift = 8;
        while word & CHILD != 0 {
            word = self.nodes[((word & !CHILD) as usize) << NODE_BITS | (key >> shift & 0xff) as usize];
            shift -= 8;
        }
        word
    }

    #[inline(always)]
    fn walk(&self, root: usize, key: u128) -> u32 {
        let mut word = self.root[root << ROOT_BITS | (key >> 112) as usize];
        let mut depth = ROOT_BITS;
        while word & CHILD != 0 {
            word = self.nodes[((word & !CHILD) as usize) << NODE_BITS | index(key, depth, NODE_BITS)];
            depth += NODE_BITS;
        }
        word
    }
}

/// `bits` bits of a left-aligned key from bit `depth` on.
#[inline(always)]
fn index(aligned: u128, depth: u32, bits: u32) -> usize {
    (aligned << depth >> (128 - bits)) as usize
}
