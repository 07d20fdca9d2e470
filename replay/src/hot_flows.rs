//! The control plane of ConWeave's flow tables: installs hot flows and removes idle ones.
//!
//! `sluice_fabric::agent` decides which flow is hot; this module connects it to a run.

use crate::control_plane::{ControlPlane, Operation};
use serde_json::{Value, json};
use sluice_asic::units::{Duration, Time};
use sluice_control::EntryId;
use sluice_fabric::agent::{HotFlowConfig, HotFlows, MissingEntity};
use sluice_fabric::network::SwitchId;
use sluice_ir::{KeyValue, Program};
use sluice_pcaps::conweave::{opcode, read};
use sluice_pcaps::wire::roce;
use std::collections::BTreeMap;
use thiserror::Error;

/// Settings of the control plane. The text form is `KEY=VALUE` words joined by commas, with the names of the fields as keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotFlowOptions {
    /// Time from a digest to the operation that follows from it; above 0.
    pub latency: Duration,
    /// Least time between two operations.
    pub interval: Duration,
    /// Digests after which a flow is hot; at least 1.
    pub after: u32,
    /// Rows of the flow table to use, besides row 0; `None`: all of them.
    pub rows: Option<u16>,
    /// Timeout of replies (theta_reply) of an installed flow, in ticks of 1.024 us.
    pub reply: u32,
}

impl Default for HotFlowOptions {
    fn default() -> Self {
        let (latency, interval) = (Duration::from_micros(50), Duration::from_micros(1));
        HotFlowOptions { latency, interval, after: 3, rows: None, reply: 8 }
    }
}

impl std::str::FromStr for HotFlowOptions {
    type Err = String;

    fn from_str(text: &str) -> Result<HotFlowOptions, String> {
        let mut args = HotFlowOptions::default();
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

/// Returns true if a frame carries RDMA data of a reliable connection: SEND or WRITE.
fn is_data(bytes: &[u8]) -> bool {
    /// Byte of the operation, after Ethernet, IPv4 and UDP.
    const OPCODE: usize = 14 + 20 + 8;
    let operation = bytes.get(OPCODE).copied();
    read(bytes).is_some_and(|frame| frame.header.opcode <= opcode::DATA)
        && operation.is_some_and(|o| o < roce::opcode::RC_READ_REQUEST)
}

/// Errors of [`HotFlowAgent::new`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HotFlowError {
    /// More rows than the flow table has.
    #[error(
        "rows={rows} are more than the {most} that the flow table has besides row 0; raise the parameter `flows`"
    )]
    TooManyRows {
        /// Rows asked for.
        rows: u16,
        /// Rows of the table besides row 0.
        most: u16,
    },
    /// The program has no flow table.
    #[error(transparent)]
    Missing(#[from] MissingEntity),
}

/// The control plane of one ToR, or of all ToRs of a network.
pub struct HotFlowAgent {
    flows: HotFlows,
    /// True for one switch, whose peers are not in the run.
    alone: bool,
    latency: Duration,
    rows: u16,
    /// Digests that switches sent as source and as destination.
    digests: [u64; 2],
    operations: u64,
}

impl HotFlowAgent {
    /// Returns the control plane of the ToRs that run `program`. `tor_of` has the number of the ToR of each host, by the
    /// host's IPv4 address.
    ///
    /// # Errors
    /// If the program has no flow table, or fewer rows than the options ask for.
    pub fn new(
        options: HotFlowOptions,
        program: &Program,
        tor_of: BTreeMap<u32, usize>,
    ) -> Result<HotFlowAgent, HotFlowError> {
        let flows = program.params.iter().find(|p| p.key == "flows");
        let rows = flows.and_then(|p| p.value.parse::<u32>().ok()).unwrap_or(2) - 1;
        let most = u16::try_from(rows).unwrap_or(u16::MAX);
        let rows = options.rows.unwrap_or(most);
        if rows > most {
            return Err(HotFlowError::TooManyRows { rows, most });
        }
        let config = HotFlowConfig {
            latency: options.latency,
            interval: options.interval,
            hot_after: options.after,
            rows,
            theta_reply: options.reply,
        };
        let flows = HotFlows::new(program, tor_of, config)?;
        Ok(HotFlowAgent {
            flows,
            alone: false,
            latency: options.latency,
            rows,
            digests: [0; 2],
            operations: 0,
        })
    }

    /// Returns the control plane of one switch, whose peers are not in the run.
    ///
    /// # Errors
    /// As [`HotFlowAgent::new`].
    pub fn of_one(options: HotFlowOptions, program: &Program) -> Result<HotFlowAgent, HotFlowError> {
        let agent = HotFlowAgent::new(options, program, BTreeMap::new())?;
        Ok(HotFlowAgent { flows: agent.flows.alone(), alone: true, ..agent })
    }
}

impl ControlPlane for HotFlowAgent {
    fn latency(&self) -> Duration {
        self.latency
    }

    fn digest(&mut self, time: Time, switch: SwitchId, data: &[u8]) {
        let side = usize::from(data.last().is_some_and(|b| *b != 0));
        self.digests[side] += 1;
        self.flows.digest(time, switch.0 as usize, data);
    }

    fn idle(&mut self, time: Time, switch: SwitchId, entry: EntryId, key: &[KeyValue]) {
        self.flows.idle(time, switch.0 as usize, entry, key);
    }

    fn poll(&mut self) -> Option<Operation> {
        let change = self.flows.poll(Time::MAX)?;
        self.operations += 1;
        Some(Operation { time: change.time, switch: SwitchId(change.switch as u32), op: change.op })
    }

    fn counts(&self) -> fn(&[u8]) -> bool {
        is_data
    }

    /// The object has the DATA that came from hosts (`data`, of one switch all DATA that came) and the share of it that
    /// found its flow in the table.
    fn report(&self, frames: u64) -> Value {
        let missed = if self.alone { self.digests.iter().sum() } else { self.digests[0] };
        let hits = frames.saturating_sub(missed);
        json!({
            "rows": self.rows,
            "installed": self.flows.installed(),
            "refused": self.flows.refused(),
            "digests": { "source": missed, "destination": self.digests[1] },
            "operations": self.operations,
            "data": frames,
            "hits": hits,
            "hit_percent": (hits * 10_000).checked_div(frames).map(|p| p as f64 / 100.0),
        })
    }
}
