//! Measures how evenly links are used: coefficients of variation by group and decision point, loads, idle links.

use super::plan::{Picker, Plan};
use super::walk::{Compiled, Counters, Load};
use crate::decimals;
use crate::topology::Network;
use serde::{Serialize, Serializer};
use sluice_hashing::cv::Cv;

/// Statistics of one group. *Variation* is the coefficient of variation: standard deviation over mean.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupStats {
    /// Index of the group in the network.
    pub group: u32,
    /// Index of its decision point.
    pub point: u32,
    /// Number of links.
    pub links: u32,
    /// Number of flows through the group.
    pub flows: u64,
    /// Variation of flows per link and weight.
    pub cv_flows: f64,
    /// Variation of bytes per link and weight.
    pub cv_bytes: f64,
    /// Expected variation of an even random spread (sampling noise): sqrt((links − 1) / flows).
    pub noise: f64,
    /// Variation of the member table itself.
    pub precision: f64,
    /// Number of links without a flow.
    pub idle: u32,
    /// True if the variation of flows exceeds precision plus four times the noise, or if the group has no traffic.
    pub failed: bool,
}

/// Statistics of a decision point: all of its groups with more than one link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointStats {
    /// Name of the decision point.
    #[serde(rename = "point")]
    pub name: String,
    /// Number of groups.
    pub groups: u32,
    /// Number of groups without traffic; they count as failed.
    #[serde(rename = "empty_groups")]
    pub empty: u32,
    /// Number of links without a flow, in groups with traffic.
    pub idle_links: u32,
    /// Number of failed groups.
    #[serde(rename = "failed_groups")]
    pub failed: u32,
    /// Median, 99th percentile and maximum of the variation of flows, over groups with traffic.
    #[serde(rename = "cv_flows", serialize_with = "percentiles")]
    pub cv: [f64; 3],
    /// Largest variation of bytes.
    #[serde(rename = "cv_bytes_max", serialize_with = "decimals::one")]
    pub cv_bytes: f64,
    /// Mean sampling noise.
    #[serde(serialize_with = "decimals::one")]
    pub noise: f64,
    /// Ratio of the largest to the smallest load in flows among links of one group, for the worst group; `None` if a
    /// link is idle.
    #[serde(serialize_with = "decimals::maybe")]
    pub max_min: Option<f64>,
}

fn percentiles<S: Serializer>(cv: &[f64; 3], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(["p50", "p99", "max"].iter().zip(cv.map(decimals::rounded)))
}

/// Verdict of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Verdict {
    /// Every group is as even as its member table and sampling noise allow.
    Balanced,
    /// At least one group is less even.
    Polarised,
    /// The flows differ in too few bits for two independent choices.
    InsufficientEntropy,
}

impl Verdict {
    /// Returns the name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Balanced => "balanced",
            Verdict::Polarised => "polarised",
            Verdict::InsufficientEntropy => "insufficient entropy",
        }
    }
}

impl From<Verdict> for &'static str {
    fn from(verdict: Verdict) -> &'static str {
        verdict.name()
    }
}

/// Results of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// Number of flows.
    pub flows: u64,
    /// Number of entries of all member tables.
    pub entries: u64,
    /// Entropy: number of independent bits in which the flows differ.
    #[serde(rename = "entropy_bits")]
    pub entropy: u32,
    /// Groups with more than one link that a flow may reach.
    #[serde(skip)]
    pub groups: Vec<GroupStats>,
    /// Decision points of these groups.
    pub points: Vec<PointStats>,
    /// The verdict.
    pub verdict: Verdict,
    /// Notes of the planner.
    pub notes: Vec<String>,
    /// Flows on each link of the least even group with traffic.
    #[serde(rename = "worst_group_flows")]
    pub worst_links: Vec<u64>,
    /// The underlying counters.
    #[serde(skip)]
    pub counters: Counters,
}

/// Computes the results from the counters.
#[must_use]
pub fn results(
    network: &Network,
    plan: &Plan,
    compiled: &Compiled,
    counters: Counters,
    entropy: u32,
    picker: Picker,
) -> Results {
    let mut groups = Vec::new();
    let reachable = network.reachable(&counters.pairs);
    for (number, (group, planned)) in (0u32..).zip(network.groups.iter().zip(&plan.groups)) {
        let ports = group.links.len();
        if ports < 2 || !reachable[number as usize] {
            continue;
        }
        let loads = compiled.loads(number, &counters);
        let flows: Vec<u64> = loads.iter().map(|l| l.flows).collect();
        let bytes: Vec<u64> = loads.iter().map(|l| l.bytes).collect();
        let weights: Vec<u32> = group.links.iter().map(|(_, w)| *w).collect();
        let precision = if picker == Picker::Ideal {
            0.0
        } else {
            let mut shares = vec![0u32; ports];
            planned.table.iter().for_each(|port| shares[*port as usize] += 1);
            Cv::of_ratios(&shares, &weights).value()
        };
        let cv_flows = weighted(&flows, &weights);
        let total: u64 = flows.iter().sum();
        let noise = if total == 0 { 0.0 } else { ((ports - 1) as f64 / total as f64).sqrt() };
        groups.push(GroupStats {
            group: number,
            point: group.point,
            links: ports as u32,
            flows: total,
            cv_flows,
            cv_bytes: weighted(&bytes, &weights),
            noise,
            precision,
            idle: flows.iter().filter(|n| **n == 0).count() as u32,
            failed: total == 0 || cv_flows > precision + 4.0 * noise,
        });
    }
    let points: Vec<PointStats> = (0u32..)
        .zip(&network.points)
        .filter_map(|(point, (name, _))| {
            let here: Vec<&GroupStats> = groups.iter().filter(|g| g.point == point).collect();
            (!here.is_empty()).then(|| point_stats(name, &here, compiled, &counters))
        })
        .collect();
    let widest = groups.iter().map(|g| g.links).max().unwrap_or(1);
    let verdict = if f64::from(entropy) < 2.0 * f64::from(widest).log2() {
        Verdict::InsufficientEntropy
    } else if points.iter().any(|p| p.failed > 0) {
        Verdict::Polarised
    } else {
        Verdict::Balanced
    };
    let notes = plan.notes.clone();
    let worst = groups.iter().filter(|g| g.flows > 0).max_by(|a, b| a.cv_flows.total_cmp(&b.cv_flows));
    let worst_links =
        worst.map_or(Vec::new(), |g| compiled.loads(g.group, &counters).iter().map(|l| l.flows).collect());
    Results {
        flows: counters.walked,
        entries: plan.entries(),
        entropy,
        groups,
        points,
        verdict,
        notes,
        worst_links,
        counters,
    }
}

/// Returns the variation of counts per weight.
fn weighted(counts: &[u64], weights: &[u32]) -> f64 {
    if weights.iter().all(|w| Some(w) == weights.first()) {
        return Cv::of(counts).value();
    }
    let scale = weights.iter().map(|w| u64::from(*w)).product::<u64>().max(1);
    let scaled: Vec<u64> =
        counts.iter().zip(weights).map(|(n, w)| n * (scale / u64::from((*w).max(1)))).collect();
    Cv::of(&scaled).value()
}

fn point_stats(name: &str, here: &[&GroupStats], compiled: &Compiled, counters: &Counters) -> PointStats {
    let busy: Vec<&&GroupStats> = here.iter().filter(|g| g.flows > 0).collect();
    let mut cvs: Vec<f64> = busy.iter().map(|g| g.cv_flows).collect();
    cvs.sort_by(f64::total_cmp);
    let at = |percent: usize| cvs.get((cvs.len() * percent / 100).min(cvs.len().saturating_sub(1))).copied();
    let ratio = |g: &&&GroupStats| {
        let flows = || compiled.loads(g.group, counters).iter().map(|l| l.flows);
        let (most, least) = (flows().max().unwrap_or(0), flows().min().unwrap_or(0));
        if least == 0 { f64::INFINITY } else { most as f64 / least as f64 }
    };
    let worst = busy.iter().map(ratio).fold(1.0, f64::max);
    PointStats {
        name: name.to_owned(),
        groups: here.len() as u32,
        empty: (here.len() - busy.len()) as u32,
        idle_links: busy.iter().map(|g| g.idle).sum(),
        failed: here.iter().filter(|g| g.failed).count() as u32,
        cv: [50, 99, 100].map(|p| at(p).unwrap_or(0.0)),
        cv_bytes: busy.iter().map(|g| g.cv_bytes).fold(0.0, f64::max),
        noise: busy.iter().map(|g| g.noise).sum::<f64>() / busy.len().max(1) as f64,
        max_min: worst.is_finite().then_some(worst),
    }
}

impl Results {
    /// Returns the loads of one group's links, in the order of its links.
    #[must_use]
    pub fn loads(&self, network: &Network, group: u32) -> &[Load] {
        // Counters are stored group by group, link by link.
        let links = |n: usize| network.groups.get(n).map_or(0, |g| g.links.len());
        let first: usize = (0..group as usize).map(links).sum();
        self.counters.loads.get(first..first + links(group as usize)).unwrap_or(&[])
    }

    /// Returns the largest variation of flows over all groups with traffic.
    #[must_use]
    pub fn worst(&self) -> f64 {
        self.points.iter().map(|p| p.cv[2]).fold(0.0, f64::max)
    }

    /// Returns the statistics of a decision point, if it has a choice.
    #[must_use]
    pub fn point(&self, name: &str) -> Option<&PointStats> {
        self.points.iter().find(|p| p.name == name)
    }

    /// Returns the variations of all groups in ascending order; a group without traffic counts as one that sends all
    /// flows to one link.
    #[must_use]
    pub fn cdf(&self) -> Vec<f64> {
        let of = |g: &GroupStats| if g.flows == 0 { f64::from(g.links - 1).sqrt() } else { g.cv_flows };
        let mut all: Vec<f64> = self.groups.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}
