//! Progress line of a contest on a terminal; without a terminal nothing is shown.

use indicatif::{ProgressBar, ProgressStyle};
use sluice_scenario::contest::ContestProgress;
use std::io::IsTerminal;
use std::time::Instant;

/// Steps of the bar.
const STEPS: u64 = 1_000;

pub(super) struct Progress {
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new() -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(STEPS);
            if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {bar:20} {percent:>3}% {msg}")
            {
                bar.set_style(style);
            }
            bar
        });
        Progress { started: Instant::now(), bar }
    }

    pub(super) fn tick(&self, stage: &ContestProgress<'_>) {
        let Some(bar) = &self.bar else { return };
        let ((done, all), (now, until)) = (stage.done, stage.time);
        let own = (now.as_ps() as f64 / until.as_ps().max(1) as f64).min(1.0);
        let share = (done as f64 + own) / all.max(1) as f64;
        let seconds = self.started.elapsed().as_secs_f64();
        let eta = if share > 0.0 { seconds * (1.0 - share) / share } else { 0.0 };
        bar.set_position((share * STEPS as f64) as u64);
        bar.set_message(format!("{}: simulated {}, ETA {eta:.0} s", stage.label, now.since_origin()));
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
