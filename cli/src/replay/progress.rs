//! Progress line on a terminal; without a terminal nothing is shown. It also measures the wall time.

use crate::console::progress::{Bar, eta_of_sending};
use serde::Serialize;
use sluice_asic::units::{BitRate, Time};
use sluice_pcaps::replay::Schedule;
use sluice_replay::{Attempt, InputProgress, Progress, Run, Status};
use std::time::Instant;

/// A run shorter than this shows nothing.
const QUIET_MS: u128 = 500;

/// Wall time and rate of a run.
#[derive(Serialize)]
pub(super) struct Wall {
    seconds: f64,
    packets_per_second: f64,
}

/// Progress of runs, one after another.
pub(super) struct ProgressLine {
    started: Instant,
    /// Wall time of the last run that ended, in seconds.
    seconds: f64,
    /// Text in front of the figures.
    what: String,
    schedule: Schedule,
    /// Bytes of one turn, if known.
    bytes: Option<u64>,
    bar: Option<Bar>,
    terminal: bool,
}

impl ProgressLine {
    pub(super) fn new() -> ProgressLine {
        ProgressLine {
            started: Instant::now(),
            seconds: 0.0,
            what: String::new(),
            schedule: Schedule::default(),
            bytes: None,
            bar: None,
            terminal: crate::console::terminal::shows_progress(),
        }
    }

    /// Returns wall time and rate of the last run that ended, in which `packets` were sent.
    pub(super) fn wall(&self, packets: u64) -> Wall {
        let seconds = self.seconds;
        Wall { seconds, packets_per_second: packets as f64 / seconds.max(1e-9) }
    }

    /// Returns the share of the run that is done; of several limits, the nearest one counts. `None` if no limit is
    /// known.
    fn share(&self, now: Time, sent: u64, read: InputProgress) -> Option<f64> {
        let (s, turn, taken) = (&self.schedule, read.turns, read.bytes);
        let of = |done: u64, all: u64| (all != u64::MAX).then(|| done as f64 / all.max(1) as f64);
        let turns = match (self.bytes, s.turns) {
            (Some(bytes), 1..) => Some((turn as f64 + taken as f64 / bytes.max(1) as f64) / s.turns as f64),
            _ => None,
        };
        [turns, of(sent, s.limit), of(now.as_ps(), s.duration)]
            .into_iter()
            .flatten()
            .reduce(f64::max)
            .map(|share| share.min(1.0))
    }
}

impl Progress for ProgressLine {
    fn begin(&mut self, run: &Run) {
        let trial = |t: Attempt| format!("trial {} at {}: ", t.number, BitRate::from_bps(t.rate));
        self.what = run.trial.map_or(String::new(), trial);
        (self.schedule, self.bytes, self.bar) = (run.schedule, run.bytes, None);
        self.started = Instant::now();
    }

    fn tick(&mut self, status: &Status<'_>) {
        if !self.terminal || self.bar.is_none() && self.started.elapsed().as_millis() < QUIET_MS {
            return;
        }
        let Status { now, sent, .. } = *status;
        let share = self.share(now, sent, (status.read)());
        let start = || if share.is_some() { Bar::bounded() } else { Bar::unbounded() };
        let bar = self.bar.get_or_insert_with(start);
        let seconds = self.started.elapsed().as_secs_f64().max(1e-9);
        let ratio = now.as_ps() as f64 / 1e12 / seconds;
        let message = format!(
            "{}{sent} packets, {:.2} M/s, simulated {}, {ratio:.2e} of real time{}",
            self.what,
            sent as f64 / seconds / 1e6,
            now.since_origin(),
            eta_of_sending(share, self.started.elapsed()),
        );
        bar.show(share, message);
    }

    /// Removes the line.
    fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
        self.seconds = self.started.elapsed().as_secs_f64();
    }
}
