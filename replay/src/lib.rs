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
//! use sluice_build::Builder;
//! use sluice_replay::{Attached, Captures, Checks, Input, Inputs, Options, Replay, interpreter};
//! use std::sync::atomic::AtomicBool;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A program that sends nothing anywhere.
//! let chip = ChipSpec::tofino2();
//! let program = Builder::new("nothing").finish()?;
//! let placed = Placed::new(program, &chip)?;
//! let switch = SwitchSetup::new("switch", &placed)?;
//! let port = switch.front(0).ok_or("no port 0")?;
//! let (_, capture) = sluice_pcaps::samples::of("l3-ecmp");
//! let inputs = Inputs::from(vec![Input::from_bytes(port, "sample", capture)]);
//! let (checks, options, stop) = (Checks::default(), Options::default(), AtomicBool::new(false));
//! let replay =
//!     Replay { switch: &switch, changes: &[], checks: &checks, inputs: &inputs, options: &options, stop: &stop };
//! let prepared = replay.prepare(&mut |request| Ok(interpreter(request.switch)))?;
//! let captures = Captures { sent: Some(Box::new(std::io::sink())), lost: None };
//! let outcome = prepared.run(Attached { captures, ..Attached::default() })?;
//! assert!(outcome.is_conserved && outcome.totals.received == 803);
//! # Ok(())
//! # }
//! ```

mod capture_writer;
mod captures;
mod collector;
mod comment;
mod control_plane;
mod error;
mod executor;
mod held_back;
mod inputs;
pub mod network;
mod options;
mod outcome;
mod pace;
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

pub use captures::Captures;
pub use collector::{Latency, PacketPlace, Unparsed};
pub use error::{BoxError, CutOff, Error, Fates, Passes};
pub use executor::{AnyExecutor, ExecutorFactory, ExecutorRequest, interpreter, traced_interpreter};
pub use held_back::HeldBackReport;
pub use inputs::{Input, Inputs};
pub use network::{NetworkAttached, NetworkOutcome, NetworkReplay, PreparedNetwork};
pub use options::{Checks, Options, PropertyFactory};
pub use outcome::{InputOutcome, Outcome, PortLoad, QueueOutcome};
pub use pace::{ParsePaceError, parse_decimal, parse_pace};
pub use progress::{InputProgress, Progress, Run, Status};
pub use rate_search::{Attempt, RateSearch, RateWarning, Trial};
pub use run::{Attached, Prepared, Replay};
pub use shared_buffer::{PipeWords, SharedBuffer};
pub use timeline::{Levels, Line, RowSink, TimelineRequest};
pub use trace::{StepTracer, Trace};
