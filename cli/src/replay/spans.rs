//! `--trace-out` of replays: the switches of one run.

use crate::console::fail::Failure;
use crate::replay::args::ReplayArgs;
use sluice_fabric::network::{LinkId, Way};
use sluice_fabric::spans::{Process, TraceFacts, TraceRun};
use sluice_replay::Outcome;

/// Writes the trace of these switches, if one is asked for; `packets` were in the inputs.
pub(super) fn write(
    args: &ReplayArgs,
    program: &str,
    switches: &[(&str, &Outcome<'_>)],
    link: &dyn Fn(LinkId, Way) -> String,
    packets: u64,
) -> Result<(), Failure> {
    let Some(request) = args.traces.request(None) else { return Ok(()) };
    let recorded = switches.iter().filter_map(|(name, outcome)| {
        let port = Box::new(|dev_port| outcome.port_name(dev_port));
        Some(Process { name: (*name).to_owned(), spans: outcome.spans.as_ref()?, port })
    });
    let switches = recorded.collect();
    let run = TraceRun { label: String::new(), switches, link: Box::new(link), hosts: Vec::new() };
    let facts = TraceFacts { program: program.to_owned(), packets, traced: request.count(packets) };
    args.traces.write(&[run], &facts)
}
