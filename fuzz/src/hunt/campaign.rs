//! Runs rounds of inputs on several threads, until a limit is reached.

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

/// Inputs of a round. A constant, because the corpus changes between rounds only.
const ROUND: u64 = 32;

/// Limits and options of a hunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of inputs; `None`: until `go_on` returns false.
    pub cases: Option<u64>,
    /// Threads, at least 1; results do not depend on it.
    pub jobs: usize,
    /// Number of different failed properties after which the hunt ends.
    pub failures: usize,
    /// The reference interpreter runs every n-th input, n at least 1, and every input that reaches a new point.
    pub compare: u64,
}

impl Default for Campaign {
    fn default() -> Self {
        Campaign { seed: 1, cases: Some(1000), jobs: 1, failures: 8, compare: 1 }
    }
}

/// A failed property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Violation on the small input.
    pub violation: Violation,
    /// Number of the input that first showed the violation.
    pub case: u64,
    /// Packets of that input.
    pub packets: usize,
    /// Shrunk input with the same violation.
    pub input: Input,
}

/// Progress and results of a hunt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Inputs run.
    pub cases: u64,
    /// Packets sent.
    pub packets: u64,
    /// Coverage reached.
    pub coverage: Coverage,
    /// Corpus for further inputs.
    pub corpus: Corpus,
    /// Reasons for which packets ended, each with the number of packets.
    pub ends: BTreeMap<Reason, u64>,
    /// First failure of each property.
    pub failures: Vec<Failure>,
    /// Inputs that reached a new point, or a new reason of a packet's end, in order of discovery.
    pub kept: Vec<Input>,
}

/// Sends inputs of earlier hunts, with which a hunt can go on: [`hunt_on`]. They do not count as cases.
///
/// # Errors
/// If the device cannot be built.
pub fn replayed(subject: &Subject<'_>, inputs: &[Input]) -> Result<Status, SubjectError> {
    let mut status = Status { coverage: Coverage::new(&subject.points), ..Status::default() };
    let mut runner = Runner::new(subject)?;
    runner.compare = true;
    for input in inputs {
        let outcome = runner.run(input, &status.coverage)?;
        status.fail(&mut runner, 0, input, &outcome)?;
        status.take(input, &outcome);
    }
    status.cases = 0;
    Ok(status)
}

/// Sends inputs until the campaign's number is reached or `go_on`, called after each round, returns false.
///
/// # Errors
/// If the device cannot be built.
pub fn hunt(
    subject: &Subject<'_>,
    campaign: &Campaign,
    go_on: impl FnMut(&Status) -> bool,
) -> Result<Status, SubjectError> {
    let status = Status { coverage: Coverage::new(&subject.points), ..Status::default() };
    hunt_on(subject, campaign, status, go_on)
}

/// Continues an earlier hunt up to the campaign's number of inputs in total.
///
/// # Errors
/// If the device cannot be built.
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
            if let Some(runner) = runners.first_mut() {
                status.fail(runner, *number, &input, &outcome)?;
            }
            status.take(&input, &outcome);
        }
        if status.failures.len() >= campaign.failures.max(1) || !go_on(&status) {
            return Ok(status);
        }
    }
}

type Done = Result<(Input, Outcome), SubjectError>;

/// Returns the outcomes of these inputs, in order.
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

/// Shrinks the input of a failure.
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
        // The device may refuse a change without the packets or changes before it; such an input is no candidate.
        let Ok(outcome) = runner.run(candidate, &nothing) else { return false };
        let found = outcome.violations.into_iter().find(|v| v.property == violation.property);
        found.map(|v| shown = v).is_some()
    });
    Ok(Failure { violation: shown, case, packets: input.shots.len(), input: input_small })
}

impl Status {
    /// Adds the first failure of each property, shrunk.
    fn fail(
        &mut self,
        runner: &mut Runner<'_>,
        case: u64,
        input: &Input,
        outcome: &Outcome,
    ) -> Result<(), SubjectError> {
        for violation in &outcome.violations {
            if !self.failures.iter().any(|f| f.violation.property == violation.property) {
                self.failures.push(failure(runner, case, input, violation)?);
            }
        }
        Ok(())
    }

    /// Adds an outcome. Pieces that reached a new point are kept.
    fn take(&mut self, input: &Input, outcome: &Outcome) {
        self.cases += 1;
        self.packets += input.shots.len() as u64;
        let (mut kept, mut is_new) = (None, false);
        for (piece, point) in &outcome.new {
            if self.coverage.count(*point) == 0 && kept != Some(*piece) {
                (kept, is_new) = (Some(*piece), true);
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
            is_new |= *count == 0;
            if *count == 0 && kept.is_none() {
                let last = (input.pieces.len() as u32).checked_sub(1);
                self.corpus.pieces.extend(last.and_then(|n| input.piece(n)));
            }
            *count += n;
        }
        if is_new {
            self.kept.push(input.clone());
        }
    }
}
