//! Results of contests as JSON.

use super::Finished;
use serde_json::{Map, Value, json};
use sluice_scenario::contest::{Figure, Judged, Performance, RunKey, Series, Verdict};
use std::collections::BTreeMap;

/// Name of the schema.
pub(super) const SCHEMA: &str = "sluice.contest/2";

/// Returns the results of all contests.
pub(super) fn value(all: &[Finished]) -> Value {
    json!({ "schema": SCHEMA, "contests": all.iter().map(contest).collect::<Vec<_>>() })
}

fn contest(finished: &Finished) -> Value {
    let Finished { contest, axes, results, verdicts, digests } = finished;
    let seeds = &results.seeds;
    json!({
        "id": contest.id,
        "name": contest.name,
        "source": contest.source,
        "topology": contest.topology,
        "sweep": axes.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect::<Map<_, _>>(),
        "seeds": seeds,
        "programs": results.series.iter().enumerate().map(|(place, series)| program(place, series, seeds, digests)).collect::<Vec<_>>(),
        "expect": verdicts.list.iter().map(verdict).collect::<Vec<_>>(),
        "error": verdicts.error,
    })
}

/// Returns an expectation with its values: differences that are judged by their interval, or values of each seed.
fn verdict(verdict: &Verdict) -> Value {
    let mut value = json!({ "line": verdict.line, "what": verdict.what, "passed": verdict.holds });
    let (key, figure) = match &verdict.judged {
        Judged::Interval(figure) => ("difference", self::figure(figure)),
        Judged::EachSeed(figure) => {
            ("each_seed", Value::from(figure.0.iter().map(number).collect::<Vec<_>>()))
        }
    };
    value[key] = figure;
    let names = verdict.names.iter().map(|(name, figure)| (name.clone(), self::figure(figure)));
    value["found"] = Value::Object(names.collect());
    value
}

fn number(n: &i128) -> Value {
    i64::try_from(*n).map_or(Value::Null, Value::from)
}

/// Returns the mean, the ends of the 95 % interval (null of one seed) and the value of each seed. Means have three decimals.
fn figure(figure: &Figure) -> Value {
    let estimate = figure.estimate();
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    json!({
        "mean": rounded(estimate.mean),
        "low": estimate.half.map(|_| rounded(estimate.low())),
        "high": estimate.half.map(|_| rounded(estimate.high())),
        "seeds": figure.0.iter().map(number).collect::<Vec<_>>(),
    })
}

fn program(place: usize, series: &Series, seeds: &[u64], digests: &BTreeMap<RunKey, String>) -> Value {
    let figures = series.figures();
    let units = figures.keys().filter_map(|name| Some((name.clone(), Value::from(Performance::unit(name)?))));
    let units: Map<String, Value> = units.collect();
    let numbers: Map<String, Value> = figures.iter().map(|(name, f)| (name.clone(), figure(f))).collect();
    let runs = seeds.iter().zip(&series.runs);
    let unfinished = runs.flat_map(|(seed, run)| run.unfinished.iter().map(move |one| (seed, one)));
    let unfinished = unfinished.map(|(seed, one)| {
        let message = &one.left.message;
        json!({
            "seed": seed,
            "from": one.from.to_string(),
            "to": message.to.to_string(),
            "bytes": message.bytes,
            "start_ns": message.start.since_origin().as_nanos(),
            "acknowledged_packets": one.left.acknowledged,
        })
    });
    let runs = seeds.iter().map(|seed| digests.get(&RunKey { program: place, seed: *seed }).cloned());
    let blocked = seeds.iter().zip(&series.runs).flat_map(|(seed, run)| {
        run.deadlocks.iter().map(move |cycle| json!({ "seed": seed, "cycle": cycle }))
    });
    json!({
        "label": series.label,
        "program": series.program,
        "runs": runs.collect::<Vec<_>>(),
        "deadlocks": blocked.collect::<Vec<_>>(),
        "warnings": series.warnings(),
        "numbers": numbers,
        "units": units,
        "unfinished": unfinished.collect::<Vec<_>>(),
    })
}
