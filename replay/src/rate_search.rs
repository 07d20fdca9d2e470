//! Rate search: the highest rate without loss (non-drop rate), by trials on new switches or networks.
//!
//! `sluice_pcaps::replay::Search` chooses the rates. The first trial runs at a small part of the line rate: drops there are
//! decisions of the program (policy), not congestion, and do not count as loss in later trials.

use crate::error::{Error, Passes};
use crate::inputs::Inputs;
use crate::outcome::{Outcome, PortLoad};
use serde::{Serialize, Serializer};
use sluice_asic::units::{BitRate, Cells};
use sluice_pcaps::replay::Search;
use sluice_switch::{DeviceDrop, Reason};
use std::fmt;

/// Drops because of congestion. Every other drop is a decision of the program or of the parser.
const CONGESTION: [DeviceDrop; 3] =
    [DeviceDrop::QueueTailDrop, DeviceDrop::BufferFull, DeviceDrop::IngressOverrun];

/// The first trial runs at the line rate divided by this number.
const SLOWEST: u64 = 1_000;

/// A trial that is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Bit/s on the wire of each input port.
    pub rate: u64,
    /// Number of the trial, from 1.
    pub number: usize,
}

/// A trial that has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// Bit/s on the wire of each input port.
    #[serde(rename = "bps_per_port")]
    pub rate: u64,
    /// Packets/s over all input ports.
    pub pps: u64,
    /// Packets that entered.
    pub packets: u64,
    /// Packets dropped because of congestion, and packets still inside at the end.
    #[serde(rename = "congestion_drops")]
    pub congestion: u64,
    /// Packets dropped for other reasons.
    #[serde(rename = "other_drops")]
    pub policy: u64,
    /// Packets that count as loss: congestion, and other drops beyond those of the first trial.
    pub lost: u64,
    /// Largest number of cells in a queue.
    #[serde(rename = "fullest_queue_cells")]
    pub fullest_cells: u64,
}

/// Result of a rate search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSearch {
    /// Rate of the slowest input port's line in bit/s: the highest rate that is tried.
    pub line: u64,
    /// Largest distance between the result and the lowest rate with loss, bit/s.
    pub resolution: u64,
    /// Number of input ports.
    pub ports: usize,
    /// Drops that do not count as loss: drops of the first trial without those caused by congestion.
    pub policy: u64,
    /// The trial at the highest rate without loss; `None` if every trial lost packets.
    pub best: Option<Trial>,
    /// The lowest rate with loss in bit/s; `None` if no trial lost packets.
    pub failed: Option<u64>,
    /// All trials in the order in which they ran.
    pub trials: Vec<Trial>,
    /// Tail-drop limit of each queue.
    pub queue_limit: Cells,
}

/// A reason to doubt the result of a rate search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateWarning {
    /// Even the slowest trial lost packets.
    AlwaysLoss {
        /// Line rate of the slowest input port, bit/s: the highest rate that is tried.
        slowest: BitRate,
    },
    /// At the result, a queue was more than half full: it may still have been filling when the trial ended.
    QueueFilling {
        /// Most cells that the queue held.
        held: u64,
        /// Limit of the queue in cells.
        limit: Cells,
    },
}

impl fmt::Display for RateWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RateWarning::AlwaysLoss { slowest } => {
                write!(f, "even the slowest rate tried lost packets: {slowest} on the wire of each port")
            }
            RateWarning::QueueFilling { held, limit } => write!(
                f,
                "at the rate found a queue held {held} of its {} cells: it may still have been filling, and longer trials \
                 (more turns of the inputs) may find a lower rate",
                limit.0
            ),
        }
    }
}

/// Counts of one trial.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrialCounts {
    received: u64,
    congestion: u64,
    others: u64,
    held: u64,
    fullest_cells: u64,
    ports: Vec<PortLoad>,
}

impl TrialCounts {
    /// Returns the counts of one switch.
    pub(crate) fn of(outcome: &Outcome<'_>) -> TrialCounts {
        let congested = |r: &Reason| match r {
            Reason::Device(d) => CONGESTION.contains(d),
            Reason::Buffer(_) => true,
            Reason::Label(_) => false,
        };
        let totals = &outcome.totals;
        let congestion = totals.reasons().filter(|(r, _)| congested(r)).map(|(_, n)| n).sum();
        let fullest = outcome.queues.iter().map(|q| u64::from(q.stats.max_cells.0)).max();
        TrialCounts {
            received: totals.received,
            congestion,
            others: totals.dropped - congestion,
            held: outcome.held.total(),
            fullest_cells: fullest.unwrap_or(0),
            ports: outcome.loads.clone(),
        }
    }

    /// Returns the counts of a network: `received` packets entered it, and `on_links` were on links at its end.
    pub(crate) fn over(switches: &[Outcome<'_>], received: u64, on_links: u64) -> TrialCounts {
        let start = TrialCounts { received, held: on_links, ..TrialCounts::default() };
        switches.iter().map(TrialCounts::of).fold(start, |mut all, one| {
            all.congestion += one.congestion;
            all.others += one.others;
            all.held += one.held;
            all.fullest_cells = all.fullest_cells.max(one.fullest_cells);
            all.ports.extend(one.ports);
            all
        })
    }
}

/// Searches rates up to `line`. Rates are whole bit/s on the wire, the same for all input ports.
pub(crate) fn search(
    inputs: &Inputs,
    (line, resolution): (Option<BitRate>, Option<BitRate>),
    queue_limit: Cells,
    run: &mut dyn FnMut(Attempt) -> Result<TrialCounts, Error>,
) -> Result<RateSearch, Error> {
    inputs.check_repeatable(Passes::RateSearch)?;
    let line = line.map_or(0, BitRate::as_bps);
    let resolution = resolution.map_or(line / 1_000, BitRate::as_bps).max(1);
    let mut trial = |rate, policy, number| {
        let counts = run(Attempt { rate, number })?;
        if counts.received == 0 {
            return Err(Error::NoPackets);
        }
        Ok(Trial::of(&counts, rate, policy))
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
    let ports = inputs.places().len();
    Ok(RateSearch { line, resolution, ports, policy, best, failed: search.failed(), trials, queue_limit })
}

impl Trial {
    /// Returns the trial with these counts. If `policy` is `None`, the trial's drops without congestion do not count as
    /// loss.
    fn of(ran: &TrialCounts, rate: u64, policy: Option<u64>) -> Trial {
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
}

/// Returns the packets per second of a port at `rate` bit/s on its wire, rounded down.
fn packets_per_second(p: &PortLoad, rate: u64) -> u64 {
    let bits = u128::from(p.wire_bytes.max(1)) * 8;
    u64::try_from(u128::from(p.packets) * u128::from(rate) / bits).unwrap_or(u64::MAX)
}

/// Serializes the key `ndr` of a summary.
impl Serialize for RateSearch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            bps_per_port: Option<u64>,
            bps: Option<u64>,
            pps: Option<u64>,
            line_bps: u64,
            input_ports: usize,
            lowest_loss_bps_per_port: Option<u64>,
            resolution_bps: u64,
            drops_not_counted_as_loss: u64,
            trials: &'a [Trial],
        }
        let best = self.best.as_ref();
        let row = Row {
            bps_per_port: best.map(|t| t.rate),
            bps: best.map(|t| t.rate * self.ports as u64),
            pps: best.map(|t| t.pps),
            line_bps: self.line,
            input_ports: self.ports,
            lowest_loss_bps_per_port: self.failed,
            resolution_bps: self.resolution,
            drops_not_counted_as_loss: self.policy,
            trials: &self.trials,
        };
        row.serialize(serializer)
    }
}

impl RateSearch {
    /// Returns the rate for the final replay, bit/s on the wire of each input port: the result, or else the slowest
    /// rate tried.
    #[must_use]
    pub fn rate(&self) -> u64 {
        let slowest = self.trials.iter().map(|t| t.rate).min().unwrap_or(1);
        self.best.as_ref().map_or(slowest, |t| t.rate)
    }

    /// Returns a reason to doubt the result, if there is one.
    #[must_use]
    pub fn warning(&self) -> Option<RateWarning> {
        match &self.best {
            None => Some(RateWarning::AlwaysLoss { slowest: BitRate::from_bps(self.rate()) }),
            Some(best) if best.rate < self.line && best.fullest_cells * 2 > u64::from(self.queue_limit.0) => {
                Some(RateWarning::QueueFilling { held: best.fullest_cells, limit: self.queue_limit })
            }
            Some(_) => None,
        }
    }
}
