//! Links of different rates: every port runs at the rate of its link, and lone messages take the time of the closed form.

use crate::network::deployed::{NoFiles, defaults};
use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::WireOverhead;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_fabric::deploy::{Deployment, deploy};
use sluice_fabric::host::congestion::CongestionConfig;
use sluice_fabric::host::dcqcn::{Coalescing, NotificationScope};
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{Nic, PortConfig, TransportConfig};
use sluice_fabric::host::rdma::{Carrier, RdmaConfig, TrafficClass};
use sluice_fabric::host::recovery::Recovery;
use sluice_fabric::network::Network;
use sluice_fabric::topology::{Blueprint, built};
use sluice_programs::catalogue;
use sluice_switch::SwitchConfig;

/// Frames of 1000 payload bytes take 1048 bytes of a line, acknowledgements 52: 10 bytes fewer than they have.
const WIRE: WireOverhead = WireOverhead { preamble: 0, check: -10, gap: 0 };
const DATA: Bytes = Bytes(1_048);
const ACK: Bytes = Bytes(52);
const DELAY: Duration = Duration::from_micros(1);

fn rdma() -> TransportConfig {
    TransportConfig::Rdma(RdmaConfig {
        mtu: 1_000,
        recovery: Recovery::GoBackN { nack_interval: Duration::from_micros(4), timeout: None },
        congestion: CongestionConfig::None,
        window: None,
        burst: 1,
        scope: NotificationScope::Pair,
        repaces: true,
        head_of_line: false,
        coalescing: Coalescing::PerPacket,
        carrier: Carrier::Packet,
        notify_missing: true,
        data: TrafficClass { dscp: 3, priority: 3 },
        control: TrafficClass { dscp: 48, priority: 6 },
        cnp: TrafficClass { dscp: 48, priority: 6 },
    })
}

/// Builds a network of switches that store a frame and forward it at once.
fn deployment(plan: &Blueprint) -> Deployment {
    let chip =
        ChipSpec::from_toml(include_str!("../../../contests/reference/chip.toml"), "chip.toml").unwrap();
    let mut defaults = defaults("l3-ecmp");
    defaults.chip = chip;
    defaults.config = SwitchConfig { wire: WIRE, ..SwitchConfig::default() };
    deploy(plan, &catalogue(), &defaults, &NoFiles).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the time of a lone message from the first host to the last one.
fn lone(plan: &Blueprint, packets: u64) -> Duration {
    let Deployment { network, hosts, .. } = deployment(plan);
    let mut network = Network::new(network, &catalogue()).unwrap_or_else(|e| panic!("{e}"));
    let (from, to) = (hosts[0], hosts[hosts.len() - 1]);
    let start = Time::ORIGIN + Duration::from_micros(1);
    let message = Message {
        pair: 1,
        transport: 0,
        workload: 0,
        start,
        to: to.address,
        port: 50_000,
        bytes: packets * 1_000,
    };
    let mut ids = Vec::new();
    for host in &hosts {
        let port = PortConfig { rate: host.rate, pfc: None, wire: WIRE };
        let messages = if host.end == from.end { vec![message] } else { Vec::new() };
        let nic = Nic::new(port, host.address, &[rdma()], messages);
        ids.push(network.attach(host.end, DELAY, Box::new(nic)).unwrap());
    }
    network.drain(Time::ORIGIN + Duration::from_millis(10), &mut ()).unwrap();
    network.host::<Nic>(ids[0]).unwrap().completions()[0].time()
}

/// Checks that a lone message takes the time of its last packet over the links at these Gb/s, and that of the
/// acknowledgement back; six ways through a switch take less than a nanosecond each. This chip dequeues a packet only when
/// the line is free, at a cycle of 10 ps, so a full line loses up to three cycles for each packet.
fn takes(plan: &Blueprint, packets: u64, links: [u64; 4]) {
    let time = |bytes: Bytes, gbps: u64| BitRate::from_gbps(gbps).time_for(bytes);
    let slowest = links.into_iter().min().unwrap();
    let once = links.into_iter().fold(DELAY * 8, |sum, gbps| sum + time(DATA, gbps) + time(ACK, gbps));
    let expected = once + time(DATA, slowest) * (packets - 1);
    let found = lone(plan, packets);
    let most = expected + Duration::from_nanos(6) + Duration::from_ps(30) * packets;
    assert!(found >= expected && found < most, "{packets} over {links:?}: {found} {expected}");
}

#[test]
fn a_lone_message_takes_the_closed_form_over_links_of_different_rates() {
    let plan = |text: &str| built(&format!("two-tor:spines=1,hosts=1,{text}")).unwrap();
    // 4 x 83.84 + 4 x 4.16 + 8000 ns.
    takes(&plan("rate=100G"), 1, [100; 4]);
    // A queue takes 2048 cells, 292 packets: as many as wait when 389 come four times as fast as they go.
    for packets in [1, 2, 300] {
        takes(&plan("rate=100G,uplink=400G"), packets, [100, 400, 400, 100]);
        takes(&plan("rate=400G,uplink=100G"), packets, [400, 100, 100, 400]);
    }
    let mut mixed = plan("rate=100G,uplink=400G");
    mixed.hosts[1].at[0].rate = Some(BitRate::from_gbps(400));
    takes(&plan("rate=100G,uplink=400G"), 1_000, [100, 400, 400, 100]);
    takes(&mixed, 1_000, [100, 400, 400, 400]);
}

#[test]
fn ports_know_the_rates_of_their_links() {
    let deployed = deployment(&built("leaf-spine:leaves=2,spines=1,hosts=2,rate=100G,uplink=400G").unwrap());
    let rates: Vec<u64> =
        deployed.positions[0].ports.iter().map(|used| used.speed.as_bps() / 1_000_000_000).collect();
    assert_eq!(rates, [100, 100, 400]);
    assert!(deployed.hosts.iter().all(|host| host.rate == BitRate::from_gbps(100)));
}

/// A star of `hosts` hosts at one switch.
fn star(hosts: u32, rate: &str) -> Blueprint {
    let links: String = (1..=hosts).map(|host| format!("0 {host} {rate} 1us 0\n")).collect();
    Blueprint::from_ns3(&format!("{} 1 {hosts}\n0\n{links}", hosts + 1), "star.txt").unwrap()
}

#[test]
fn macs_are_split_as_the_links_need() {
    let chip = || defaults("l3-ecmp");
    let ports = |plan: &Blueprint| {
        let deployed = deploy(plan, &catalogue(), &chip(), &NoFiles);
        deployed.map(|d| d.network.switches[0].ports.front_ports().len()).map_err(|e| e.to_string())
    };
    // Tofino 2 has 32 ports of 400G, 64 of 200G, 128 of 100G.
    assert_eq!(ports(&star(32, "100Gbps")), Ok(32));
    assert_eq!(ports(&star(33, "100Gbps")), Ok(64));
    assert_eq!(ports(&star(65, "100Gbps")), Ok(128));
    assert_eq!(
        ports(&star(33, "400Gbps")).unwrap_err(),
        "star.txt:35: switch `s0`: port 32 does not exist; the switch has 32 front-panel ports, counted from 0"
    );
    assert_eq!(
        ports(&star(2, "40Gbps")).unwrap_err(),
        "star.txt:3: switch `s0`: a link of 40Gbps; ports of tofino2 run at 400Gbps, 200Gbps, 100Gbps, 50Gbps, \
         25Gbps, 10Gbps: choose one of these rates"
    );
    let mut narrow = star(2, "400Gbps");
    narrow.port_speed = Some(BitRate::from_gbps(100));
    assert_eq!(
        ports(&narrow).unwrap_err(),
        "star.txt:3: switch `s0`: a link of 400Gbps at a port with the lanes of 100Gbps, which runs at 100Gbps, \
         50Gbps, 25Gbps, 10Gbps; leave out the port speed, so that it follows from the rates of the links, or choose \
         a greater one"
    );
}

#[test]
fn a_file_says_the_links_of_hosts() {
    let text = "name = \"x\"\nhost_rate = \"100G\"\nhost_delay = \"2us\"\n[[switch]]\nname = \"a\"\nhosts = 2\n\
                [[switch]]\nname = \"b\"\nhosts = 1\nhost_rate = \"50G\"\n\
                [[host]]\nswitch = \"a\"\nnumber = 1\nrate = \"25G\"\nport = 9\n\
                [[cable]]\nbetween = [\"a\", \"b\"]\nrate = \"400G\"\nports = [4, 4]\n";
    let plan = Blueprint::from_toml(text, "net.toml").unwrap();
    let deployed = deploy(&plan, &catalogue(), &defaults("l3-ecmp"), &NoFiles).unwrap();
    let hosts: Vec<_> = deployed
        .hosts
        .iter()
        .map(|h| (h.end.switch.0, h.end.port.0, h.rate.as_bps() / 1_000_000_000))
        .collect();
    assert_eq!(hosts, [(0, 0, 100), (0, 9, 25), (1, 0, 50)]);
    assert!(deployed.hosts.iter().all(|host| host.delay == Some(Duration::from_micros(2))));
    let error = |from: &str, to: &str| {
        let plan = Blueprint::from_toml(&text.replacen(from, to, 1), "net.toml");
        let deployed =
            plan.map(|plan| deploy(&plan, &catalogue(), &defaults("l3-ecmp"), &NoFiles).map(|_| ()));
        match deployed {
            Err(e) => e.to_string(),
            Ok(deployed) => deployed.unwrap_err().to_string(),
        }
    };
    assert_eq!(
        error("number = 1", "number = 2"),
        "net.toml:11: host 2 of switch `a`: the switch has fewer hosts; numbers count from 0, up to `hosts` - 1"
    );
    assert_eq!(
        error("port = 9", "port = 4"),
        "net.toml:16: switch `a`: port 4 is used twice; give each cable and host a different port"
    );
    assert_eq!(
        error("\"25G\"", "\"0G\""),
        "net.toml:11: host 1 of switch `a`: a rate of 0; expected a rate above 0"
    );
    assert_eq!(error("[\"a\", \"b\"]", "[\"a\", \"c\"]"), "net.toml:16: there is no switch `c`");
    assert!(
        error("\"b\"]\nrate = \"400G\"", "\"a\"]")
            .starts_with("net.toml:16: a cable joins switch `a` with itself")
    );
    let alone = text.split("[[cable]]").next().unwrap();
    let plan = Blueprint::from_toml(alone, "net.toml").unwrap();
    let apart = deploy(&plan, &catalogue(), &defaults("l3-ecmp"), &NoFiles).unwrap_err().to_string();
    assert!(apart.starts_with("net.toml:7: host `b-h0` at switch `b` cannot reach host `a-h0`"), "{apart}");
}
