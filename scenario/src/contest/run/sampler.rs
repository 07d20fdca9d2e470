//! Samples of a running network: links, buffers, queues and pauses at multiples of an interval.
//!
//! The run stops at each multiple and the sampler reads counters and levels, so a packet costs nothing extra. A link's
//! sample is the part of the interval that frames took, by the bytes of line time of frames whose first bit was sent in it.
//!
//! *Imbalance* is that of CONGA's and ConWeave's evaluations: for each switch with at least two links to switches of a higher
//! stage and each interval, (most - least) / mean of the links' shares (model: conweave §4.5).

use crate::contest::results::samples::{LinkSamples, Samples, SwitchSamples};
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_catalogue::story::QueueUse;
use sluice_fabric::network::{LinkId, Network, SwitchId, Way};
use std::collections::{BTreeMap, BTreeSet};

/// Takes the samples of a run.
pub(crate) struct Sampler {
    samples: Samples,
    ways: Vec<WaySource>,
    /// For each switch, ports with hosts, and reorder queues by port and number.
    hosts: Vec<BTreeSet<u16>>,
    reorder: Vec<BTreeSet<(u16, u8)>>,
    delivered: u64,
    taken: u64,
}

/// Source of a link's samples, with the line time of frames up to the last sample.
struct WaySource {
    link: LinkId,
    way: Way,
    rate: BitRate,
    bytes: u64,
}

impl Sampler {
    /// Prepares samples of a network. `stages` are the stages of its switches, `hosts` the switch and dev_port of each host.
    pub(crate) fn new(
        every: Duration,
        network: &Network,
        catalogue: &Catalogue,
        stages: &[u32],
        hosts: &[(SwitchId, u16)],
    ) -> Sampler {
        let mut samples = Samples { every, ..Samples::default() };
        let mut ways = Vec::new();
        for link in network.links() {
            for way in Way::ALL {
                if let Some((source, named)) = of_way(network, stages, link, way) {
                    ways.push(source);
                    samples.links.push(named);
                }
            }
        }
        for id in network.ids() {
            let name = network.setup(id).map_or(String::new(), |setup| setup.name.clone());
            let cell = network.switch(id).map_or(0, |switch| switch.cell().get());
            samples.switches.push(SwitchSamples { name, cell, ..SwitchSamples::default() });
        }
        let mut at: Vec<BTreeSet<u16>> = vec![BTreeSet::new(); network.len()];
        for (switch, port) in hosts {
            if let Some(ports) = at.get_mut(switch.0 as usize) {
                ports.insert(*port);
            }
        }
        let reorder = network.ids().map(|id| reorder_queues(network, catalogue, id)).collect();
        Sampler { samples, ways, hosts: at, reorder, delivered: 0, taken: 0 }
    }

    /// Returns the time of the next sample.
    pub(crate) fn next(&self) -> Time {
        Time::ORIGIN + self.samples.every * (self.taken + 1)
    }

    /// Takes the next sample of a network that has run up to its time.
    pub(crate) fn take(&mut self, network: &Network) {
        let now = self.next();
        self.taken += 1;
        for (source, link) in self.ways.iter_mut().zip(&mut self.samples.links) {
            let bytes = network.way(source.link, source.way).map_or(0, |totals| totals.wire_bytes);
            let bits = u128::from(bytes - source.bytes) * 8;
            // Bits a second times picoseconds are 10^12 times bits; the share is in thousandths.
            let line = u128::from(source.rate.as_bps()) * u128::from(self.samples.every.as_ps());
            let share = bits * 1_000_000_000_000_000 / line.max(1);
            link.share.push(u32::try_from(share).unwrap_or(u32::MAX));
            source.bytes = bytes;
        }
        let mut delivered = 0;
        for (index, id) in network.ids().enumerate() {
            let Some(switch) = network.switch(id) else { continue };
            let own = &mut self.samples.switches[index];
            own.buffer.push(switch.used_cells());
            let (mut deepest, mut cells) = (0, 0);
            let mut reordering: BTreeMap<u16, u32> = BTreeMap::new();
            for (port, queue, depth) in switch.backlog() {
                deepest = deepest.max(depth);
                if self.reorder[index].contains(&(port, queue)) {
                    cells += depth;
                    *reordering.entry(port).or_default() += 1;
                }
            }
            own.deepest.push(deepest);
            own.reorder_cells.push(cells);
            own.reordering.push(reordering.into_values().max().unwrap_or(0));
            let paused =
                switch.flow(now).map_or(0, |flow| flow.ports.iter().filter(|p| p.paused != 0).count());
            own.paused.push(paused as u32);
            let hosts = &self.hosts[index];
            let to_hosts = switch.totals().ports.iter().filter(|port| hosts.contains(&port.dev_port));
            delivered += to_hosts.map(|port| port.tx_bytes).sum::<u64>();
        }
        self.samples.delivered.push(delivered - self.delivered);
        self.delivered = delivered;
    }

    pub(crate) fn into_samples(self) -> Samples {
        self.samples
    }
}

/// Returns the source and the names of one direction of a link.
fn of_way(network: &Network, stages: &[u32], link: LinkId, way: Way) -> Option<(WaySource, LinkSamples)> {
    let setup = network.link(link)?;
    let (near, far) = (setup.ends[way as usize], setup.ends[1 - way as usize]);
    let name = |end: SwitchId| network.setup(end).map(|setup| setup.name.clone());
    let (from, to) = (name(near.switch)?, name(far.switch)?);
    let stage = |end: SwitchId| stages.get(end.0 as usize).copied().unwrap_or(0);
    let named = LinkSamples {
        name: format!("{from}:{}-{to}:{}", near.port, far.port),
        up: stage(near.switch) < stage(far.switch),
        from,
        to,
        share: Vec::new(),
    };
    let sender = network.setup(near.switch)?;
    let port = sender.ports.front(near.port)?;
    let mut set = sender.config.port_speeds.iter().rev();
    let slower = set.find(|(dev, _)| *dev == port.dev_port.number()).map(|(_, speed)| *speed);
    Some((WaySource { link, way, rate: slower.unwrap_or(port.speed), bytes: 0 }, named))
}

/// Returns the queues of a switch that its program uses to put packets in order: dev_port and queue.
pub(crate) fn reorder_queues(network: &Network, catalogue: &Catalogue, id: SwitchId) -> BTreeSet<(u16, u8)> {
    let (Some(setup), Some(switch)) = (network.setup(id), network.switch(id)) else {
        return BTreeSet::new();
    };
    let stage = catalogue.get(&setup.placed.program.name).ok();
    let Some(narrator) = stage.and_then(|stage| stage.story()) else { return BTreeSet::new() };
    let queues = switch.queues().map(|(port, queue, _)| (port, queue));
    queues.filter(|(port, queue)| narrator.queue_use(*port, *queue) == QueueUse::Reorder).collect()
}
