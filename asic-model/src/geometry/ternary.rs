//! Ternary tables: TCAM blocks and ternary indirection (model: chip §3.2).

use super::GeometryError;
use crate::chip::MauSpec;

/// Returns the number of TCAM blocks in parallel for a key of `key_bytes` bytes. A pair of blocks holds 11 bytes; a
/// single block holds 5 bytes and a nibble, which the estimate counts as 6.
pub fn ternary_width(key_bytes: u32) -> u32 {
    const PAIR_BYTES: u32 = 11;
    const SINGLE_BYTES: u32 = 6;
    let pairs = key_bytes.saturating_sub(1) / PAIR_BYTES;
    let rest = key_bytes - pairs * PAIR_BYTES;
    let width = 2 * pairs;
    if rest > SINGLE_BYTES { width + 2 } else { width + u32::from(rest > 0 || width == 0) }
}

/// Returns the TCAM blocks of a table of `entries` entries with keys of `key_bytes` bytes.
pub fn tcams(mau: &MauSpec, entries: u64, key_bytes: u32) -> u64 {
    entries.div_ceil(u64::from(mau.tcam_depth.max(1))).saturating_mul(u64::from(ternary_width(key_bytes)))
}

/// Returns the entries of ternary indirection per RAM word for `overhead_bits` bits per entry. An entry takes a power
/// of two from 8 to 64 bits. Returns `None` if there is no overhead and so no indirection.
///
/// # Errors
/// Fails if the overhead is more than half a RAM word.
pub fn tind_entries_per_word(mau: &MauSpec, overhead_bits: u32) -> Result<Option<u32>, GeometryError> {
    const SMALLEST: u32 = 8;
    let limit = mau.sram_width / 2;
    match overhead_bits {
        0 => Ok(None),
        bits if bits <= limit => Ok(Some(mau.sram_width / bits.next_power_of_two().max(SMALLEST))),
        bits => Err(GeometryError::TooWide {
            what: "ternary indirection overhead",
            found: bits.into(),
            limit: limit.into(),
        }),
    }
}

/// Returns the RAMs of ternary indirection for `entries` entries of `overhead_bits` bits.
///
/// # Errors
/// Fails in the same cases as [`tind_entries_per_word`].
pub fn tind_rams(mau: &MauSpec, entries: u64, overhead_bits: u32) -> Result<u64, GeometryError> {
    let per_word = tind_entries_per_word(mau, overhead_bits)?;
    let per_ram = per_word.map(|entries| u64::from(entries) * u64::from(mau.sram_depth));
    Ok(per_ram.map_or(0, |per_ram| entries.div_ceil(per_ram.max(1))))
}

/// Returns the TCAM rows to plan for `entries` entries with a range field of `nibbles` nibbles. The estimate takes a
/// quarter of the entries as ranges, each with up to `2 * nibbles - 1` rows but no more than 8. A range field takes two
/// TCAM bytes per key byte.
pub fn range_lines(entries: u64, nibbles: u32) -> u64 {
    const MOST_LINES: u64 = 8;
    let ranges = entries.div_ceil(4);
    let lines = (2 * u64::from(nibbles)).saturating_sub(1).clamp(1, MOST_LINES);
    (entries - ranges).saturating_add(ranges.saturating_mul(lines))
}
