//! Outcomes as text (a table, the differences, the totals) and as CSV.

use crate::fail::Failure;
use crate::rows::CsvText;
use crate::table::table;
use sluice_scenario::{Check, Outcome};
use std::fmt::Write;

/// Longest text of a cell, in characters.
const WIDE: usize = 60;

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    match line.char_indices().nth(WIDE) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line.to_owned(),
    }
}

fn with_unit(text: &str, check: &Check) -> String {
    if check.unit.is_empty() { short(text) } else { format!("{} {}", short(text), check.unit) }
}

/// Returns the report.
pub(super) fn report(outcomes: &[Outcome]) -> String {
    let header = ["ID", "PROFILE", "RESULT", "CHECKS", "WHAT", "EXPECTED", "FOUND"];
    let rows = outcomes.iter().map(row).collect();
    let mut text = format!("{}\n", table(&header, rows));
    let count = |wanted: Option<bool>| outcomes.iter().filter(|o| o.passed() == wanted).count();
    for outcome in outcomes.iter().filter(|o| o.passed() == Some(false)) {
        text.push_str(&failure(outcome));
    }
    let not_run: Vec<&Outcome> = outcomes.iter().filter(|o| o.not_applicable.is_some()).collect();
    if !not_run.is_empty() {
        text.push_str("\nnot run:\n");
        for outcome in not_run {
            let reason = outcome.not_applicable.as_deref().unwrap_or("");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {}  {}: {reason}", outcome.id, outcome.title);
        }
    }
    let checks: usize = outcomes.iter().map(|o| o.checks.len()).sum();
    let stated: usize = outcomes.iter().flat_map(|o| &o.checks).filter(|c| c.stated).count();
    let (passed, failed, not_run) = (count(Some(true)), count(Some(false)), count(None));
    let _ = writeln!(
        text,
        "\n{passed} passed, {failed} failed, {not_run} not run; {checks} assertions, {stated} of them against numbers of the files"
    );
    text
}

fn row(outcome: &Outcome) -> Vec<String> {
    let result = match outcome.passed() {
        Some(true) => "pass",
        Some(false) => "FAIL",
        None => "not run",
    };
    let main = outcome.main();
    let of = |text: fn(&Check) -> &String| main.map_or_else(String::new, |c| with_unit(text(c), c));
    let checks =
        if outcome.not_applicable.is_some() { String::new() } else { outcome.checks.len().to_string() };
    vec![
        outcome.id.clone(),
        outcome.profile.clone(),
        result.to_owned(),
        checks,
        main.map_or_else(String::new, |c| short(&c.what)),
        of(|c| &c.expected),
        of(|c| &c.actual),
    ]
}

fn failure(outcome: &Outcome) -> String {
    let mut text = format!("\n{} on {}: {}\n", outcome.id, outcome.profile, outcome.title);
    if let Some(error) = &outcome.error {
        let _ = writeln!(text, "  {}", error.replace('\n', "\n  "));
    }
    for check in outcome.checks.iter().filter(|c| !c.passed) {
        let case = if check.case.is_empty() { String::new() } else { format!("case {}: ", check.case) };
        let _ = writeln!(text, "  {}:{}: {case}{}", outcome.origin, check.line, check.what);
        let _ = writeln!(text, "    expected {} {}", check.expected, check.unit);
        let _ =
            writeln!(text, "    found    {} {}", check.actual.replace('\n', "\n             "), check.unit);
    }
    if outcome.checks.is_empty() && outcome.error.is_none() {
        text.push_str("  nothing was asserted\n");
    }
    text
}

/// Returns a row for each assertion.
pub(super) fn csv(outcomes: &[Outcome]) -> Result<String, Failure> {
    let names = ["id", "profile", "case", "line", "what", "expected", "actual", "unit", "passed"];
    let mut table = CsvText::new(&names)?;
    for outcome in outcomes {
        for c in &outcome.checks {
            table.row(&[
                &outcome.id,
                &outcome.profile,
                &c.case,
                &c.line,
                &c.what,
                &c.expected,
                &c.actual,
                &c.unit,
                &c.passed,
            ])?;
        }
    }
    table.finish()
}
