//! Schedule of a replay: the time and turn of each frame, its rewritten addresses, and the search for the highest rate.
//!
//! Times are picoseconds since the first frame of the run, and rates are plain numbers; the module does not know the
//! receiver of the frames. Module [`capture`](crate::capture) reads the files.

mod clock;
mod feed;
mod offload;
mod rewrite;
mod search;
mod stamps;

pub use clock::Pace;
pub use feed::{Feed, InputReport, Opener, Port, Schedule, Sending};
pub use offload::Offload;
pub use rewrite::Rewrite;
pub use search::Search;
pub use stamps::Stamps;
