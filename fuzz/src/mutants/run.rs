//! Mutants against inputs. What may not live here: what a mutation is.

use super::edit::Edit;
use super::sites::Mutant;
use crate::hunt::{Input, Subject, SubjectError, reference, send};
use sluice_pipeline::control::{ControlOp, ControlState};
use sluice_pipeline::cover::{Coverage, Points};
use sluice_pipeline::ir::Program;
use sluice_pipeline::property::Monitor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What noticed a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A property failed: its name.
    Property(String),
    /// What left, ended or stayed in registers differs from the unmutated program; no property had failed by then.
    Compared,
    /// Nothing noticed it, and why that may be.
    Survived(&'static str),
}

/// A mutant with its fate.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The mutant.
    pub mutant: Mutant,
    /// What became of it.
    pub fate: Fate,
    /// Inputs that it was sent.
    pub inputs: usize,
}

/// What came of a mutation check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// Every mutant, in order of the program.
    pub verdicts: Vec<Verdict>,
    /// Changes that the verifier refuses, or that change nothing.
    pub refused: usize,
}

impl Checked {
    /// Mutants that a property noticed.
    #[must_use]
    pub fn by_property(&self) -> usize {
        self.verdicts.iter().filter(|v| matches!(v.fate, Fate::Property(_))).count()
    }

    /// Mutants that the comparison alone noticed.
    #[must_use]
    pub fn by_comparison(&self) -> usize {
        self.verdicts.iter().filter(|v| v.fate == Fate::Compared).count()
    }

    /// Mutants that cannot be told from the program, by its graph: they do not count.
    #[must_use]
    pub fn equivalent(&self) -> usize {
        self.verdicts.iter().filter(|v| v.fate == Fate::Survived(UNREACHABLE)).count()
    }

    /// Mutants noticed of those that can be, in per cent, rounded down.
    #[must_use]
    pub fn percent(&self) -> usize {
        let all = self.verdicts.len() - self.equivalent();
        (self.by_property() + self.by_comparison()) * 100 / all.max(1)
    }
}

/// Why a mutant survived: the graph says that no packet reaches it.
const UNREACHABLE: &str = "equivalent: no packet can reach it";
const OVERRIDDEN: &str = "equivalent with these entries: they set another default action";
const UNCOVERED: &str = "no input reached it";
const UNEXPLAINED: &str = "unexplained";

/// Sends inputs to mutants of a subject's program until something notices each, on several threads. `coverage` is
/// what the inputs reach of the unmutated program; `tick` is told how many mutants are done.
///
/// # Errors
/// When the device cannot be made for the unmutated program.
pub fn check(
    subject: &Subject<'_>,
    (mutants, refused): (Vec<Mutant>, usize),
    inputs: &[Input],
    coverage: &Coverage,
    jobs: usize,
    tick: impl Fn(usize) + Sync,
) -> Result<Checked, SubjectError> {
    let golden: Result<Vec<_>, _> = inputs.iter().map(|i| golden(subject, i)).collect();
    let golden = golden?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let fates: Vec<Mutex<Option<(Fate, usize)>>> = mutants.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let fate = fate(subject, mutant, inputs, &golden, coverage);
            let at = mutants.iter().position(|m| std::ptr::eq(m, mutant)).unwrap_or(0);
            if let Ok(mut slot) = fates[at].lock() {
                *slot = Some(fate);
            }
            tick(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    std::thread::scope(|scope| {
        (0..jobs.max(1)).for_each(|_| _ = scope.spawn(work));
    });
    let fates = fates.into_iter().map(|slot| slot.into_inner().ok().flatten());
    let verdict = |(mutant, fate): (Mutant, Option<(Fate, usize)>)| {
        let (fate, inputs) = fate.unwrap_or((Fate::Survived(UNEXPLAINED), 0));
        Verdict { mutant, fate, inputs }
    };
    Ok(Checked { verdicts: mutants.iter().cloned().zip(fates).map(verdict).collect(), refused })
}

/// What the unmutated program does with an input.
type Golden = (crate::hunt::Digest, Vec<sluice_pipeline::pass::State>);

fn golden(subject: &Subject<'_>, input: &Input) -> Result<Golden, SubjectError> {
    let mut executor = reference(subject, &subject.program, &subject.control);
    let config = subject.config.clone();
    let ran = send(
        subject,
        &subject.program,
        &subject.control,
        config,
        &mut executor,
        input,
        None,
        &mut |_, _| {},
    )?;
    Ok((ran.digest, ran.states))
}

fn fate(
    subject: &Subject<'_>,
    mutant: &Mutant,
    inputs: &[Input],
    golden: &[Golden],
    coverage: &Coverage,
) -> (Fate, usize) {
    let program = mutant.edit.apply(&subject.program);
    let control = entries(subject, &program);
    for (n, (input, expected)) in (1..).zip(inputs.iter().zip(golden)) {
        // A key or an action that the mutant does not have is noticed by who writes entries, not by packets: such an
        // input says nothing.
        if !fits(&program, &control, input) {
            continue;
        }
        let one = || one(subject, &program, &control, input, expected);
        match catch_unwind(AssertUnwindSafe(one)) {
            Ok(None) => {}
            Ok(Some(fate)) => return (fate, n),
            Err(_) => return (Fate::Property("no_panic".to_owned()), n),
        }
    }
    let overridden = matches!(mutant.edit, Edit::OtherDefault(table, _)
        if subject.control.tables[table].default != subject.program.tables[table].default);
    let reason = if overridden { OVERRIDDEN } else { why(&subject.points, mutant, coverage) };
    (Fate::Survived(reason), inputs.len())
}

/// Whether every change of an input is one of the mutant's, too.
fn fits(program: &Program, control: &ControlState, input: &Input) -> bool {
    let entries = |op: &&ControlOp| !matches!(op, ControlOp::Device(_));
    let mut ops = input.ops.iter().map(|(_, op)| op).filter(entries).peekable();
    if ops.peek().is_none() {
        return true;
    }
    let mut state = control.clone();
    ops.all(|op| state.apply(program, op.clone()).is_ok())
}

/// What notices the mutant by this input.
fn one(
    subject: &Subject<'_>,
    program: &Program,
    control: &ControlState,
    input: &Input,
    (digest, states): &Golden,
) -> Option<Fate> {
    let mut executor = reference(subject, program, control);
    let mut monitor = Monitor::new(program, subject.properties(input.obeys));
    let config = subject.config.clone();
    let sent =
        send(subject, program, control, config, &mut executor, input, Some(&mut monitor), &mut |_, _| {});
    if let Some(violation) = monitor.violations().first() {
        return Some(Fate::Property(violation.property.to_owned()));
    }
    if executor.tracer_mut().take().is_some() {
        return Some(Fate::Property("no_invalid_headers".to_owned()));
    }
    match sent {
        Ok(ran) if !ran.cut && ran.digest == *digest && ran.states == *states => None,
        _ => Some(Fate::Compared),
    }
}

/// The subject's entries for a mutated program: its fixed entries and default actions are the mutant's.
fn entries(subject: &Subject<'_>, program: &Program) -> ControlState {
    let (mut control, own) = (subject.control.clone(), ControlState::new(program));
    for (table, data) in program.tables.iter() {
        let was = &subject.program.tables[table];
        if !data.entries.is_empty() || !was.entries.is_empty() {
            control.tables[table].clone_from(&own.tables[table]);
        }
        if control.tables[table].default == was.default {
            control.tables[table].default.clone_from(&data.default);
        }
    }
    control
}

fn why(points: &Points, mutant: &Mutant, coverage: &Coverage) -> &'static str {
    let numbers: Vec<u32> = mutant.needs.iter().filter_map(|p| points.number(*p)).collect();
    let never = |n: &u32| points.list()[*n as usize].unreachable.is_some();
    if numbers.is_empty() {
        UNEXPLAINED
    } else if numbers.iter().all(never) {
        UNREACHABLE
    } else if numbers.iter().all(|n| coverage.count(*n) == 0) {
        UNCOVERED
    } else {
        UNEXPLAINED
    }
}
