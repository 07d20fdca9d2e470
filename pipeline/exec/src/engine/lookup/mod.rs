//! Lookup structures, compiled from the entries of a table: container words in, row number out.
//!
//! A key is compared in the containers that hold it, under masks, as the chip does; no key is assembled from fields on
//! the packet path. Row 0 is the miss.

mod exact;
mod lpm;
mod ternary;

pub(super) use exact::Exact;
pub(super) use lpm::{Lpm, Prefix};
pub(super) use ternary::{Line, Subset, Ternary};

use super::batch::{Phv, Slot};
use super::field::{FieldAt, Piece, SlotMap};
use sluice_asic::geometry::{RANGE_DIGIT_BITS, range_rows};
use sluice_ir::{KeyValue, MatchKind, Program, Table};

/// A container that holds key bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyWord {
    pub(super) slot: Slot,
    /// The key bits in it.
    pub(super) mask: u32,
}

/// How the key of a table lies in columns.
#[derive(Clone, Debug)]
pub(super) struct KeyPlan {
    /// Key fields in the table's order.
    pub(super) fields: Vec<(FieldAt, MatchKind, u16)>,
    /// Words that hold the exact and ternary fields.
    pub(super) words: Vec<KeyWord>,
    /// Where the longest-prefix field is.
    prefix: Vec<Piece>,
}

impl KeyPlan {
    pub(super) fn new(program: &Program, table: Table, slots: &mut SlotMap<'_>) -> KeyPlan {
        let fields: Vec<_> = program.tables[table]
            .keys
            .iter()
            .map(|k| (slots.source(k.field), k.kind, program.fields[k.field].width))
            .collect();
        let mut words: Vec<KeyWord> = Vec::new();
        for (at, kind, _) in &fields {
            if *kind == MatchKind::Lpm {
                continue;
            }
            for p in &at.pieces {
                let mask = p.mask() << p.at;
                match words.iter_mut().find(|w| w.slot == p.slot) {
                    Some(w) => w.mask |= mask,
                    None => words.push(KeyWord { slot: p.slot, mask }),
                }
            }
        }
        let prefix = fields.iter().filter(|(_, kind, _)| *kind == MatchKind::Lpm);
        let prefix = prefix.flat_map(|(at, ..)| at.pieces.iter().copied()).collect();
        KeyPlan { fields, words, prefix }
    }

    /// The longest-prefix field, if the table has one.
    pub(super) fn lpm(&self) -> Option<(&FieldAt, u16)> {
        self.fields.iter().find(|(_, kind, _)| *kind == MatchKind::Lpm).map(|(at, _, width)| (at, *width))
    }

    /// The columns that hold the key, and its bits in each.
    #[inline(always)]
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Slot, u32)> {
        let prefix = self.prefix.iter().map(|p| (p.slot, p.mask() << p.at));
        self.words.iter().map(|w| (w.slot, w.mask)).chain(prefix)
    }

    pub(super) fn has_ternary(&self) -> bool {
        self.fields.iter().any(|(_, kind, _)| matches!(kind, MatchKind::Ternary | MatchKind::Range))
    }

    /// An entry's key as `(value, mask)` per word, the longest-prefix field left out.
    pub(super) fn encode(&self, key: &[KeyValue]) -> Vec<(u32, u32)> {
        let mut words = vec![(0u32, 0u32); self.words.len()];
        for ((at, kind, width), column) in self.fields.iter().zip(key) {
            if *kind == MatchKind::Lpm {
                continue;
            }
            let (value, mask) = value_and_mask(*column, *width);
            for p in &at.pieces {
                if let Some(i) = self.words.iter().position(|w| w.slot == p.slot) {
                    words[i].0 |= ((value >> p.lo) as u32 & p.mask()) << p.at;
                    words[i].1 |= ((mask >> p.lo) as u32 & p.mask()) << p.at;
                }
            }
        }
        words
    }

    /// The lines of an entry: one, or with ranges those that the chip's rows would be.
    pub(super) fn lines(&self, key: &[KeyValue]) -> Vec<Line> {
        let mut lines = vec![Line { words: self.encode(key), sets: Vec::new() }];
        for ((at, _, width), column) in self.fields.iter().zip(key) {
            let KeyValue::Range { lo, hi } = *column else { continue };
            let digits = self.digits(at);
            let widths: Vec<u32> = digits.iter().map(|d| d.width.into()).collect();
            debug_assert_eq!(
                widths.iter().sum::<u32>(),
                u32::from(*width),
                "every bit of a range has a digit"
            );
            let rows = range_rows(lo as u32, hi as u32, &widths);
            let with = |line: &Line, row: &[u16]| {
                let sets = digits.iter().zip(row).map(|(d, values)| Subset { values: *values, ..*d });
                let tells = sets.filter(|s| u32::from(s.values) != (1 << (1 << s.width)) - 1);
                let mut line = line.clone();
                line.sets.extend(tells);
                line
            };
            lines = lines.iter().flat_map(|line| rows.iter().map(|row| with(line, row))).collect();
        }
        lines
    }

    /// The digits of a field, most significant first: its bits cut at the nibbles of its containers.
    fn digits(&self, at: &FieldAt) -> Vec<Subset> {
        let mut digits: Vec<(u8, Subset)> = Vec::new();
        for p in &at.pieces {
            let word = self.words.iter().position(|w| w.slot == p.slot).unwrap_or(0) as u16;
            let mut bit = 0;
            while bit < p.width {
                let shift = p.at + bit;
                let width = (RANGE_DIGIT_BITS as u8 - shift % RANGE_DIGIT_BITS as u8).min(p.width - bit);
                digits.push((p.lo + bit, Subset { word, shift, width, values: 0 }));
                bit += width;
            }
        }
        digits.sort_by_key(|(lo, _)| std::cmp::Reverse(*lo));
        digits.into_iter().map(|(_, digit)| digit).collect()
    }
}

/// A key column as value and mask over the field's width.
pub(super) fn value_and_mask(column: KeyValue, width: u16) -> (u128, u128) {
    let all = sluice_asic::alu::width_mask(u32::from(width));
    match column {
        KeyValue::Exact(v) => (v, all),
        KeyValue::Ternary { value, mask } => (value & mask, mask),
        KeyValue::Lpm { value, len } => {
            let mask = all & !all.checked_shr(u32::from(len)).unwrap_or(0);
            (value & mask, mask)
        }
        // Its lines say what it compares.
        KeyValue::Range { .. } => (0, 0),
    }
}

/// The lookup of one table.
#[derive(Clone, Debug)]
pub(super) enum Lookup {
    /// No entries, or no key: every packet misses.
    Miss,
    Exact(Exact),
    Lpm(Lpm),
    Ternary(Ternary),
}

impl Lookup {
    /// The row of every lane in `mask`.
    #[inline]
    pub(super) fn find<const N: usize>(&self, mask: u64, phv: &Phv<N>, rows: &mut [u32; 64]) {
        match self {
            Lookup::Miss => super::batch::for_lanes::<N>(mask, |l| rows[l] = 0),
            Lookup::Exact(t) => t.find::<N>(mask, phv, rows),
            Lookup::Lpm(t) => t.find::<N>(mask, phv, rows),
            Lookup::Ternary(t) => t.find::<N>(mask, phv, rows),
        }
    }

    /// The row of one key of whole words.
    #[inline(always)]
    pub(super) fn exact<const K: usize>(&self, key: [u32; K]) -> u32 {
        match self {
            Lookup::Exact(t) => t.row_of(key),
            _ => 0,
        }
    }

    /// The row of one key of a prefix of up to 32 bits, which end at the word's top, and other words.
    #[inline(always)]
    pub(super) fn prefix<const K: usize>(&self, key: [u32; K], prefix: u32) -> u32 {
        match self {
            Lookup::Lpm(t) => t.row_of(key, |lpm, root| lpm.walk32(root, prefix)),
            _ => 0,
        }
    }

    /// The same of a wider prefix.
    #[inline(always)]
    pub(super) fn wide_prefix<const K: usize>(&self, key: [u32; K], prefix: u128) -> u32 {
        match self {
            Lookup::Lpm(t) => t.row_of(key, |lpm, root| lpm.walk(root, prefix)),
            _ => 0,
        }
    }

    /// The row of one lane.
    #[inline(always)]
    pub(super) fn one<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        match self {
            Lookup::Miss => 0,
            Lookup::Exact(t) => t.one(phv, lane),
            Lookup::Lpm(t) => t.one(phv, lane),
            Lookup::Ternary(t) => t.one(phv, lane),
        }
    }
}
