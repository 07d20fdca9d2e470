//! Entries of ToRs and spines: the default ones, on any port map, and those at a position in a network.
//!
//! ToRs are numbered from 1; in a network a ToR's number is the switch's number plus 1. The number is the ToR's group
//! at all other switches, and its probes carry it. A group's members are numbered by their ports, from `uplinks` on.
//!
//! By default a ToR is number 3. Its hosts are 10.1.N.0/24 at the N-th host port. 10.2.0.0/16 goes to ToR 2, over the
//! first two uplinks. Everything else goes to ToR 1, over all uplinks.

use super::probes::filter;
use super::{NAME, Params, Side};
use crate::leaf::generator::visit_in;
use crate::leaf::{self, Places};
use sluice_asic::port::{FrontPort, PortMap};
use sluice_catalogue::Role;
use sluice_catalogue::position::{Neighbor, Position};
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port, ipv4_prefix, ipv6_prefix};
use sluice_control::{ControlOp, MulticastNode};
use sluice_ir::{KeyValue, MeterConfig, Program};
use std::collections::BTreeSet;

/// Number of the ToR of the default entries.
const OWN: u32 = 3;
/// Multicast group of a ToR's own probes. Probes that arrive on the n-th link, counted from 0, use group `UP + 1 + n`.
const UP: u16 = 1;

pub(super) fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
    let count = p.uplinks.iter().count();
    let places = Places {
        first_host: p.hosts.first,
        hosts: p.hosts.last - p.hosts.first + 1,
        uplinks: p.uplinks.first,
        factor: 1,
    };
    let mut ops = leaf::operations_on(program, ports, &vec![1; count.min(16)], places)?;
    let links: Vec<(FrontPort, bool)> = p
        .uplinks
        .iter()
        .map(|port| Ok((front_port(ports, port)?.0, p.role == Side::Tor)))
        .collect::<Result<_, SetupError>>()?;
    neighbours(&mut ops, ports, &links, p)?;
    if p.role == Side::Tor {
        announce(&mut ops, ports, OWN, &links, p)?;
    }
    leaf::go_round(&mut ops, program)?;
    measured(&mut ops, program, ports, None, p);
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}

/// Returns the dev_port of a front-panel port.
fn dev_port(ports: &PortMap, port: FrontPort) -> u16 {
    ports.front(port).map_or(0, |port| port.dev_port.number())
}

/// Adds the entries and multicast groups of ports to other switches; `links` says for each port if it
/// leads up. Probes from above are forwarded down, probes from below to all other ports.
fn neighbours(
    ops: &mut Ops<'_>,
    ports: &PortMap,
    links: &[(FrontPort, bool)],
    p: &Params,
) -> Result<(), SetupError> {
    for (at, (port, up)) in links.iter().enumerate() {
        let onward = |(other, other_up): &&(FrontPort, bool)| other != port && !(*up && *other_up);
        let copies: Vec<u16> =
            links.iter().filter(onward).map(|(other, _)| dev_port(ports, *other)).collect();
        let group = if copies.is_empty() { 0 } else { UP + 1 + at as u16 };
        if group > 0 {
            multicast(ops, group, copies);
        }
        let member = port.0.saturating_sub(p.uplinks.first);
        let key = [KeyValue::Exact(dev_port(ports, *port).into())];
        ops.entry("probe_from", key, "neighbour", [member.into(), group.into()])?;
    }
    Ok(())
}

fn multicast(ops: &mut Ops<'_>, id: u16, ports: Vec<u16>) {
    let nodes = vec![MulticastNode { rid: 1, ports, ..MulticastNode::default() }];
    ops.push(ControlOp::SetMulticastGroup { id, nodes });
}

/// Sets up a ToR's own probes: one per period, on every uplink.
fn announce(
    ops: &mut Ops<'_>,
    ports: &PortMap,
    own: u32,
    links: &[(FrontPort, bool)],
    p: &Params,
) -> Result<(), SetupError> {
    let copies: Vec<u16> =
        links.iter().filter(|(_, up)| *up).map(|(port, _)| dev_port(ports, *port)).collect();
    let pipe = copies.first().map_or(0, |port| (port >> 7) as u8);
    multicast(ops, UP, copies);
    ops.default("own_tor", "announce", [own.into(), UP.into()])?;
    visit_in(ops, ports, &[pipe], 1, p.period)
}

/// Sets up the estimators of all links, by the rates of their ports.
fn measured(ops: &mut Ops<'_>, program: &Program, ports: &PortMap, at: Option<&Position>, p: &Params) {
    let Some(meter) = program.meter_named("dre") else { return };
    for (number, port) in (0u16..).zip(ports.front_ports()) {
        let rate = Position::rate(at, ports, FrontPort(number)).unwrap_or(port.speed);
        let config = Some(MeterConfig::Lpf(filter(rate, p)));
        ops.push(ControlOp::SetMeter { meter, index: Some(port.dev_port.number().into()), config });
    }
}

/// Returns the role at a position: a switch with hosts is a ToR, one without is a spine, with its port ranges.
pub(super) fn role_at(at: &Position) -> Role {
    let mut params = Vec::new();
    if let Some(uplinks) = at.port_range(false) {
        params.push(("uplinks", uplinks.to_string()));
    }
    match at.port_range(true) {
        Some(hosts) => params.push(("hosts", hosts.to_string())),
        None => params.push(("role", Side::Spine.to_string())),
    }
    Role::new(NAME, params)
}

pub(super) fn setup_at(
    program: &Program,
    ports: &PortMap,
    at: &Position,
    p: &Params,
) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    let (mut member, mut done) = (0, BTreeSet::new());
    for route in &at.routes {
        let hosts = route.ports.first().and_then(|(port, _)| at.port(*port));
        let (action, arg) = match (route.ports.as_slice(), hosts) {
            ([_], Some(only)) => ("to_port", only.dev_port.into()),
            _ => {
                let tor = tor_of(at, route.to, p)?;
                // All hosts of a ToR have the same way.
                if done.insert(tor) {
                    let first = member;
                    for (port, _) in &route.ports {
                        let number = u32::from(port.0.saturating_sub(p.uplinks.first));
                        leaf::member_of(&mut ops, (tor, number, member), dev_port(ports, *port).into())?;
                        member += 1;
                    }
                    leaf::group_of(&mut ops, tor, first..member)?;
                }
                ("set_group", u128::from(tor))
            }
        };
        let (ipv6, len) = route.to.ipv6();
        ops.entry("ipv4_route", [ipv4_prefix(route.to.address, route.to.len.into())], action, [arg])?;
        ops.entry("ipv6_route", [ipv6_prefix(ipv6, len)], action, [arg])?;
    }
    let is_switch = |n: &Neighbor| matches!(n, Neighbor::Switch { .. });
    let links: Vec<(FrontPort, bool)> =
        at.ports.iter().filter(|u| is_switch(&u.neighbor)).map(|u| (u.port, at.leads_up(u.port))).collect();
    neighbours(&mut ops, ports, &links, p)?;
    if p.role == Side::Tor && !links.is_empty() {
        announce(&mut ops, ports, at.number + 1, &links, p)?;
    }
    leaf::go_round(&mut ops, program)?;
    measured(&mut ops, program, ports, Some(at), p);
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}

/// Returns the number of the ToR that has these hosts.
fn tor_of(at: &Position, to: sluice_catalogue::position::Prefix, p: &Params) -> Result<u32, SetupError> {
    let place_error = |why: String| SetupError::Place { program: NAME.to_owned(), why };
    match at.homes().find(|(_, home)| *home == to).map(|(switch, _)| switch + 1) {
        Some(tor) if tor < p.tors => Ok(tor),
        Some(tor) => Err(place_error(format!("ToR {tor} is beyond tors={}; raise it", p.tors))),
        None => Err(place_error(format!("{}/{} is at no single ToR", to.address, to.len))),
    }
}
