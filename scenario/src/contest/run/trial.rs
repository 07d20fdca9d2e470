//! The amount of work of a contest before it is run, and a short trial to measure the speed of a machine.
//!
//! The unit is the *packet-hop*: one frame through one switch. A message of n packets between switches that are h links apart
//! has 2 n (h + 1) packet-hops, because every data packet is acknowledged. Packets that are sent again, congestion
//! notifications and PFC frames are not counted.

use super::network_run::run;
use crate::contest::file::contest::Contest;
use crate::contest::network::prepared::{ContestSetup, PreparedNetwork, RunError, messages, prepare};
use crate::contest::results::performance::Sent;
use sluice_asic::units::Time;
use sluice_fabric::deploy::Files;
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::HostMessages;
use sluice_fabric::topology::Blueprint;
use std::collections::{BTreeMap, VecDeque};

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
    messages: Vec<Vec<Message>>,
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
        // What messages wait for does not matter for the amount of work.
        let hosts = messages(contest, setup, &ready, seed)?;
        let messages: Vec<Vec<Message>> = hosts.iter().map(|own| own.iter().copied().collect()).collect();
        let amount = amount(contest, &ready, setup.plan, &messages);
        Ok(Trial { contest, ready, messages, seed, amount })
    }

    /// Runs the first messages, with at most about `packets` packets, and returns the packet-hops that happened.
    ///
    /// # Errors
    /// If the network rejects its setup.
    pub fn run<E>(&self, packets: u64) -> Result<u64, RunError<E>> {
        let mtu = u64::from(self.ready.mtu.max(1));
        let mut all: Vec<(usize, Message)> = self
            .messages
            .iter()
            .enumerate()
            .flat_map(|(host, own)| own.iter().map(move |m| (host, *m)))
            .collect();
        all.sort_by_key(|(_, message)| (message.start, message.pair));
        let (mut some, mut sum) = (vec![Vec::new(); self.messages.len()], 0);
        for (host, message) in all {
            if sum >= packets {
                break;
            }
            let bytes = message.bytes.min((packets - sum) * mtu);
            sum += bytes.div_ceil(mtu);
            some[host].push(Message { bytes, ..message });
        }
        let end = Time::ORIGIN + self.contest.end();
        let some = some.into_iter().map(HostMessages::from).collect();
        let ran = run(&self.ready, self.contest.hosts.cable, self.seed, some, (end, None), 1, &mut |_| true)?;
        let totals = ran.network.totals();
        Ok(totals.hops + totals.delivered)
    }
}

fn amount(
    contest: &Contest,
    ready: &PreparedNetwork<'_>,
    plan: &Blueprint,
    messages: &[Vec<Message>],
) -> Amount {
    let mut amount = Amount::default();
    let mtu = u64::from(ready.mtu.max(1));
    let switch_of: BTreeMap<_, u32> = ready.stations.iter().map(|s| (s.address, s.switch)).collect();
    let mut distances: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (station, own) in ready.stations.iter().zip(messages) {
        let from = distances.entry(station.switch).or_insert_with(|| links_from(plan, station.switch));
        for message in own {
            let packets = message.bytes.div_ceil(mtu);
            let links =
                switch_of.get(&message.to).and_then(|to| from.get(*to as usize)).copied().unwrap_or(0);
            amount.messages += 1;
            amount.bytes += message.bytes;
            amount.packets += packets;
            amount.hops += 2 * packets * (links + 1);
        }
    }
    let samples =
        contest.metrics.sample.map_or(0, |every| contest.workload.time().as_ps() / every.as_ps().max(1));
    let places = 2 * plan.cables.len() + 5 * plan.switches.len() + 2;
    let each = size_of::<Message>() + 2 * size_of::<Sent>();
    amount.memory = amount.messages * each as u64 + samples * places as u64 * 4;
    amount
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
