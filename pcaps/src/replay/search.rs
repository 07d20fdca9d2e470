//! [`Search`]: search for the highest rate that passes a trial, by bisection on whole numbers.

/// Searches for the highest rate, from 1 to the line rate, at which a trial passes. It assumes that every rate below a
/// passing rate passes as well. The caller must give each verdict to [`verdict`](Self::verdict) before it requests the
/// next rate.
///
/// The first trial runs at the line rate, so that a device without loss needs one trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Highest rate that passed; 0 if none has.
    passed: u64,
    /// Lowest rate that failed.
    failed: Option<u64>,
    line: u64,
    resolution: u64,
}

impl Search {
    /// Creates a search up to `line` whose answer is less than `resolution` (at least 1) below the lowest rate that
    /// fails.
    pub fn new(line: u64, resolution: u64) -> Self {
        Self { passed: 0, failed: None, line, resolution: resolution.max(1) }
    }

    /// Returns the rate to try next; `None` when the answer is known.
    pub fn next_rate(&self) -> Option<u64> {
        let Some(failed) = self.failed else {
            return (self.passed < self.line).then_some(self.line);
        };
        let gap = failed - self.passed;
        (gap > self.resolution).then(|| self.passed + gap / 2)
    }

    /// Takes the outcome of a trial at `rate`.
    pub fn verdict(&mut self, rate: u64, passed: bool) {
        if passed {
            self.passed = self.passed.max(rate);
        } else {
            self.failed = Some(self.failed.map_or(rate, |lowest| lowest.min(rate)));
        }
    }

    /// Returns the highest rate that passed.
    pub fn passed(&self) -> Option<u64> {
        Some(self.passed).filter(|rate| *rate > 0)
    }

    /// Returns the lowest rate that failed.
    pub fn failed(&self) -> Option<u64> {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a search for a device that passes up to `limit`; returns the search and the number of trials.
    fn run(line: u64, resolution: u64, limit: u64) -> (Search, u32) {
        let mut search = Search::new(line, resolution);
        let mut trials = 0;
        while let Some(rate) = search.next_rate() {
            search.verdict(rate, rate <= limit);
            trials += 1;
        }
        (search, trials)
    }

    #[test]
    fn the_line_rate_needs_one_trial() {
        let (search, trials) = run(400_000_000_000, 1, u64::MAX);
        assert_eq!((search.passed(), search.failed(), trials), (Some(400_000_000_000), None, 1));
    }

    #[test]
    fn nothing_passes() {
        let (search, _) = run(1_000, 1, 0);
        assert_eq!((search.passed(), search.failed()), (None, Some(1)));
    }

    proptest! {
        #[test]
        fn the_answer_brackets_the_limit(line in 1u64..1 << 40, resolution in 1u64..1 << 20, limit: u64) {
            let (search, trials) = run(line, resolution, limit);
            prop_assert!(trials <= 42);
            prop_assert!(search.passed().unwrap_or(0) <= limit.min(line));
            match search.failed() {
                Some(failed) => {
                    prop_assert!(failed > limit);
                    prop_assert!(failed - search.passed().unwrap_or(0) <= resolution);
                }
                None => prop_assert_eq!(search.passed(), Some(line)),
            }
        }
    }
}
