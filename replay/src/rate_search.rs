//! `--find-ndr`: the highest rate without loss, by trials on fresh switches or networks. What may not live
//! here: the bisection itself, and the replay of one trial.

use super::inputs::Inputs;
use super::run::{Done, PortLoad};
use crate::args::ReplayArgs;
use crate::fail::Failure;
use crate::table::table;
use serde_json::{Value, json};
use sluice_asic::units::BitRate;
use sluice_pcaps::replay::Search;
use sluice_pipeline::switch::{DeviceDrop, Reason};
use std::fmt::Write;

/// Loss for want of room or speed; every other drop is the program's or the parser's decision.
const CONGESTION: [DeviceDrop; 3] =
    [DeviceDrop::QueueTailDrop, DeviceDrop::BufferFull, DeviceDrop::IngressOverrun];

/// The slowest trial runs at this part of the line rate: drops there are taken for policy.
const SLOWEST: u64 = 1_000;

/// One trial.
#[derive(Clone, Debug)]
struct Trial {
    /// Bit/s on the wire of each input port.
    rate: u64,
    /// Packets/s over all ports.
    pps: u64,
    packets: u64,
    /// Dropped for want of room or speed, or still inside at the end.
    congestion: u64,
    /// Dropped otherwise.
    policy: u64,
    lost: u64,
    fullest_cells: u64,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    line: u64,
    resolution: u64,
    ports: usize,
    policy: u64,
    best: Option<Trial>,
    failed: Option<u64>,
    trials: Vec<Trial>,
    queue_limit: u64,
}

/// A trial to be run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// Bit/s on the wire of each input port.
    pub(crate) rate: u64,
    number: usize,
}

impl Attempt {
    /// What its progress is called.
    pub(crate) fn what(&self) -> String {
        format!("trial {} at {}: ", self.number, BitRate::from_bps(self.rate))
    }
}

/// What came of a trial.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ran {
    received: u64,
    /// Dropped for want of room or speed, and otherwise.
    congestion: u64,
    others: u64,
    held: u64,
    fullest_cells: u64,
    ports: Vec<PortLoad>,
}

impl Ran {
    /// Of one switch.
    pub(crate) fn of(done: &Done<'_>) -> Ran {
        let full = |r: &Reason| match r {
            Reason::Device(d) => CONGESTION.contains(d),
            Reason::Buffer(_) => true,
            Reason::Label(_) => false,
        };
        let congestion = done.totals.reasons().filter(|(r, _)| full(r)).map(|(_, n)| n).sum();
        let fullest = done.queues.iter().filter_map(|q| q["max_cells"].as_u64()).max();
        Ran {
            received: done.totals.received,
            congestion,
            others: done.totals.dropped - congestion,
            held: done.held.total(),
            fullest_cells: fullest.unwrap_or(0),
            ports: done.ports.clone(),
        }
    }

    /// Of all switches of a network that this many packets entered, and as many were on links at its end.
    pub(crate) fn over(switches: &[Done<'_>], received: u64, on_links: u64) -> Ran {
        let start = Ran { received, held: on_links, ..Ran::default() };
        switches.iter().map(Ran::of).fold(start, |mut all, one| {
            all.congestion += one.congestion;
            all.others += one.others;
            all.held += one.held;
            all.fullest_cells = all.fullest_cells.max(one.fullest_cells);
            all.ports.extend(one.ports);
            all
        })
    }
}

/// Searches. The rates are whole bit/s on the wire, the same for all input ports, `line` at most.
pub(crate) fn find(
    args: &ReplayArgs,
    inputs: &Inputs,
    line: BitRate,
    run: &mut dyn FnMut(Attempt) -> Result<Ran, Failure>,
) -> Result<Found, Failure> {
    inputs.check_passes("--find-ndr")?;
    let line = line.as_bps();
    let resolution = match &args.ndr_resolution {
        Some(text) => text.parse::<BitRate>().map_err(Failure::input)?.as_bps().max(1),
        None => (line / 1_000).max(1),
    };
    let mut trial = |rate, policy, number| {
        let ran = run(Attempt { rate, number })?;
        if ran.received == 0 {
            let text = "the inputs have no packets to search a rate with";
            return Err(Failure::with_help(text, "give other captures"));
        }
        Ok(Trial::of(&ran, rate, policy))
    };
    let slowest = trial((line / SLOWEST).max(1), None, 1)?;
    let policy = slowest.policy;
    let mut search = Search::new(line, resolution);
    let mut trials = vec![slowest];
    if let Some(t) = trials.first().filter(|t| t.lost == 0) {
        search.verdict(t.rate, true);
    }
    while let Some(rate) = search.next_rate() {
        let t = trial(rate, Some(policy), trials.len() + 1)?;
        search.verdict(rate, t.lost == 0);
        trials.push(t);
    }
    let best = search.passed().and_then(|rate| trials.iter().find(|t| t.rate == rate)).cloned();
    let (ports, queue_limit) = (inputs.ports.len(), u64::from(args.queue_limit));
    Ok(Found { line, resolution, ports, policy, best, failed: search.failed(), trials, queue_limit })
}

impl Trial {
    /// Without `policy` its own drops of that kind are no loss.
    fn of(ran: &Ran, rate: u64, policy: Option<u64>) -> Trial {
        let congestion = ran.congestion + ran.held;
        Trial {
            rate,
            pps: ran.ports.iter().map(|p| packets_per_second(p, rate)).sum(),
            packets: ran.received,
            congestion,
            policy: ran.others,
            lost: congestion + ran.others.saturating_sub(policy.unwrap_or(ran.others)),
            fullest_cells: ran.fullest_cells,
        }
    }

    fn json(&self) -> Value {
        json!({
            "bps_per_port": self.rate, "pps": self.pps, "packets": self.packets, "lost": self.lost,
            "congestion_drops": self.congestion, "other_drops": self.policy,
            "fullest_queue_cells": self.fullest_cells,
        })
    }
}

/// Packets per second of a port at `rate` bit/s on its wire, rounded down.
fn packets_per_second(p: &PortLoad, rate: u64) -> u64 {
    let bits = u128::from(p.wire_bytes.max(1)) * 8;
    u64::try_from(u128::from(p.packets) * u128::from(rate) / bits).unwrap_or(u64::MAX)
}

impl Found {
    /// The rate to replay at: the answer, else the slowest one tried.
    pub(crate) fn rate(&self) -> u64 {
        let slowest = self.trials.iter().map(|t| t.rate).min().unwrap_or(1);
        self.best.as_ref().map_or(slowest, |t| t.rate)
    }

    /// The key `ndr` of the summary.
    pub(crate) fn json(&self) -> Value {
        let best = self.best.as_ref();
        json!({
            "bps_per_port": best.map(|t| t.rate),
            "bps": best.map(|t| t.rate * self.ports as u64),
            "pps": best.map(|t| t.pps),
            "line_bps": self.line,
            "input_ports": self.ports,
            "lowest_loss_bps_per_port": self.failed,
            "resolution_bps": self.resolution,
            "drops_not_counted_as_loss": self.policy,
            "trials": self.trials.iter().map(Trial::json).collect::<Vec<_>>(),
        })
    }

    /// What the reader should know before trusting the answer.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut list = Vec::new();
        match &self.best {
            None => list.push(format!(
                "even the slowest rate tried lost packets: {} on the wire of each port",
                BitRate::from_bps(self.rate())
            )),
            Some(best) if best.rate < self.line && best.fullest_cells * 2 > self.queue_limit => {
                list.push(format!(
                    "at the rate found a queue held {} of its {} cells: it may still have been filling, and longer \
                     trials (--loop) may find a lower rate",
                    best.fullest_cells, self.queue_limit
                ));
            }
            Some(_) => {}
        }
        list
    }

    /// For people: the answer, then the trials in their order.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        let rate = |bps: u64| BitRate::from_bps(bps).to_string();
        // Writing into a String cannot fail.
        let _ = match &self.best {
            None => writeln!(out, "no rate without loss was found"),
            Some(t) => writeln!(
                out,
                "highest rate without loss: {} on the wire of each of {} port(s), {:.2} % of the line, {} packets/s{}",
                rate(t.rate),
                self.ports,
                100.0 * t.rate as f64 / self.line.max(1) as f64,
                t.pps,
                self.failed.map_or(String::new(), |f| format!("; loss from {} on", rate(f))),
            ),
        };
        let rows = self.trials.iter().zip(1..).map(|(t, n)| {
            let words = [n, t.rate, t.pps, t.packets, t.lost, t.fullest_cells];
            words.iter().map(u64::to_string).collect()
        });
        let head = ["TRIAL", "BPS PER PORT", "PPS", "PACKETS", "LOST", "FULLEST QUEUE"];
        let _ = writeln!(out, "\n{}\n", table(&head, rows.collect()));
        out
    }
}
