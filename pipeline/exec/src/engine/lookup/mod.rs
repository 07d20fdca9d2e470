//! Lookup structures, compiled from the entries of a table: they map container words to a row number.
//!
//! A key is compared in its containers, under masks, as on the chip; the packet path assembles no key from fields. Row 0 is
//! the miss.

mod exact;
mod lpm;
mod ternary;

pub(super) use exact::Exact;
pub(super) use lpm::{Lpm, Prefix};
pub(super) use ternary::{Line, Subset, Ternary};

use super::batch::{Phv, Slot};
use super::field::{FieldAt, Piece, SlotMap};
use sluice_asic::geometry::{RANGE_DIGIT_BITS, range_rows};
use sluice_ir::{Key, KeyValue, MatchKind, Program, Table};

/// A container with key bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyWord {
    pub(super) slot: Slot,
    /// Key bits in the container.
    pub(super) mask: u32,
}

/// One column of a table's key.
#[derive(Clone, Debug)]
pub(super) struct KeyColumn {
    at: FieldAt,
    pub(super) kind: MatchKind,
    width: u16,
    /// Bits that are compared.
    compared: u128,
}

impl KeyColumn {
    /// Returns the bits of a word that the column compares in one piece.
    fn mask(&self, p: &Piece) -> u32 {
        ((self.compared >> p.lo) as u32 & p.mask()) << p.at
    }
}

/// Layout of a table's key in columns.
#[derive(Clone, Debug)]
pub(super) struct KeyPlan {
    /// Columns in the table's order.
    pub(super) columns: Vec<KeyColumn>,
    /// Words with the exact and ternary fields.
    pub(super) words: Vec<KeyWord>,
    /// Column bits of the longest-prefix field.
    prefix: Vec<Piece>,
}

impl KeyPlan {
    pub(super) fn new(program: &Program, table: Table, slots: &mut SlotMap<'_>) -> KeyPlan {
        let column = |k: &Key| KeyColumn {
            at: slots.key(k, program),
            kind: k.kind,
            width: k.width(program),
            compared: k.compared(program),
        };
        let columns: Vec<KeyColumn> = program.tables[table].keys.iter().map(column).collect();
        let mut words: Vec<KeyWord> = Vec::new();
        for column in columns.iter().filter(|c| c.kind != MatchKind::Lpm) {
            for p in &column.at.pieces {
                let mask = column.mask(p);
                if mask == 0 {
                    continue;
                }
                match words.iter_mut().find(|w| w.slot == p.slot) {
                    Some(w) => w.mask |= mask,
                    None => words.push(KeyWord { slot: p.slot, mask }),
                }
            }
        }
        let prefix = columns.iter().filter(|c| c.kind == MatchKind::Lpm);
        let prefix = prefix.flat_map(|c| c.at.pieces.iter().copied()).collect();
        KeyPlan { columns, words, prefix }
    }

    /// Returns the longest-prefix field; `None` if the table has none.
    pub(super) fn lpm(&self) -> Option<(&FieldAt, u16)> {
        self.columns.iter().find(|c| c.kind == MatchKind::Lpm).map(|c| (&c.at, c.width))
    }

    /// Returns the columns of the key, and its bits in each.
    #[inline(always)]
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Slot, u32)> {
        let prefix = self.prefix.iter().map(|p| (p.slot, p.mask() << p.at));
        self.words.iter().map(|w| (w.slot, w.mask)).chain(prefix)
    }

    pub(super) fn has_ternary(&self) -> bool {
        self.columns.iter().any(|c| matches!(c.kind, MatchKind::Ternary | MatchKind::Range))
    }

    /// Returns an entry's key as `(value, mask)` per word, without the longest-prefix field.
    pub(super) fn encode(&self, key: &[KeyValue]) -> Vec<(u32, u32)> {
        let mut words = vec![(0u32, 0u32); self.words.len()];
        for (column, given) in self.columns.iter().zip(key).filter(|(c, _)| c.kind != MatchKind::Lpm) {
            let (value, mask) = value_and_mask(*given, column.width);
            let (value, mask) = (value & column.compared, mask & column.compared);
            for p in &column.at.pieces {
                if let Some(i) = self.words.iter().position(|w| w.slot == p.slot) {
                    words[i].0 |= ((value >> p.lo) as u32 & p.mask()) << p.at;
                    words[i].1 |= ((mask >> p.lo) as u32 & p.mask()) << p.at;
                }
            }
        }
        words
    }

    /// Returns the lines of an entry: one, or with ranges one for each TCAM row of the chip.
    pub(super) fn lines(&self, key: &[KeyValue]) -> Vec<Line> {
        let mut lines = vec![Line { words: self.encode(key), sets: Vec::new() }];
        for (KeyColumn { at, width, .. }, given) in self.columns.iter().zip(key) {
            let KeyValue::Range { lo, hi } = *given else { continue };
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

    /// Returns the digits of a field, most significant first: its bits cut at the nibbles of its containers.
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

/// Returns a key column as value and mask over the field's width.
pub(super) fn value_and_mask(column: KeyValue, width: u16) -> (u128, u128) {
    let all = sluice_asic::alu::width_mask(u32::from(width));
    match column {
        KeyValue::Exact(v) => (v, all),
        KeyValue::Ternary { value, mask } => (value & mask, mask),
        KeyValue::Lpm { value, len } => {
            let mask = all & !all.checked_shr(u32::from(len)).unwrap_or(0);
            (value & mask, mask)
        }
        // The sets of a line compare a range.
        KeyValue::Range { .. } => (0, 0),
    }
}

/// Lookup structure of one table.
#[derive(Clone, Debug)]
pub(super) enum Lookup {
    /// No entries, or no key: every packet misses.
    Miss,
    Exact(Exact),
    Lpm(Lpm),
    Ternary(Ternary),
}

impl Lookup {
    /// Finds the row of every lane in `mask`.
    #[inline]
    pub(super) fn find<const N: usize>(&self, mask: u64, phv: &Phv<N>, rows: &mut [u32; 64]) {
        match self {
            Lookup::Miss => super::batch::for_lanes::<N>(mask, |l| rows[l] = 0),
            Lookup::Exact(t) => t.find::<N>(mask, phv, rows),
            Lookup::Lpm(t) => t.find::<N>(mask, phv, rows),
            Lookup::Ternary(t) => t.find::<N>(mask, phv, rows),
        }
    }

    /// Returns the row of a key of whole words.
    #[inline(always)]
    pub(super) fn exact<const K: usize>(&self, key: [u32; K]) -> u32 {
        match self {
            Lookup::Exact(t) => t.row_of(key),
            _ => 0,
        }
    }

    /// Returns the row of a key with a prefix of up to 32 bits, left-aligned in its word, and other words.
    #[inline(always)]
    pub(super) fn prefix<const K: usize>(&self, key: [u32; K], prefix: u32) -> u32 {
        match self {
            Lookup::Lpm(t) => t.row_of(key, |lpm, root| lpm.walk32(root, prefix)),
            _ => 0,
        }
    }

    /// Returns the row of a key with a prefix of more than 32 bits, and other words.
    #[inline(always)]
    pub(super) fn wide_prefix<const K: usize>(&self, key: [u32; K], prefix: u128) -> u32 {
        match self {
            Lookup::Lpm(t) => t.row_of(key, |lpm, root| lpm.walk(root, prefix)),
            _ => 0,
        }
    }

    /// Returns the row of one lane.
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
