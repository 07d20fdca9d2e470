//! Outcomes as JSON.

use serde_json::{Value, json};
use sluice_scenario::{Check, Outcome};

/// Schema of the output.
pub(super) const SCHEMA: &str = "sluice.run/1";

/// Returns all outcomes as JSON.
pub(super) fn value(outcomes: &[Outcome]) -> Value {
    let count = |wanted: Option<bool>| outcomes.iter().filter(|o| o.passed() == wanted).count();
    json!({
        "schema": SCHEMA,
        "passed": count(Some(true)),
        "failed": count(Some(false)),
        "not_applicable": count(None),
        "scenarios": outcomes.iter().map(one).collect::<Vec<_>>(),
    })
}

/// Returns an outcome as JSON.
pub(super) fn one(outcome: &Outcome) -> Value {
    let main = outcome.main();
    let profile = (!outcome.profile.is_empty()).then_some(&outcome.profile);
    json!({
        "id": outcome.id,
        "source": outcome.source,
        "title": outcome.title,
        "file": outcome.origin,
        "profile": profile,
        "passed": outcome.passed(),
        "not_applicable": outcome.not_applicable,
        "error": outcome.error,
        "what": main.map(|c| &c.what),
        "expected": main.map(|c| &c.expected),
        "actual": main.map(|c| &c.actual),
        "unit": main.map(|c| c.unit),
        "checks": outcome.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

fn check(check: &Check) -> Value {
    json!({
        "case": (!check.case.is_empty()).then_some(&check.case),
        "line": (check.line > 0).then_some(check.line),
        "what": check.what,
        "expected": check.expected,
        "actual": check.actual,
        "unit": check.unit,
        "passed": check.passed,
        "stated": check.stated,
    })
}
