//! Latency of a gress's stages (model: cycles §2 and §3), and of the other parts of a packet's way through the switch.

use crate::chip::{DeparserSpec, LatencySpec};
use crate::clock::Clock;
use crate::units::{Cycles, Duration};
use serde::{Serialize, Serializer};

/// Dependency of a stage on earlier ones, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StageDependency {
    /// The stage neither matches on values that earlier stages write nor computes with them.
    Concurrent,
    /// The stage's actions use values that earlier stages write.
    Action,
    /// The stage's matches use values that earlier stages write.
    Match,
}

/// Features that a stage's tables use and that lengthen its group of stages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StageFeatures {
    /// A ternary table.
    pub tcam: bool,
    /// A selector with groups of more than 120 members.
    pub wide_selector: bool,
    /// Any selector.
    pub selector: bool,
    /// A register.
    pub stateful: bool,
    /// A register action that divides.
    pub divide: bool,
    /// An LPF or WRED meter.
    pub lpf_wred: bool,
}

impl StageFeatures {
    fn or(self, other: Self) -> Self {
        Self {
            tcam: self.tcam | other.tcam,
            wide_selector: self.wide_selector | other.wide_selector,
            selector: self.selector | other.selector,
            stateful: self.stateful | other.stateful,
            divide: self.divide | other.divide,
            lpf_wred: self.lpf_wred | other.lpf_wred,
        }
    }

    fn tcam_delay(self, spec: &LatencySpec) -> u32 {
        if self.tcam || self.wide_selector { spec.tcam } else { 0 }
    }

    /// Returns the cycles of the largest delay class; classes are not added.
    fn address_delay(self, spec: &LatencySpec) -> u32 {
        if self.selector || self.wide_selector {
            spec.selector
        } else if self.divide && spec.stateful_divide != 0 {
            spec.stateful_divide
        } else if self.stateful {
            spec.stateful
        } else if self.lpf_wred {
            spec.lpf_wred
        } else {
            0
        }
    }
}

/// One stage of one gress, as placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageUse {
    /// Dependency on the stages before it.
    pub dependency: StageDependency,
    /// Features that its tables use.
    pub features: StageFeatures,
}

/// The timing of one stage of one gress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StageLatency {
    /// The dependency that the hardware is set to.
    pub dependency: StageDependency,
    /// The stage's length.
    #[serde(serialize_with = "number")]
    pub length: Cycles,
    /// The cycle within the stage in which predication is decided.
    #[serde(serialize_with = "number")]
    pub predication: Cycles,
    /// Cycles that the stage adds to the gress's latency.
    #[serde(rename = "adds", serialize_with = "number")]
    pub contribution: Cycles,
    /// The stage's group, from 0: stages joined by dependencies other than match.
    pub group: u32,
}

fn number<S: Serializer>(cycles: &Cycles, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(cycles.0)
}

/// The timing of all stages of one gress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GressLatency {
    /// Every stage, in order.
    pub stages: Vec<StageLatency>,
    /// Cycles from a PHV's entry into the first stage to its exit from the last.
    pub total: Cycles,
    /// The sum that the assembler checks against the least egress latency: without stage 0.
    pub assembler_total: Cycles,
}

/// Computes the timing of a gress from the use of its stages.
///
/// Stage 0 and the chip's forced stage count as match-dependent. A dependency that the chip lacks becomes the next
/// stronger one (model: cycles §2, §3).
pub fn gress_latency(spec: &LatencySpec, stages: &[StageUse]) -> GressLatency {
    let dependencies: Vec<StageDependency> =
        stages.iter().enumerate().map(|(index, stage)| settled(spec, index, stage.dependency)).collect();
    let (groups, features) = groups(stages, &dependencies);
    let cycles = |count: u32| Cycles(u64::from(count));
    let mut latencies = Vec::with_capacity(stages.len());
    for (dependency, group) in dependencies.into_iter().zip(groups) {
        let used = features.get(group as usize).copied().unwrap_or_default();
        let tcam = used.tcam_delay(spec);
        let length = cycles(spec.base) + cycles(tcam) + cycles(used.address_delay(spec));
        let contribution = match dependency {
            StageDependency::Match => length,
            StageDependency::Action => cycles(spec.action_contribution),
            StageDependency::Concurrent => cycles(spec.concurrent_contribution),
        };
        let predication = cycles(spec.base_predication) + cycles(tcam);
        latencies.push(StageLatency { dependency, length, predication, contribution, group });
    }
    let corner = cycles(spec.corner_turn);
    let sum =
        |skip| latencies.iter().skip(skip).map(|stage: &StageLatency| stage.contribution).sum::<Cycles>();
    let (total, assembler_total) = (corner + sum(0), corner + sum(1));
    GressLatency { stages: latencies, total, assembler_total }
}

/// Computes the timing of egress as [`gress_latency`] does, and enforces the chip's least egress latency: while the
/// assembler's sum is below it, the lowest stage that is not match-dependent becomes so (model: cycles §3).
pub fn egress_latency(spec: &LatencySpec, stages: &[StageUse]) -> GressLatency {
    let mut stages = stages.to_vec();
    loop {
        let latency = gress_latency(spec, &stages);
        let enough = latency.assembler_total >= Cycles(u64::from(spec.min_egress));
        let weak = latency.stages.iter().position(|stage| stage.dependency != StageDependency::Match);
        match weak.and_then(|index| stages.get_mut(index)) {
            Some(stage) if !enough => stage.dependency = StageDependency::Match,
            _ => return latency,
        }
    }
}

fn settled(spec: &LatencySpec, index: usize, dependency: StageDependency) -> StageDependency {
    if index == 0 || index == spec.forced_match_stage as usize {
        StageDependency::Match
    } else if dependency == StageDependency::Concurrent && spec.concurrent_contribution == 0 {
        StageDependency::Action
    } else {
        dependency
    }
}

/// Returns the group of every stage and the features of every group.
fn groups(stages: &[StageUse], dependencies: &[StageDependency]) -> (Vec<u32>, Vec<StageFeatures>) {
    let mut group_of = Vec::with_capacity(stages.len());
    let mut features: Vec<StageFeatures> = Vec::new();
    for (stage, dependency) in stages.iter().zip(dependencies) {
        match features.last_mut() {
            Some(group) if *dependency != StageDependency::Match => *group = group.or(stage.features),
            _ => features.push(stage.features),
        }
        group_of.push(u32::try_from(features.len()).unwrap_or(u32::MAX) - 1);
    }
    (group_of, features)
}

/// Returns the PHVs per clock, as a fraction of at most 1, that a deparser with a bound on PHVs in flight lets through
/// a gress of this latency (model: chip §6.4).
pub fn deparser_rate(deparser: &DeparserSpec, latency: Cycles) -> (u64, u64) {
    let in_flight = latency.get().saturating_add(u64::from(deparser.in_flight_extra_cycles));
    let bound = u64::from(deparser.phvs_in_flight);
    if bound == 0 || in_flight <= bound { (1, 1) } else { (bound, in_flight) }
}

/// Cycles of one pass through a gress, without queueing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassLatency {
    /// The parser, for the path that the packet took.
    pub parser: Cycles,
    /// The stages.
    pub mau: Cycles,
    /// The deparser.
    pub deparser: Cycles,
}

impl PassLatency {
    /// Creates a pass that visits `states` parser states and spends `mau` cycles in the stages.
    pub fn new(spec: &LatencySpec, states: u32, mau: Cycles) -> Self {
        let path = u64::from(states) * u64::from(spec.parser_cycles_per_state);
        let parser = Cycles(path) + Cycles(u64::from(spec.parser_fixed));
        Self { parser, mau, deparser: Cycles(u64::from(spec.deparser)) }
    }

    /// Returns the sum of all parts of the pass.
    pub fn total(self) -> Cycles {
        self.parser + self.mau + self.deparser
    }
}

/// The parts of a packet's way from wire to wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketLatency {
    /// Time from the wire to the ingress parser, including the hold of the frame's head.
    pub mac_rx: Duration,
    /// Waiting for a slot in the ingress pipe.
    pub entry_wait: Cycles,
    /// The ingress pass.
    pub ingress: PassLatency,
    /// The traffic manager's fixed cycles: enqueue and dequeue.
    pub tm: Cycles,
    /// Waiting in the queue.
    pub queueing: Duration,
    /// The egress pass; zero if it was bypassed.
    pub egress: PassLatency,
    /// Time from the egress deparser to the wire, including the wait for the line.
    pub mac_tx: Duration,
}

impl PacketLatency {
    /// Returns the sum, with all cycles converted together so that they are rounded once.
    pub fn total(&self, clock: Clock) -> Duration {
        let cycles = self.entry_wait + self.ingress.total() + self.tm + self.egress.total();
        self.mac_rx + clock.span(cycles) + self.queueing + self.mac_tx
    }
}
