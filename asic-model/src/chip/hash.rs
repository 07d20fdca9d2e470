//! Hash outputs and their consumers.

use serde::{Deserialize, Serialize};

/// Widths of hash seeds and hash consumers. The number of hash functions per stage is part of
/// [`super::MauSpec`] (model: chip §3.5, §11.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashSpec {
    /// Bits of a hash group's seed.
    pub seed_bits: u32,
    /// The output bit that can carry the parity of the others.
    pub parity_bit: u32,
    /// Bits of a hash distribution slice.
    pub dist_bits: u32,
    /// Bits of an expanded hash distribution slice.
    pub dist_expanded_bits: u32,
    /// Members per selector RAM word.
    pub selector_members_per_word: u32,
    /// RAM words of the largest selector group.
    pub selector_max_words: u32,
    /// Largest modulus of the word choice within a group.
    pub selector_max_modulus: u32,
    /// Largest shift of the word choice within a group.
    pub selector_max_shift: u32,
    /// Hash bits of the word choice that go through the modulus.
    pub selector_modulus_bits: u32,
    /// Hash bits of the word choice below the shift.
    pub selector_offset_bits: u32,
    /// Hash bits that choose a member in fair mode.
    pub selector_fair_bits: u32,
    /// Hash bits that choose a member in resilient mode.
    pub selector_resilient_bits: u32,
    /// Bits of each of a packet's two multicast hashes (model: tm §9).
    pub multicast_bits: u32,
}
