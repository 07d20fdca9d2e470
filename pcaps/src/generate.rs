//! Seeded traffic, frame by frame: the same configuration always gives the same bytes.
//!
//! Generators compose [`wire`](crate::wire) headers, draw from their own seed only, and compute times exactly. The
//! module does not read or write files, and does not know what a switch does with a frame; the caller passes the text
//! of files as strings. The distributions are implemented here in integers, so that neither a dependency's update nor
//! another machine changes a trace.

mod arrivals;
mod cdf;
mod compose;
mod error;
mod flow_list;
mod flows;
mod frame_list;
mod keys;
mod line;
mod pace;
mod pauses;
mod place;
mod prefix;
mod published;
mod quantity;
mod random;
mod run;
mod sizes;
mod traffic;
mod tuples;
mod workload;

pub use arrivals::{Arrival, ArrivalTimes, Arrivals, Incast, Periods};
pub use cdf::Cdf;
pub use compose::{ArpKind, Envelope, Kind, Overlay, RoceMessages, RoceOperation};
pub use error::{FileError, GenerateError};
pub use flow_list::{FlowList, ListDefaults, ListFrames};
pub use flows::{FlowFrames, FlowMix, MixError};
pub use frame_list::{FrameList, TrainFrames};
pub use line::Line;
pub use pace::{Pace, Schedule};
pub use pauses::{PauseFrames, Pauses};
pub use prefix::{Prefix, PrefixError};
pub use quantity::{parse_ps, parse_range};
pub use random::{Draw, EXPONENTIAL_BITS};
pub use run::Protocol;
pub use sizes::{MAX_LEN, MIN_LEN, Sizes};
pub use traffic::{MAX_FLOWS, Traffic, TrafficFrames};
pub use tuples::{Tuple, Tuples};
pub use workload::{Workload, WorkloadFrames};

use crate::capture::CaptureTime;

/// A generator: frames in order of time.
pub trait FrameSource {
    /// Returns the next frame, without FCS, and when its first bit is on the wire; `None` after the last.
    fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])>;
}

/// Returns the instant `ps` after `start`, or the largest timestamp.
#[inline]
fn later(start: CaptureTime, ps: u128) -> CaptureTime {
    let exact = u64::try_from(ps).ok().and_then(|ps| start.checked_add_ps(ps));
    exact.unwrap_or_else(|| CaptureTime::from_ps(start.as_ps().saturating_add(ps)))
}
