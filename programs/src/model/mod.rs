//! Models of programs in plain Rust: what a switch must do with a packet, computed from the packet's bytes and the list of
//! entries.
//!
//! A model is written from the description of the protocol, not from the program. It shares no parser, lookup, hash or
//! arithmetic with the code that runs programs, so that an error in one of the two shows as a difference. A program's
//! module contains its model; this module contains the parts that models share.
//!
//! | file | contents |
//! |---|---|
//! | `frame` | Ethernet, IP, TCP and UDP fields of a frame; the frame after one hop |
//! | `entries` | lookups in lists of entries: exact, ternary, longest prefix, members of a group |
//! | `hash` | cyclic redundancy checks, bit by bit |
//! | `judge` | the property that compares every packet with the model's verdict |

mod entries;
pub(crate) mod frame;
pub(crate) mod hash;
mod judge;

pub(crate) use entries::{Call, Entries};
pub(crate) use judge::{ANY, Bytes, Expect, Judge, Model};
