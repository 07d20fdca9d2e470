//! Progress of a campaign on a terminal.

use super::args::Budget;
use crate::console::progress::{Bar, eta};
use sluice_fuzz::hunt::{Status, Subject};
use std::time::{Duration, Instant};

/// Progress of a campaign.
pub(crate) struct Progress<'a> {
    subject: &'a Subject<'a>,
    budget: Budget,
    started: Instant,
    bar: Bar,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(subject: &'a Subject<'a>, budget: Budget) -> Progress<'a> {
        Progress { subject, budget, started: Instant::now(), bar: Bar::bounded() }
    }

    /// Shows where the campaign is.
    pub(crate) fn tick(&mut self, status: &Status) {
        if self.bar.is_shown() {
            let elapsed = self.started.elapsed();
            let share = self.share(status, elapsed);
            self.bar.show(Some(share), self.line(status, elapsed) + &eta(Some(share), elapsed));
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

    /// Removes the line from the terminal.
    pub(crate) fn clear(&self) {
        self.bar.clear();
    }
}
