//! Progress of a contest on a terminal.

use crate::progress::{Bar, eta};
use sluice_scenario::contest::ContestProgress;
use std::time::Instant;

pub(super) struct Progress {
    started: Instant,
    bar: Bar,
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress { started: Instant::now(), bar: Bar::bounded() }
    }

    pub(super) fn tick(&self, stage: &ContestProgress<'_>) {
        if !self.bar.is_shown() {
            return;
        }
        let ((done, all), (now, until)) = (stage.done, stage.time);
        let own = (now.as_ps() as f64 / until.as_ps().max(1) as f64).min(1.0);
        let share = Some((done as f64 + own) / all.max(1) as f64);
        let eta = eta(share, self.started.elapsed());
        self.bar.show(share, format!("{}: simulated {}{eta}", stage.label, now.since_origin()));
    }

    pub(super) fn finish(&self) {
        self.bar.clear();
    }
}
