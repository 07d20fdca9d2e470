//! The hunt for packets that break a property of a stage program.
//!
//! An [`Input`] is a list of packets with times and ports, and of changes of entries between them. A [`Runner`] sends
//! it through two devices, one with the engine and one with the reference interpreter, asks the properties and says
//! which points of the program were new. [`hunt`] makes inputs: drawn from the program's parser, entries and
//! constants, or mutated from *pieces* of inputs that reached something new; [`shrink`] makes a failing one small.
//!
//! Everything follows from the seed: inputs are made in rounds of a fixed size from what was known before the round,
//! so that results do not depend on the number of threads.

/// Bits of a dev_port.
const PORT_BITS: u16 = 9;

mod beyond;
mod campaign;
mod changes;
mod configured;
mod copies;
mod corpus;
mod digest;
mod echo;
mod entries;
mod input;
mod located;
mod memory;
mod obey;
mod pools;
mod ports;
mod runner;
mod shape;
mod shrink;
mod subject;
mod whole;

pub use crate::draw::words;
pub use campaign::{Campaign, Failure, Status, hunt, hunt_on};
pub use changes::changes;
pub use corpus::{Corpus, Echo};
pub use input::{Aim, Input, Maker, Piece, Shot};
pub use pools::Pools;
pub use runner::{Outcome, Runner};
pub use shape::Packets;
pub use shrink::shrink;
pub use subject::{Subject, SubjectError};

pub(crate) use digest::Digest;
pub(crate) use memory::{Memory, restore};
pub(crate) use runner::{Beside, Ran, Reads, options, send};
