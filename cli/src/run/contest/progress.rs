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
        let ((now, until), (done, all), (label, seed)) = (stage.simulated, stage.done, stage.run);
        let share = Some((now.as_ps() as f64 / until.as_ps().max(1) as f64).min(1.0));
        let eta = eta(share, self.started.elapsed());
        self.bar.show(share, format!("{done} of {all} runs done; {label}, seed {seed}{eta}"));
    }

    pub(super) fn finish(&self) {
        self.bar.clear();
    }
}
