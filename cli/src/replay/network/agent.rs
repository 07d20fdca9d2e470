//! `--hot-flows`: the control plane that comes with a program, in a replay. The agent hears what the switches report, and its
//! operations take effect at their times.

use super::Network;
use super::seat::Seat;
use crate::fail::Failure;
use serde_json::Value;
use sluice_asic::units::{Duration, Time};
use sluice_control::ControlState;
use sluice_exec::pass::Executor;
use sluice_fabric::network::SwitchId;
use sluice_ir::{KeyValue, Program};
use sluice_programs::agent::{Agent as Plane, AgentError, AgentRequest};
use sluice_programs::position::Position;
use sluice_programs::{all, by_name};
use sluice_switch::{Digest, IdleEntry, Switch};

/// Reports of a switch since the agent last heard it.
#[derive(Debug, Default)]
pub(in crate::replay) struct Told {
    digests: Vec<(Time, Vec<u8>)>,
    idle: Vec<IdleEntry>,
}

impl Told {
    /// Adds a digest.
    pub(in crate::replay) fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.digests.push((digest.time, data.to_vec()));
    }

    /// Adds an entry that was not used for its time to live.
    pub(in crate::replay) fn idle(&mut self, entry: &IdleEntry) {
        self.idle.push(*entry);
    }
}

/// The agent of a run under way.
pub(in crate::replay) struct Agent(Box<dyn Plane>);

/// Starts the agent of a program; `None` if the program has none.
fn start(request: &AgentRequest<'_>) -> Option<Result<Agent, Failure>> {
    let failure = |AgentError { text, help }| match help {
        Some(help) => Failure::with_help(text, help),
        None => Failure::input(format!("--hot-flows: {text}")),
    };
    let started = by_name(&request.program.name).ok()?.agent(request)?;
    Some(started.map(Agent).map_err(failure))
}

/// Programs that come with an agent, for help.
fn others() -> String {
    let program = Program::default();
    let request = AgentRequest { program: &program, settings: "", hosts: None };
    let able = all().iter().filter(|p| p.agent(&request).is_some());
    let names: Vec<&str> = able.map(|p| p.name()).collect();
    format!("programs with a control plane of hot flows: {}", names.join(", "))
}

impl Agent {
    /// Starts the agent of the first program in the network that has one, for all switches.
    pub(super) fn new(settings: &str, network: &Network, positions: &[Position]) -> Result<Agent, Failure> {
        let at = |p: &Position| p.hosts.iter().map(|(n, a)| (*a, *n as usize)).collect();
        let hosts = Some(positions.first().map(at).unwrap_or_default());
        let request = AgentRequest { program: &Program::default(), settings, hosts };
        let setups = network.ids().filter_map(|id| network.setup(id));
        let started = setups
            .map(|s| AgentRequest { program: &s.placed.program, ..request.clone() })
            .find_map(|request| start(&request));
        started.unwrap_or_else(|| {
            Err(Failure::with_help("no switch runs a program with a control plane of hot flows", others()))
        })
    }

    /// Starts the agent of one switch, whose peers are not in the run.
    pub(in crate::replay) fn of_one(settings: &str, program: &Program) -> Result<Agent, Failure> {
        start(&AgentRequest { program, settings, hosts: None }).unwrap_or_else(|| {
            let text = format!("`{}` has no control plane of hot flows", program.name);
            Err(Failure::with_help(text, others()))
        })
    }

    /// How far a network may run before the agent must have heard its reports: every operation that follows from a report
    /// comes later.
    pub(in crate::replay) fn step(&self) -> Duration {
        self.0.latency()
    }

    /// The test for frames that [`Agent::json`] wants counted.
    pub(in crate::replay) fn counts(&self) -> fn(&[u8]) -> bool {
        self.0.counts()
    }

    /// Hands on the reports of all switches and applies the operations that follow, each at its time.
    pub(super) fn listen(&mut self, network: &mut Network, seats: &mut [Seat<'_>]) -> Result<(), Failure> {
        let mut told: Vec<(Time, usize, Vec<u8>)> = Vec::new();
        for (at, seat) in seats.iter_mut().enumerate() {
            told.extend(seat.digests.drain(..).map(|(time, data)| (time, at, data)));
        }
        told.sort();
        for (time, at, data) in told {
            self.0.digest(time, at, &data);
        }
        for (at, seat) in seats.iter_mut().enumerate() {
            for idle in seat.idle.drain(..) {
                let switch = network.switch(SwitchId(at as u32));
                let key = switch.map(|s| key_of(s.control_state(), &idle)).unwrap_or_default();
                self.0.idle(idle.time, at, idle.entry, &key);
            }
        }
        while let Some(change) = self.0.poll(Time::MAX) {
            let switch = SwitchId(change.switch as u32);
            network.control(switch, change.time.max(network.time()), change.op).map_err(Failure::input)?;
        }
        Ok(())
    }

    /// Hands on the reports of a single switch, as [`Agent::listen`] does for a network.
    pub(in crate::replay) fn listen_to<E: Executor>(
        &mut self,
        switch: &mut Switch<E>,
        told: &mut Told,
    ) -> Result<(), Failure> {
        for (time, data) in told.digests.drain(..) {
            self.0.digest(time, 0, &data);
        }
        for idle in told.idle.drain(..) {
            self.0.idle(idle.time, 0, idle.entry, &key_of(switch.control_state(), &idle));
        }
        while let Some(change) = self.0.poll(Time::MAX) {
            switch.control(change.time.max(switch.time()), change.op).map_err(Failure::input)?;
        }
        Ok(())
    }

    /// The `hot_flows` key; `counted` is the number of frames from outside that passed the test.
    pub(in crate::replay) fn json(&self, counted: u64) -> Value {
        self.0.report(counted)
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
