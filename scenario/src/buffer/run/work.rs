//! The budget of a case, so that a few lines of a file cannot run for ever.

use sluice_asic::limits::{self, Limit};

/// The steps, rounds, notifications and marked packets that a case has done so far, with their limit.
#[derive(Debug)]
pub(crate) struct Work {
    done: u64,
    limit: &'static Limit,
}

impl Work {
    /// The budget of a case of a device, all of whose invariants are checked after each step.
    pub(crate) const fn of_device() -> Work {
        Work { done: 0, limit: &limits::SCENARIO_STEPS }
    }

    /// The budget of a case of a part of a host.
    pub(crate) const fn of_host() -> Work {
        Work { done: 0, limit: &limits::HOST_STEPS }
    }

    /// Adds what is about to be done; a negative count adds nothing.
    pub(crate) fn add(&mut self, count: i128) -> Result<(), String> {
        let sum = i128::from(self.done).saturating_add(count.max(0));
        if let Some(sum) = u64::try_from(sum).ok().filter(|sum| *sum <= self.limit.get()) {
            self.done = sum;
            return Ok(());
        }
        Err(format!(
            "{sum} steps, rounds, notifications and marked packets; this case has at most {}: lower `times` or the count; {}",
            self.limit.get(),
            self.limit.advice()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_the_budget_is_done() {
        let mut work = Work::of_device();
        assert_eq!((work.add(-5), work.add(99_999), work.add(1)), (Ok(()), Ok(()), Ok(())));
        let error = "100001 steps, rounds, notifications and marked packets; this case has at most 100000: lower `times` or the count; \
                     --max scenario-steps=N raises the limit";
        assert_eq!(work.add(1), Err(error.to_owned()));
        assert!(Work::of_host().add(i128::MAX).is_err());
    }
}
