//! The shared packet buffer: pure accounting over one memory.
//!
//! Pools and queues are counters over the memory, not parts of it: a packet lies in one place and bumps several of them.
//! One core ([`Buffer`]) serves two sets of words and defaults, `sai` and `tofino`, which a profile file
//! ([`BufferFile`]) chooses; [`BufferFile::resolve`] checks the whole against the ports and shows its sums.
//!
//! Profiles, their checks, admission, release, pauses, watermarks, drop reasons.
//!
//! Where sources disagree or say nothing, [`DECISIONS`] says what is done and where a profile can change it.

mod accounting;
mod check;
mod config;
mod decisions;
mod file;
mod gauge;
mod map;
mod maps;
mod marking;
mod numbers;
mod problem;
mod ranges;
mod resolve;
mod rule;
mod shipped;
mod state;
mod threshold;
mod view;

pub use accounting::Buffer;
pub use config::{
    BufferConfig, Choices, Lossless, PRIORITY_GROUPS, PgConfig, PoolConfig, PortBuffer, QueueBuffer, Rules,
    XoffTest,
};
pub use decisions::{DECISIONS, Decision};
pub use file::{
    BafReading, BufferFile, BufferFileError, CurveEntry, DecisionEntry, Direction, EcnEntry, MapEntry,
    Milliseconds, PfcEntry, PgEntry, PoolClass, PoolEntry, PortEntry, ProfileEntry, QueueEntry,
    WatchdogEntry,
};
pub use gauge::{Gauge, Reader};
pub use map::{Class, CodePoint, DSCPS, QosMaps, TRAFFIC_CLASSES};
pub use problem::{Check, Problem, Problems, Sum, Sums};
pub use resolve::PortInfo;
pub use rule::{Refusal, Rule};
pub use state::{Arrival, Charge, CopyGroup, PfcEdge, PgState, QueueState};
pub use threshold::{Share, Threshold};
pub use view::{PoolKind, PoolView};
