//! The mutation check: mutants, inputs for them, and what came of it as text and JSON. What may not live here: operators.

use super::FuzzArgs;
use crate::fail::Failure;
use serde_json::{Map, Value, json};
use sluice_fuzz::hunt::{Input, Maker, Status, Subject};
use sluice_fuzz::mutants::{self, Checked, Fate};
use std::collections::BTreeMap;
use std::io::IsTerminal;

/// Inputs that a mutant is sent at most.
const INPUTS: u64 = 128;

/// Runs the check with inputs made from what the campaign has found.
pub(super) fn check(
    args: &FuzzArgs,
    subject: &Subject<'_>,
    status: &Status,
    most: usize,
) -> Result<Checked, Failure> {
    let (mut list, refused) = mutants::mutants(&subject.program);
    let all = list.len();
    if all > most.max(1) {
        // Evenly over the program.
        let keep = |n: usize| (n * most) / all != ((n + 1) * most) / all;
        list = list.into_iter().enumerate().filter(|(n, _)| keep(*n)).map(|(_, m)| m).collect();
    }
    let maker = Maker::new(subject);
    let input = |n| maker.input(args.seed, n, &status.corpus);
    let inputs: Vec<Input> = (0..status.cases.clamp(1, INPUTS)).map(input).collect();
    let bar = std::io::stderr().is_terminal().then(|| indicatif::ProgressBar::new(list.len() as u64));
    let tick = |n: usize| {
        if let Some(bar) = &bar {
            bar.set_position(n as u64);
        }
    };
    let checked = mutants::check(subject, (list, refused), &inputs, &status.coverage, args.jobs(), tick);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    checked.map_err(Failure::input)
}

/// Mutants noticed, of how many, per operator.
fn operators(checked: &Checked) -> BTreeMap<&'static str, (usize, usize)> {
    let mut map = BTreeMap::new();
    for v in &checked.verdicts {
        let (noticed, all) = map.entry(v.mutant.edit.operator()).or_insert((0, 0));
        *noticed += usize::from(!matches!(v.fate, Fate::Survived(_)));
        *all += 1;
    }
    map
}

pub(super) fn json(checked: &Checked) -> Value {
    let survivors: Vec<Value> = checked
        .verdicts
        .iter()
        .filter_map(|v| match v.fate {
            Fate::Survived(why) => {
                Some(json!({ "operator": v.mutant.edit.operator(), "site": v.mutant.site, "reason": why }))
            }
            _ => None,
        })
        .collect();
    let operators: Map<String, Value> = operators(checked)
        .into_iter()
        .map(|(name, (noticed, all))| (name.to_owned(), json!({ "noticed": noticed, "mutants": all })))
        .collect();
    json!({
        "mutants": checked.verdicts.len(),
        "refused": checked.refused,
        "by_property": checked.by_property(),
        "by_comparison": checked.by_comparison(),
        "equivalent": checked.equivalent(),
        "kill_rate_percent": checked.percent(),
        "operators": operators,
        "survivors": survivors,
    })
}

pub(super) fn text(checked: &Checked) -> String {
    let mut out = format!(
        "mutation check: {} of {} mutants noticed ({} %), {} by properties, {} by comparison alone; {} equivalent by the \
         graph; {} changes refused by the verifier\n",
        checked.by_property() + checked.by_comparison(),
        checked.verdicts.len(),
        checked.percent(),
        checked.by_property(),
        checked.by_comparison(),
        checked.equivalent(),
        checked.refused
    );
    for (name, (noticed, all)) in operators(checked) {
        out += &format!("  {name:<26} {noticed:>4} of {all:>4}\n");
    }
    for v in &checked.verdicts {
        if let Fate::Survived(why) = v.fate {
            out += &format!("  survivor: {}: {}: {why}\n", v.mutant.edit.operator(), v.mutant.site);
        }
    }
    out
}
