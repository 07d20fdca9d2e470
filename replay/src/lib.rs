//! Replays captures through emulated switches and networks of them.
//!
//! A [`Replay`] names a switch, inputs and options; a [`NetworkReplay`] does so for a network. [`Replay::prepare`] makes the
//! switch and opens the inputs, [`Prepared::run`] runs and returns an [`Outcome`]. Captures of sent and lost packets go to
//! any [`Write`](std::io::Write), rows of timelines to a [`RowSink`], progress to a [`Progress`]; a caller stops a run by
//! setting a flag. [`Replay::find_rate`] searches for the highest rate without loss.
//!
//! The crate has no terminal, no flags and no file names. It reads no host clock. It knows no program by name: the caller
//! hands in programs with their placements and entries ([`SwitchSetup`](sluice_fabric::network::SwitchSetup)) and makes
//! their executors ([`ExecutorFactory`]).
//!
//! ```
//! use sluice_asic::chip::ChipSpec;
//! use sluice_fabric::network::{Placed, SwitchSetup};
//! use sluice_build::net::Ethernet;
//! use sluice_build::*;
//! use sluice_replay::{Attached, Captures, Checks, Input, Inputs, Options, Replay, interpreter};
//! use std::sync::atomic::AtomicBool;
//!
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let ethernet = ig.header::<Ethernet>();
//!     let tm = ig.intrinsic::<tna::ForTm>();
//!     let start = ig.state().extract(ethernet);
//!     ig.start(start);
//!     ig.control(|c| {
//!         tm.ucast_egress_port = 8;
//!     });
//!     ig.deparser().emit(ethernet);
//! }
//!
//! let b = Builder::new("one-port", "Sends every packet to dev_port 8");
//! ingress(&b.ingress());
//! let program = b.finish(&()).map_err(|d| d[0].to_string())?;
//! let placed = Placed::new(program, &ChipSpec::tofino2()).map_err(|e| e.reason())?;
//! let switch = SwitchSetup::new("switch", &placed).map_err(|e| e.to_string())?;
//!
//! let (_, capture) = sluice_pcaps::samples::of("l3-ecmp");
//! let port = switch.front(0).ok_or("no port 0")?;
//! let inputs = Inputs::from(vec![Input::from_bytes(port, "sample", capture)]);
//! let (checks, options, stop) = (Checks::default(), Options::default(), AtomicBool::new(false));
//! let replay =
//!     Replay { switch: &switch, changes: &[], checks: &checks, inputs: &inputs, options: &options, stop: &stop };
//! let prepared = replay.prepare(&mut |request| Ok(Box::new(interpreter(request.switch)))).map_err(|e| e.to_string())?;
//! let captures = Captures { sent: Some(Box::new(std::io::sink())), lost: None };
//! let outcome = prepared.run(Attached { captures, ..Attached::default() }).map_err(|e| e.to_string())?;
//! assert!(outcome.is_conserved && outcome.totals.sent > 700);
//! # Ok::<(), String>(())
//! ```

mod bench;
mod capture_writer;
mod captures;
mod collector;
mod comment;
mod control_plane;
mod error;
mod executor;
mod generator_load;
mod held_back;
mod inputs;
pub mod network;
mod options;
mod outcome;
mod pace;
pub mod packet_test;
mod progress;
mod property_check;
mod rate_search;
mod read_ahead;
mod run;
mod sent_capture;
mod shared_buffer;
mod state;
mod summary;
mod time_order;
mod timeline;
mod trace;
mod view;
mod warnings;

pub use bench::{Bench, BenchError, BenchRun, LostPacket, SentPacket};
pub use captures::Captures;
pub use collector::{Latency, PacketPlace, Unparsed};
pub use control_plane::ControlPlaneReport;
pub use error::{BoxError, CutOff, Error, Fates, Passes};
pub use executor::{ExecutorFactory, ExecutorRequest, interpreter, traced_interpreter};
pub use generator_load::GeneratorLoad;
pub use held_back::{DelayRow, HeldBackReport, SenderRow};
pub use inputs::{Input, Inputs};
pub use network::{NetworkAttached, NetworkOutcome, NetworkReplay, PreparedNetwork};
pub use options::{Checks, Options, PropertyFactory};
pub use outcome::{InputOutcome, Outcome, PortLoad, QueueOutcome};
pub use pace::{ParsePaceError, parse_decimal, parse_pace};
pub use progress::{InputProgress, Progress, Run, Status};
pub use rate_search::{Attempt, RateSearch, RateWarning, Trial};
pub use run::{Attached, Prepared, Replay};
pub use shared_buffer::{
    BufferPortRow, BufferQueueRow, BufferState, GroupRow, PfcRow, PipeWords, PoolRow, PoolUse, SharedBuffer,
    StormRow, WatchdogRow, Watermarks, WordRow,
};
pub use sluice_fabric::spans::{SpanRequest, Spans};
pub use state::{CellRow, Element, ReadingRow, RegisterRow, RegisterState};
pub use summary::{
    CounterRow, Counts, CreatedCounts, HitRow, InputRow, LatencyRow, PacketCounts, PortRow, QueueRow,
    Summary, ViolationRow,
};
pub use timeline::{Levels, Line, RowSink, TimelineRequest};
pub use trace::{FilterError, Matched, StepTracer, Trace, TraceFilter, filter_names};
