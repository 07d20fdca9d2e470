//! Results of contests as JSON.

use super::Finished;
use serde_json::{Map, Value, json};
use sluice_scenario::contest::Performance;

/// Name of the schema.
pub(super) const SCHEMA: &str = "sluice.contest/1";

/// Returns the results of all contests.
pub(super) fn value(all: &[Finished]) -> Value {
    json!({ "schema": SCHEMA, "contests": all.iter().map(contest).collect::<Vec<_>>() })
}

fn contest(finished: &Finished) -> Value {
    let Finished { contest, performances, outcome } = finished;
    let checks = outcome
        .checks
        .iter()
        .map(|c| json!({ "line": c.line, "what": c.what, "found": c.actual, "passed": c.passed }));
    json!({
        "id": contest.id,
        "name": contest.name,
        "source": contest.source,
        "topology": contest.topology,
        "seed": contest.seed(),
        "programs": performances.iter().map(performance).collect::<Vec<_>>(),
        "expect": checks.collect::<Vec<_>>(),
        "error": outcome.error,
    })
}

fn performance(performance: &Performance) -> Value {
    let numbers = performance.numbers();
    let number = |n: &i128| i64::try_from(*n).map_or(Value::Null, Value::from);
    let units = numbers.keys().filter_map(|name| Some((name.clone(), Value::from(Performance::unit(name)?))));
    let units: Map<String, Value> = units.collect();
    let numbers: Map<String, Value> = numbers.iter().map(|(name, n)| (name.clone(), number(n))).collect();
    let unfinished = performance.unfinished.iter().map(|one| {
        let message = &one.left.message;
        json!({
            "from": one.from.to_string(),
            "to": message.to.to_string(),
            "bytes": message.bytes,
            "start_ns": message.start.since_origin().as_nanos(),
            "acknowledged_packets": one.left.acknowledged,
        })
    });
    json!({
        "label": performance.label,
        "program": performance.program,
        "numbers": numbers,
        "units": units,
        "unfinished": unfinished.collect::<Vec<_>>(),
    })
}
