//! Outcomes as JSON.

use serde::Serialize;
use sluice_scenario::{Check, Outcome};

/// Schema of the output.
pub(super) const SCHEMA: &str = "sluice.run/1";

/// All outcomes: a document of schema `sluice.run/1`.
#[derive(Serialize)]
pub(super) struct Outcomes<'a> {
    schema: &'static str,
    passed: usize,
    failed: usize,
    not_applicable: usize,
    scenarios: Vec<OutcomeRow<'a>>,
}

/// An outcome with the assertion to show.
#[derive(Serialize)]
pub(super) struct OutcomeRow<'a> {
    id: &'a str,
    source: &'a str,
    title: &'a str,
    file: &'a str,
    profile: Option<&'a str>,
    passed: Option<bool>,
    not_applicable: Option<&'a str>,
    error: Option<&'a str>,
    what: Option<&'a str>,
    expected: Option<&'a str>,
    actual: Option<&'a str>,
    unit: Option<&'static str>,
    checks: &'a [Check],
}

impl<'a> Outcomes<'a> {
    pub(super) fn of(outcomes: &'a [Outcome]) -> Outcomes<'a> {
        let count = |wanted: Option<bool>| outcomes.iter().filter(|o| o.passed() == wanted).count();
        Outcomes {
            schema: SCHEMA,
            passed: count(Some(true)),
            failed: count(Some(false)),
            not_applicable: count(None),
            scenarios: outcomes.iter().map(OutcomeRow::of).collect(),
        }
    }
}

impl<'a> OutcomeRow<'a> {
    pub(super) fn of(outcome: &'a Outcome) -> OutcomeRow<'a> {
        let Outcome { id, source, title, origin, profile, checks, error, not_applicable, .. } = outcome;
        let main = outcome.main();
        OutcomeRow {
            id,
            source,
            title,
            file: origin,
            profile: Some(profile.as_str()).filter(|profile| !profile.is_empty()),
            passed: outcome.passed(),
            not_applicable: not_applicable.as_deref(),
            error: error.as_deref(),
            what: main.map(|check| check.what.as_str()),
            expected: main.map(|check| check.expected.as_str()),
            actual: main.map(|check| check.actual.as_str()),
            unit: main.map(|check| check.unit),
            checks,
        }
    }
}
