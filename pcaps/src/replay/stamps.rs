//! [`Stamps`]: timestamps of the times of a run.

use crate::capture::CaptureTime;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Timestamp of every time of a run.
///
/// Time zero has the earliest first timestamp of all inputs. After a gap that the run shortens, the timestamps are again
/// those of the inputs. Clones share the gaps, and may be on other threads than the [`Feed`](super::Feed) that finds the
/// gaps: the feed records a gap before it returns the frame after the gap.
#[derive(Debug, Clone)]
pub struct Stamps {
    shared: Arc<Shared>,
    /// A copy of `Shared::begins`, which is never empty.
    begins: Vec<(u64, CaptureTime)>,
}

#[derive(Debug)]
struct Shared {
    /// Times from which on timestamps differ by another distance from times, in ps, with their timestamps; in order.
    begins: Mutex<Vec<(u64, CaptureTime)>>,
    /// Number of elements of `begins`.
    count: AtomicUsize,
}

impl Stamps {
    /// Returns the timestamps of a run whose time zero has the timestamp `origin`.
    pub fn new(origin: CaptureTime) -> Self {
        let begins = vec![(0, origin)];
        let shared = Shared { begins: Mutex::new(begins.clone()), count: AtomicUsize::new(1) };
        Self { shared: Arc::new(shared), begins }
    }

    /// Returns the timestamp of a time of the run, in ps; the last timestamp of the range if it would be later.
    #[inline]
    pub fn at(&mut self, time: u64) -> CaptureTime {
        if self.shared.count.load(Ordering::Acquire) != self.begins.len() {
            self.begins.clone_from(&self.shared.begins.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let after = match self.begins.len() {
            1 => 1,
            _ => self.begins.partition_point(|(begin, _)| *begin <= time),
        };
        let (begin, stamp) = self.begins[after.max(1) - 1];
        stamp.checked_add_ps(time.saturating_sub(begin)).unwrap_or(CaptureTime::MAX)
    }

    /// Sets the timestamp of the times from `time` on, which is after all times given before.
    pub(super) fn jump(&mut self, time: u64, stamp: CaptureTime) {
        let mut begins = self.shared.begins.lock().unwrap_or_else(PoisonError::into_inner);
        begins.push((time, stamp));
        self.shared.count.store(begins.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_two_gaps_keep_the_distance_of_the_gap_before() {
        let origin = CaptureTime::from_secs(1_000);
        let mut feed = Stamps::new(origin);
        let mut output = feed.clone();
        assert_eq!(output.at(7), CaptureTime::from_ps(origin.as_ps() + 7));
        feed.jump(100, CaptureTime::from_secs(5_000));
        feed.jump(200, CaptureTime::from_secs(9_000));
        let seen = [99, 100, 199, 200, 203].map(|time| output.at(time).as_ps());
        let second = 1_000_000_000_000;
        assert_eq!(seen[..2], [1_000 * second + 99, 5_000 * second]);
        assert_eq!(seen[2..], [5_000 * second + 99, 9_000 * second, 9_000 * second + 3]);
        assert_eq!(feed.at(200), CaptureTime::from_secs(9_000));
    }
}
