//! Mutants against inputs.

use super::bed::Bed;
use super::edit::Edit;
use super::hidden::{Hidden, hidden};
use super::judge::{Golden, Original, Shelf, Source};
use super::proofs::Proofs;
use super::remains::Remains;
use super::sites::Mutant;
use crate::hunt::{Aim, Corpus, Maker, Reads, Subject, SubjectError};
use sluice_exec::cover::Coverage;
use sluice_switch::property::Monitor;
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
    /// It does what the program does, and why that is certain.
    Equivalent(&'static str),
    /// Nothing noticed it, and what is known of why.
    Survived(Survival),
}

/// Why nothing noticed a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Survival {
    /// Inputs never came to its site.
    Uncovered,
    /// They came, and no packet had anything done to it that the program would not have done: the value or the state that
    /// tells them apart was not met.
    Alike,
    /// Something was done otherwise, and neither what leaves nor what stays depends on it.
    Hidden(Hidden),
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
    fn count(&self, of: impl Fn(&Fate) -> bool) -> usize {
        self.verdicts.iter().filter(|v| of(&v.fate)).count()
    }

    /// Mutants that a property noticed.
    #[must_use]
    pub fn by_property(&self) -> usize {
        self.count(|fate| matches!(fate, Fate::Property(_)))
    }

    /// Mutants that the comparison alone noticed.
    #[must_use]
    pub fn by_comparison(&self) -> usize {
        self.count(|fate| *fate == Fate::Compared)
    }

    /// Mutants that provably cannot be told from the program: they do not count.
    #[must_use]
    pub fn equivalent(&self) -> usize {
        self.count(|fate| matches!(fate, Fate::Equivalent(_)))
    }

    /// Mutants that could be noticed.
    #[must_use]
    pub fn mutants(&self) -> usize {
        self.verdicts.len() - self.equivalent()
    }

    /// Mutants noticed of those that can be, in per cent, rounded down.
    #[must_use]
    pub fn percent(&self) -> usize {
        (self.by_property() + self.by_comparison()) * 100 / self.mutants().max(1)
    }
}

const UNREACHABLE: &str = "no packet can reach it";

/// With what mutants are checked.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// Everything follows from it.
    pub seed: u64,
    /// Inputs that a mutant is sent of those that all share, at most, and twelve times as many of those made for its site.
    pub inputs: usize,
    /// Threads, at least 1; results do not depend on it.
    pub jobs: usize,
    /// What a hunt has found.
    pub corpus: &'a Corpus,
    /// What it reached.
    pub coverage: &'a Coverage,
}

/// Inputs made for a site, as a multiple of those of the common list.
const AIMED: usize = 12;

/// Shared inputs that are made, as a multiple of those that a mutant is sent: of these it gets those that reach its site.
const SHARED: usize = 3;

/// Sends inputs to mutants of a subject's program until something notices each, on several threads: those of a common
/// list that reach the mutant's site, then some that are made to. `tick` is told how many mutants are done.
///
/// # Errors
/// When the device cannot be made for the unmutated program.
pub fn check(
    subject: &Subject<'_>,
    (mutants, refused): (Vec<Mutant>, usize),
    with: &Check<'_>,
    tick: impl Fn(usize) + Sync,
) -> Result<Checked, SubjectError> {
    let bench = Bench::new(subject, &mutants, with)?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let fates: Vec<Mutex<Option<(Fate, usize)>>> = mutants.iter().map(|_| Mutex::new(None)).collect();
    let work = |mut original: Original<'_>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(mutant), Some(slot)) = (mutants.get(at), fates.get(at)) else { return };
            let fate = bench.fate(mutant, at, &mut original);
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(fate);
            }
            tick(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let work = &work;
    let originals: Result<Vec<_>, _> = (0..with.jobs.max(1)).map(|_| Original::new(subject)).collect();
    let originals = originals?;
    std::thread::scope(|scope| {
        originals.into_iter().for_each(|original| _ = scope.spawn(move || work(original)));
    });
    let fates: Vec<_> = fates.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect();
    drop(bench);
    let verdict = |(mutant, fate): (Mutant, Option<(Fate, usize)>)| {
        let (fate, inputs) = fate.unwrap_or((Fate::Survived(Survival::Uncovered), 0));
        Verdict { mutant, fate, inputs }
    };
    Ok(Checked { verdicts: mutants.into_iter().zip(fates).map(verdict).collect(), refused })
}

/// What all mutants of a program are judged with.
struct Bench<'a> {
    subject: &'a Subject<'a>,
    with: Check<'a>,
    maker: Maker<'a>,
    proofs: Proofs<'a>,
    shared: Shelf,
    /// Of each aim; and which one a mutant's is, if it has any.
    aimed: Vec<Shelf>,
    aims: Vec<Option<usize>>,
    /// Points of which inputs must reach one, of each mutant; none if nothing is known.
    needs: Vec<Vec<u32>>,
}

impl<'a> Bench<'a> {
    fn new(
        subject: &'a Subject<'a>,
        mutants: &[Mutant],
        with: &Check<'a>,
    ) -> Result<Bench<'a>, SubjectError> {
        let number = |m: &Mutant| -> Vec<u32> {
            // Without an entry only those who found it before go elsewhere.
            if let Edit::DropEntry(table, entry) = m.edit
                && let Some(number) = subject.points.entry(table, entry)
            {
                return vec![number];
            }
            let mut list: Vec<u32> = m.needs.iter().filter_map(|p| subject.points.number(*p)).collect();
            if let Edit::EntryValue(table, entry, _) = m.edit {
                list.extend(subject.points.entry(table, entry));
            }
            list.sort_unstable();
            list
        };
        let needs: Vec<Vec<u32>> = mutants.iter().map(number).collect();
        let (mut known, mut aims) = (Vec::new(), Vec::new());
        for (mutant, points) in mutants.iter().zip(&needs) {
            let aim = Aim { points: points.clone(), entry: mutant.edit.entry() };
            if aim == Aim::default() {
                aims.push(None);
                continue;
            }
            let at = known.iter().position(|a| *a == aim);
            aims.push(Some(at.unwrap_or(known.len())));
            if at.is_none() {
                known.push(aim);
            }
        }
        // The shared ones are the first of all.
        let shelf = |(number, aim)| Shelf::new(aim, number, with.inputs * AIMED);
        Ok(Bench {
            subject,
            with: *with,
            maker: Maker::new(subject),
            proofs: Proofs::of(subject),
            shared: Shelf::new(Aim::default(), 0, with.inputs * SHARED),
            aimed: (1..).zip(known).map(shelf).collect(),
            aims,
            needs,
        })
    }

    fn fate(&self, mutant: &Mutant, at: usize, original: &mut Original<'_>) -> (Fate, usize) {
        if let Some(why) = self.proofs.equivalent(&mutant.edit) {
            return (Fate::Equivalent(why), 0);
        }
        let needs = &self.needs[at];
        let mut trial = Trial::new(self.subject, mutant);
        let source = Source { maker: &self.maker, seed: self.with.seed, corpus: self.with.corpus };
        let near = |golden: &&Golden| needs.is_empty() || golden.reaches(needs);
        let shelves = [Some((&self.shared, 1)), self.aims[at].map(|n| (&self.aimed[n], AIMED))];
        let mut sent = Vec::new();
        for (shelf, times) in shelves.into_iter().flatten() {
            let inputs = shelf.inputs(source, original).flatten().filter(near);
            for golden in inputs.take(self.with.inputs * times) {
                sent.push(golden);
                if let Some(fate) = trial.notices(golden) {
                    return (fate, sent.len());
                }
            }
        }
        let fate = self.beyond(at, sent.len()).unwrap_or_else(|| {
            let hidden = hidden(self.subject, &trial.bed.program, &sent);
            Fate::Survived(hidden.map_or(Survival::Alike, Survival::Hidden))
        });
        (fate, sent.len())
    }

    /// What becomes of a mutant whose site no input came to.
    fn beyond(&self, at: usize, sent: usize) -> Option<Fate> {
        let (points, needs) = (&self.subject.points, &self.needs[at]);
        // What is beyond all points is an entry.
        let never = |n: &u32| points.list().get(*n as usize).is_some_and(|p| p.unreachable.is_some());
        if !needs.is_empty() && needs.iter().all(never) {
            return Some(Fate::Equivalent(UNREACHABLE));
        }
        let unknown = |n: &u32| !self.with.coverage.has(*n);
        let none = sent == 0 || !needs.is_empty() && needs.iter().all(unknown);
        none.then_some(Fate::Survived(Survival::Uncovered))
    }
}

/// A mutant that runs inputs.
struct Trial<'a> {
    subject: &'a Subject<'a>,
    bed: Bed<'a, Reads>,
    monitor: Monitor,
}

impl<'a> Trial<'a> {
    fn new(subject: &'a Subject<'a>, mutant: &Mutant) -> Trial<'a> {
        let bed = Bed::new(subject, mutant.edit.apply(&subject.program), Reads::default());
        let monitor = Monitor::new(&bed.program, Vec::new());
        Trial { subject, bed, monitor }
    }

    /// What notices the mutant by this input.
    fn notices(&mut self, golden: &Golden) -> Option<Fate> {
        if !self.bed.fits(&golden.input) {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| self.one(golden))) {
            Ok(fate) => fate,
            Err(_) => Some(Fate::Property("no_panic".to_owned())),
        }
    }

    fn one(&mut self, golden: &Golden) -> Option<Fate> {
        let Trial { subject, bed, monitor } = self;
        monitor.restart(subject.properties(golden.input.obeys));
        let sent = bed.run(golden, Some(monitor));
        if let Some(violation) = monitor.violations().first() {
            return Some(Fate::Property(violation.property.to_owned()));
        }
        if bed.tracer().take().is_some() {
            return Some(Fate::Property("no_invalid_headers".to_owned()));
        }
        match sent {
            Ok(mut ran) if !ran.cut && ran.digest == golden.digest => {
                let remains = Remains::of(&mut ran.memory.device.states);
                bed.keep(ran.memory);
                (remains != golden.remains).then_some(Fate::Compared)
            }
            _ => Some(Fate::Compared),
        }
    }
}
