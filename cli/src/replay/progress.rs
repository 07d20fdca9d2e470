//! The line of progress on a terminal; nothing elsewhere.

use super::inputs::Inputs;
use indicatif::{ProgressBar, ProgressStyle};
use sluice_asic::units::Time;
use sluice_pcaps::replay::Schedule;
use std::io::IsTerminal;
use std::time::Instant;

/// Steps of the bar.
const STEPS: u64 = 10_000;
/// A run shorter than this shows nothing.
const QUIET_MS: u128 = 500;

/// Progress of a run.
pub(crate) struct Progress {
    started: Instant,
    /// Stands in front of the figures.
    what: String,
    schedule: Schedule,
    /// Bytes of one turn, if known.
    bytes: Option<u64>,
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl Progress {
    pub(crate) fn new(what: &str, schedule: Schedule, inputs: &Inputs) -> Progress {
        Progress {
            started: Instant::now(),
            what: what.to_owned(),
            schedule,
            bytes: inputs.bytes(),
            bar: None,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Wall time so far, in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Shows where the run is: frames sent; on demand turns read, and bytes of the present one.
    pub(crate) fn tick(&mut self, now: Time, sent: u64, read: impl FnOnce() -> (u64, u64)) {
        if !self.terminal || self.bar.is_none() && self.started.elapsed().as_millis() < QUIET_MS {
            return;
        }
        let share = self.share(now, sent, read());
        let bar = self.bar.get_or_insert_with(|| new_bar(share.is_some()));
        if let Some(share) = share {
            bar.set_position((share * STEPS as f64) as u64);
        }
        let seconds = self.started.elapsed().as_secs_f64().max(1e-9);
        let ratio = now.as_ps() as f64 / 1e12 / seconds;
        let eta = share
            .filter(|s| *s > 0.0)
            .map_or(String::new(), |s| format!(", ETA {:.0} s", seconds * (1.0 - s) / s));
        bar.set_message(format!(
            "{}{} packets, {:.2} M/s, simulated {}, {ratio:.2e} of real time{eta}",
            self.what,
            sent,
            sent as f64 / seconds / 1e6,
            now.since_origin()
        ));
    }

    /// How much of the run is done, if its end is known: whatever end is nearest.
    fn share(&self, now: Time, sent: u64, (turn, taken): (u64, u64)) -> Option<f64> {
        let s = &self.schedule;
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

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(bounded: bool) -> ProgressBar {
    let (bar, template) = match bounded {
        true => (ProgressBar::new(STEPS), "{elapsed_precise} {bar:20} {percent:>3}% {msg}"),
        false => (ProgressBar::new_spinner(), "{elapsed_precise} {msg}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
