//! Timelines: fill levels of pools, priority groups and queues over time.
//!
//! Rows go to a [`RowSink`] at once, so a long run stores none of them. [`Levels`] is a drawing of a timeline in
//! bounded memory.

mod levels;
mod merge;

pub use levels::{Levels, Line};
pub(crate) use merge::{Merge, Row};

use crate::error::{BoxError, Error};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::network::SwitchId;
use sluice_switch::{Sink, Switch, TimelineRow};

/// Receives rows of timelines.
pub trait RowSink {
    /// Takes a row of a switch. Rows come in order of time; rows of one time come in the order of the switches. A single
    /// switch has number 0.
    ///
    /// # Errors
    /// Those of the sink. The run ends with [`Error::Rows`].
    fn row(&mut self, switch: SwitchId, row: &TimelineRow<'_>) -> Result<(), BoxError>;
}

/// A timeline to record.
pub struct TimelineRequest<'a> {
    /// Sampling interval: rows have multiples of it as their times. `None`: a row for every change.
    pub every: Option<Duration>,
    /// Receives the rows.
    pub rows: &'a mut dyn RowSink,
}

/// Records the timeline of a single switch.
pub(crate) struct Recorder<'a> {
    timeline: sluice_switch::Timeline,
    rows: &'a mut dyn RowSink,
}

impl<'a> Recorder<'a> {
    pub(crate) fn start(request: TimelineRequest<'a>, switch: &mut Switch<'_>) -> Recorder<'a> {
        let timeline = sluice_switch::Timeline::new(switch, request.every);
        Recorder { timeline, rows: request.rows }
    }

    fn advance(&mut self, switch: &mut Switch<'_>, until: Time, sink: &mut dyn Sink) -> Result<(), Error> {
        let mut taker = Taker { rows: &mut *self.rows, error: None };
        self.timeline.advance(switch, until, sink, &mut |row| taker.take(row))?;
        taker.result()
    }

    /// Records the changes at the end of a run.
    pub(crate) fn end(&mut self, switch: &mut Switch<'_>) -> Result<(), Error> {
        let mut taker = Taker { rows: &mut *self.rows, error: None };
        self.timeline.look(switch, &mut |row| taker.take(row));
        taker.result()
    }
}

/// Passes rows to a sink, and keeps the first error, because a timeline's callback returns nothing.
struct Taker<'s> {
    rows: &'s mut dyn RowSink,
    error: Option<BoxError>,
}

impl Taker<'_> {
    fn take(&mut self, row: &TimelineRow<'_>) {
        if let Err(error) = self.rows.row(SwitchId(0), row) {
            self.error.get_or_insert(error);
        }
    }

    fn result(self) -> Result<(), Error> {
        self.error.map_or(Ok(()), |error| Err(Error::Rows(error)))
    }
}

/// Runs a switch up to a time, recording a timeline if there is a recorder.
#[inline]
pub(crate) fn advance(
    recorder: &mut Option<Recorder<'_>>,
    switch: &mut Switch<'_>,
    until: Time,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    match recorder {
        None => Ok(switch.advance(until, sink)?),
        Some(recorder) => recorder.advance(switch, until, sink),
    }
}
