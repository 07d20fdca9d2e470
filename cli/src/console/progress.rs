//! Progress bars on a terminal; nothing is printed if stderr is not a terminal.

use super::fail::release;
use super::plain::plain;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Steps of a bar whose end is known.
const STEPS: u64 = 10_000;

/// A bar, or a spinner while the end is not known.
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    /// Starts a bar from 0 to 100 %.
    pub(crate) fn bounded() -> Bar {
        Bar::start(ProgressBar::new(STEPS), "{elapsed_precise} {bar:20} {percent:>3}% {msg}")
    }

    /// Starts a spinner.
    pub(crate) fn unbounded() -> Bar {
        Bar::start(ProgressBar::new_spinner(), "{elapsed_precise} {msg}")
    }

    fn start(bar: ProgressBar, template: &str) -> Bar {
        if !crate::console::terminal::shows_progress() {
            return Bar(None);
        }
        release();
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Bar(Some(bar))
    }

    /// True if somebody sees the bar.
    pub(crate) fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// Shows the done share, from 0 to 1, and a message.
    pub(crate) fn show(&self, share: Option<f64>, message: String) {
        let Some(bar) = &self.0 else { return };
        if let Some(share) = share {
            bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
        }
        bar.set_message(plain(&message).into_owned());
    }

    /// Removes the bar from the terminal.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Returns the words about the remaining time of a run of which `share` has been sent: while everything has been sent and packets are
/// under way, the rest takes as long as they take.
pub(crate) fn eta_of_sending(share: Option<f64>, elapsed: Duration) -> String {
    if share.is_some_and(|share| share >= 1.0) { ", draining".to_owned() } else { eta(share, elapsed) }
}

/// Returns the words about the remaining time, such as `, ETA 12 s`; nothing while no share is done.
pub(crate) fn eta(share: Option<f64>, elapsed: Duration) -> String {
    let left = |share: f64| elapsed.as_secs_f64() * (1.0 - share) / share;
    share.filter(|share| *share > 0.0).map_or_else(String::new, |share| format!(", ETA {:.0} s", left(share)))
}
