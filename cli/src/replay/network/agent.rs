//! `--hot-flows`: the control plane of ConWeave's flow tables in a replay. Hears what the switches tell, has its
//! operations take effect. What may not live here: which flow is hot.

use super::Network;
use super::seat::Seat;
use crate::fail::Failure;
use serde_json::{Value, json};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::agent::{HotFlowConfig, HotFlows};
use sluice_fabric::network::SwitchId;
use sluice_pipeline::ir::KeyValue;
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

/// The agent of a network under way.
pub(super) struct Agent {
    flows: HotFlows,
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
        let flows = program.params.iter().find(|p| p.key == "flows");
        let rows = flows.and_then(|p| p.value.parse::<u32>().ok()).unwrap_or(2) - 1;
        let most = u16::try_from(rows).unwrap_or(u16::MAX);
        let rows = args.rows.unwrap_or(most);
        if rows > most {
            let text = format!("rows={rows} are more than the {most} that the flow table has besides row 0");
            return Err(Failure::with_help(text, "raise --set flows=N"));
        }
        let at = |p: &Position| p.hosts.iter().map(|(n, a)| (a.to_bits(), *n as usize)).collect::<Vec<_>>();
        let tor_of: BTreeMap<u32, usize> =
            positions.first().map(at).unwrap_or_default().into_iter().collect();
        let config = HotFlowConfig {
            latency: args.latency,
            interval: args.interval,
            hot_after: args.after,
            rows,
            theta_reply: args.reply,
        };
        let flows = HotFlows::new(program, tor_of, config).map_err(Failure::input)?;
        Ok(Agent { flows, latency: args.latency, rows, digests: [0; 2], operations: 0 })
    }

    /// How far a network may run before the agent must have heard what it says: nothing that follows from it comes
    /// earlier.
    pub(super) fn step(&self) -> Duration {
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
            let side = usize::from(data.last().is_some_and(|b| *b != 0));
            self.digests[side] += 1;
            self.flows.digest(time, at, &data);
        }
        for (at, seat) in seats.iter_mut().enumerate() {
            for idle in seat.idle.drain(..) {
                let switch = network.switch(SwitchId(at as u32));
                let slots = switch.and_then(|s| s.control_state().tables.get(idle.table));
                let slot = slots.and_then(|t| t.slots.get(idle.entry as usize));
                let key: Option<Vec<KeyValue>> = slot.and_then(|s| s.as_ref()).map(|e| e.key.clone());
                self.flows.idle(idle.time, at, idle.entry, &key.unwrap_or_default());
            }
        }
        while let Some(change) = self.flows.poll(Time::MAX) {
            self.operations += 1;
            let switch = SwitchId(change.switch as u32);
            network.control(switch, change.time.max(network.time()), change.op).map_err(Failure::input)?;
        }
        Ok(())
    }

    /// The `hot_flows` key; `entered` counts DATA that came from hosts.
    pub(super) fn json(&self, entered: u64) -> Value {
        let missed = self.digests[0];
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
