//! Progress of runs, for a caller that wants to show it.

use crate::rate_search::Attempt;
use sluice_asic::units::Time;
use sluice_pcaps::replay::Schedule;

/// Receives the progress of runs. A rate search has several runs. Every method does nothing by default.
pub trait Progress {
    /// A run begins.
    fn begin(&mut self, run: &Run) {
        let _ = run;
    }

    /// A run has made progress. It is called after every few packets, so it must be cheap.
    fn tick(&mut self, status: &Status<'_>) {
        let _ = status;
    }

    /// The run has ended.
    fn end(&mut self) {}
}

/// Ignores all progress.
impl Progress for () {}

/// A run that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The trial of a rate search; `None` for the replay itself.
    pub trial: Option<Attempt>,
    /// Pace, turns and limits.
    pub schedule: Schedule,
    /// Bytes of all inputs as stored; `None` if an input has no known length.
    pub bytes: Option<u64>,
}

/// Progress of a run.
#[derive(Clone, Copy)]
pub struct Status<'s> {
    /// Simulated time of the last packet sent.
    pub now: Time,
    /// Packets sent.
    pub sent: u64,
    /// Returns the part of the inputs that has been read. The function visits every input, so it is called on demand.
    pub read: &'s dyn Fn() -> InputProgress,
}

/// Part of the inputs that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputProgress {
    /// Complete turns of the inputs.
    pub turns: u64,
    /// Bytes of the present turn, in stored form.
    pub bytes: u64,
}
