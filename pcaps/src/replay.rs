//! Sending captures again: when each frame goes out, how often, with which addresses, and at which rate to try
//! next.
//!
//! Times are picoseconds since the first frame of the run and rates are plain numbers: what receives the frames
//! is nobody's business here. Reading is the business of [`capture`](crate::capture).

mod clock;
mod feed;
mod rewrite;
mod search;

pub use clock::Pace;
pub use feed::{Feed, InputReport, Opener, Port, Schedule, Sending};
pub use rewrite::Rewrite;
pub use search::Search;
