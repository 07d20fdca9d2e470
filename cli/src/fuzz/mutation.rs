//! Mutation check: its inputs, its result, and the result as text.

use super::FuzzArgs;
use crate::console::fail::Failure;
use crate::console::progress::{Bar, eta};
use serde::Serialize;
use sluice_fuzz::hunt::{self, Campaign, Status, Subject};
use sluice_fuzz::mutants::{self, Change, Check, Checked, Fate, Survival, Verdict};
use sluice_ir::Program;
use std::collections::BTreeMap;
use std::time::Instant;

/// Inputs of the hunt before the check, as a multiple of those of the campaign.
const FURTHER: u64 = 16;

/// Most inputs of each kind that are sent to a mutant.
const INPUTS: u64 = 48;

/// Continues the hunt, mostly without the interpreter, so that it reaches more of the program than a short campaign.
pub(super) fn further(
    args: &FuzzArgs,
    subject: &Subject<'_>,
    status: &Status,
    go_on: impl FnMut(&Status) -> bool,
) -> Result<Status, Failure> {
    let cases = Some(status.cases.saturating_mul(FURTHER));
    let campaign = Campaign { seed: args.seed, cases, jobs: args.jobs(), compare: 64, ..Campaign::default() };
    hunt::hunt_on(subject, &campaign, status.clone(), go_on).map_err(Failure::input)
}

/// Runs the check with inputs made from the corpus of the hunt.
pub(super) fn check(
    args: &FuzzArgs,
    subject: &Subject<'_>,
    status: &Status,
    most: usize,
) -> Result<Checked, Failure> {
    let (list, refused) = mutants::some_mutants(&subject.program, most.max(1));
    let (bar, started, count) = (Bar::bounded(), Instant::now(), list.len());
    let tick = |n: usize| {
        let share = Some(n as f64 / count.max(1) as f64);
        bar.show(share, format!("{n} of {count} mutants{}", eta(share, started.elapsed())));
    };
    let check = Check {
        seed: args.seed,
        inputs: args.cases.unwrap_or(INPUTS).clamp(1, INPUTS) as usize,
        jobs: args.jobs(),
        corpus: &status.corpus,
        coverage: &status.coverage,
    };
    let checked = mutants::check(subject, (list, refused), &check, tick);
    bar.clear();
    checked.map_err(Failure::input)
}

/// Result of the check.
#[derive(Serialize)]
pub(super) struct Mutation<'a> {
    pub(super) mutants: usize,
    /// Mutants that change some packet's bytes, port, fate or order.
    pub(super) visible: usize,
    pub(super) visible_by_property: usize,
    pub(super) property_kill_rate_percent: usize,
    /// Mutants of `visible` that no property noticed.
    pub(super) survivors_of_properties: Vec<Mutant<'a>>,
    pub(super) refused: usize,
    by_property: usize,
    /// Mutants noticed, by the property that noticed them first.
    properties: BTreeMap<&'a str, usize>,
    by_comparison: usize,
    pub(super) equivalent: usize,
    pub(super) kill_rate_percent: usize,
    pub(super) operators: BTreeMap<&'static str, Noticed>,
    pub(super) survivors: Vec<Mutant<'a>>,
    pub(super) equivalents: Vec<Mutant<'a>>,
}

/// Mutants of one operator that are not provably equivalent.
#[derive(Default, Serialize)]
pub(super) struct Noticed {
    pub(super) noticed: usize,
    pub(super) mutants: usize,
}

/// A mutant that was not noticed.
#[derive(Serialize)]
pub(super) struct Mutant<'a> {
    pub(super) operator: &'static str,
    pub(super) site: &'a str,
    pub(super) source: String,
    #[serde(flatten)]
    pub(super) change: Change,
    /// Why it was not noticed by properties or the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Place in program order.
    #[serde(skip)]
    place: usize,
}

/// Returns why a mutant was not noticed: true if it is proven to be equivalent, and the reason. `None` if it was
/// noticed.
fn reason(v: &Verdict) -> Option<(bool, String)> {
    let inputs = v.inputs;
    match &v.fate {
        Fate::Property(_) | Fate::Compared => None,
        Fate::Equivalent(why) => Some((true, (*why).to_owned())),
        Fate::Survived(Survival::Uncovered) => Some((false, "no input reached it".to_owned())),
        Fate::Survived(Survival::Alike) => {
            Some((false, format!("{inputs} inputs reached it, and all packets were treated alike")))
        }
        Fate::Survived(Survival::Hidden(hidden)) => Some((
            false,
            format!(
                "in {} of {inputs} inputs packets were treated otherwise, which nothing shows; first {hidden}",
                hidden.inputs
            ),
        )),
    }
}

impl<'a> Mutation<'a> {
    pub(super) fn of(checked: &'a Checked, program: &Program) -> Mutation<'a> {
        let (mut properties, mut operators) = (BTreeMap::new(), BTreeMap::<_, Noticed>::new());
        let (mut survivors_of_properties, mut survivors, mut equivalents) =
            (Vec::new(), Vec::new(), Vec::new());
        for (place, v) in checked.verdicts.iter().enumerate() {
            let mutant = |reason| Mutant {
                operator: v.mutant.edit.operator(),
                site: &v.mutant.site,
                source: v.mutant.edit.source(program).to_string(),
                change: Change::of(program, &v.mutant.edit),
                reason,
                place,
            };
            if let Fate::Property(name) = &v.fate {
                *properties.entry(name.as_str()).or_default() += 1;
            } else if v.visible {
                survivors_of_properties.push(mutant(None));
            }
            if !matches!(v.fate, Fate::Equivalent(_)) {
                let of = operators.entry(v.mutant.edit.operator()).or_default();
                of.noticed += usize::from(!matches!(v.fate, Fate::Survived(_)));
                of.mutants += 1;
            }
            if let Some((certain, why)) = reason(v) {
                let list = if certain { &mut equivalents } else { &mut survivors };
                list.push(mutant(Some(why)));
            }
        }
        Mutation {
            mutants: checked.mutants(),
            visible: checked.visible(),
            visible_by_property: checked.visible_by_property(),
            property_kill_rate_percent: checked.property_percent(),
            survivors_of_properties,
            refused: checked.refused,
            by_property: checked.by_property(),
            properties,
            by_comparison: checked.by_comparison(),
            equivalent: checked.equivalent(),
            kill_rate_percent: checked.percent(),
            operators,
            survivors,
            equivalents,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut out = format!(
            "mutation check: properties notice {} % of the mutants that change a packet's bytes, port, fate or order: {} of {}\n  \
             properties or comparison with the original notice {} % of all mutants: {} of {}, {} of them by properties; {} \
             equivalent for certain; {} changes refused by the verifier\n",
            self.property_kill_rate_percent,
            self.visible_by_property,
            self.visible,
            self.kill_rate_percent,
            self.by_property + self.by_comparison,
            self.mutants,
            self.by_property,
            self.equivalent,
            self.refused
        );
        for (name, of) in &self.operators {
            out += &format!("  {name:<26} {:>4} of {:>4}\n", of.noticed, of.mutants);
        }
        let survivors = self.survivors.iter().map(|mutant| ("survivor", mutant));
        let equivalents = self.equivalents.iter().map(|mutant| ("equivalent", mutant));
        let mut others: Vec<_> = survivors.chain(equivalents).collect();
        others.sort_by_key(|(_, mutant)| mutant.place);
        let first = self.survivors_of_properties.iter().map(|mutant| ("unnoticed by properties", mutant));
        for (what, m) in first.chain(others) {
            out += &format!("  {what}: {}: {}, {}\n    {}\n", m.operator, m.site, m.source, m.change);
            if let Some(why) = &m.reason {
                out += &format!("    {why}\n");
            }
        }
        out
    }
}
