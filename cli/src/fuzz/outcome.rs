//! Outcome of a campaign: what the text, the page and `--json` (`sluice.fuzz/1`) show.

use super::files::RunIn;
use super::mutation::Mutation;
use super::{Done, files};
use serde::Serialize;
use serde_json::Value;
use sluice_fuzz::hunt::{self, changes};
use sluice_report::coverage as coverage_report;
use sluice_switch::{DeviceDrop, Reason};
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Outcome<'a> {
    schema: &'static str,
    program: &'a str,
    chip: &'a str,
    params: BTreeMap<&'a str, &'a str>,
    profile: BTreeMap<&'a str, &'a str>,
    seed: u64,
    cases: u64,
    executions: u64,
    /// Packets per second. `None` in files and on the page, because the rate depends on the machine.
    pub(super) per_second: Option<u64>,
    coverage: Value,
    /// Number of packets by the reason of their end.
    pub(super) drops: BTreeMap<&'a str, u64>,
    corpus: usize,
    pub(super) failures: Vec<Failed<'a>>,
    pub(super) mutation: Option<Mutation<'a>>,
    /// Drop reasons of the device and of the program that no packet met.
    #[serde(skip)]
    pub(super) unseen: Vec<&'a str>,
}

/// A failed property with its shrunk input.
#[derive(Serialize)]
pub(super) struct Failed<'a> {
    pub(super) property: &'a str,
    /// Number of the packet at which the failure was found; `None` at the end of the run.
    packet: Option<u64>,
    pub(super) text: &'a str,
    pub(super) case: u64,
    /// Packets of the input before it was shrunk.
    pub(super) packets_before: usize,
    pub(super) packets: Vec<Packet>,
    pub(super) obeys_pfc: bool,
    /// Changes between the packets, a line for each.
    pub(super) changes: String,
    files: Option<Vec<String>>,
    /// The command that reproduces the failure in the output folder; `None` without one.
    replay: Option<String>,
    /// The same for the folder in which the hunt ran.
    #[serde(skip)]
    pub(super) replay_here: Option<String>,
    /// The failure in one line.
    #[serde(skip)]
    pub(super) title: String,
}

#[derive(Serialize)]
pub(super) struct Packet {
    pub(super) time_ns: u64,
    pub(super) dev_port: u16,
    /// Hexadecimal digits.
    pub(super) bytes: String,
}

impl<'a> Outcome<'a> {
    /// Returns the outcome without its rate.
    pub(super) fn of(done: &'a Done<'_>) -> Outcome<'a> {
        let (status, subject) = (&done.status, done.subject);
        let program = &subject.program;
        let labels = program.labels.keys().map(Reason::Label);
        let reasons = labels.chain(DeviceDrop::TABLE.iter().map(|(drop, ..)| Reason::Device(*drop)));
        Outcome {
            schema: "sluice.fuzz/1",
            program: &program.name,
            chip: &subject.placement.chip.name,
            params: program.params.iter().map(|p| (p.key.as_str(), p.value.as_str())).collect(),
            profile: done.profile.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
            seed: done.args.seed,
            cases: status.cases,
            executions: status.packets,
            per_second: None,
            coverage: coverage_report::shares(&subject.points, &status.coverage),
            drops: status.ends.iter().map(|(reason, packets)| (reason.name(program), *packets)).collect(),
            corpus: status.corpus.pieces.len(),
            failures: (1..).zip(&status.failures).map(|(n, failure)| Failed::of(done, n, failure)).collect(),
            mutation: done.mutation.as_ref().map(|checked| Mutation::of(checked, program)),
            unseen: reasons.filter(|r| !status.ends.contains_key(r)).map(|r| r.name(program)).collect(),
        }
    }
}

impl<'a> Failed<'a> {
    fn of(done: &Done<'_>, number: usize, failure: &'a hunt::Failure) -> Failed<'a> {
        let hunt::Failure { violation, case, packets, input } = failure;
        Failed {
            property: &violation.property,
            packet: violation.tag,
            text: &violation.text,
            case: *case,
            packets_before: *packets,
            packets: input
                .shots
                .iter()
                .map(|s| Packet { time_ns: s.at, dev_port: s.port, bytes: files::hex(&s.bytes) })
                .collect(),
            obeys_pfc: input.obeys,
            changes: changes(&done.subject.program, &input.ops),
            files: done.args.output.is_some().then(|| files::names(number, failure)),
            replay: files::command(done, number, failure, RunIn::Output),
            replay_here: files::command(done, number, failure, RunIn::Here),
            title: violation.to_string(),
        }
    }
}
