//! The amount of work of a contest before it is run, and trials to measure the speed of a machine.
//!
//! The unit is the *packet-hop*: one frame through one switch. A message of n packets between switches that are h links apart
//! has (n + a) (h + 1) packet-hops, where a is the number of its other frames. With RDMA, a is n acknowledgements; with UDP, 0; with TCP,
//! n over `ack_every`, and four frames that open and close a connection that is not used again. Packets that are sent again,
//! congestion notifications and PFC frames are not counted. Of operations that follow each other until a time, the plan has as many as
//! fit into an empty network.
//!
//! A trial is the beginning of a run. Speed depends on how busy the network is: timers and packet generators of programs cost
//! the same in a quiet network, so that a packet-hop costs more there.

use super::ideal_times::try_probes;
use super::network_run::assemble;
use crate::contest::file::contest::Contest;
use crate::contest::network::prepared::{ContestSetup, PreparedNetwork, RunError, messages, prepare};
use crate::contest::results::performance::Sent;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::deploy::Files;
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{HostMessages, TransportConfig};
use sluice_fabric::host::tcp::Reuse;
use sluice_fabric::topology::Blueprint;
use std::collections::{BTreeMap, VecDeque};

/// Simulated time between two looks at a trial.
const STRIDE: Duration = Duration::from_micros(10);

/// Amount of work of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their data packets.
    pub packets: u64,
    /// Packet-hops of data and acknowledgements.
    pub hops: u64,
    /// Bytes of memory for messages and samples until the results are written, without the network.
    pub memory: u64,
}

/// A program of a contest, ready for a trial.
pub struct Trial<'c> {
    contest: &'c Contest,
    ready: PreparedNetwork<'c>,
    messages: Vec<HostMessages>,
    seed: u64,
    /// The amount of work of the run with the contest's first seed.
    pub amount: Amount,
}

impl<'c> Trial<'c> {
    /// Prepares a program with the contest's first seed.
    ///
    /// # Errors
    /// Those of [`run_contest`](crate::contest::run_contest) before its first run.
    pub fn new<F: Files>(
        contest: &'c Contest,
        setup: &ContestSetup<'c, F>,
        program: usize,
    ) -> Result<Trial<'c>, RunError<F::Error>> {
        let Some(contestant) = contest.program.get(program) else {
            return Err(RunError::Setting(format!("there is no program {program}")));
        };
        let line = contest.line(contestant.span().start);
        let ready = prepare(contest, setup, contestant.get_ref(), line)?;
        let seed = contest.seeds().first().copied().unwrap_or(1);
        let messages = messages(contest, setup, &ready, seed)?;
        let amount = amount(contest, &ready, setup.plan, &messages);
        Ok(Trial { contest, ready, messages, seed, amount })
    }

    /// Runs the contest's first seed, and calls `look` with the packet-hops so far: when the network is built, after each
    /// 10 us of simulated time, and at the end. Ends if `look` returns false. Returns true if the run came to its end.
    ///
    /// # Errors
    /// If the network rejects its setup.
    pub fn run<E>(&self, look: &mut dyn FnMut(u64) -> bool) -> Result<bool, RunError<E>> {
        let refused = |source| RunError::Network { line: self.ready.line, source: Box::new(source) };
        let cable = self.contest.hosts.cable;
        let (mut network, _) = assemble(&self.ready, cable, self.seed, self.messages.clone())?;
        let end = Time::ORIGIN + self.contest.end();
        loop {
            let totals = network.totals();
            let next = network.next_time().filter(|next| network.is_busy() && *next < end);
            let goes_on = look(totals.hops + totals.delivered);
            let (Some(next), true) = (next, goes_on) else { return Ok(next.is_none()) };
            let until = (network.time().max(next) + STRIDE).min(end);
            network.drain(until, &mut ()).map_err(refused)?;
        }
    }

    /// Measures ideal times, as each program needs them once, and calls `look` with the share of the measurement that is done.
    /// Ends if `look` returns false.
    ///
    /// # Errors
    /// If the network rejects its setup.
    pub fn probe<E>(&self, look: &mut dyn FnMut(f64) -> bool) -> Result<(), RunError<E>> {
        let share = |time: Time| time.since_origin().as_ps() as f64;
        let ready = self.ready.undisturbed();
        try_probes(self.contest, &ready, &mut |now, end| look(share(now) / share(end).max(1.0)))
    }
}

fn amount(
    contest: &Contest,
    ready: &PreparedNetwork<'_>,
    plan: &Blueprint,
    messages: &[HostMessages],
) -> Amount {
    let mut amount = Amount::default();
    let switch_of: BTreeMap<_, u32> = ready.stations.iter().map(|s| (s.address, s.switch)).collect();
    let mut distances: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (station, own) in ready.stations.iter().zip(messages) {
        let from = distances.entry(station.switch).or_insert_with(|| links_from(plan, station.switch));
        for message in own.iter() {
            let [packets, answers] =
                frames(ready.transports.get(usize::from(message.transport)), message.bytes);
            let links =
                switch_of.get(&message.to).and_then(|to| from.get(*to as usize)).copied().unwrap_or(0);
            amount.messages += 1;
            amount.bytes += message.bytes;
            amount.packets += packets;
            amount.hops += (packets + answers) * (links + 1);
        }
    }
    let samples =
        contest.metrics.sample.map_or(0, |every| contest.workload.time().as_ps() / every.as_ps().max(1));
    let places = 2 * plan.cables.len() + 5 * plan.switches.len() + 2;
    let each = size_of::<Message>() + 2 * size_of::<Sent>();
    amount.memory = amount.messages * each as u64 + samples * places as u64 * 4;
    amount
}

/// Returns the data packets of a message, and the other frames that it takes.
fn frames(transport: Option<&TransportConfig>, bytes: u64) -> [u64; 2] {
    let Some(transport) = transport else { return [0, 0] };
    let packets = bytes.div_ceil(u64::from(transport.framing().0.max(1)));
    let answers = match transport {
        TransportConfig::Rdma(_) => packets,
        TransportConfig::Tcp(tcp) => {
            // SYN, SYN-ACK and its acknowledgement, and that of the server's FIN, which is in the last acknowledgement.
            let connection = if tcp.reuse == Reuse::Never { 4 } else { 0 };
            packets.div_ceil(u64::from(tcp.delayed_ack.every.max(1))) + connection
        }
        TransportConfig::Udp(_) => 0,
    };
    [packets, answers]
}

/// Returns the least number of links from a switch to each switch; 0 for those that cannot be reached.
fn links_from(plan: &Blueprint, from: u32) -> Vec<u64> {
    let mut found: Vec<Option<u64>> = vec![None; plan.switches.len()];
    let mut open = VecDeque::from([from]);
    if let Some(own) = found.get_mut(from as usize) {
        *own = Some(0);
    }
    while let Some(at) = open.pop_front() {
        let here = found[at as usize].unwrap_or(0);
        for cable in &plan.cables {
            for (near, far) in [(0, 1), (1, 0)] {
                let other = cable.ends[far];
                if cable.ends[near] == at && found[other as usize].is_none() {
                    found[other as usize] = Some(here + 1);
                    open.push_back(other);
                }
            }
        }
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_fabric::topology::built;

    #[test]
    fn leaves_are_two_links_apart() {
        let plan = built("leaf-spine:leaves=3,spines=2,hosts=1").unwrap();
        let leaf = plan.switch_named("leaf0").unwrap();
        let links = links_from(&plan, leaf);
        let of = |name: &str| links[plan.switch_named(name).unwrap() as usize];
        assert_eq!([of("leaf0"), of("leaf1"), of("leaf2"), of("spine0"), of("spine1")], [0, 2, 2, 1, 1]);
    }
}
