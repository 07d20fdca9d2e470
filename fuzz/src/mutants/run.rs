//! Mutation check: sends inputs to mutants until something notices each.

use super::edit::Edit;
use super::harness::Harness;
use super::hidden::{Hidden, hidden};
use super::judge::{Golden, InputList, Original, Source};
use super::proofs::Proofs;
use super::sites::Mutant;
use super::state_snapshot::StateSnapshot;
use crate::hunt::{Aim, Corpus, Maker, Reads, Subject, SubjectError, VisibleDigest};
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
    /// Sent packets, dropped packets, times or the device's state differ from the unmutated program, and no property failed.
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
    /// True if bytes, port, fate or order of some packet differ from the unmutated program.
    pub visible: bool,
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

    /// Returns the number of mutants that change some packet's bytes, port, fate or order.
    #[must_use]
    pub fn visible(&self) -> usize {
        self.verdicts.iter().filter(|v| v.visible).count()
    }

    /// Returns the number of mutants of [`Self::visible`] that a property noticed.
    #[must_use]
    pub fn visible_by_property(&self) -> usize {
        self.verdicts.iter().filter(|v| v.visible && matches!(v.fate, Fate::Property(_))).count()
    }

    /// Returns the share of [`Self::visible`] that a property noticed, in per cent, rounded down.
    #[must_use]
    pub fn property_percent(&self) -> usize {
        self.visible_by_property() * 100 / self.visible().max(1)
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

/// Recirculations after which a mutant that something noticed is sent no further inputs. A property or a visible difference
/// that only later inputs would show is missed.
const LAPS_AFTER: u64 = 10_000;

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
    let verdicts: Vec<Mutex<Option<Verdict>>> = mutants.iter().map(|_| Mutex::new(None)).collect();
    let work = |mut original: Original<'_>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(mutant), Some(slot)) = (mutants.get(at), verdicts.get(at)) else { return };
            let verdict = run.verdict(mutant, at, &mut original);
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(verdict);
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
    let verdicts = verdicts.into_iter().map(|slot| slot.into_inner().ok().flatten());
    let unknown = |mutant: &Mutant| Verdict {
        mutant: mutant.clone(),
        fate: Fate::Survived(Survival::Uncovered),
        visible: false,
        inputs: 0,
    };
    let verdicts =
        verdicts.zip(&mutants).map(|(verdict, mutant)| verdict.unwrap_or_else(|| unknown(mutant))).collect();
    Ok(Checked { verdicts, refused })
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

    fn verdict(&self, mutant: &Mutant, at: usize, original: &mut Original<'_>) -> Verdict {
        let verdict = |fate, visible, inputs| Verdict { mutant: mutant.clone(), fate, visible, inputs };
        if let Some(why) = self.proofs.equivalent(&mutant.edit) {
            return verdict(Fate::Equivalent(why), false, 0);
        }
        let needs = &self.needs[at];
        let mut trial = Trial::new(self.subject, mutant);
        let source = Source { maker: &self.maker, seed: self.with.seed, corpus: self.with.corpus };
        let near = |golden: &&Golden| needs.is_empty() || golden.reaches(needs);
        let lists = [Some((&self.shared, 1)), self.aims[at].map(|n| (&self.aimed[n], AIMED))];
        // Inputs, and recirculations in them, after something noticed the mutant.
        let (mut sent, mut after, mut laps) = (Vec::new(), 0, 0);
        'lists: for (list, times) in lists.into_iter().flatten() {
            let inputs = list.inputs(source, original).flatten().filter(near);
            for golden in inputs.take(self.with.inputs * times) {
                sent.push(golden);
                trial.send(golden);
                if trial.noticed() {
                    (after, laps) = (after + 1, laps + golden.laps);
                }
                if trial.finished() || after > self.with.inputs || laps > LAPS_AFTER {
                    break 'lists;
                }
            }
        }
        let fate = match std::mem::take(&mut trial.property) {
            Some(name) => Fate::Property(name),
            None if trial.compared => Fate::Compared,
            None => self.without_input(at, sent.len()).unwrap_or_else(|| {
                let hidden = hidden(self.subject, &trial.harness.program, &sent);
                Fate::Survived(hidden.map_or(Survival::Alike, Survival::Hidden))
            }),
        };
        verdict(fate, trial.visible, sent.len())
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

/// A mutant with its harness and properties, and what noticed it so far.
struct Trial<'a> {
    subject: &'a Subject<'a>,
    harness: Harness<'a, Reads>,
    monitor: Monitor,
    /// Name of the first property that failed.
    property: Option<String>,
    /// True if results differ from the unmutated program.
    compared: bool,
    /// True if bytes, port, fate or order of a packet differ.
    visible: bool,
}

impl<'a> Trial<'a> {
    fn new(subject: &'a Subject<'a>, mutant: &Mutant) -> Trial<'a> {
        let harness = Harness::new(subject, mutant.edit.apply(&subject.program), Reads::default());
        let monitor = Monitor::new(&harness.program, Vec::new());
        Trial { subject, harness, monitor, property: None, compared: false, visible: false }
    }

    /// Returns true if a property or the comparison noticed the mutant.
    const fn noticed(&self) -> bool {
        self.compared || self.property.is_some()
    }

    /// Returns true if further inputs cannot change the verdict.
    const fn finished(&self) -> bool {
        self.visible && self.property.is_some()
    }

    /// Sends an input to the mutant and notes what notices it.
    fn send(&mut self, golden: &Golden) {
        if !self.harness.fits(&golden.input) {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| self.one(golden))).is_err() {
            self.property.get_or_insert_with(|| "no_panic".to_owned());
            (self.compared, self.visible) = (true, true);
        }
    }

    fn one(&mut self, golden: &Golden) {
        let Trial { subject, harness, monitor, .. } = self;
        monitor.restart(subject.properties(golden.input.obeys));
        let mut visible = VisibleDigest::default();
        let sent = harness.run(golden, Some(monitor), Some(&mut visible));
        let failed = monitor.violations().first().map(|violation| violation.property.clone());
        let invalid = harness.tracer().take().map(|_| "no_invalid_headers".to_owned());
        if let Some(name) = failed.or(invalid) {
            self.property.get_or_insert(name);
        }
        match sent {
            Ok(mut ran) if !ran.cut => {
                let snapshot = StateSnapshot::of(&mut ran.memory.device.states);
                harness.keep(ran.memory);
                self.visible |= visible != golden.visible;
                self.compared |= ran.digest != golden.digest || snapshot != golden.snapshot;
            }
            // The packets inside were not sent.
            Ok(_) => (self.compared, self.visible) = (true, true),
            Err(_) => self.compared = true,
        }
    }
}
