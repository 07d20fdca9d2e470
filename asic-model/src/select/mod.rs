//! Member selection: from hash bits to one slot of an action-profile group.
//!
//! The hash is one number whose low bits are numbered from 0: bits 0 to 13, 14 to 27 and 28 to 41 are three 14-bit
//! picks; bits 42 to 50 and 5 to 13 are the input of the fall-back encoder; bits 51 to 65 choose the word of a group of
//! several words (model: hashing §6; the encoder's second input follows the driver's reference function
//! `rmt_sel_grp_mbr_get_from_hash`, open-p4studio).

mod fastmod;
mod group;
mod scramble;
mod selector;

pub use fastmod::FastMod;
pub use group::{GroupError, GroupShape, MAX_WORDS, SelectorWord, WORD_SLOTS};
pub use scramble::{scramble14, scramble15, scramble18};
pub use selector::{Selector, SelectorMode};
