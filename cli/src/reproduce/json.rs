//! Results as JSON.

use super::Done;
use serde::Serialize;
use sluice_papers::{ClaimResult, Experiment, RivalRow, RowResult, Scale, Verdict};

/// Schema of results.
pub(super) const SCHEMA: &str = "sluice.reproduce/1";

/// The list of all experiments: a document of schema `sluice.experiments/1`.
#[derive(Serialize)]
pub(super) struct Experiments<'a> {
    schema: &'static str,
    experiments: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    title: &'a str,
    figures: &'a str,
}

/// Results: a document of schema `sluice.reproduce/1`. They have no times, so that equal runs give equal bytes.
#[derive(Serialize)]
pub(super) struct Results<'a> {
    schema: &'static str,
    scale: &'static str,
    experiments: Vec<Judged<'a>>,
}

#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    of: Listed<'a>,
    verdict: Verdict,
    rows: &'a [RowResult],
    claims: &'a [ClaimResult],
    rivals: &'a [RivalRow],
    errors: &'a [String],
    deviations: &'a [String],
}

impl<'a> Experiments<'a> {
    pub(super) fn of(all: &'a [Experiment]) -> Experiments<'a> {
        Experiments { schema: "sluice.experiments/1", experiments: all.iter().map(Listed::of).collect() }
    }
}

impl<'a> Listed<'a> {
    fn of(Experiment { id, title, figures, .. }: &'a Experiment) -> Listed<'a> {
        Listed { id, title, figures }
    }
}

impl<'a> Results<'a> {
    pub(super) fn of(all: &'a [Done], scale: Scale) -> Results<'a> {
        let judged = |Done { experiment, judgement, .. }: &'a Done| Judged {
            of: Listed::of(experiment),
            verdict: judgement.verdict(),
            rows: &judgement.rows,
            claims: &judgement.claims,
            rivals: &judgement.rivals,
            errors: &judgement.errors,
            deviations: &experiment.deviations,
        };
        Results { schema: SCHEMA, scale: scale.name(), experiments: all.iter().map(judged).collect() }
    }
}
