//! Synthetic two-port memories: registers, counters, meters, selectors (model: chip §1.3, §3.5, §4.5, §5).
//!
//! Such a memory pairs every SRAM with a map RAM and has one spare bank.

use super::GeometryError;
use crate::chip::{ChipSpec, HashSpec, MauSpec};

/// The layout of a synthetic two-port memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SynthLayout {
    /// Entries per RAM word.
    pub entries_per_word: u32,
    /// RAMs that hold data.
    pub data_rams: u64,
    /// Number of SRAMs, including the spare.
    pub srams: u64,
    /// Map RAMs paired with them.
    pub map_rams: u64,
    /// Entries held.
    pub capacity: u64,
}

/// Spare banks per table.
const SPARES: u64 = 1;

fn synth(mau: &MauSpec, entries: u64, entries_per_word: u32) -> SynthLayout {
    let per_ram = u64::from(mau.sram_depth.max(1)) * u64::from(entries_per_word.max(1));
    let data_rams = entries.div_ceil(per_ram).max(1);
    let srams = data_rams.saturating_add(SPARES);
    let capacity = data_rams.saturating_mul(per_ram);
    SynthLayout { entries_per_word, data_rams, srams, map_rams: srams, capacity }
}

/// Returns the layout of a register of `entries` elements of `element_bits` bits; for pairs, both halves together.
///
/// # Errors
/// Fails if words cannot be divided into elements of this width. The size is not bounded: compare with
/// [`max_register_rams`].
pub fn register(mau: &MauSpec, entries: u64, element_bits: u32) -> Result<SynthLayout, GeometryError> {
    match element_bits {
        1 | 8 | 16 | 32 | 64 | 128 => Ok(synth(mau, entries, mau.sram_width / element_bits)),
        other => Err(GeometryError::Element { found: other.into() }),
    }
}

/// Returns the number of SRAMs, including the spare, that one register can have. If the memory core is split, these are
/// the rows that a meter ALU reaches; otherwise, all RAMs with a map RAM (model: chip §4.5).
pub fn max_register_rams(chip: &ChipSpec) -> u64 {
    let mau = &chip.mau;
    let rows = if chip.features.memory_core_split { mau.meter_rows_per_alu } else { mau.sram_rows };
    u64::from(rows.min(mau.sram_rows)) * u64::from(mau.sram_right_columns)
}

/// The format of a counter's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterFormat {
    /// Packets or bytes, 32 bits.
    Single32,
    /// Packets or bytes, 64 bits.
    Single64,
    /// Packets of 28 bits and bytes of 36 bits.
    Both28And36,
    /// Packets of 64 bits and bytes of 64 bits.
    Both64,
    /// Packets of 17 bits and bytes of 25 bits.
    Both17And25,
}

impl CounterFormat {
    /// Every format.
    pub const ALL: [Self; 5] =
        [Self::Single32, Self::Single64, Self::Both28And36, Self::Both64, Self::Both17And25];

    /// Entries per RAM word.
    pub const fn entries_per_word(self) -> u32 {
        match self {
            Self::Single32 => 4,
            Self::Single64 | Self::Both28And36 => 2,
            Self::Both64 => 1,
            Self::Both17And25 => 3,
        }
    }

    /// Returns the bits that count packets and the bits that count bytes, if the format counts both.
    pub const fn packet_and_byte_bits(self) -> Option<(u32, u32)> {
        match self {
            Self::Single32 | Self::Single64 => None,
            Self::Both28And36 => Some((28, 36)),
            Self::Both64 => Some((64, 64)),
            Self::Both17And25 => Some((17, 25)),
        }
    }
}

/// Returns the layout of a counter.
pub fn counter(mau: &MauSpec, entries: u64, format: CounterFormat) -> SynthLayout {
    synth(mau, entries, format.entries_per_word())
}

/// Returns the layout of a meter, LPF or WRED: one entry per word. Coloured meters also need [`meter_colour_rams`].
pub fn meter(mau: &MauSpec, entries: u64) -> SynthLayout {
    synth(mau, entries, 1)
}

/// Returns the map RAMs that hold the colours of a coloured meter: four per map RAM word.
pub fn meter_colour_rams(mau: &MauSpec, entries: u64) -> u64 {
    entries.div_ceil(4 * u64::from(mau.map_ram_depth.max(1)))
}

/// Returns the map RAMs that hold the ages of `entries` entries of 1, 2, 3 or 6 bits.
///
/// The 11-bit word holds 8, 4, 2 or 1 ages (model: chip §1.2), a power of two so that an address is a shift.
pub fn idle_map_rams(mau: &MauSpec, entries: u64, bits: u32) -> u64 {
    let per_word = match bits {
        0 | 1 => 8,
        2 => 4,
        3 => 2,
        _ => 1,
    };
    entries.div_ceil(per_word * u64::from(mau.map_ram_depth.max(1)))
}

/// Addressing of a selector group's RAM words: `((hash mod modulus) << shift)
/// offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectorGroup {
    /// The modulus, at least 1.
    pub modulus: u32,
    /// The shift.
    pub shift: u32,
}

impl SelectorGroup {
    /// RAM words of the group.
    pub const fn words(self) -> u32 {
        self.modulus << self.shift
    }
}

/// Returns true if groups of up to `members` members make a wide selector, which costs latency.
pub const fn is_wide_selector(hash: &HashSpec, members: u32) -> bool {
    members > hash.selector_members_per_word
}

/// Returns the least addressable group that holds `members` members.
///
/// # Errors
/// Fails without members, and with more than the largest group holds.
pub fn selector_group(hash: &HashSpec, members: u32) -> Result<SelectorGroup, GeometryError> {
    if members == 0 {
        return Err(GeometryError::Zero { what: "selector group size" });
    }
    let words = members.div_ceil(hash.selector_members_per_word.max(1));
    let shifts = 0..=hash.selector_max_shift.min(16);
    let addressable =
        shifts.map(|shift| SelectorGroup { modulus: words.div_ceil(1 << shift), shift }).filter(|group| {
            group.modulus <= hash.selector_max_modulus && group.words() <= hash.selector_max_words
        });
    addressable.min_by_key(|group| group.words()).ok_or(GeometryError::TooMany {
        what: "selector group members",
        found: members.into(),
        limit: u64::from(hash.selector_max_words) * u64::from(hash.selector_members_per_word),
    })
}

/// Returns the layout of a selector with `groups` groups of up to `members` members.
///
/// # Errors
/// Fails in the same cases as [`selector_group`].
pub fn selector(chip: &ChipSpec, groups: u64, members: u32) -> Result<SynthLayout, GeometryError> {
    let group = selector_group(&chip.hash, members)?;
    Ok(synth(&chip.mau, groups.saturating_mul(u64::from(group.words())), 1))
}
