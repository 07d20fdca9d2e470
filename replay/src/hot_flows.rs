//! `--hot-flows`: the control plane of ConWeave's flow tables in a replay. Hears what the switches tell, has its
//! operations take effect. What may not live here: which flow is hot.

use super::Network;
use super::seat::Seat;
use crate::fail::Failure;
use serde_json::{Value, json};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::agent::{HotFlowConfig, HotFlows};
use sluice_fabric::network::SwitchId;
use sluice_pcaps::conweave::{opcode, read};
use sluice_pcaps::wire::roce;
use sluice_pipeline::control::ControlState;
use sluice_pipeline::ir::{KeyValue, Program};
use sluice_pipeline::pass::Executor;
use sluice_pipeline::switch::{Digest, IdleEntry, Switch};
use sluice_programs::position::Position;
use std::collections::BTreeMap;

/// What `--hot-flows` says: `KEY=VALUE` joined by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HotFlowArgs {
    latency: Duration,
    interval: Duration,
    after: u32,
    rows: Option<u16>,
    reply: u32,
}

impl Default for HotFlowArgs {
    fn default() -> Self {
        let (latency, interval) = (Duration::from_micros(50), Duration::from_micros(1));
        HotFlowArgs { latency, interval, after: 3, rows: None, reply: 8 }
    }
}

impl std::str::FromStr for HotFlowArgs {
    type Err = String;

    fn from_str(text: &str) -> Result<HotFlowArgs, String> {
        let mut args = HotFlowArgs::default();
        for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            let (key, value) =
                word.split_once('=').ok_or_else(|| format!("`{word}` is no KEY=VALUE; keys are {KEYS}"))?;
            let bad = |what: &str| format!("`{word}`: expected {what}");
            let time = || value.parse::<Duration>().map_err(|_| bad("a time such as 50us"));
            let count = || value.parse::<u32>().ok().filter(|n| *n > 0);
            match key {
                "latency" => args.latency = time()?,
                "interval" => args.interval = time()?,
                "after" => args.after = count().ok_or_else(|| bad("a number of digests from 1 on"))?,
                "reply" => args.reply = count().ok_or_else(|| bad("ticks of 1.024 us from 1 on"))?,
                "rows" => {
                    let rows = count().and_then(|n| u16::try_from(n).ok());
                    args.rows = Some(rows.ok_or_else(|| bad("1 to 65535 rows"))?);
                }
                _ => return Err(format!("there is no key `{key}`; keys are {KEYS}")),
            }
        }
        if args.latency.is_zero() {
            return Err("latency: expected more than 0: a control plane takes its time".to_owned());
        }
        Ok(args)
    }
}

const KEYS: &str = "rows, after, latency, interval, reply";

/// What a switch told since it was last heard.
#[derive(Debug, Default)]
pub(in crate::replay) struct Told {
    digests: Vec<(Time, Vec<u8>)>,
    idle: Vec<IdleEntry>,
}

impl Told {
    /// The program told something.
    pub(in crate::replay) fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.digests.push((digest.time, data.to_vec()));
    }

    /// An entry was not used for long.
    pub(in crate::replay) fn idle(&mut self, entry: &IdleEntry) {
        self.idle.push(*entry);
    }
}

/// Whether a frame carries RDMA data of a reliable connection: SEND or WRITE.
pub(in crate::replay) fn is_data(bytes: &[u8]) -> bool {
    /// Behind Ethernet, IPv4 and UDP: the operation.
    const OPCODE: usize = 14 + 20 + 8;
    let operation = bytes.get(OPCODE).copied();
    read(bytes).is_some_and(|frame| frame.header.opcode <= opcode::DATA)
        && operation.is_some_and(|o| o < roce::opcode::RC_READ_REQUEST)
}

/// The agent of a run under way.
pub(in crate::replay) struct Agent {
    flows: HotFlows,
    /// Of one switch, whose peers are not in the run.
    alone: bool,
    latency: Duration,
    rows: u16,
    digests: [u64; 2],
    operations: u64,
}

impl Agent {
    /// The agent of the network's ToRs.
    pub(super) fn new(
        args: HotFlowArgs,
        network: &Network,
        positions: &[Position],
    ) -> Result<Agent, Failure> {
        let help = "hot flows are those of `sluice replay conweave --topology two-tor`";
        let setups = || network.ids().filter_map(|id| network.setup(id));
        let tor = setups().map(|s| &s.placed.program).find(|p| p.name == "conweave");
        let program = tor.ok_or_else(|| Failure::with_help("no switch runs `conweave`", help))?;
        let at = |p: &Position| p.hosts.iter().map(|(n, a)| (a.to_bits(), *n as usize)).collect::<Vec<_>>();
        let tor_of: BTreeMap<u32, usize> =
            positions.first().map(at).unwrap_or_default().into_iter().collect();
        Agent::of(args, program, tor_of)
    }

    /// The agent of one switch.
    pub(in crate::replay) fn of_one(args: HotFlowArgs, program: &Program) -> Result<Agent, Failure> {
        if program.name != "conweave" {
            let help = "hot flows are those of `sluice replay conweave`";
            return Err(Failure::with_help(
                format!("`{}` has no flow table of hot flows", program.name),
                help,
            ));
        }
        let agent = Agent::of(args, program, BTreeMap::new())?;
        Ok(Agent { flows: agent.flows.alone(), alone: true, ..agent })
    }

    fn of(args: HotFlowArgs, program: &Program, tor_of: BTreeMap<u32, usize>) -> Result<Agent, Failure> {
        let flows = program.params.iter().find(|p| p.key == "flows");
        let rows = flows.and_then(|p| p.value.parse::<u32>().ok()).unwrap_or(2) - 1;
        let most = u16::try_from(rows).unwrap_or(u16::MAX);
        let rows = args.rows.unwrap_or(most);
        if rows > most {
            let text = format!("rows={rows} are more than the {most} that the flow table has besides row 0");
            return Err(Failure::with_help(text, "raise --set flows=N"));
        }
        let config = HotFlowConfig {
            latency: args.latency,
            interval: args.interval,
            hot_after: args.after,
            rows,
            theta_reply: args.reply,
        };
        let flows = HotFlows::new(program, tor_of, config).map_err(Failure::input)?;
        Ok(Agent { flows, alone: false, latency: args.latency, rows, digests: [0; 2], operations: 0 })
    }

    /// How far a network may run before the agent must have heard what it says: nothing that follows from it comes
    /// earlier.
    pub(in crate::replay) fn step(&self) -> Duration {
        self.latency
    }

    /// Hears what was said since the last time and has what follows take effect when it is due.
    pub(super) fn listen(&mut self, network: &mut Network, seats: &mut [Seat<'_>]) -> Result<(), Failure> {
        let mut told: Vec<(Time, usize, Vec<u8>)> = Vec::new();
        for (at, seat) in seats.iter_mut().enumerate() {
            told.extend(seat.digests.drain(..).map(|(time, data)| (time, at, data)));
        }
        told.sort();
        for (time, at, data) in told {
            self.digest(time, at, &data);
        }
        for (at, seat) in seats.iter_mut().enumerate() {
            for idle in seat.idle.drain(..) {
                let switch = network.switch(SwitchId(at as u32));
                let key = switch.map(|s| key_of(s.control_state(), &idle)).unwrap_or_default();
                self.flows.idle(idle.time, at, idle.entry, &key);
            }
        }
        while let Some(change) = self.flows.poll(Time::MAX) {
            self.operations += 1;
            let switch = SwitchId(change.switch as u32);
            network.control(switch, change.time.max(network.time()), change.op).map_err(Failure::input)?;
        }
        Ok(())
    }

    /// The same of one switch.
    pub(in crate::replay) fn listen_to<E: Executor>(
        &mut self,
        switch: &mut Switch<E>,
        told: &mut Told,
    ) -> Result<(), Failure> {
        for (time, data) in told.digests.drain(..) {
            self.digest(time, 0, &data);
        }
        for idle in told.idle.drain(..) {
            self.flows.idle(idle.time, 0, idle.entry, &key_of(switch.control_state(), &idle));
        }
        while let Some(change) = self.flows.poll(Time::MAX) {
            self.operations += 1;
            switch.control(change.time.max(switch.time()), change.op).map_err(Failure::input)?;
        }
        Ok(())
    }

    fn digest(&mut self, time: Time, at: usize, data: &[u8]) {
        let side = usize::from(data.last().is_some_and(|b| *b != 0));
        self.digests[side] += 1;
        self.flows.digest(time, at, data);
    }

    /// The `hot_flows` key; `entered` counts DATA that came from hosts, of one switch all DATA that came.
    pub(in crate::replay) fn json(&self, entered: u64) -> Value {
        let missed = if self.alone { self.digests.iter().sum() } else { self.digests[0] };
        let hits = entered.saturating_sub(missed);
        json!({
            "rows": self.rows,
            "installed": self.flows.installed(),
            "refused": self.flows.refused(),
            "digests": { "source": missed, "destination": self.digests[1] },
            "operations": self.operations,
            "data": entered,
            "hits": hits,
            "hit_percent": (hits * 10_000).checked_div(entered).map(|p| p as f64 / 100.0),
        })
    }
}

/// The key of an idle entry, if it is still there.
fn key_of(control: &ControlState, idle: &IdleEntry) -> Vec<KeyValue> {
    let slot = control.tables.get(idle.table).and_then(|t| t.slots.get(idle.entry as usize));
    slot.and_then(|s| s.as_ref()).map(|e| e.key.clone()).unwrap_or_default()
}

/// The line of the `hot_flows` key for readers.
pub(in crate::replay) fn text(hot: &Value) -> Option<String> {
    let percent = hot["hit_percent"].as_f64()?;
    let n = |key: &str| hot[key].as_u64().unwrap_or(0);
    Some(format!(
        "hot flows: {} of {} rows in use, {percent:.1} % of {} DATA under control, {} flows found no row, {} operations",
        n("installed"),
        n("rows"),
        n("data"),
        n("refused"),
        n("operations")
    ))
}
