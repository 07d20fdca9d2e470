//! Mutation check: its inputs, and its results as text and JSON.

use super::FuzzArgs;
use crate::console::fail::Failure;
use crate::console::progress::{Bar, eta};
use serde_json::{Map, Value, json};
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

/// Returns, for each operator, the number of noticed mutants and the number of mutants.
fn operators(checked: &Checked) -> BTreeMap<&'static str, (usize, usize)> {
    let mut map = BTreeMap::new();
    let counted = |v: &&Verdict| !matches!(v.fate, Fate::Equivalent(_));
    for v in checked.verdicts.iter().filter(counted) {
        let (noticed, all) = map.entry(v.mutant.edit.operator()).or_insert((0, 0));
        *noticed += usize::from(!matches!(v.fate, Fate::Survived(_)));
        *all += 1;
    }
    map
}

/// Returns the mutants that change some packet's bytes, port, fate or order and that no property noticed.
fn unnoticed_by_properties(checked: &Checked) -> impl Iterator<Item = &Verdict> {
    checked.verdicts.iter().filter(|v| v.visible && !matches!(v.fate, Fate::Property(_)))
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

pub(super) fn json(checked: &Checked, program: &Program) -> Value {
    let place = |v: &Verdict| {
        let change = Change::of(program, &v.mutant.edit);
        json!({
            "operator": v.mutant.edit.operator(),
            "site": v.mutant.site,
            "source": v.mutant.edit.source(program).to_string(),
            "old": change.old,
            "new": change.new,
        })
    };
    let unnoticed = |certain: bool| -> Vec<Value> {
        let of = |v: &Verdict| {
            let (_, why) = reason(v).filter(|(c, _)| *c == certain)?;
            let mut mutant = place(v);
            mutant["reason"] = why.into();
            Some(mutant)
        };
        checked.verdicts.iter().filter_map(of).collect()
    };
    let mut properties: BTreeMap<&str, usize> = BTreeMap::new();
    for v in &checked.verdicts {
        if let Fate::Property(name) = &v.fate {
            *properties.entry(name).or_default() += 1;
        }
    }
    let operators: Map<String, Value> = operators(checked)
        .into_iter()
        .map(|(name, (noticed, all))| (name.to_owned(), json!({ "noticed": noticed, "mutants": all })))
        .collect();
    json!({
        "mutants": checked.mutants(),
        "visible": checked.visible(),
        "visible_by_property": checked.visible_by_property(),
        "property_kill_rate_percent": checked.property_percent(),
        "survivors_of_properties": unnoticed_by_properties(checked).map(place).collect::<Vec<_>>(),
        "refused": checked.refused,
        "by_property": checked.by_property(),
        "properties": properties,
        "by_comparison": checked.by_comparison(),
        "equivalent": checked.equivalent(),
        "kill_rate_percent": checked.percent(),
        "operators": operators,
        "survivors": unnoticed(false),
        "equivalents": unnoticed(true),
    })
}

pub(super) fn text(checked: &Checked, program: &Program) -> String {
    let mut out = format!(
        "mutation check: properties notice {} % of the mutants that change a packet's bytes, port, fate or order: {} of {}\n  \
         properties or comparison with the original notice {} % of all mutants: {} of {}, {} of them by properties; {} \
         equivalent for certain; {} changes refused by the verifier\n",
        checked.property_percent(),
        checked.visible_by_property(),
        checked.visible(),
        checked.percent(),
        checked.by_property() + checked.by_comparison(),
        checked.mutants(),
        checked.by_property(),
        checked.equivalent(),
        checked.refused
    );
    for (name, (noticed, all)) in operators(checked) {
        out += &format!("  {name:<26} {noticed:>4} of {all:>4}\n");
    }
    for v in unnoticed_by_properties(checked) {
        let (edit, site) = (&v.mutant.edit, &v.mutant.site);
        let (source, change) = (edit.source(program), Change::of(program, edit));
        out += &format!("  unnoticed by properties: {}: {site}, {source}\n    {change}\n", edit.operator());
    }
    for v in &checked.verdicts {
        let Some((certain, why)) = reason(v) else { continue };
        let what = if certain { "equivalent" } else { "survivor" };
        let (edit, site) = (&v.mutant.edit, &v.mutant.site);
        let (source, change) = (edit.source(program), Change::of(program, edit));
        out += &format!("  {what}: {}: {site}, {source}\n    {change}\n    {why}\n", edit.operator());
    }
    out
}
