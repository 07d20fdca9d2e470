//! TCAM rows of entries with range keys: a range takes several rows (model: chip §3.2).

use crate::{Algorithmic, Key, KeySource, KeyValue, MatchKind, Program, TableData};
use sluice_asic::geometry::{range_digits, range_lines, range_rows};

/// Rows of a TCAM block on every chip; a table has at least one block.
const BLOCK_ROWS: u64 = 512;

/// Returns true if the table has a range key.
pub fn has_ranges(data: &TableData) -> bool {
    data.keys.iter().any(|k| k.kind == MatchKind::Range)
}

/// Returns the number of rows of an entry with this key: the product over its ranges.
pub fn of_entry(program: &Program, data: &TableData, key: &[KeyValue]) -> u64 {
    let rows = key.iter().zip(&data.keys).map(|(column, k)| match *column {
        KeyValue::Range { lo, hi } => {
            let digits = range_digits(k.width(program).into());
            range_rows(lo as u32, hi as u32, &digits).len() as u64
        }
        _ => 1,
    });
    rows.fold(1, u64::saturating_mul)
}

/// Returns the number of rows that the chip must have for the table: the rows of its constant entries, or the
/// rows of its size if a quarter of the entries are ranges.
pub fn planned(program: &Program, data: &TableData) -> u64 {
    let size = u64::from(data.size).max(data.entries.len() as u64).max(1);
    if !has_ranges(data) {
        return size;
    }
    if !data.entries.is_empty() {
        let fixed: u64 = data.entries.iter().map(|e| of_entry(program, data, &e.key)).sum();
        return fixed + (size - data.entries.len() as u64);
    }
    let ranges = data.keys.iter().filter(|k| k.kind == MatchKind::Range);
    let nibbles = ranges.map(|k| u32::from(k.width(program)).div_ceil(4)).sum();
    range_lines(size, nibbles)
}

/// Returns the number of bits per entry of an algorithmic TCAM's key in SRAM: value and mask of every bit
/// that is not exact. The partition is the address and takes no bits.
pub fn atcam_key_bits(program: &Program, data: &TableData) -> u32 {
    let partition = match data.algorithmic {
        Some(Algorithmic::Atcam { partition, .. }) => Some(partition),
        _ => None,
    };
    let addresses = |k: &&Key| matches!(k.what, KeySource::Field(f) if Some(f) == partition);
    let stored = data.keys.iter().filter(|k| !addresses(k)).map(|k| {
        let width = k.compared(program).count_ones();
        if k.kind == MatchKind::Exact { width } else { 2 * width }
    });
    stored.sum()
}

/// Returns the number of rows for run-time entries: whole blocks.
pub fn room(program: &Program, data: &TableData) -> u64 {
    planned(program, data).div_ceil(BLOCK_ROWS) * BLOCK_ROWS
}
