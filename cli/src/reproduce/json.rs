//! Results as JSON.

use super::Done;
use serde_json::{Value, json};
use sluice_papers::{Experiment, PublishedValue, RowResult, Scale};
use sluice_scenario::contest::Estimate;

/// Schema of results.
pub(super) const SCHEMA: &str = "sluice.reproduce/1";

/// Returns the list of all experiments.
pub(super) fn list(all: &[Experiment]) -> Value {
    let row = |e: &Experiment| json!({ "id": e.id, "title": e.title, "figures": e.figures });
    json!({ "schema": "sluice.experiments/1", "experiments": all.iter().map(row).collect::<Vec<_>>() })
}

/// Returns results; they have no times, so that equal runs give equal bytes.
pub(super) fn value(all: &[Done], scale: Scale) -> Value {
    let experiments: Vec<Value> = all
        .iter()
        .map(|Done { experiment, judgement, .. }| {
            let claims = judgement.claims.iter().map(|claim| {
                json!({
                    "what": claim.what,
                    "source": claim.source,
                    "expect": claim.expect,
                    "verdict": claim.verdict.words(),
                    "numbers": claim.numbers,
                    "because": claim.because,
                })
            });
            let rivals = judgement.rivals.iter().map(|row| {
                let of = row.rivals.iter().map(|(label, found)| (label.clone(), estimate(*found)));
                json!({ "what": row.what, "unit": row.unit, "here": estimate(row.here), "rivals": of.collect::<serde_json::Map<_, _>>() })
            });
            json!({
                "id": experiment.id,
                "title": experiment.title,
                "figures": experiment.figures,
                "verdict": judgement.verdict().words(),
                "rows": judgement.rows.iter().map(row).collect::<Vec<_>>(),
                "claims": claims.collect::<Vec<_>>(),
                "rivals": rivals.collect::<Vec<_>>(),
                "errors": judgement.errors,
                "deviations": experiment.deviations,
            })
        })
        .collect();
    json!({ "schema": SCHEMA, "scale": scale.name(), "experiments": experiments })
}

fn row(result: &RowResult) -> Value {
    let [paper, reference, theory] = &result.values;
    json!({
        "what": result.row.what,
        "unit": result.row.unit,
        "expression": result.row.here,
        "here": estimate(result.here),
        "published": published(paper.as_ref()),
        "reference": published(reference.as_ref()),
        "theory": published(theory.as_ref()),
        "ratio": result.ratio,
        "within_percent": result.row.within,
        "verdict": result.verdict.words(),
        "because": result.row.because,
    })
}

fn estimate(Estimate { mean, half }: Estimate) -> Value {
    json!({ "mean": mean, "half": half })
}

fn published(value: Option<&PublishedValue>) -> Value {
    let Some(value) = value else { return Value::Null };
    json!({
        "id": value.id,
        "value": value.value,
        "unit": value.unit,
        "precision": value.precision,
        "read": value.read.word(),
        "source": value.source,
    })
}
