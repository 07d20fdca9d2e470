//! Blueprints built with shipped programs: every host reaches every other one.

use crate::network::support::Recorder;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_catalogue::position::{Neighbor, Position};
use sluice_control::ControlState;
use sluice_fabric::deploy::{Defaults, DeployError, Deployment, Files, deploy};
use sluice_fabric::network::{LinkDrop, Network, SwitchId};
use sluice_fabric::topology::{Blueprint, built};
use sluice_ir::Program;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, udp};
use sluice_programs::catalogue;
use sluice_switch::{RxFrame, SwitchConfig};
use std::net::Ipv4Addr;

/// Reads no files.
pub(crate) struct NoFiles;

impl Files for NoFiles {
    type Error = String;

    fn entries(
        &self,
        name: &str,
        _: &Program,
        _: &PortMap,
        _: &ControlState,
        _: &mut ControlState,
    ) -> Result<Vec<String>, String> {
        Err(format!("no file {name}"))
    }

    fn buffer(&self, name: &str, _: &ChipSpec) -> Result<BufferFile, String> {
        Err(format!("no file {name}"))
    }
}

pub(crate) fn defaults(program: &str) -> Defaults {
    Defaults {
        program: program.to_owned(),
        params: Vec::new(),
        chip: ChipSpec::tofino2(),
        port_speed: None,
        buffer: None,
        entries: None,
        placing: Default::default(),
        config: SwitchConfig::default(),
    }
}

pub(crate) fn ready(plan: &Blueprint, program: &str) -> Deployment {
    ready_with(&catalogue(), plan, program)
}

fn ready_with(catalogue: &Catalogue, plan: &Blueprint, program: &str) -> Deployment {
    deploy(plan, catalogue, &defaults(program), &NoFiles).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the hosts with their ports, from the positions.
pub(crate) fn hosts(positions: &[Position]) -> Vec<(SwitchId, u16, Ipv4Addr)> {
    let of = |p: &Position| {
        let hosts = p.ports.iter().filter_map(|used| match used.neighbor {
            Neighbor::Host(address) => Some((used.dev_port, address)),
            Neighbor::Switch { .. } => None,
        });
        hosts.map(|(port, address)| (SwitchId(p.number), port, address)).collect::<Vec<_>>()
    };
    positions.iter().flat_map(of).collect()
}

fn packet(from: Ipv4Addr, to: Ipv4Addr, flow: u16) -> Vec<u8> {
    let mut out = Vec::new();
    let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
    let builder = builder.ipv4(ipv4::Header::new(from, to)).udp(udp::Header::new(1000 + flow, 4791));
    builder.build_len(100, &mut out).unwrap();
    out
}

/// Sends `flows` packets between all pairs of hosts, one every 200 ns from each host, and returns all events.
fn all_to_all(
    catalogue: &Catalogue,
    deployment: Deployment,
    flows: u16,
) -> (Recorder, Network, Vec<(SwitchId, u16)>) {
    let all = hosts(&deployment.positions);
    let mut network = Network::new(deployment.network, catalogue).unwrap_or_else(|e| panic!("{e}"));
    for (switch, time, op) in deployment.changes {
        network.control(switch, time, op).unwrap();
    }
    let mut to = Vec::new();
    for (switch, port, from) in &all {
        let mut time = Time::ORIGIN;
        let port =
            network.setup(*switch).unwrap().ports.iter().find(|p| p.dev_port.number() == *port).unwrap();
        let port = port.dev_port;
        for (at, out, address) in all.iter().filter(|(.., address)| address != from) {
            for flow in 0..flows {
                let bytes = packet(*from, *address, flow);
                let rx = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: to.len() as u64 };
                network.inject(*switch, port, time, rx).unwrap();
                time += Duration::from_nanos(200);
                to.push((*at, *out));
            }
        }
    }
    let mut seen = Recorder::default();
    network.drain(Time::MAX, &mut seen).unwrap();
    assert!(network.totals().is_conserved());
    (seen, network, to)
}

fn everyone_is_reached(plan: &Blueprint, program: &str) -> Network {
    everyone_is_reached_with(&catalogue(), plan, program)
}

/// Checks with the programs of a catalogue that every host reaches every other one.
pub(crate) fn everyone_is_reached_with(catalogue: &Catalogue, plan: &Blueprint, program: &str) -> Network {
    let (seen, network, to) = all_to_all(catalogue, ready_with(catalogue, plan, program), 2);
    let mut got = vec![None; to.len()];
    for (at, left, _) in seen.delivered() {
        got[left.tag as usize] = Some((at, left.egress_port));
    }
    for (tag, to) in to.iter().enumerate() {
        assert_eq!(got[tag].as_ref(), Some(to), "{} with {program}: packet {tag}", plan.name);
    }
    network
}

#[test]
fn every_host_reaches_every_other_one_on_every_network() {
    for text in
        ["chain", "dumbbell:hosts=2", "two-tor:spines=2,hosts=2", "fat-tree:hosts=1", "leaf-spine:hosts=2"]
    {
        everyone_is_reached(&built(text).unwrap(), "l3-ecmp");
    }
    for program in ["ecmp", "wcmp", "letflow", "spray", "drb", "presto", "drill"] {
        everyone_is_reached(&built("leaf-spine:parallel=2,hosts=1").unwrap(), program);
    }
    for program in ["conweave", "conga", "hula"] {
        everyone_is_reached(&built("leaf-spine:leaves=3,spines=2,hosts=2,parallel=2").unwrap(), program);
    }
    everyone_is_reached(&built("fat-tree:hosts=1").unwrap(), "conweave");
    for text in ["clos5", "dring:width=1", "wan:width=1"] {
        let network = everyone_is_reached(&built(text).unwrap(), "ecmp");
        assert!(network.totals().hops > 0);
    }
}

#[test]
fn groups_spread_flows_over_all_spines() {
    let (seen, _, _) = all_to_all(
        &catalogue(),
        ready(&built("leaf-spine:leaves=2,spines=4,hosts=2").unwrap(), "l3-ecmp"),
        64,
    );
    let mut by_spine = [0; 4];
    for (_, event) in seen.entered().filter(|(at, _)| at.0 >= 2) {
        assert!(event.link.is_some());
    }
    for (at, _) in seen.entered() {
        if at.0 >= 2 {
            by_spine[at.0 as usize - 2] += 1;
        }
    }
    let total: u32 = by_spine.iter().sum();
    assert_eq!(total, 2 * 2 * 2 * 64);
    assert!(by_spine.iter().all(|n| *n > total / 8), "{by_spine:?}");
}

const NS3: &str = "6 2 6\n4 5\n0 4 100Gbps 1000ns 0\n1 4 100Gbps 1000ns 0\n2 5 100Gbps 1000ns 0\n3 5 100Gbps 1us 0\n\
                   0 5 100Gbps 1us 0\n4 5 400Gbps 2us 0\n";

#[test]
fn an_ns3_network_carries_packets() {
    let plan = Blueprint::from_ns3(NS3, "two.txt").unwrap();
    let deployment = ready(&plan, "l3-ecmp");
    // Host 0 is at both switches.
    let homes = hosts(&deployment.positions).iter().filter(|h| h.2 == Ipv4Addr::new(11, 0, 0, 1)).count();
    assert_eq!(homes, 2);
    let map = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
    let all = hosts(&deployment.positions);
    let (from, to) = (all[1], all.iter().find(|h| h.2 == Ipv4Addr::new(11, 0, 3, 1)).copied().unwrap());
    assert_eq!((from.0, to.0), (SwitchId(0), SwitchId(1)));
    let mut network = Network::new(deployment.network, &catalogue()).unwrap();
    let port = map.iter().find(|p| p.dev_port.number() == from.1).unwrap().dev_port;
    let bytes = packet(from.2, to.2, 1);
    let rx = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: 0 };
    network.inject(from.0, port, Time::ORIGIN, rx).unwrap();
    let mut seen = Recorder::default();
    network.drain(Time::MAX, &mut seen).unwrap();
    let (at, left, _) = seen.delivered().next().unwrap();
    assert_eq!((at, left.egress_port), (to.0, to.1));
    // The port of the host runs at the host's rate: 104 bytes at 80 ps each.
    assert_eq!(left.last_bit.saturating_since(left.first_bit), Duration::from_ps(104 * 80));
    let (_, link) = seen.on_links().next().unwrap();
    assert_eq!(link.fate.unwrap(), link.left.first_bit + Duration::from_micros(2));
}

const FILE: &str = r#"
name = "two tiers"
program = "l3-ecmp"
params = { ipv4_routes = 64 }
delay = "2us"
[[switch]]
name = "leaf0"
hosts = 1
[[switch]]
name = "leaf1"
hosts = 1
params = { ipv4_routes = 128 }
[[switch]]
name = "spine0"
stage = 2
[[switch]]
name = "spine1"
stage = 2
[[cable]]
between = ["leaf0", "spine0"]
ports = [8, 0]
[[cable]]
between = ["leaf1", "spine0"]
rate = "100G"
[[cable]]
between = ["leaf0", "spine1"]
delay = "5us"
[[cable]]
between = ["spine1", "leaf1"]
[[event]]
at = "20us"
cable = ["spine0", "leaf0"]
set = "down"
[[event]]
at = "20us"
switch = "leaf0"
op = "table_add ipv4_route ipv4_set_nexthop 0 10.0.1.0/24 => 2"
"#;

#[test]
fn a_file_says_who_runs_what_over_which_cables_and_what_happens() {
    let mut plan = Blueprint::from_toml(FILE, "net.toml").unwrap();
    assert_eq!(plan.cables[2].delay, Duration::from_micros(5));
    assert_eq!(plan.cables[0].delay, Duration::from_micros(2));
    assert_eq!(plan.cables[1].rate, Some(BitRate::from_gbps(100)));
    plan.events.retain(|(_, h)| matches!(h, sluice_fabric::topology::Happening::Cable { .. }));
    let deployment = ready(&plan, "ecmp");
    let routes = |n: usize| {
        let placed = &deployment.network.switches[n].placed;
        placed.program.params.iter().find(|p| p.key == "ipv4_routes").unwrap().value.clone()
    };
    assert_eq!((routes(0), routes(1), routes(2)), ("64".into(), "128".into(), "64".into()));
    let ports = &deployment.positions[0].ports;
    assert_eq!(ports.iter().map(|p| p.port.0).collect::<Vec<_>>(), [0, 1, 8]);
    // The cable is down from 20 us on: later frames over spine0 are lost.
    let (seen, network, _) = all_to_all(&catalogue(), deployment, 400);
    let lost = network.totals().link_drops[LinkDrop::Down as usize];
    assert!(lost > 50, "{:?}", network.totals());
    let last = |link: u32| {
        let fates = seen.on_links().filter(|(_, f)| f.link.0 == link);
        fates.filter(|(_, f)| f.fate.is_ok()).map(|(_, f)| f.left.first_bit).max().unwrap()
    };
    assert!(last(0) < Time::from_nanos(20_000) && last(2) > Time::from_nanos(50_000));
}

#[test]
fn what_is_wrong_in_a_file_is_named() {
    let error = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        match Blueprint::from_toml(&FILE.replacen(from, to, 1), "net.toml") {
            Err(e) => e.to_string(),
            Ok(plan) => deploy(&plan, &catalogue(), &defaults("l3-ecmp"), &NoFiles).unwrap_err().to_string(),
        }
    };
    assert_eq!(
        error("[\"leaf0\", \"spine0\"]\nports", "[\"leaf0\", \"spine9\"]\nports"),
        "net.toml:19: there is no switch `spine9`"
    );
    assert_eq!(
        error("set = \"down\"", "set = \"off\""),
        "net.toml:30: event 1 at 20us: `set` is `off`; expected down, up, loss, corruption or extra_delay"
    );
    assert_eq!(
        error("set = \"down\"", "set = \"loss\""),
        "net.toml:30: event 1 at 20us: `set = \"loss\"` needs `to`"
    );
    assert_eq!(
        error("cable = [\"spine0\", \"leaf0\"]", "cable = [\"spine0\", \"spine1\"]"),
        "net.toml:30: event 1 at 20us: there is no cable 0 between `spine0` and `spine1`; there are 0 cables between them"
    );
    assert_eq!(
        error("ports = [8, 0]", "ports = [32, 0]"),
        "net.toml:19: switch `leaf0`: port 32 does not exist; the switch has 32 front-panel ports, counted from 0"
    );
    assert_eq!(
        error("name = \"leaf1\"", "name = \"leaf0\""),
        "net.toml:9: switch `leaf0`: two switches have this name; give every switch a different name"
    );
    let unknown = error("program = \"l3-ecmp\"", "program = \"l3ecmp\"");
    assert!(unknown.starts_with("switch `leaf0`: there is no program `l3ecmp`"), "{unknown}");
    let change = error("table_add ipv4_route ipv4_set_nexthop 0 10.0.1.0/24 => 2", "table_drop x");
    assert!(change.starts_with("switch `leaf0`: ") && change.contains("events:1"), "{change}");
    let file = error("name = \"leaf1\"", "name = \"leaf1\"\nentries = \"x.toml\"");
    assert_eq!(file, "switch `leaf1`: no file x.toml");
    let many = built("chain:hosts=40").unwrap();
    assert!(matches!(
        deploy(&many, &catalogue(), &defaults("l3-ecmp"), &NoFiles),
        Err(DeployError::Topology(_))
    ));
    let text = deploy(&many, &catalogue(), &defaults("l3-ecmp"), &NoFiles).unwrap_err().to_string();
    assert_eq!(
        text,
        "switch `s0` needs 41 front-panel ports, but has 32; use fewer cables and hosts, or a lower port speed if \
         that gives more ports"
    );
}
