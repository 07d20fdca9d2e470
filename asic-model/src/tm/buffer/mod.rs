//! Shared packet buffer: pure accounting over one memory.
//!
//! Pools and queues are counters over the memory and not parts of it: a packet is stored once and counted by several of
//! them. One accounting core ([`Buffer`]) serves two vocabularies with their defaults, `sai` and `tofino`, which a
//! profile file ([`BufferFile`]) chooses. [`BufferFile::resolve`] checks a profile against the ports and shows the
//! sums.
//!
//! Where sources disagree or are silent, [`DECISIONS`] lists the default answer and the profile key that changes it.

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
mod passing;
mod problem;
mod ranges;
mod resolve;
mod rule;
mod shipped;
mod sonic;
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
    Milliseconds, PfcEntry, PgEntry, PoolClass, PoolEntry, PortEntry, ProfileEntry, QueueEntry, QueueReserve,
    WatchdogEntry,
};
pub use gauge::{Gauge, Reader};
pub use map::{Class, CodePoint, DSCPS, QosMaps, TRAFFIC_CLASSES};
pub use problem::{Check, Problem, Problems, Sum, Sums};
pub use resolve::PortInfo;
pub use rule::{Refusal, Rule};
pub use sonic::{Hardware, SonicProblem, SonicProblems, SonicText};
pub use state::{Arrival, Charge, CopyGroup, PfcEdge, PgState, QueueState};
pub use threshold::{Share, Threshold};
pub use view::{PoolKind, PoolView};
