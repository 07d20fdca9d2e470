//! Progress of a contest whose runs are on several threads.

use sluice_asic::units::{Duration, Time};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Progress of a contest.
#[derive(Clone, Copy, Debug)]
pub struct ContestProgress<'a> {
    /// Label of a running program, and the seed of its run.
    pub run: (&'a str, u64),
    /// Number of finished runs, and of all: one run for each program and seed.
    pub done: (usize, usize),
    /// Simulated time of all runs so far, and the time that they are expected to take: an ended run as long as it took, any
    /// other run as long as the longest one that has ended, and at least as long as its workload.
    pub simulated: (Duration, Duration),
    /// True if the run drains: its workload has ended and messages are under way, and no run of the contest has ended that
    /// would tell for how long.
    pub drains: bool,
}

/// Is called with the progress of a contest, on any of its threads; the contest stops if it returns false.
pub type Tick<'a> = &'a (dyn Fn(ContestProgress<'_>) -> bool + Sync);

/// Sums the progress of runs on several threads.
pub(super) struct Ticker<'a> {
    tick: Tick<'a>,
    workload: Duration,
    /// Simulated time of each run, ps.
    times: Vec<AtomicU64>,
    /// Longest simulated time of a run that has ended, ps; 0 before.
    longest: AtomicU64,
    /// Runs that are not under way or to come.
    ended: Vec<AtomicBool>,
    done: AtomicUsize,
}

impl<'a> Ticker<'a> {
    /// Starts with all runs done except the missing ones.
    pub(super) fn new(tick: Tick<'a>, workload: Duration, runs: usize, missing: &[usize]) -> Ticker<'a> {
        let times: Vec<AtomicU64> = (0..runs).map(|_| AtomicU64::new(workload.as_ps())).collect();
        missing.iter().for_each(|number| times[*number].store(0, Ordering::Relaxed));
        let ended = (0..runs).map(|run| AtomicBool::new(!missing.contains(&run))).collect();
        let done = AtomicUsize::new(runs - missing.len());
        Ticker { tick, workload, times, longest: AtomicU64::new(0), ended, done }
    }

    /// Notes that a run has ended.
    pub(super) fn end(&self, number: usize) {
        self.longest.fetch_max(self.times[number].load(Ordering::Relaxed), Ordering::Relaxed);
        self.ended[number].store(true, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the simulated time of all runs so far, and the expected one, ps.
    fn simulated(&self) -> (u64, u64) {
        let least = self.longest.load(Ordering::Relaxed).max(self.workload.as_ps());
        let (mut sum, mut all) = (0, 0);
        for (time, ended) in self.times.iter().zip(&self.ended) {
            let time = time.load(Ordering::Relaxed);
            sum += time;
            all += if ended.load(Ordering::Relaxed) { time } else { time.max(least) };
        }
        (sum, all)
    }

    /// Returns what a run calls with its time.
    pub(super) fn look(&self, number: usize, run: (&str, u64)) -> impl FnMut(Time) -> bool {
        move |time| {
            let own = time.since_origin().as_ps();
            self.times[number].store(own, Ordering::Relaxed);
            let (sum, all) = self.simulated();
            let done = (self.done.load(Ordering::Relaxed), self.times.len());
            let drains = own > self.workload.as_ps() && self.longest.load(Ordering::Relaxed) == 0;
            let simulated = (Duration::from_ps(sum), Duration::from_ps(all));
            (self.tick)(ContestProgress { run, done, simulated, drains })
        }
    }
}
