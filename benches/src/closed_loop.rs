//! Leaf-spines with RDMA hosts at every leaf: the network of the contest `fabric/contests/leaf-spine-8x8.toml`, and smaller and
//! larger ones of the same shape.
//!
//! A *hop* is the passage of a packet through a switch: data packets and their acknowledgements both count.

use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::WireOverhead;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_catalogue::position::Neighbor;
use sluice_fabric::deploy::{Defaults, Deployment, Profiles, deploy};
use sluice_fabric::host::congestion::CongestionConfig;
use sluice_fabric::host::dcqcn::{Coalescing, Mellanox, NotificationScope, ReactionConfig, ReactionPoint};
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{Nic, PortConfig, TransportConfig};
use sluice_fabric::host::rdma::{Carrier, RdmaConfig, TrafficClass};
use sluice_fabric::host::recovery::Recovery;
use sluice_fabric::network::{End, HostId, Network, SwitchId};
use sluice_fabric::topology::built;
use sluice_pcaps::generate::{Cdf, Draw, EXPONENTIAL_BITS};
use sluice_switch::SwitchConfig;
use std::net::Ipv4Addr;

/// The profile of the contest of RDMA hosts.
const PROFILE: &str = include_str!("../../fabric/contests/rdma-66mb.toml");
/// Sizes of AliStorage's messages (model: conweave §4.2).
const SIZES: &str = "0 0\n4000 22.93\n8000 69.21\n16000 80.61\n32000 90.47\n64000 93.53\n128000 96.77\n256000 97.53\n2000000 100\n";
/// Rate of every link, and load of each host's line in per cent. With two hosts' links for one uplink, the network has
/// twice this load.
const RATE: BitRate = BitRate::from_gbps(100);
const LOAD: u64 = 25;
/// Delay of every cable.
const CABLE: Duration = Duration::from_nanos(500);
/// Most time that messages take after the last one has started.
const DRAIN: Duration = Duration::from_millis(20);

/// Sizes of a network: hosts are those of one leaf.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) leaves: u32,
    pub(crate) spines: u32,
    pub(crate) hosts: u32,
    /// Number of hosts that send and receive; the other hosts are idle.
    pub(crate) busy: u32,
}

/// A host's place, and its messages.
struct Station {
    at: End,
    address: Ipv4Addr,
    messages: Vec<Message>,
}

/// A leaf-spine with RDMA hosts, and the messages that they send.
pub(crate) struct ClosedLoop {
    catalogue: Catalogue,
    deployment: Deployment,
    stations: Vec<Station>,
}

impl ClosedLoop {
    /// Draws messages that start within `time`, for a network of switches with this program.
    pub(crate) fn new(shape: Shape, program: &str, params: &[(&str, &str)], time: Duration) -> ClosedLoop {
        let Shape { leaves, spines, hosts, busy } = shape;
        let plan =
            built(&format!("leaf-spine:leaves={leaves},spines={spines},hosts={hosts},rate=100G,delay=500ns"));
        let defaults = Defaults {
            program: program.to_owned(),
            params: params.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
            chip: ChipSpec::tofino2(),
            port_speed: Some(RATE),
            buffer: Some("rdma-66mb".to_owned()),
            entries: None,
            placing: Default::default(),
            config: SwitchConfig::default(),
        };
        let catalogue = sluice_generated::catalogue();
        let mut profiles = Profiles::default();
        profiles.insert(
            "rdma-66mb".to_owned(),
            BufferFile::parse("rdma-66mb", PROFILE).expect("a shipped profile"),
        );
        let deployment = deploy(&plan.expect("a shipped builder"), &catalogue, &defaults, &profiles);
        let deployment = deployment.expect("a network");
        let mut stations = Vec::new();
        for position in &deployment.positions {
            for used in &position.ports {
                if let Neighbor::Host(address) = used.neighbor {
                    let at = End::new(SwitchId(position.number), used.port.0);
                    stations.push(Station { at, address, messages: Vec::new() });
                }
            }
        }
        // Busy hosts are spread evenly over all leaves.
        let apart = (stations.len() / busy.max(1) as usize).max(1);
        let addresses: Vec<Ipv4Addr> =
            stations.iter().step_by(apart).take(busy as usize).map(|s| s.address).collect();
        let (sizes, mut pair) = (Cdf::parse("ali-storage", SIZES).expect("a distribution"), 0);
        for (number, from) in stations.iter_mut().step_by(apart).take(busy as usize).enumerate() {
            let mut draw = Draw::new(1, number as u64);
            let mut start = Time::ORIGIN;
            loop {
                start += gap(&mut draw, sizes.mean());
                if start > Time::ORIGIN + time {
                    break;
                }
                let other = (number + 1 + draw.below(addresses.len() as u64 - 1) as usize) % addresses.len();
                pair += 1;
                let (to, port) = (addresses[other], 49_152 + (pair % 4) as u16);
                from.messages.push(Message {
                    pair,
                    transport: 0,
                    workload: 0,
                    start,
                    to,
                    port,
                    bytes: sizes.draw(&mut draw),
                });
            }
        }
        ClosedLoop { catalogue, deployment, stations }
    }

    /// Returns a network in which nothing has happened, and its hosts.
    pub(crate) fn network(&self) -> (Network, Vec<HostId>) {
        let setup = self.deployment.network.clone();
        let mut network = Network::new(setup, &self.catalogue).expect("a network");
        let port = PortConfig { rate: RATE, pfc: Some(PfcConfig::default()), wire: WireOverhead::ETHERNET };
        let transports = [TransportConfig::Rdma(queue_pairs())];
        let attach = |station: &Station| {
            let host = Nic::new(port, station.address, &transports, station.messages.clone());
            network.attach(station.at, CABLE, Box::new(host)).expect("a port for a host")
        };
        let hosts = self.stations.iter().map(attach).collect();
        (network, hosts)
    }

    /// Runs until every message is acknowledged, and returns the number of hops.
    pub(crate) fn run(&self, (mut network, hosts): (Network, Vec<HostId>), threads: usize) -> u64 {
        let mut observers = vec![(); network.len()];
        let last = self.stations.iter().flat_map(|s| s.messages.last()).map(|m| m.start).max();
        let end = last.unwrap_or(Time::ORIGIN) + DRAIN;
        network.drain_parallel(end, threads, &mut observers).expect("a run");
        let left = |id: &HostId| network.host::<Nic>(*id).map_or(0, |host| host.unfinished().len());
        assert_eq!(hosts.iter().map(left).sum::<usize>(), 0, "messages that nobody acknowledged");
        let totals = network.totals();
        assert!(totals.is_conserved());
        totals.entered + totals.hops
    }
}

/// Draws the time to a host's next message.
fn gap(draw: &mut Draw, mean: u64) -> Duration {
    let mean = RATE.time_for(sluice_asic::units::Bytes(mean * 100 / LOAD)).as_ps();
    let gap = (u128::from(draw.exponential()) * u128::from(mean)) >> EXPONENTIAL_BITS;
    Duration::from_ps(u64::try_from(gap).unwrap_or(u64::MAX))
}

/// The queue pairs of the contest.
fn queue_pairs() -> RdmaConfig {
    let reaction = ReactionConfig {
        g: 1.0 / 256.0,
        alpha_timer: Duration::from_micros(1),
        monitor: Duration::from_micros(4),
        rate_timer: Duration::from_micros(300),
        stages: 1,
        additive: BitRate::from_bps(40_000_000),
        hyper: BitRate::from_bps(100_000_000),
        ..ReactionConfig::new(RATE)
    };
    RdmaConfig {
        mtu: 1_000,
        recovery: Recovery::GoBackN {
            nack_interval: Duration::from_micros(4),
            timeout: Some(Duration::from_millis(4)),
        },
        congestion: CongestionConfig::Dcqcn(Box::new(ReactionPoint::Mellanox(Mellanox::new(reaction)))),
        window: None,
        burst: 1,
        repaces: true,
        head_of_line: false,
        coalescing: Coalescing::PerPacket,
        scope: NotificationScope::Pair,
        carrier: Carrier::Packet,
        notify_missing: true,
        data: TrafficClass { dscp: 3, priority: 3 },
        control: TrafficClass { dscp: 48, priority: 6 },
        cnp: TrafficClass { dscp: 48, priority: 6 },
    }
}
