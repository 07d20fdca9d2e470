//! Rounds of inputs on several threads, until there are enough.

use super::corpus::Corpus;
use super::input::{Input, Maker};
use super::runner::{Outcome, Runner};
use super::shrink::shrink;
use super::subject::{Subject, SubjectError};
use sluice_exec::cover::Coverage;
use sluice_switch::Reason;
use sluice_switch::property::Violation;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Inputs of a round. A constant: what is known changes between rounds only.
const ROUND: u64 = 32;

/// How much is done, and with how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// Everything follows from it.
    pub seed: u64,
    /// Inputs; `None` until `go_on` says that it is enough.
    pub cases: Option<u64>,
    /// Threads, at least 1; results do not depend on it.
    pub jobs: usize,
    /// Different properties that may fail before it ends.
    pub failures: usize,
    /// The reference interpreter runs every so manyth input, at least 1, and all that reach something new.
    pub compare: u64,
}

impl Default for Campaign {
    fn default() -> Self {
        Campaign { seed: 1, cases: Some(1000), jobs: 1, failures: 8, compare: 1 }
    }
}

/// A property that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What showed on the small input.
    pub violation: Violation,
    /// The number of the input that it was found by.
    pub case: u64,
    /// Packets of that input.
    pub packets: usize,
    /// A small input that shows it.
    pub input: Input,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Inputs run.
    pub cases: u64,
    /// Packets sent: the executions.
    pub packets: u64,
    /// What was reached.
    pub coverage: Coverage,
    /// What it found for inputs to come.
    pub corpus: Corpus,
    /// Why packets ended, with how many did.
    pub ends: BTreeMap<Reason, u64>,
    /// The first failure of each property.
    pub failures: Vec<Failure>,
}

/// Sends inputs until there are enough: by number, or because `go_on`, which is asked after each round, says so.
///
/// # Errors
/// When the device cannot be made.
pub fn hunt(
    subject: &Subject<'_>,
    campaign: &Campaign,
    go_on: impl FnMut(&Status) -> bool,
) -> Result<Status, SubjectError> {
    let status = Status { coverage: Coverage::new(&subject.points), ..Status::default() };
    hunt_on(subject, campaign, status, go_on)
}

/// Goes on from where a hunt has ended, to the campaign's number of inputs in all.
///
/// # Errors
/// When the device cannot be made.
pub fn hunt_on(
    subject: &Subject<'_>,
    campaign: &Campaign,
    mut status: Status,
    mut go_on: impl FnMut(&Status) -> bool,
) -> Result<Status, SubjectError> {
    let maker = Maker::new(subject);
    let runners: Result<Vec<_>, _> = (0..campaign.jobs.max(1)).map(|_| Runner::new(subject)).collect();
    let mut runners = runners?;
    loop {
        let end = campaign.cases.map_or(u64::MAX, |n| n.max(status.cases)).min(status.cases + ROUND);
        if end == status.cases {
            return Ok(status);
        }
        let numbers: Vec<u64> = (status.cases..end).collect();
        for (number, done) in numbers.iter().zip(round(&maker, &mut runners, campaign, &numbers, &status)) {
            let (input, outcome) = done?;
            for violation in &outcome.violations {
                let known = status.failures.iter().any(|f| f.violation.property == violation.property);
                if !known && let Some(runner) = runners.first_mut() {
                    status.failures.push(failure(runner, *number, &input, violation)?);
                }
            }
            status.take(&input, &outcome);
        }
        if status.failures.len() >= campaign.failures.max(1) || !go_on(&status) {
            return Ok(status);
        }
    }
}

type Done = Result<(Input, Outcome), SubjectError>;

/// The outcomes of these inputs, in order.
fn round(
    maker: &Maker<'_>,
    runners: &mut [Runner<'_>],
    campaign: &Campaign,
    numbers: &[u64],
    known: &Status,
) -> Vec<Done> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Done>>> = numbers.iter().map(|_| Mutex::new(None)).collect();
    let work = |runner: &mut Runner<'_>| {
        while let Some((at, number)) = take(&next, numbers) {
            let input = maker.input(campaign.seed, number, &known.corpus);
            runner.compare = number.is_multiple_of(campaign.compare.max(1));
            let done = runner.run(&input, &known.coverage).map(|outcome| (input, outcome));
            if let Ok(mut slot) = results[at].lock() {
                *slot = Some(done);
            }
        }
    };
    match runners {
        [one] => work(one),
        many => std::thread::scope(|scope| {
            for runner in many {
                scope.spawn(|| work(runner));
            }
        }),
    }
    let lost = || Err(SubjectError::Device("a thread ended early".to_owned()));
    results.into_iter().map(|slot| slot.into_inner().ok().flatten().unwrap_or_else(lost)).collect()
}

fn take(next: &AtomicUsize, numbers: &[u64]) -> Option<(usize, u64)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    numbers.get(at).map(|number| (at, *number))
}

/// The small input of a failure.
fn failure(
    runner: &mut Runner<'_>,
    case: u64,
    input: &Input,
    violation: &Violation,
) -> Result<Failure, SubjectError> {
    let nothing = Coverage::default();
    runner.compare = true;
    let mut shown = violation.clone();
    let input_small = shrink(input, |candidate| {
        // A change that no longer fits what it finds makes no candidate.
        let Ok(outcome) = runner.run(candidate, &nothing) else { return false };
        let found = outcome.violations.into_iter().find(|v| v.property == violation.property);
        found.map(|v| shown = v).is_some()
    });
    Ok(Failure { violation: shown, case, packets: input.shots.len(), input: input_small })
}

impl Status {
    /// Adds an outcome; pieces that reached what nothing before reached are kept.
    fn take(&mut self, input: &Input, outcome: &Outcome) {
        self.cases += 1;
        self.packets += input.shots.len() as u64;
        let mut kept = None;
        for (piece, point) in &outcome.new {
            if self.coverage.count(*point) == 0 && kept != Some(*piece) {
                kept = Some(*piece);
                self.corpus.pieces.extend(input.piece(*piece));
            }
        }
        for group in outcome.few.chunk_by(|a, b| a.0 == b.0) {
            let piece = group.first().and_then(|(piece, _)| input.piece(*piece));
            if let Some(piece) = piece {
                self.corpus.reach(&piece, group.iter().map(|(_, point)| *point));
            }
        }
        outcome.responses.iter().for_each(|response| self.corpus.add_response(response.clone()));
        self.coverage.merge(&outcome.coverage);
        for (reason, n) in &outcome.ends {
            let count = self.ends.entry(*reason).or_insert(0);
            if *count == 0 && kept.is_none() {
                let last = (input.pieces.len() as u32).checked_sub(1);
                self.corpus.pieces.extend(last.and_then(|n| input.piece(n)));
            }
            *count += n;
        }
    }
}
