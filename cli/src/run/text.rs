//! Outcomes as text (a table whose rows come one by one, the differences, the totals) and as CSV.

use crate::console::fail::Failure;
use crate::console::terminal;
use crate::output::rows::CsvText;
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
    // `1 packet`, but `1 ns`.
    let one = check.unit.strip_suffix('s').filter(|unit| text == "1" && unit.len() > 2);
    let unit = one.unwrap_or(check.unit);
    if unit.is_empty() { short(text) } else { format!("{} {unit}", short(text)) }
}

/// The table of scenarios, whose rows are printed one by one: the widths of its columns follow from the names alone.
pub(super) struct Rows {
    id: usize,
    profile: usize,
}

impl Rows {
    /// Returns the table for scenarios of these ids and profiles.
    pub(super) fn new(names: &[(String, String)]) -> Rows {
        let longest = |of: fn(&(String, String)) -> &String, head: &str| {
            names.iter().map(|name| of(name).chars().count()).max().unwrap_or(0).max(head.len())
        };
        Rows { id: longest(|name| &name.0, "ID"), profile: longest(|name| &name.1, "PROFILE") }
    }

    /// Returns the headings.
    pub(super) fn head(&self) -> String {
        self.line(["ID", "PROFILE", "RESULT", "CHECKS", "LAST CHECK"])
    }

    /// Returns the row of a scenario that has run.
    pub(super) fn row(&self, outcome: &Outcome) -> String {
        let result = match outcome.passed() {
            Some(true) => "pass",
            Some(false) => "FAIL",
            None => "not run",
        };
        let checks =
            if outcome.not_applicable.is_some() { String::new() } else { outcome.checks.len().to_string() };
        let last = outcome.main().map_or_else(String::new, |check| {
            let (found, expected) = (with_unit(&check.actual, check), with_unit(&check.expected, check));
            format!("{}: {found}, expected {expected}", short(&check.what))
        });
        self.line([&outcome.id, &outcome.profile, result, &checks, &last])
    }

    fn line(&self, [id, profile, result, checks, last]: [&str; 5]) -> String {
        let (ids, profiles) = (self.id, self.profile);
        let line = format!("   {id:<ids$}  {profile:<profiles$}  {result:<7}  {checks:>6}  {last}");
        let line = line.trim_end();
        match terminal::width() {
            Some(width) => format!("{}\n", line.chars().take(width).collect::<String>()),
            None => format!("{line}\n"),
        }
    }
}

/// Returns what follows the table: the differences, what was not run, the totals.
pub(super) fn report(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
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
