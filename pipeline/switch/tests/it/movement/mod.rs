//! Packets that move in other ways than in, queue, out: each by a small program whose output bytes and times
//! are the same through both engines and at every batch size.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod built;
mod clear;
mod copies;
pub(crate) mod device;
mod flow_control;
mod ghost;
mod intrinsics;
mod laps;
mod lists;
mod mixed;
mod multicast;
mod overlay;
mod own_pipes;
mod pipes;
mod pktgen;
mod random;
mod skipped;
