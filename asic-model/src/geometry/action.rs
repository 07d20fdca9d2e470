//! Action data tables (model: chip §3.4).

use super::GeometryError;
use crate::chip::MauSpec;

/// The layout of an action data table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionDataLayout {
    /// Bytes per entry, rounded up.
    pub entry_bytes: u32,
    /// Entries per RAM word; 1 if an entry takes a word or more.
    pub entries_per_word: u32,
    /// RAM words per entry; 1 if several entries share a word.
    pub words_per_entry: u32,
    /// Number of RAMs.
    pub rams: u64,
    /// Entries held.
    pub capacity: u64,
}

/// Returns the bytes that an entry of `bits` bits takes: a power of two.
pub fn action_data_bytes(bits: u32) -> u32 {
    bits.div_ceil(8).next_power_of_two()
}

/// Returns the layout of `entries` entries of `bits` bits. No data takes no RAM.
///
/// # Errors
/// Fails if an entry cannot have this much data.
pub fn action_data(mau: &MauSpec, entries: u64, bits: u32) -> Result<ActionDataLayout, GeometryError> {
    if bits > mau.action_data_bits {
        let (found, limit) = (bits.into(), mau.action_data_bits.into());
        return Err(GeometryError::TooWide { what: "action data", found, limit });
    }
    if bits == 0 {
        let none = ActionDataLayout {
            entry_bytes: 0,
            entries_per_word: 0,
            words_per_entry: 0,
            rams: 0,
            capacity: 0,
        };
        return Ok(none);
    }
    let word_bytes = (mau.sram_width / 8).max(1);
    let entry_bytes = action_data_bytes(bits);
    let entries_per_word = (word_bytes / entry_bytes).max(1);
    let words_per_entry = entry_bytes.div_ceil(word_bytes);
    let per_ram = u64::from(mau.sram_depth.max(1)) * u64::from(entries_per_word);
    let deep = entries.div_ceil(per_ram);
    let rams = deep.saturating_mul(u64::from(words_per_entry));
    Ok(ActionDataLayout {
        entry_bytes,
        entries_per_word,
        words_per_entry,
        rams,
        capacity: deep.saturating_mul(per_ram),
    })
}
