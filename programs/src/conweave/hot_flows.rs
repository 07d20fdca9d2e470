//! The control plane of `conweave`: flows that are hot get rows at both of their ToRs, flows that fall silent lose them.
//!
//! ToRs tell of packets whose flow their table does not have by digests. After so many of them a flow is hot: DstToR
//! gets its entry first, then SrcToR, because a flow whose DstToR does not know it gets no answers. Until then, and
//! when no row is free, the flow takes ECMP.

use super::wire::is_data;
use serde_json::{Value, json};
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::control_plane::{
    ControlPlane, ControlPlaneError, ControlPlaneRequest, Operation, numbers,
};
use sluice_control::{ControlOp, EntryId, Then};
use sluice_ir::{Action, ActionCall, KeyValue, Program, Register, Table};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::str::FromStr;
use thiserror::Error;

/// How the control plane works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotFlowConfig {
    /// From a digest to the first operation that follows from it.
    pub latency: Duration,
    /// Least time between two operations: the rate of the control plane.
    pub interval: Duration,
    /// Digests after which a flow is hot; at least 1.
    pub hot_after: u32,
    /// Rows that may be given, from 1 on: the program's `flows` less one.
    pub rows: u16,
    /// theta_reply of every flow, in ticks of 1.024 us.
    pub theta_reply: u32,
}

/// The program is not `conweave`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("program `{program}` has no {what}; hot flows are those of `conweave`")]
pub struct MissingEntity {
    /// The program.
    pub program: String,
    /// The missing part.
    pub what: &'static str,
}

/// Registers with an element per flow that a new flow must find as they were at first.
const PER_FLOW: [&str; 18] = [
    "active_time",
    "ended",
    "reply_timer",
    "epoch",
    "phase",
    "tail_time",
    "path",
    "epoch_rx",
    "phase0_tx_rx",
    "phase0_rx_rx",
    "phase_rx",
    "phase_cached_rx",
    "tail_cached_rx",
    "tail_time_rx",
    "give_up",
    "reorder_status_rx",
    "resume_time_rx",
    "timer_time_rx",
];

/// Source, destination, UDP source port.
type Key = (u32, u32, u16);

/// State of a flow that is not installed, as the agent keeps it.
#[derive(Clone, Copy, Debug, Default)]
struct Cold {
    digests: u32,
    /// Switch that is its SrcToR, and its DstToR, as far as they spoke.
    ends: [Option<usize>; 2],
}

/// A flow that has a row.
#[derive(Clone, Debug)]
struct Hot {
    row: u16,
    /// Switches that have its entry.
    at: BTreeSet<usize>,
}

/// The agent.
#[derive(Clone, Debug)]
pub struct HotFlows {
    config: HotFlowConfig,
    table: Table,
    set_flow: Action,
    /// Arrays with an element per row.
    rows: Vec<Register>,
    /// The ToR of each host.
    tor_of: BTreeMap<u32, usize>,
    cold: BTreeMap<Key, Cold>,
    installed: BTreeMap<Key, Hot>,
    free: BTreeSet<u16>,
    queue: VecDeque<Operation>,
    /// When the control plane is done with what it has.
    busy: Time,
    refused: u64,
    /// Somebody else looks after the other ends.
    alone: bool,
}

/// Bytes of a digest: addresses, port, side.
const DIGEST: usize = 11;

impl HotFlows {
    /// An agent for ToRs that run `program`; `tor_of` says which switch has a host.
    ///
    /// # Errors
    /// When the program is not `conweave`.
    pub fn new(
        program: &Program,
        tor_of: BTreeMap<u32, usize>,
        config: HotFlowConfig,
    ) -> Result<HotFlows, MissingEntity> {
        let missing = |what| MissingEntity { program: program.name.clone(), what };
        let table = program.table_named("flow").ok_or_else(|| missing("table `flow`"))?;
        let set_flow = program.action_named("set_flow").ok_or_else(|| missing("action `set_flow`"))?;
        let rows = PER_FLOW.iter().map(|name| program.register_named(name));
        let rows = rows.collect::<Option<Vec<Register>>>().ok_or_else(|| missing("register per flow"))?;
        Ok(HotFlows {
            config,
            table,
            set_flow,
            rows,
            tor_of,
            cold: BTreeMap::new(),
            installed: BTreeMap::new(),
            free: (1..=config.rows).collect(),
            queue: VecDeque::new(),
            busy: Time::ORIGIN,
            refused: 0,
            alone: false,
        })
    }

    /// The same for one switch whose peers are none of ours: a flow gets its entry at the end that spoke, and somebody
    /// else sees to the other one.
    #[must_use]
    pub fn alone(self) -> HotFlows {
        HotFlows { alone: true, ..self }
    }

    /// A switch told of a packet whose flow it does not know.
    pub fn digest(&mut self, now: Time, switch: usize, data: &[u8]) {
        let Some((key, at_destination)) = read(data) else { return };
        if self.installed.contains_key(&key) {
            return;
        }
        let cold = self.cold.entry(key).or_default();
        cold.digests += 1;
        cold.ends[usize::from(at_destination)] = Some(switch);
        if cold.digests < self.config.hot_after.max(1) {
            return;
        }
        let [src, dst] = [key.0, key.1].map(|host| self.tor_of.get(&host).copied());
        // DstToR first.
        let ends = [cold.ends[1].or(dst), cold.ends[0].or(src)];
        if ends.contains(&None) && !self.alone {
            return;
        }
        let Some(row) = self.free.pop_first() else {
            self.refused += 1;
            return;
        };
        self.cold.remove(&key);
        self.installed.insert(key, Hot { row, at: ends.into_iter().flatten().collect() });
        for switch in ends.into_iter().flatten() {
            self.install(now, switch, key, row);
        }
    }

    /// A switch tells that an entry of its flow table, with this key, was not used for its time to live. The row is
    /// free again when both ends have lost the flow.
    pub fn idle(&mut self, now: Time, switch: usize, entry: EntryId, key: &[KeyValue]) {
        let field = |n: usize| match key.get(n) {
            Some(KeyValue::Exact(value)) => u32::try_from(*value).ok(),
            _ => None,
        };
        let (Some(src), Some(dst), Some(port)) = (field(0), field(1), field(2)) else { return };
        let key = (src, dst, port as u16);
        let Some(hot) = self.installed.get_mut(&key) else { return };
        if !hot.at.remove(&switch) {
            return;
        }
        let (row, gone) = (hot.row, hot.at.is_empty());
        self.later(now, switch, ControlOp::DeleteEntry { table: self.table, entry });
        if gone {
            self.installed.remove(&key);
            self.free.insert(row);
        }
    }

    /// The row's state is a new flow's, then the entry.
    fn install(&mut self, now: Time, switch: usize, key: Key, row: u16) {
        for register in self.rows.clone() {
            let op = ControlOp::WriteRegister { register, index: Some(row.into()), value: None };
            self.later(now, switch, op);
        }
        let exact = |value: u32| KeyValue::Exact(value.into());
        let args = vec![row.into(), self.config.theta_reply.into()];
        let then = Then::Call(ActionCall { action: self.set_flow, args });
        let key = vec![exact(key.0), exact(key.1), exact(key.2.into())];
        let op = ControlOp::InsertEntry { table: self.table, key, priority: 0, then };
        self.later(now, switch, op);
    }

    fn later(&mut self, now: Time, switch: usize, op: ControlOp) {
        let time = (now + self.config.latency).max(self.busy);
        self.busy = time + self.config.interval;
        self.queue.push_back(Operation { time, switch, op });
    }

    /// The next operation that is due by `now`; all of them have times that are not before their digests'.
    pub fn poll(&mut self, now: Time) -> Option<Operation> {
        if self.queue.front()?.time > now { None } else { self.queue.pop_front() }
    }

    /// When the next operation is due.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.queue.front().map(|change| change.time)
    }

    /// Flows that have rows.
    #[must_use]
    pub fn installed(&self) -> usize {
        self.installed.len()
    }

    /// How often a hot flow found no free row.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

/// Settings of the control plane as users write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    latency: Duration,
    interval: Duration,
    after: u32,
    rows: Option<u16>,
    reply: u32,
}

const KEYS: &str = "rows, after, latency, interval, reply";

impl Default for Settings {
    fn default() -> Self {
        let (latency, interval) = (Duration::from_micros(50), Duration::from_micros(1));
        Settings { latency, interval, after: 3, rows: None, reply: 8 }
    }
}

impl FromStr for Settings {
    type Err = ControlPlaneError;

    fn from_str(text: &str) -> Result<Settings, ControlPlaneError> {
        let mut settings = Settings::default();
        for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            let no_pair = || ControlPlaneError::new(format!("`{word}` is no KEY=VALUE; keys are {KEYS}"));
            let (key, value) = word.split_once('=').ok_or_else(no_pair)?;
            let bad = |what: &str| ControlPlaneError::new(format!("`{word}`: expected {what}"));
            let time = || value.parse::<Duration>().map_err(|_| bad("a time such as 50us"));
            let count = || value.parse::<u32>().ok().filter(|n| *n > 0);
            match key {
                "latency" => settings.latency = time()?,
                "interval" => settings.interval = time()?,
                "after" => settings.after = count().ok_or_else(|| bad("a number of digests from 1 on"))?,
                "reply" => settings.reply = count().ok_or_else(|| bad("ticks of 1.024 us from 1 on"))?,
                "rows" => {
                    let rows = count().and_then(|n| u16::try_from(n).ok());
                    settings.rows = Some(rows.ok_or_else(|| bad("1 to 65535 rows"))?);
                }
                _ => return Err(ControlPlaneError::new(format!("there is no key `{key}`; keys are {KEYS}"))),
            }
        }
        if settings.latency.is_zero() {
            return Err(ControlPlaneError::new(
                "latency: expected more than 0: a control plane takes its time",
            ));
        }
        Ok(settings)
    }
}

/// [`HotFlows`] in a run, with numbers for the run's summary.
struct HotFlowAgent {
    flows: HotFlows,
    /// Digests that switches sent as SrcToR and as DstToR.
    digests: [u64; 2],
    operations: u64,
}

/// Starts the control plane of the ToRs that run a program.
///
/// # Errors
/// If a setting is refused, or the program has no flow table.
pub(super) fn start(request: &ControlPlaneRequest<'_>) -> Result<Box<dyn ControlPlane>, ControlPlaneError> {
    let settings: Settings = request.settings.parse()?;
    let program = request.program;
    let flows = program.params.iter().find(|p| p.key == "flows");
    let rows = flows.and_then(|p| p.value.parse::<u32>().ok()).unwrap_or(2) - 1;
    let most = u16::try_from(rows).unwrap_or(u16::MAX);
    let rows = settings.rows.unwrap_or(most);
    if rows > most {
        let text = format!("rows={rows} are more than the {most} that the flow table has besides row 0");
        return Err(ControlPlaneError { text, help: Some("raise --set flows=N".to_owned()) });
    }
    let config = HotFlowConfig {
        latency: settings.latency,
        interval: settings.interval,
        hot_after: settings.after,
        rows,
        theta_reply: settings.reply,
    };
    let hosts = request.hosts.iter().flatten();
    let tor_of = hosts.map(|(host, tor)| (host.to_bits(), *tor)).collect();
    let flows = HotFlows::new(program, tor_of, config).map_err(|e| ControlPlaneError::new(e.to_string()))?;
    let flows = if request.hosts.is_none() { flows.alone() } else { flows };
    Ok(Box::new(HotFlowAgent { flows, digests: [0; 2], operations: 0 }))
}

impl HotFlowAgent {
    /// Returns the DATA that did not find its flow in the table, and the DATA that did.
    fn missed_and_hits(&self, data: u64) -> (u64, u64) {
        let missed = if self.flows.alone { self.digests.iter().sum() } else { self.digests[0] };
        (missed, data.saturating_sub(missed))
    }
}

/// Returns the hits as percent of the DATA; `None` without DATA.
fn hit_percent(hits: u64, data: u64) -> Option<f64> {
    (hits * 10_000).checked_div(data).map(|percent| percent as f64 / 100.0)
}

impl ControlPlane for HotFlowAgent {
    fn latency(&self) -> Duration {
        self.flows.config.latency
    }

    fn digest(&mut self, time: Time, switch: usize, data: &[u8]) {
        let side = usize::from(data.last().is_some_and(|b| *b != 0));
        self.digests[side] += 1;
        self.flows.digest(time, switch, data);
    }

    fn idle(&mut self, time: Time, switch: usize, entry: EntryId, key: &[KeyValue]) {
        self.flows.idle(time, switch, entry, key);
    }

    fn poll(&mut self) -> Option<Operation> {
        let change = self.flows.poll(Time::MAX)?;
        self.operations += 1;
        Some(change)
    }

    fn counts(&self) -> fn(&[u8]) -> bool {
        is_data
    }

    /// `data` counts DATA that came from hosts, of one switch all DATA that came; `hits` the DATA that found its flow in the
    /// table.
    fn report(&self, frames: u64) -> Value {
        let (missed, hits) = self.missed_and_hits(frames);
        json!({
            "rows": self.flows.config.rows,
            "installed": self.flows.installed(),
            "refused": self.flows.refused(),
            "digests": { "source": missed, "destination": self.digests[1] },
            "operations": self.operations,
            "data": frames,
            "hits": hits,
            "hit_percent": hit_percent(hits, frames),
        })
    }

    fn line(&self, frames: u64) -> Option<String> {
        let (_, hits) = self.missed_and_hits(frames);
        let Some(percent) = hit_percent(hits, frames) else { return numbers(&self.report(frames)) };
        Some(format!(
            "hot flows: {} of {} rows in use, {percent:.1} % of {frames} DATA under control, {} flows found no row, {} \
             operations",
            self.flows.installed(),
            self.flows.config.rows,
            self.flows.refused(),
            self.operations
        ))
    }
}

/// The flow of a digest, and whether its DstToR speaks.
fn read(data: &[u8]) -> Option<(Key, bool)> {
    let data: &[u8; DIGEST] = data.try_into().ok()?;
    let word = |at: usize| Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?));
    let port = u16::from_be_bytes(data.get(8..10)?.try_into().ok()?);
    Some(((word(0)?, word(4)?, port), data.get(10).copied()? != 0))
}
