//! Longest-prefix match: a leaf-pushed trie, 16 bits at the root and 8 at each node below. Each value of the exact key
//! columns has a root.
//!
//! Every word has the length of the prefix that owns it. A new prefix takes the words below it that shorter prefixes
//! own. A removed prefix gives its words to the longest prefix that covers it, which the caller names. Both touch only
//! words below the prefix: few for a long prefix, all of a root for the shortest. A node whose words have become equal
//! is removed.

use super::{Exact, KeyWord, Phv};
use crate::engine::batch::for_lanes;
use crate::engine::field::{FieldAt, Piece};

/// Set in a trie word that points to a child node; otherwise the word is a row.
const CHILD: u32 = 1 << 31;
const ROOT_BITS: u32 = 16;
const NODE_BITS: u32 = 8;

/// A longest-prefix structure.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Lpm {
    field: FieldAt,
    width: u32,
    /// Index of the root by the exact columns; `None`: there is one root.
    roots: Option<Exact>,
    /// Words of all roots; those of the other nodes are in `nodes`.
    root: Vec<u32>,
    nodes: Vec<u32>,
    /// Length plus one of the prefix that owns each word of `root` and `nodes`; 0 if no prefix does.
    root_owner: Vec<u8>,
    node_owner: Vec<u8>,
    free_nodes: Vec<u32>,
    /// Number of prefixes below each root.
    held: Vec<u32>,
    free_roots: Vec<u32>,
}

/// Words of one root or node.
#[derive(Clone, Copy)]
struct Run {
    in_root: bool,
    base: usize,
    depth: u32,
    bits: u32,
}

/// A prefix: exact words, value (right-aligned in the field's width), length in bits, row.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Prefix {
    pub(in crate::engine) exact: Vec<u32>,
    pub(in crate::engine) value: u128,
    pub(in crate::engine) len: u16,
    pub(in crate::engine) row: u32,
}

impl Lpm {
    /// Builds the trie from prefixes that all differ.
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
            root_owner: Vec::new(),
            node_owner: Vec::new(),
            free_nodes: Vec::new(),
            held: Vec::new(),
            free_roots: Vec::new(),
        };
        let mut keys: Vec<(Vec<u32>, u32)> = Vec::new();
        for p in &prefixes {
            if keys.last().is_none_or(|(k, _)| *k != p.exact) {
                keys.push((p.exact.clone(), keys.len() as u32 + 1));
                lpm.new_root();
            }
            lpm.put(keys.len() - 1, p);
        }
        if !words.is_empty() {
            lpm.roots = Some(Exact::new(words, &keys));
        } else if keys.is_empty() {
            lpm.new_root();
        }
        lpm
    }

    fn new_root(&mut self) -> usize {
        if let Some(free) = self.free_roots.pop() {
            return free as usize;
        }
        self.root.resize(self.root.len() + (1 << ROOT_BITS), 0);
        self.root_owner.resize(self.root.len(), 0);
        self.held.push(0);
        self.held.len() - 1
    }

    /// Adds a new prefix. Returns false if the index of roots cannot hold the exact columns and all must be rebuilt.
    pub(in crate::engine) fn insert(&mut self, p: &Prefix) -> bool {
        let root = match self.root_of(&p.exact) {
            Some(root) => root,
            None => {
                let root = self.new_root();
                let Some(roots) = &mut self.roots else { return false };
                if !roots.insert(&p.exact, root as u32 + 1) {
                    return false;
                }
                root
            }
        };
        self.put(root, p);
        true
    }

    /// Removes a prefix; `cover` is length and row of the longest prefix that covers it, if there is one. Returns false
    /// if the exact columns have no root.
    pub(in crate::engine) fn remove(&mut self, p: &Prefix, cover: Option<(u16, u32)>) -> bool {
        let Some(root) = self.root_of(&p.exact) else { return false };
        let (len, row) = cover.map_or((0, 0), |(len, row)| (len as u8 + 1, row));
        let run = Run { in_root: true, base: root << ROOT_BITS, depth: 0, bits: ROOT_BITS };
        self.give(run, p, (len, row));
        self.held[root] -= 1;
        if self.held[root] == 0
            && let Some(roots) = &mut self.roots
        {
            roots.remove(&p.exact);
            self.free_roots.push(root as u32);
        }
        true
    }

    fn root_of(&self, exact: &[u32]) -> Option<usize> {
        match &self.roots {
            Some(roots) => roots.get(exact).map(|row| row as usize - 1),
            None => Some(0),
        }
    }

    fn lists(&mut self, in_root: bool) -> (&mut Vec<u32>, &mut Vec<u8>) {
        if in_root { (&mut self.root, &mut self.root_owner) } else { (&mut self.nodes, &mut self.node_owner) }
    }

    /// Returns the words of a run that the prefix covers, or the one word on the way to the prefix.
    fn span(&self, run: Run, p: &Prefix) -> std::ops::Range<usize> {
        let aligned = p.value << (128 - self.width);
        let len = u32::from(p.len);
        let first = run.base + index(aligned, run.depth, run.bits);
        let below = (run.depth + run.bits).saturating_sub(len.max(run.depth));
        first..first + (1 << below)
    }

    const fn child(word: u32, run: Run) -> Run {
        let base = ((word & !CHILD) as usize) << NODE_BITS;
        Run { in_root: false, base, depth: run.depth + run.bits, bits: NODE_BITS }
    }

    fn put(&mut self, root: usize, p: &Prefix) {
        self.held[root] += 1;
        let mut run = Run { in_root: true, base: root << ROOT_BITS, depth: 0, bits: ROOT_BITS };
        while u32::from(p.len) > run.depth + run.bits {
            let at = self.span(run, p).start;
            let (words, owners) = self.lists(run.in_root);
            let (word, owner) = (words[at], owners[at]);
            let word = if word & CHILD == 0 { self.new_node(run.in_root, at, (word, owner)) } else { word };
            run = Self::child(word, run);
        }
        let span = self.span(run, p);
        self.replace(run, span, p.len as u8 + 1, (p.len as u8 + 1, p.row));
    }

    /// Puts a node whose words are all `filled` in the place of a word; returns the word that points to it.
    fn new_node(&mut self, in_root: bool, at: usize, filled: (u32, u8)) -> u32 {
        let node = self.free_nodes.pop().unwrap_or((self.nodes.len() >> NODE_BITS) as u32);
        let base = (node as usize) << NODE_BITS;
        if base == self.nodes.len() {
            self.nodes.resize(base + (1 << NODE_BITS), 0);
            self.node_owner.resize(base + (1 << NODE_BITS), 0);
        }
        self.nodes[base..base + (1 << NODE_BITS)].fill(filled.0);
        self.node_owner[base..base + (1 << NODE_BITS)].fill(filled.1);
        let (words, owners) = self.lists(in_root);
        (words[at], owners[at]) = (node | CHILD, 0);
        node | CHILD
    }

    /// Assigns the words of a span, and all below them, to a new owner if their present owner is `limit` or less.
    fn replace(&mut self, run: Run, span: std::ops::Range<usize>, limit: u8, new: (u8, u32)) {
        for at in span {
            let (words, owners) = self.lists(run.in_root);
            if words[at] & CHILD != 0 {
                let below = Self::child(words[at], run);
                self.replace(below, below.base..below.base + (1 << NODE_BITS), limit, new);
            } else if owners[at] <= limit {
                (owners[at], words[at]) = new;
            }
        }
    }

    /// Removes a prefix below a run, and the nodes whose words have become equal.
    fn give(&mut self, run: Run, p: &Prefix, new: (u8, u32)) {
        let span = self.span(run, p);
        let at = span.start;
        if u32::from(p.len) <= run.depth + run.bits {
            self.release(run, span, p.len as u8 + 1, new);
            return;
        }
        let word = self.lists(run.in_root).0[at];
        if word & CHILD != 0 {
            self.give(Self::child(word, run), p, new);
            self.collapse(run.in_root, at);
        }
    }

    fn release(&mut self, run: Run, span: std::ops::Range<usize>, gone: u8, new: (u8, u32)) {
        for at in span {
            let (words, owners) = self.lists(run.in_root);
            if words[at] & CHILD != 0 {
                let below = Self::child(words[at], run);
                self.release(below, below.base..below.base + (1 << NODE_BITS), gone, new);
                self.collapse(run.in_root, at);
            } else if owners[at] == gone {
                (owners[at], words[at]) = new;
            }
        }
    }

    /// Removes a node whose words are all equal; the word that pointed to it takes their value.
    fn collapse(&mut self, in_root: bool, at: usize) {
        let node = self.lists(in_root).0[at] & !CHILD;
        let base = (node as usize) << NODE_BITS;
        let (word, owner) = (self.nodes[base], self.node_owner[base]);
        let all = base..base + (1 << NODE_BITS);
        let equal = word & CHILD == 0
            && self.nodes[all.clone()].iter().all(|w| *w == word)
            && self.node_owner[all].iter().all(|o| *o == owner);
        if equal {
            self.free_nodes.push(node);
            let (words, owners) = self.lists(in_root);
            (words[at], owners[at]) = (word, owner);
        }
    }

    #[inline]
    pub(in crate::engine) fn find<const N: usize>(&self, mask: u64, phv: &Phv<N>, rows: &mut [u32; 64]) {
        // Until it has the row, `rows` has the root's index plus one.
        match &self.roots {
            Some(exact) => exact.find::<N>(mask, phv, rows),
            None => for_lanes::<N>(mask, |l| rows[l] = 1),
        }
        match self.narrow() {
            Some((p, up)) => {
                let column = phv.column(p.slot);
                for_lanes::<N>(mask, |l| {
                    let key = (column[l % N].get() >> p.at & p.mask()) << up;
                    rows[l] = rows[l].checked_sub(1).map_or(0, |root| self.walk32(root as usize, key));
                });
            }
            None => for_lanes::<N>(mask, |l| rows[l] = self.find_wide(rows[l], phv, l)),
        }
    }

    /// Returns the row of one lane.
    #[inline(always)]
    pub(in crate::engine) fn one<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        let root = self.roots.as_ref().map_or(1, |exact| exact.one(phv, lane));
        match self.narrow() {
            Some((p, up)) => {
                let key = (phv.get(p.slot, lane) >> p.at & p.mask()) << up;
                root.checked_sub(1).map_or(0, |root| self.walk32(root as usize, key))
            }
            None => self.find_wide(root, phv, lane),
        }
    }

    /// Returns the row that `walk` finds below the root of these exact words.
    #[inline(always)]
    pub(super) fn row_of<const K: usize>(&self, key: [u32; K], walk: impl Fn(&Lpm, usize) -> u32) -> u32 {
        let root = self.roots.as_ref().map_or(1, |exact| exact.row_of(key));
        root.checked_sub(1).map_or(0, |root| walk(self, root as usize))
    }

    /// Returns the field's piece and its distance from bit 31, if the field is in one container: no 128-bit arithmetic
    /// is needed.
    #[inline(always)]
    fn narrow(&self) -> Option<(Piece, u32)> {
        self.field.single().filter(|_| self.width <= 32).map(|p| (p, 32 - self.width))
    }

    /// Returns the row below a root, given as the root's index plus one; 0 is no root.
    fn find_wide<const N: usize>(&self, root: u32, phv: &Phv<N>, lane: usize) -> u32 {
        let key = self.field.read(phv, lane) << (128 - self.width);
        root.checked_sub(1).map_or(0, |root| self.walk(root as usize, key))
    }

    #[inline(always)]
    pub(super) fn walk32(&self, root: usize, key: u32) -> u32 {
        let mut word = self.root[root << ROOT_BITS | (key >> 16) as usize];
        let mut shift = 8;
        while word & CHILD != 0 {
            word = self.nodes[((word & !CHILD) as usize) << NODE_BITS | (key >> shift & 0xff) as usize];
            shift -= 8;
        }
        word
    }

    #[inline(always)]
    pub(super) fn walk(&self, root: usize, key: u128) -> u32 {
        let mut word = self.root[root << ROOT_BITS | (key >> 112) as usize];
        let mut depth = ROOT_BITS;
        while word & CHILD != 0 {
            word = self.nodes[((word & !CHILD) as usize) << NODE_BITS | index(key, depth, NODE_BITS)];
            depth += NODE_BITS;
        }
        word
    }
}

/// Returns `bits` bits of a left-aligned key from bit `depth` on.
#[inline(always)]
fn index(aligned: u128, depth: u32, bits: u32) -> usize {
    (aligned << depth >> (128 - bits)) as usize
}
