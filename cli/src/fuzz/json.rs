//! Results of a campaign as JSON.

use super::Done;
use super::files;
use serde_json::{Map, Value, json};
use sluice_fuzz::hunt::{Failure, changes};
use sluice_report::coverage as coverage_report;
use sluice_switch::{DeviceDrop, Reason};

/// Returns the results; the rate, which depends on the machine, only if `with_rate`.
pub(crate) fn value(done: &Done<'_>, with_rate: bool) -> Value {
    let (status, subject) = (&done.status, done.subject);
    let rate = status.packets as f64 / done.seconds.max(1e-9);
    let params: Map<String, Value> =
        subject.program.params.iter().map(|p| (p.key.clone(), Value::String(p.value.clone()))).collect();
    let failures: Vec<Value> = (1..).zip(&status.failures).map(|(n, f)| failure(done, n, f)).collect();
    json!({
        "schema": "sluice.fuzz/1",
        "program": subject.program.name,
        "chip": subject.placement.chip.name,
        "params": params,
        "profile": done.profile.iter().map(|(k, v)| (k.clone(), Value::String(v.clone()))).collect::<Map<_, _>>(),
        "seed": done.args.seed,
        "cases": status.cases,
        "executions": status.packets,
        "per_second": with_rate.then_some(rate as u64),
        "coverage": coverage_report::shares(&subject.points, &status.coverage),
        "drops": drops(done),
        "corpus": status.corpus.pieces.len(),
        "failures": failures,
        "mutation": done.mutation.as_ref().map(|m| super::mutation::json(m, &subject.program)),
    })
}

/// Returns the number of packets by the reason of their end.
fn drops(done: &Done<'_>) -> Value {
    let name = |reason: Reason| reason.name(&done.subject.program).to_owned();
    Value::Object(done.status.ends.iter().map(|(r, n)| (name(*r), (*n).into())).collect())
}

/// Returns the drop reasons of the device and of the program that no packet met.
pub(crate) fn unseen(done: &Done<'_>) -> Vec<String> {
    let program = &done.subject.program;
    let labels = program.labels.keys().map(Reason::Label);
    let device = DeviceDrop::TABLE.iter().map(|(d, ..)| Reason::Device(*d));
    let all = labels.chain(device).filter(|r| !done.status.ends.contains_key(r));
    all.map(|r| r.name(program).to_owned()).collect()
}

fn failure(done: &Done<'_>, number: usize, failure: &Failure) -> Value {
    let packets: Vec<Value> = failure
        .input
        .shots
        .iter()
        .map(|s| json!({ "time_ns": s.at, "dev_port": s.port, "bytes": files::hex(&s.bytes) }))
        .collect();
    json!({
        "property": failure.violation.property,
        "packet": failure.violation.tag,
        "text": failure.violation.text,
        "case": failure.case,
        "packets_before": failure.packets,
        "packets": packets,
        "obeys_pfc": failure.input.obeys,
        "changes": changes(&done.subject.program, &failure.input.ops),
        "files": done.args.output.is_some().then(|| files::names(number, failure)),
        "replay": files::command(done, number, failure),
    })
}
