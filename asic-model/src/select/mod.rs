//! Member selection: from hash bits to one slot of an action-profile group.
//!
//! The selector's arithmetic, the shape and liveness of a group, the optional scrambler.
//!
//! The hash arrives as one number whose low bits are numbered from 0: bits 0..=13, 14..=27 and 28..=41 are
//! three 14-bit picks, bits 42..=50 and 5..=13 feed the fall-back encoder, bits 51..=65 choose the word of a
//! group larger than one (model: hashing §6; the encoder's second input from the driver's reference function
//! `rmt_sel_grp_mbr_get_from_hash`, open-p4studio).

mod fastmod;
mod group;
mod scramble;
mod selector;

pub use fastmod::FastMod;
pub use group::{GroupError, GroupShape, MAX_WORDS, SelectorWord, WORD_SLOTS};
pub use scramble::{scramble14, scramble15, scramble18};
pub use selector::{Selector, SelectorMode};
