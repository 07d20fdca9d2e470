//! Mutation check: sends inputs to mutants until something notices each.

use super::edit::Edit;
use super::harness::Harness;
use super::hidden::{Hidden, hidden};
use super::judge::{Golden, InputList, Original, Source};
use super::proofs::Proofs;
use super::sites::Mutant;
use super::state_snapshot::StateSnapshot;
use crate::hunt::{Aim, Corpus, Maker, Reads, Subject, SubjectError};
use sluice_exec::cover::Coverage;
use sluice_switch::property::Monitor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fate of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Name of the first property that failed.
    Property(String),
    /// Sent packets, dropped packets or the device's state differ from the unmutated program; no property failed before.
    Compared,
    /// The mutant provably behaves as the program does; the text is the proof.
    Equivalent(&'static str),
    /// No input noticed the mutant.
    Survived(Survival),
}

/// Reason why no input noticed a mutant, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Survival {
    /// No input reached the mutated site.
    Uncovered,
    /// Inputs reached the site, and every packet took the same steps as in the program: the value or state that tells the two
    /// apart did not occur.
    Alike,
    /// Packets took other steps, and neither sent packets nor the device's state depend on these.
    Hidden(Hidden),
}

/// A mutant with its fate.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Mutant.
    pub mutant: Mutant,
    /// Fate of the mutant.
    pub fate: Fate,
    /// Number of inputs that were sent to it.
    pub inputs: usize,
}

/// Result of a mutation check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// Verdicts on all mutants, in program order.
    pub verdicts: Vec<Verdict>,
    /// Number of mutations that the verifier refuses or that change nothing.
    pub refused: usize,
}

impl Checked {
    fn count(&self, of: impl Fn(&Fate) -> bool) -> usize {
        self.verdicts.iter().filter(|v| of(&v.fate)).count()
    }

    /// Returns the number of mutants that a property noticed.
    #[must_use]
    pub fn by_property(&self) -> usize {
        self.count(|fate| matches!(fate, Fate::Property(_)))
    }

    /// Returns the number of mutants that only the comparison noticed.
    #[must_use]
    pub fn by_comparison(&self) -> usize {
        self.count(|fate| *fate == Fate::Compared)
    }

    /// Returns the number of mutants that provably behave as the program does. They do not count.
    #[must_use]
    pub fn equivalent(&self) -> usize {
        self.count(|fate| matches!(fate, Fate::Equivalent(_)))
    }

    /// Returns the number of mutants that are not provably equivalent.
    #[must_use]
    pub fn mutants(&self) -> usize {
        self.verdicts.len() - self.equivalent()
    }

    /// Returns the mutation score: noticed mutants of [`Self::mutants`] in per cent, rounded down.
    #[must_use]
    pub fn percent(&self) -> usize {
        (self.by_property() + self.by_comparison()) * 100 / self.mutants().max(1)
    }
}

const UNREACHABLE: &str = "no packet can reach it";

/// Options of a mutation check.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Most shared inputs per mutant; of inputs made for the mutant's site, at most twelve times as many.
    pub inputs: usize,
    /// Threads, at least 1; results do not depend on it.
    pub jobs: usize,
    /// Corpus of an earlier hunt.
    pub corpus: &'a Corpus,
    /// Coverage of that hunt.
    pub coverage: &'a Coverage,
}

/// Most inputs made for a site, as a multiple of [`Check::inputs`].
const AIMED: usize = 12;

/// Length of the shared list of inputs, as a multiple of [`Check::inputs`]. A mutant is sent those that reach its site.
const SHARED: usize = 3;

/// Sends inputs to mutants of a subject's program until something notices each, on several threads: first inputs of a shared
/// list that reach the mutant's site, then inputs made for the site. Calls `tick` with the number of finished mutants.
///
/// # Errors
/// If the device cannot be built for the unmutated program.
pub fn check(
    subject: &Subject<'_>,
    (mutants, refused): (Vec<Mutant>, usize),
    with: &Check<'_>,
    tick: impl Fn(usize) + Sync,
) -> Result<Checked, SubjectError> {
    let run = MutationRun::new(subject, &mutants, with)?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let fates: Vec<Mutex<Option<(Fate, usize)>>> = mutants.iter().map(|_| Mutex::new(None)).collect();
    let work = |mut original: Original<'_>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(mutant), Some(slot)) = (mutants.get(at), fates.get(at)) else { return };
            let fate = run.fate(mutant, at, &mut original);
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
    drop(run);
    let verdict = |(mutant, fate): (Mutant, Option<(Fate, usize)>)| {
        let (fate, inputs) = fate.unwrap_or((Fate::Survived(Survival::Uncovered), 0));
        Verdict { mutant, fate, inputs }
    };
    Ok(Checked { verdicts: mutants.into_iter().zip(fates).map(verdict).collect(), refused })
}

/// Data that all mutants of a program share during a check.
struct MutationRun<'a> {
    subject: &'a Subject<'a>,
    with: Check<'a>,
    maker: Maker<'a>,
    proofs: Proofs<'a>,
    shared: InputList,
    /// Inputs for each aim.
    aimed: Vec<InputList>,
    /// For each mutant, the index of its aim in `aimed`; `None` if it has none.
    aims: Vec<Option<usize>>,
    /// For each mutant, the coverage points of its site. An input is sent to a mutant only if the input reaches at least one of
    /// these points. An empty list admits every input.
    needs: Vec<Vec<u32>>,
}

impl<'a> MutationRun<'a> {
    fn new(
        subject: &'a Subject<'a>,
        mutants: &[Mutant],
        with: &Check<'a>,
    ) -> Result<MutationRun<'a>, SubjectError> {
        let number = |m: &Mutant| -> Vec<u32> {
            // Dropping an entry changes only the packets that match the entry.
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
        // List 0 is the shared one.
        let list = |(number, aim)| InputList::new(aim, number, with.inputs * AIMED);
        Ok(MutationRun {
            subject,
            with: *with,
            maker: Maker::new(subject),
            proofs: Proofs::of(subject),
            shared: InputList::new(Aim::default(), 0, with.inputs * SHARED),
            aimed: (1..).zip(known).map(list).collect(),
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
        let lists = [Some((&self.shared, 1)), self.aims[at].map(|n| (&self.aimed[n], AIMED))];
        let mut sent = Vec::new();
        for (list, times) in lists.into_iter().flatten() {
            let inputs = list.inputs(source, original).flatten().filter(near);
            for golden in inputs.take(self.with.inputs * times) {
                sent.push(golden);
                if let Some(fate) = trial.notices(golden) {
                    return (fate, sent.len());
                }
            }
        }
        let fate = self.without_input(at, sent.len()).unwrap_or_else(|| {
            let hidden = hidden(self.subject, &trial.harness.program, &sent);
            Fate::Survived(hidden.map_or(Survival::Alike, Survival::Hidden))
        });
        (fate, sent.len())
    }

    /// Returns the fate of a mutant whose site no input reached; `None` if one did.
    fn without_input(&self, at: usize, sent: usize) -> Option<Fate> {
        let (points, needs) = (&self.subject.points, &self.needs[at]);
        // Numbers past the last point are entries, which have no reachability.
        let never = |n: &u32| points.list().get(*n as usize).is_some_and(|p| p.unreachable.is_some());
        if !needs.is_empty() && needs.iter().all(never) {
            return Some(Fate::Equivalent(UNREACHABLE));
        }
        let unknown = |n: &u32| !self.with.coverage.has(*n);
        let none = sent == 0 || !needs.is_empty() && needs.iter().all(unknown);
        none.then_some(Fate::Survived(Survival::Uncovered))
    }
}

/// A mutant with its harness and properties.
struct Trial<'a> {
    subject: &'a Subject<'a>,
    harness: Harness<'a, Reads>,
    monitor: Monitor,
}

impl<'a> Trial<'a> {
    fn new(subject: &'a Subject<'a>, mutant: &Mutant) -> Trial<'a> {
        let harness = Harness::new(subject, mutant.edit.apply(&subject.program), Reads::default());
        let monitor = Monitor::new(&harness.program, Vec::new());
        Trial { subject, harness, monitor }
    }

    /// Sends an input to the mutant; returns the fate if something notices the mutant.
    fn notices(&mut self, golden: &Golden) -> Option<Fate> {
        if !self.harness.fits(&golden.input) {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| self.one(golden))) {
            Ok(fate) => fate,
            Err(_) => Some(Fate::Property("no_panic".to_owned())),
        }
    }

    fn one(&mut self, golden: &Golden) -> Option<Fate> {
        let Trial { subject, harness, monitor } = self;
        monitor.restart(subject.properties(golden.input.obeys));
        let sent = harness.run(golden, Some(monitor));
        if let Some(violation) = monitor.violations().first() {
            return Some(Fate::Property(violation.property.to_owned()));
        }
        if harness.tracer().take().is_some() {
            return Some(Fate::Property("no_invalid_headers".to_owned()));
        }
        match sent {
            Ok(mut ran) if !ran.cut && ran.digest == golden.digest => {
                let snapshot = StateSnapshot::of(&mut ran.memory.device.states);
                harness.keep(ran.memory);
                (snapshot != golden.snapshot).then_some(Fate::Compared)
            }
            _ => Some(Fate::Compared),
        }
    }
}
