//! RDMA hosts at the edge: all messages arrive despite loss, pauses stop the hosts, marks slow them down, and results
//! depend neither on threads nor on steps of time.

use crate::network::deployed::{NoFiles, defaults, hosts};
use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::WireOverhead;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_control::ControlState;
use sluice_fabric::deploy::{Deployment, Files, deploy};
use sluice_fabric::host::congestion::CongestionConfig;
use sluice_fabric::host::counters::HostCounters;
use sluice_fabric::host::dcqcn::{Coalescing, Mellanox, NotificationScope, ReactionConfig, ReactionPoint};
use sluice_fabric::host::message::{Completion, Message};
use sluice_fabric::host::nic::{Nic, PortConfig, TransportConfig};
use sluice_fabric::host::rdma::{Carrier, RdmaConfig, TrafficClass};
use sluice_fabric::host::recovery::Recovery;
use sluice_fabric::network::{End, HostId, Network, NetworkTotals, SwitchId};
use sluice_fabric::topology::{Blueprint, built};
use sluice_ir::Program;
use sluice_programs::catalogue;
use std::net::Ipv4Addr;
use std::sync::Arc;

const CABLE: Duration = Duration::from_nanos(500);
pub(super) const LINE: BitRate = BitRate::from_gbps(100);

/// Returns the buffer profile of ConWeave's evaluation for every name.
pub(super) struct OneBuffer;

impl Files for OneBuffer {
    type Error = String;

    fn entries(
        &self,
        name: &str,
        program: &Program,
        ports: &PortMap,
        usual: &ControlState,
        into: &mut ControlState,
    ) -> Result<Vec<String>, String> {
        NoFiles.entries(name, program, ports, usual, into)
    }

    fn buffer(&self, name: &str, _: &ChipSpec) -> Result<BufferFile, String> {
        let text = include_str!("../../../contests/rdma-9mb.toml");
        BufferFile::parse(name, text).map_err(|e| e.to_string())
    }
}

/// Settings of hosts: the port, and queue pairs as the only transport.
#[derive(Clone)]
pub(super) struct Hosts {
    pub(super) port: PortConfig,
    pub(super) rdma: RdmaConfig,
}

impl Hosts {
    /// Returns the same hosts without congestion control.
    pub(super) fn open(mut self) -> Hosts {
        self.rdma.congestion = CongestionConfig::None;
        self
    }

    fn host(&self, address: Ipv4Addr, messages: Vec<Message>) -> Nic {
        Nic::new(self.port, address, &[TransportConfig::Rdma(self.rdma.clone())], messages)
    }
}

pub(super) fn nic(recovery: Recovery) -> Hosts {
    let reaction = ReactionConfig {
        g: 1.0 / 256.0,
        alpha_timer: Duration::from_micros(1),
        rate_timer: Duration::from_micros(300),
        stages: 1,
        ..ReactionConfig::new(LINE)
    };
    let port = PortConfig { rate: LINE, pfc: Some(PfcConfig::default()), wire: WireOverhead::ETHERNET };
    let rdma = RdmaConfig {
        mtu: 1_000,
        recovery,
        congestion: CongestionConfig::Dcqcn(Box::new(ReactionPoint::Mellanox(Mellanox::new(reaction)))),
        window: None,
        burst: 1,
        scope: NotificationScope::Pair,
        coalescing: Coalescing::PerPacket,
        repaces: true,
        head_of_line: false,
        carrier: Carrier::Packet,
        notify_missing: true,
        data: TrafficClass { dscp: 3, priority: 3 },
        control: TrafficClass { dscp: 48, priority: 6 },
        cnp: TrafficClass { dscp: 48, priority: 6 },
    };
    Hosts { port, rdma }
}

pub(super) const GO_BACK_N: Recovery =
    Recovery::GoBackN { nack_interval: Duration::from_micros(4), timeout: Some(Duration::from_millis(1)) };

pub(super) fn deployment(plan: &Blueprint, buffer: bool) -> Deployment {
    let mut defaults = defaults("l3-ecmp");
    defaults.port_speed = Some(LINE);
    defaults.buffer = buffer.then(|| "one".to_owned());
    deploy(plan, &catalogue(), &defaults, &OneBuffer).unwrap_or_else(|e| panic!("{e}"))
}

pub(super) struct Run {
    pub(super) network: Network,
    hosts: Vec<(Ipv4Addr, HostId)>,
}

impl Run {
    /// Creates a network whose n-th host sends the n-th list of messages.
    pub(super) fn new(deployment: Deployment, config: &Hosts, sends: Vec<Vec<Message>>) -> Run {
        Run::with(deployment, config.port, &[TransportConfig::Rdma(config.rdma.clone())], sends)
    }

    /// Creates the same with several transports.
    pub(super) fn with(
        deployment: Deployment,
        port: PortConfig,
        transports: &[TransportConfig],
        sends: Vec<Vec<Message>>,
    ) -> Run {
        Run::shaped(deployment, port, transports, sends, |_, nic| nic)
    }

    /// Creates the same with hosts that `shape` changes; it gets the number of each.
    pub(super) fn shaped(
        deployment: Deployment,
        port: PortConfig,
        transports: &[TransportConfig],
        mut sends: Vec<Vec<Message>>,
        shape: impl Fn(usize, Nic) -> Nic,
    ) -> Run {
        let all = hosts(&deployment.positions);
        sends.resize(all.len(), Vec::new());
        let pairs = || sends.iter().flatten();
        let mut contexts = vec![0; pairs().map(|message| message.pair as usize + 1).max().unwrap_or(0)];
        pairs().for_each(|message| contexts[message.pair as usize] = message.transport);
        let contexts: Arc<[u8]> = contexts.into();
        let mut network = Network::new(deployment.network, &catalogue()).unwrap_or_else(|e| panic!("{e}"));
        let mut hosts = Vec::new();
        for ((switch, front, address), sends) in all.into_iter().zip(sends) {
            let ports = &network.setup(switch).unwrap().ports;
            let front = (0..).map(FrontPort).find(|f| ports.front(*f).unwrap().dev_port.number() == front);
            let host = Nic::new(port, address, transports, sends).contexts(Arc::clone(&contexts));
            let host = shape(hosts.len(), host);
            let end = End { switch, port: front.unwrap() };
            hosts.push((address, network.attach(end, CABLE, Box::new(host)).unwrap()));
        }
        Run { network, hosts }
    }

    pub(super) fn drain(mut self, threads: usize, stride: Duration) -> Run {
        let mut observers = vec![(); self.network.len()];
        while self.network.is_busy() && self.network.time() < Time::ORIGIN + Duration::from_millis(50) {
            let until = self.network.time().max(self.network.next_time().unwrap()) + stride;
            self.network.drain_parallel(until, threads, &mut observers).unwrap();
        }
        assert!(self.network.totals().is_conserved(), "{:?}", self.network.totals());
        self
    }

    pub(super) fn host(&self, n: usize) -> &Nic {
        self.network.host(self.hosts[n].1).unwrap()
    }

    pub(super) fn counters(&self) -> HostCounters {
        let mut sum = HostCounters::default();
        (0..self.hosts.len()).for_each(|n| sum += self.host(n).counters());
        sum
    }

    pub(super) fn completions(&self) -> Vec<Completion> {
        (0..self.hosts.len()).flat_map(|n| self.host(n).completions().to_vec()).collect()
    }

    pub(super) fn seen(&self) -> (Vec<Completion>, HostCounters, NetworkTotals) {
        (self.completions(), self.counters(), self.network.totals())
    }
}

/// Returns messages: every host sends `count` messages of these sizes to each of the other hosts, at the same time.
fn all_to_all(addresses: &[Ipv4Addr], sizes: &[u64]) -> Vec<Vec<Message>> {
    let mut pair = 0;
    let from = |from: &Ipv4Addr| {
        let others = addresses.iter().filter(|to| *to != from);
        let messages = others.flat_map(|to| sizes.iter().map(move |bytes| (*to, *bytes)));
        let message = |(to, bytes)| {
            pair += 1;
            let start = Time::from_nanos(u64::from(pair) * 100);
            Message { pair, transport: 0, workload: 0, start, to, port: 49_152, bytes }
        };
        messages.map(message).collect()
    };
    addresses.iter().map(from).collect()
}

const FOUR: [Ipv4Addr; 4] = [
    Ipv4Addr::new(10, 0, 0, 1),
    Ipv4Addr::new(10, 0, 0, 2),
    Ipv4Addr::new(10, 0, 1, 1),
    Ipv4Addr::new(10, 0, 1, 2),
];

#[test]
fn threads_and_steps_change_nothing_and_everything_is_acknowledged() {
    let plan = built("leaf-spine:leaves=2,spines=2,hosts=2,rate=100G").unwrap();
    let sends = all_to_all(&FOUR, &[1, 999, 1_000, 1_001, 25_000]);
    let count: usize = sends.iter().map(Vec::len).sum();
    let run = |threads, stride| {
        Run::new(deployment(&plan, true), &nic(GO_BACK_N), sends.clone()).drain(threads, stride)
    };
    let one = run(1, Duration::from_millis(1));
    let (completions, counters, _) = one.seen();
    assert_eq!(completions.len(), count);
    assert_eq!((counters.resent, counters.timeouts, counters.stray, counters.nacks), (0, 0, 0, 0));
    assert_eq!((counters.received, counters.acks), (counters.sent, counters.sent));
    assert_eq!(one.seen(), run(2, Duration::from_millis(1)).seen());
    assert_eq!(one.seen(), run(1, Duration::from_nanos(1_300)).seen());
}

#[test]
fn a_packet_alone_takes_the_way_there_and_back() {
    let plan = built("chain:switches=1,hosts=2").unwrap();
    let (start, to) = (Time::from_nanos(50), FOUR[1]);
    let message = Message { pair: 1, transport: 0, workload: 0, start, to, port: 49_152, bytes: 1_000 };
    let run = Run::new(deployment(&plan, false), &nic(GO_BACK_N), vec![vec![message]]);
    let done = run.drain(1, Duration::from_micros(10)).completions();
    // Four cables of 500 ns; the receiving host stores each frame once more, and no switch does.
    let lines = LINE.time_for(Bytes(1_058 + 4 + 62 + 4 + 2 * 8));
    let inside = done[0].time().checked_sub(CABLE * 4 + lines).unwrap();
    assert!((Duration::from_nanos(400)..Duration::from_nanos(2_000)).contains(&inside), "{inside}");
}

#[test]
fn what_a_cable_loses_is_sent_again() {
    let selective = Recovery::irn(None, 1_000);
    let any_order = Recovery::AnyOrder { timeout: Duration::from_micros(100) };
    for recovery in [GO_BACK_N, selective, any_order] {
        let mut plan = built("leaf-spine:leaves=2,spines=1,hosts=2,rate=100G").unwrap();
        plan.cables.iter_mut().for_each(|cable| cable.loss = "0.01".parse().unwrap());
        let sends = all_to_all(&FOUR, &[40_000, 3_000]);
        let count: usize = sends.iter().map(Vec::len).sum();
        let run = Run::new(deployment(&plan, true), &nic(recovery), sends);
        let run = run.drain(2, Duration::from_millis(1));
        let counters = run.counters();
        assert_eq!(run.completions().len(), count, "{recovery:?}");
        assert!(counters.resent > 0 && run.network.totals().lost_on_links() > 0);
        if recovery == selective {
            assert!(counters.resent < run.network.totals().lost_on_links() + counters.timeouts);
        }
    }
}

/// Runs an incast: fifteen hosts of a switch send to the sixteenth.
fn incast(nic: &Hosts, buffer: bool) -> Run {
    let plan = built("chain:switches=1,hosts=16").unwrap();
    let (start, to) = (Time::ORIGIN, FOUR[0]);
    let message = |n: u32| Message {
        pair: n + 1,
        transport: 0,
        workload: 0,
        start,
        to,
        port: 49_152 + n as u16,
        bytes: 300_000,
    };
    let sends = (0..16).map(|n| if n == 0 { Vec::new() } else { vec![message(n)] }).collect();
    Run::new(deployment(&plan, buffer), nic, sends).drain(1, Duration::from_millis(1))
}

/// Returns the reasons and numbers of dropped packets, by switch.
fn lost(network: &Network) -> Vec<(SwitchId, String, u64)> {
    let of = |id: SwitchId| {
        let switch = network.switch(id).unwrap();
        let reasons = switch.totals().reasons().filter(|(_, n)| *n > 0);
        reasons.map(move |(r, n)| (id, r.name(switch.program()).to_owned(), n)).collect::<Vec<_>>()
    };
    network.ids().flat_map(of).collect()
}

#[test]
fn pauses_reach_hosts_and_nothing_is_lost() {
    let open = nic(GO_BACK_N).open();
    let run = incast(&open, true);
    let counters = run.counters();
    assert_eq!(lost(&run.network), [], "nothing may be lost");
    assert_eq!((run.completions().len(), counters.resent), (15, 0));
    assert!(counters.pauses > 0 && counters.paused > Duration::from_micros(10), "{counters:?}");
    // Hosts that ignore PFC lose packets and retransmit them.
    let mut deaf = open;
    deaf.port.pfc = None;
    let run = incast(&deaf, true);
    assert!(run.network.totals().dropped > 0 && run.counters().resent > 0);
    assert_eq!(run.completions().len(), 15);
}

#[test]
fn marks_slow_senders_down() {
    let run = incast(&nic(GO_BACK_N), true);
    let counters = run.counters();
    assert_eq!((run.completions().len(), lost(&run.network)), (15, Vec::new()));
    assert!(counters.marked > 100 && counters.notified == counters.notifications, "{counters:?}");
    assert!(run.completions().iter().all(|done| done.cuts > 0));
    let open = nic(GO_BACK_N).open();
    assert!(counters.pauses < incast(&open, true).counters().pauses);
}

#[test]
fn hosts_stand_at_free_ports_before_the_run() {
    let plan = built("leaf-spine:leaves=2,spines=1,hosts=1,rate=100G").unwrap();
    let mut network = Network::new(deployment(&plan, false).network, &catalogue()).unwrap();
    let host = || Box::new(nic(GO_BACK_N).host(FOUR[0], Vec::new()));
    let mut attach = |switch, port| {
        network.attach(End::new(SwitchId(switch), port), CABLE, host()).map_err(|e| e.to_string())
    };
    assert_eq!(attach(0, 0), Ok(HostId(0)));
    let taken = "port 8 of switch `leaf0` has a link or a host; frames from outside and hosts need a port without one";
    assert!(attach(0, 0).is_err_and(|e| e.ends_with(taken.split_once("of").unwrap().1)), "{taken}");
    assert!(attach(0, 1).is_err_and(|e| e.contains("has a link or a host")));
    assert!(attach(0, 500).is_err_and(|e| e.contains("no front-panel port 500")));
    assert!(attach(9, 0).is_err_and(|e| e.contains("there is no switch 9")));
    network.advance(Time::from_nanos(1), &mut ()).unwrap();
    let late = network.attach(End::new(SwitchId(1), 0), CABLE, host()).map_err(|e| e.to_string());
    assert!(late.is_err_and(|e| e.contains("before the network runs")));
}
