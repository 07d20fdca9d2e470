//! Progress of contests on a terminal.

use super::Source;
use crate::console::progress::{Bar, eta};
use sluice_scenario::contest::ContestProgress;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Progress of all contests of a command, from several threads.
pub(super) struct Progress {
    started: Instant,
    bar: Bar,
    /// For each contest: finished runs, all runs, simulated time, and simulated time of all runs, us.
    contests: Vec<[AtomicU64; 4]>,
    /// Simulated time of runs that were finished before, us: they took no time.
    before: AtomicU64,
}

impl Progress {
    pub(super) fn new(sources: &[Source]) -> Progress {
        let start = |source: &Source| {
            let contest = &source.point.contest;
            let runs = (contest.program.len() * contest.seeds().len()) as u64;
            let time = contest.workload.time().as_ps() / 1_000_000 * runs;
            [0, runs, 0, time].map(AtomicU64::new)
        };
        let contests = sources.iter().map(start).collect();
        Progress { started: Instant::now(), bar: Bar::bounded(), contests, before: AtomicU64::new(u64::MAX) }
    }

    pub(super) fn tick(&self, number: usize, stage: &ContestProgress<'_>) {
        let (Some(own), true) = (self.contests.get(number), self.bar.is_shown()) else { return };
        let ((now, until), (done, all), (label, seed)) = (stage.simulated, stage.done, stage.run);
        for (slot, value) in
            own.iter().zip([done as u64, all as u64, now.as_ps() / 1_000_000, until.as_ps() / 1_000_000])
        {
            slot.store(value, Ordering::Relaxed);
        }
        let sum = |at: usize| self.contests.iter().map(|of| of[at].load(Ordering::Relaxed)).sum::<u64>();
        let (done, all, now, until) = (sum(0), sum(1), sum(2), sum(3));
        let before = self.before.fetch_min(now, Ordering::Relaxed).min(now);
        let share = |of: u64| of.saturating_sub(before) as f64 / until.saturating_sub(before).max(1) as f64;
        let eta = match stage.drains {
            true => ", draining".to_owned(),
            false => eta(Some(share(now).min(1.0)), self.started.elapsed()),
        };
        let shown = Some((now as f64 / until.max(1) as f64).min(1.0));
        self.bar.show(shown, format!("{done} of {all} runs done; {label}, seed {seed}{eta}"));
    }

    pub(super) fn finish(&self) {
        self.bar.clear();
    }
}
