//! Seeded traffic, frame by frame: the same configuration gives the same bytes for ever.
//!
//! Generators compose [`wire`](crate::wire) headers, draw from their own seed only and stamp by exact
//! arithmetic. Nothing here writes files or knows what a switch does with a frame; the distributions are our
//! own, so that no dependency's update changes a trace.

mod flows;
mod pace;
mod prefix;
mod random;

pub use flows::{FlowFrames, FlowMix, MixError};
pub use pace::{Pace, Schedule};
pub use prefix::{Prefix, PrefixError};
pub use random::Draw;
