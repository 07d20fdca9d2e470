//! Groups of `ecmp` and `wcmp` at a position in a network.

use crate::balance::world::sets;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::BitRate;
use sluice_catalogue::position::{Neighbor, PortUse, Position, Prefix, Route};
use sluice_control::{ControlOp, ControlState};
use sluice_hashing::replicas::replicas;
use sluice_hashing::wcmp::{Method, expand};
use sluice_programs::catalogue;
use std::collections::BTreeMap;

/// A leaf with a host and eight cables up; one route over all of them, one over two of unequal weight, one down.
fn position(ports: &PortMap) -> Position {
    let dev_port = |port: u16| ports.front(FrontPort(port)).unwrap().dev_port.number();
    let up = |n: u16| Neighbor::Switch { number: n.into(), stage: 2, port: FrontPort(0) };
    let mut used = vec![PortUse {
        port: FrontPort(0),
        dev_port: dev_port(0),
        neighbor: Neighbor::Host([10, 0, 0, 1].into()),
        speed: BitRate::from_gbps(100),
    }];
    let speed = BitRate::from_gbps(100);
    let cable = |n| PortUse { port: FrontPort(n), dev_port: dev_port(n), neighbor: up(n), speed };
    used.extend((8..16).map(cable));
    let route = |to: [u8; 4], len, ports: Vec<(u16, u32)>, hops| Route {
        to: Prefix { address: to.into(), len },
        ports: ports.into_iter().map(|(port, weight)| (FrontPort(port), weight)).collect(),
        hops,
    };
    let routes = vec![
        route([10, 0, 1, 0], 24, (8..16).map(|n| (n, 1)).collect(), 2),
        route([10, 0, 2, 0], 24, vec![(8, 3), (9, 1)], 2),
        route([10, 0, 0, 1], 32, vec![(0, 1)], 0),
    ];
    let (name, subnets, hosts) = ("leaf0".to_owned(), Vec::new(), Vec::new());
    Position { number: 0, name, stage: 1, block: 0, ports: used, routes, subnets, hosts }
}

/// Returns the members of each group, by front-panel port.
fn groups(name: &str, params: &[&str]) -> Vec<BTreeMap<u16, u32>> {
    let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
    let catalogue = catalogue();
    let stage = catalogue.get(name).unwrap();
    let program = stage.build(&sets(params)).unwrap();
    let setup = stage.setup_at(&program, &ports, &position(&ports)).unwrap().unwrap();
    let mut control = ControlState::new(&program);
    let (mut port_of, mut groups) = (BTreeMap::new(), Vec::new());
    for op in setup.ops {
        match &op {
            ControlOp::SetMember { member, call, .. } => {
                let front = (0..32)
                    .find(|n| ports.front(FrontPort(*n)).unwrap().dev_port.number() == call.args[0] as u16);
                port_of.insert(*member, front.unwrap());
            }
            ControlOp::SetGroup { members, .. } => {
                let mut counts = BTreeMap::new();
                members.iter().for_each(|m| *counts.entry(port_of[&m.member]).or_default() += 1);
                groups.push(counts);
            }
            _ => {}
        }
        control.apply(&program, op).unwrap();
    }
    groups
}

fn by_port(members: &[u32], first: u16) -> BTreeMap<u16, u32> {
    (first..).zip(members.iter().copied()).collect()
}

#[test]
fn groups_in_a_network_have_the_scheme_s_sizes() {
    let down = BTreeMap::from([(0, 1)]);
    let coprime = groups("ecmp", &["upstream=8"]);
    assert_eq!(coprime, [by_port(&replicas(8, 55), 8), by_port(&[3, 1], 8), down.clone()]);
    let fixed = groups("ecmp", &["members=57", "order=blocked"]);
    assert_eq!(fixed[0], by_port(&replicas(8, 57), 8));
    let plain = groups("ecmp", &["scheme=per-port"]);
    assert_eq!(plain[0], by_port(&[1; 8], 8));
    let weighted = groups("wcmp", &["method=largest-remainder"]);
    let size: u32 = weighted[1].values().sum();
    assert_eq!(weighted[1], by_port(&expand(Method::LargestRemainder, &[3, 1], size).unwrap(), 8));
    assert!(size > 4 && size % 2 == 1 && weighted[2] == down, "{weighted:?}");
}
