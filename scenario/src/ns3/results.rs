//! The simulators' output files (model: int §4.4 to §4.6).

use super::config::Simulator;
use super::run::Nodes;
use super::translate::Experiment;
use super::watch::{Heard, Pause, Watch};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::counters::HostCounters;
use sluice_fabric::host::message::Completion;
use sluice_fabric::network::NetworkTotals;
use std::fmt::Write;

/// Records of a run, from which the result files are written.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) completions: Vec<Completion>,
    /// Time in ns, node, notifications because of marks, because of missing packets, and all.
    pub(super) notifications: Vec<[u64; 5]>,
    queues: String,
    /// True if the run was stopped.
    pub(super) interrupted: bool,
}

/// Results of a run: the texts of the output files.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Complete flows in the order of their ends: ends, ports, bytes, start, time, and time of a lone flow.
    pub fct: String,
    /// PFC frames at their receivers.
    pub pfc: String,
    /// Lengths of queues; `None` if the config asks for none.
    pub qlen: Option<String>,
    /// Notifications of congestion by host and 100 us; `None` in HPCC's simulator.
    pub cnp: Option<String>,
    /// True if the caller stopped the run.
    pub interrupted: bool,
    /// Number of complete flows.
    pub complete: usize,
    /// Warnings about switches at their places in the network.
    pub warnings: Vec<String>,
    /// Cycles of paused queues that wait for each other at the end, as texts such as `s0:1 queue 0 -> s1:2 queue 0`.
    pub deadlocks: Vec<String>,
    /// Absolute simulated time at the end.
    pub end: Duration,
    /// Counters of all hosts.
    pub hosts: HostCounters,
    /// Counters of the network.
    pub totals: NetworkTotals,
}

impl Rows {
    /// Writes the histograms of all ports at a time of the run.
    pub(super) fn dump(&mut self, base: Duration, at: Time, watches: &mut [Watch], nodes: &Nodes) {
        let ns = (base + at.since_origin()).as_ps() / 1_000;
        let mut rows: Vec<(u32, u32, &[u64], u64)> = Vec::new();
        for (switch, watch) in watches.iter_mut().enumerate() {
            watch.count(at);
            let before = watch.before();
            for (port, queue) in &watch.queues {
                if let Some(interface) = nodes.interfaces[switch].get(port) {
                    rows.push((nodes.switches[switch], *interface, &queue.columns, before));
                }
            }
        }
        rows.sort_unstable();
        // Writing into a String cannot fail.
        let _ = writeln!(self.queues, "time: {ns}");
        for (node, interface, columns, before) in rows {
            let _ = write!(self.queues, "{node} {interface}");
            for (column, count) in columns.iter().enumerate() {
                let _ = write!(self.queues, " {}", if column == 0 { count + before } else { *count });
            }
            self.queues.push('\n');
        }
    }

    /// Returns the texts.
    pub(super) fn outcome(
        mut self,
        experiment: &Experiment,
        (nodes, warnings): (&Nodes, Vec<String>),
        pauses: Vec<Pause>,
        (hosts, totals): (HostCounters, NetworkTotals),
        (end, deadlocks): (Duration, Vec<String>),
    ) -> Outcome {
        self.completions.sort_by_key(|done| (done.end, done.message.pair));
        let complete = self.completions.len();
        let fct = self.completions.iter().filter_map(|done| fct_row(experiment, done)).collect();
        let cnp = self.notifications.iter().map(|row| {
            let words: Vec<String> = row.iter().map(u64::to_string).collect();
            words.join(" ") + "\n"
        });
        Outcome {
            fct,
            pfc: pfc(experiment, nodes, &pauses),
            qlen: experiment.sampling.map(|_| self.queues),
            cnp: (experiment.simulator == Simulator::ConWeave).then(|| cnp.collect()),
            interrupted: self.interrupted,
            complete,
            warnings,
            deadlocks,
            end,
            hosts,
            totals,
        }
    }
}

/// Returns the row of a complete flow. HPCC's simulator writes addresses in hexadecimal digits, ConWeave's node numbers.
fn fct_row(experiment: &Experiment, done: &Completion) -> Option<String> {
    let flow = experiment.flows.flows.get(done.message.pair.checked_sub(1)? as usize)?;
    let address = |node: u32| 0x0b00_0001 + ((node / 256) << 16) + ((node % 256) << 8);
    let (from, to) = (address(flow.from), address(flow.to));
    let alone = experiment.pairs.of(from.into(), to.into())?.alone(flow.bytes, experiment.payload);
    let (start, time) = (flow.start.as_ps() / 1_000, done.time().as_ps() / 1_000);
    let ends = match experiment.simulator {
        Simulator::Hpcc => format!("{from:08x} {to:08x}"),
        Simulator::ConWeave => format!("{} {}", flow.from, flow.to),
    };
    let (source, destination, bytes) = (flow.source_port, flow.destination_port, flow.bytes);
    Some(format!("{ends} {source} {destination} {bytes} {start} {time} {alone}\n"))
}

/// Returns the rows of PFC frames in order of arrival: time, node, 0 for a host and 1 for a switch, interface, 1 for a pause
/// and 0 for its end.
fn pfc(experiment: &Experiment, nodes: &Nodes, pauses: &[Pause]) -> String {
    let row = |pause: &Pause| {
        let (time, node, kind, interface) = match pause.to {
            Heard::Link(link, forth) => {
                let (switch, interface) = nodes.links.get(link.0 as usize)?[usize::from(forth)];
                (pause.time, *nodes.switches.get(switch)?, 1, interface)
            }
            Heard::Host(switch, port) => {
                let (node, cable) = nodes.hosts.get(&(switch, port))?;
                (pause.time + *cable, *node, 0, 1)
            }
        };
        let ns = (experiment.base + time.since_origin()).as_ps() / 1_000;
        Some((ns, node, kind, interface, u8::from(pause.pauses)))
    };
    let mut rows: Vec<(u64, u32, u8, u32, u8)> = pauses.iter().filter_map(row).collect();
    rows.sort_unstable();
    let line = |(ns, node, kind, interface, pauses)| format!("{ns} {node} {kind} {interface} {pauses}\n");
    rows.into_iter().map(line).collect()
}
