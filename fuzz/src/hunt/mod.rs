//! The hunt for packets that break a property of a stage program.
//!
//! An [`Input`] is a list of packets with arrival times and ports, and of control-plane changes between them. A [`Runner`]
//! sends an input through two devices, one with the engine and one with the reference interpreter, checks the properties and
//! reports the coverage points that were new. [`hunt`] makes inputs: drawn from the program's parser, entries and constants,
//! or mutated from *pieces* of inputs that reached new points. [`shrink`] reduces a failing input.
//!
//! Results depend on the seed alone and not on the number of threads, because inputs are made in rounds of a fixed size from
//! the corpus as it was before the round.

/// Width of a dev_port in bits.
const PORT_BITS: u16 = 9;

mod campaign;
mod changes;
mod configured;
mod copies;
mod corpus;
mod digest;
mod egress_headers;
mod entries;
mod field_offsets;
mod fixup;
mod input;
pub mod kept;
mod memory;
mod obey;
mod pools;
mod ports;
mod responses;
mod runner;
mod shape;
mod shrink;
mod subject;
mod visible;

pub use campaign::{Campaign, Failure, Status, hunt, hunt_on, replayed};
pub use changes::changes;
pub use corpus::{Corpus, Response};
pub use input::{Aim, Input, Maker, Piece, Shot};
pub use pools::Pools;
pub use runner::{Outcome, Runner};
pub use shape::Packets;
pub use shrink::shrink;
pub use sluice_random::words;
pub use subject::{Subject, SubjectError};

pub(crate) use digest::Digest;
pub(crate) use memory::{Memory, restore};
pub(crate) use runner::{Beside, Ran, Reads, options, send};
pub(crate) use visible::VisibleDigest;
