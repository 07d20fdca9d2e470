//! Progress of a campaign: one line that is redrawn on a terminal, otherwise a line every ten seconds.

use super::args::Budget;
use indicatif::{ProgressBar, ProgressStyle};
use sluice_fuzz::hunt::{Status, Subject};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between plain lines.
const EVERY: Duration = Duration::from_secs(10);

/// Progress of a campaign.
pub(crate) struct Progress<'a> {
    subject: &'a Subject<'a>,
    budget: Budget,
    started: Instant,
    bar: Option<ProgressBar>,
    told: Instant,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(subject: &'a Subject<'a>, budget: Budget) -> Progress<'a> {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(1000);
            if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {bar:20} {percent:>3}% {msg}")
            {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Progress { subject, budget, started: now, bar, told: now }
    }

    /// Shows the state of the campaign.
    pub(crate) fn tick(&mut self, status: &Status) {
        let elapsed = self.started.elapsed();
        if let Some(bar) = &self.bar {
            bar.set_position((self.share(status, elapsed) * 1000.0) as u64);
            bar.set_message(self.line(status, elapsed));
        } else if self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            eprintln!("{:.0} s: {}", elapsed.as_secs_f64(), self.line(status, elapsed));
        }
    }

    fn share(&self, status: &Status, elapsed: Duration) -> f64 {
        let of = |done: f64, all: f64| (done / all.max(1e-9)).min(1.0);
        let time = self.budget.time.map_or(0.0, |most| of(elapsed.as_secs_f64(), most.as_secs_f64()));
        let cases = self.budget.cases.map_or(0.0, |most| of(status.cases as f64, most as f64));
        time.max(cases)
    }

    fn line(&self, status: &Status, elapsed: Duration) -> String {
        let share = status.coverage.overall(&self.subject.points);
        format!(
            "{} packets, {:.0} k/s, coverage {} of {} ({} %), {} pieces, {} failures",
            status.packets,
            status.packets as f64 / elapsed.as_secs_f64().max(1e-9) / 1e3,
            share.hit,
            share.total,
            share.percent(),
            status.corpus.pieces.len(),
            status.failures.len()
        )
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
