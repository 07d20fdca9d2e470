//! A leaf-spine of sixteen switches from memory: how many packets go through how many switches in how long.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::DevPort;
use sluice_asic::units::{Bytes, Time};
use sluice_catalogue::Catalogue;
use sluice_catalogue::position::Neighbor;
use sluice_fabric::deploy::{Defaults, Deployment, Profiles, deploy};
use sluice_fabric::network::{Network, Observer, SwitchId};
use sluice_fabric::topology::built;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, udp};
use sluice_switch::{Left, RxFrame, SwitchConfig};
use std::net::Ipv4Addr;

/// Frames injected before the network runs up to them, as in `sluice replay`.
const STRIDE: usize = 16_384;
/// Share of the hosts' line rate that is sent, in per cent.
const LOAD: u64 = 40;

/// Counts what leaves the network.
#[derive(Clone, Copy, Default)]
struct Count(u64);

impl Observer for Count {
    fn delivered(&mut self, _: SwitchId, _: &Left, _: &[u8], _: &[u8]) {
        self.0 += 1;
    }
}

/// A frame, where and when it comes in.
struct Injected {
    switch: SwitchId,
    port: DevPort,
    time: Time,
    bytes: Vec<u8>,
}

/// Eight leaves, eight spines, four hosts a leaf: UDP of 64 to 256 bytes between all hosts of different leaves.
pub(crate) struct LeafSpine {
    catalogue: Catalogue,
    deployment: Deployment,
    frames: Vec<Injected>,
}

impl LeafSpine {
    /// With so many packets, through this program with these parameters.
    pub(crate) fn new(packets: u64, program: &str, params: &[(&str, &str)]) -> LeafSpine {
        let plan = built("leaf-spine:leaves=8,spines=8,hosts=4,delay=1us").expect("a shipped builder");
        let defaults = Defaults {
            program: program.to_owned(),
            params: params.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
            chip: ChipSpec::tofino2(),
            port_speed: None,
            buffer: None,
            entries: None,
            placing: Default::default(),
            config: SwitchConfig::default(),
        };
        let catalogue = sluice_generated::catalogue();
        let deployment = deploy(&plan, &catalogue, &defaults, &Profiles::default()).expect("a network");
        let frames = frames(&deployment, packets);
        LeafSpine { catalogue, deployment, frames }
    }

    /// A network with nothing inside.
    pub(crate) fn network(&self) -> Network {
        Network::new(self.deployment.network.clone(), &self.catalogue).expect("a network")
    }

    /// Sends everything through; passages of packets through switches.
    pub(crate) fn run(&self, mut network: Network, threads: usize) -> u64 {
        let mut observers = vec![Count::default(); network.len()];
        let mut tag = 0;
        for chunk in self.frames.chunks(STRIDE) {
            for f in chunk {
                let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag };
                network.inject(f.switch, f.port, f.time, rx).expect("a frame in order");
                tag += 1;
            }
            let until = chunk.last().map_or(Time::ORIGIN, |f| f.time);
            network.advance_parallel(until, threads, &mut observers).expect("a run");
        }
        network.drain_parallel(Time::MAX, threads, &mut observers).expect("a run");
        let totals = network.totals();
        assert_eq!(observers.iter().map(|o| o.0).sum::<u64>(), totals.delivered);
        totals.entered + totals.hops
    }
}

fn frames(deployment: &Deployment, packets: u64) -> Vec<Injected> {
    let map = &deployment.network.switches[0].ports;
    let mut hosts: Vec<(SwitchId, DevPort, Ipv4Addr)> = Vec::new();
    for position in &deployment.positions {
        for used in &position.ports {
            if let (Neighbor::Host(address), Some(port)) = (used.neighbor, map.front(used.port)) {
                hosts.push((SwitchId(position.number), port.dev_port, address));
            }
        }
    }
    let mut free = vec![Time::ORIGIN; hosts.len()];
    let mut frames = Vec::with_capacity(packets as usize);
    for n in 0..packets {
        let from = (n % hosts.len() as u64) as usize;
        // The next leaf's hosts, and so on round the network.
        let to = (from + 4 + (n / hosts.len() as u64 * 5 % 28) as usize) % hosts.len();
        let len = 64 + (n * 7919 % 193) as usize;
        let mut bytes = Vec::with_capacity(len);
        FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2))
            .ipv4(ipv4::Header::new(hosts[from].2, hosts[to].2))
            .udp(udp::Header::new((n / 320 % 50_000) as u16, 4791))
            .build_len(len, &mut bytes)
            .expect("a frame");
        let time = free[from];
        free[from] = time + map.speed().time_for(Bytes((len as u64 + 24) * 100 / LOAD));
        frames.push(Injected { switch: hosts[from].0, port: hosts[from].1, time, bytes });
    }
    frames.sort_by_key(|f| f.time);
    frames
}
