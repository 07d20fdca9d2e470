//! Entries of leaves and spines: the default ones, on any port map, and those at a position in a network.
//!
//! Leaves are numbered from 1; in a network a leaf's number is the switch's number plus 1. The number
//! is the leaf's group at all other leaves, and the last 16 bits of its address in 10.255.0.0/16.
//!
//! By default a leaf is number 3. Its hosts are 10.1.N.0/24 at the N-th host port. 10.2.0.0/16 goes to leaf
//! 2, to which only the first two uplinks lead. Everything else goes to leaf 1, over all uplinks. A default
//! spine has the routes to hosts and uplinks that every leaf program has by default, and leaf N+1 at port N.

use super::NAME;
use super::choose::NOWHERE;
use super::dre::estimator;
use super::headers::OVERLAY_NET;
use super::params::{FEW, Params, Side, UPLINKS};
use crate::leaf::generator::visit;
use crate::leaf::{self, Places};
use sluice_asic::port::{FrontPort, PortMap};
use sluice_catalogue::Role;
use sluice_catalogue::position::{Neighbor, NextHops, Position, Prefix};
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port, ipv4_prefix, ipv6_prefix};
use sluice_control::ControlOp;
use sluice_ir::{KeyValue, MeterConfig, Program};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// Number of the leaf of the default entries.
const OWN: u32 = 3;
/// Number of leaves in a spine's default entries.
const KNOWN: u16 = 8;

/// Returns the outer IPv4 address of a leaf.
fn address(leaf: u32) -> u32 {
    (OVERLAY_NET as u32) << 16 | leaf & 0xffff
}

fn setup_of(ops: Ops<'_>) -> Setup {
    Setup { ops: ops.into_vec(), port_speeds: Vec::new() }
}

pub(super) fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
    if p.role == Side::Spine {
        let mut ops = leaf::operations(program, ports, &[1; FEW])?;
        for leaf in 0..KNOWN {
            let (_, port) = front_port(ports, leaf)?;
            let to = [ipv4_prefix(Ipv4Addr::from(address(u32::from(leaf) + 1)), 32)];
            ops.entry("ipv4_route", to, "to_port", [port.into()])?;
        }
        spine_links(&mut ops, program, (ports, None), p);
        return Ok(setup_of(ops));
    }
    let places = Places {
        first_host: p.hosts.first,
        hosts: p.hosts.last - p.hosts.first + 1,
        uplinks: p.uplinks.first,
        factor: p.number(1),
    };
    let mut ops = leaf::operations_on(program, ports, &vec![1; p.count()], places)?;
    reach(&mut ops, 2, std::array::from_fn(|uplink| if uplink < 2 { 0 } else { NOWHERE.into() }), p)?;
    for leaf in [1, 2] {
        wrapped(&mut ops, leaf, OWN)?;
    }
    leaf::go_round(&mut ops, program)?;
    leaf_links(&mut ops, program, (ports, None), p)?;
    Ok(setup_of(ops))
}

/// Adds the outer addresses of packets to a leaf.
fn wrapped(ops: &mut Ops<'_>, leaf: u32, own: u32) -> Result<(), SetupError> {
    let args = [address(leaf).into(), address(own).into()];
    ops.entry("leaf_address", [KeyValue::Exact(leaf.into())], "wrap_for", args)
}

/// Adds which uplinks lead to a leaf: the lower bounds of their congestion.
fn reach(ops: &mut Ops<'_>, leaf: u32, bases: [u128; UPLINKS], p: &Params) -> Result<(), SetupError> {
    let leaf = [KeyValue::Exact(leaf.into())];
    if p.many() {
        return ops.entry("reach", leaf, "set_reach", bases);
    }
    let [first, second, third, fourth, ..] = bases;
    ops.entry("reach", leaf, "set_reach", [first, second, third, fourth])
}

/// The device's ports, and its position in a network if it has one.
type Ports<'a> = (&'a PortMap, Option<&'a Position>);

/// Sets up the estimators of the uplinks, and the generated packets that read them.
fn leaf_links(ops: &mut Ops<'_>, program: &Program, ports: Ports<'_>, p: &Params) -> Result<(), SetupError> {
    for (number, port) in (0u32..).zip(p.uplinks.iter()) {
        let (front, _) = front_port(ports.0, port)?;
        measured(ops, program, ports, (number, front), p);
    }
    visit(ops, ports.0, p.leaves * p.tags(), p.period)
}

/// Sets up the estimators of all links of a spine.
fn spine_links(ops: &mut Ops<'_>, program: &Program, ports: Ports<'_>, p: &Params) {
    for (number, port) in (0u16..).zip(ports.0.front_ports()) {
        measured(ops, program, ports, (port.dev_port.number().into(), FrontPort(number)), p);
    }
}

/// Sets up the estimator of a link, by the rate of its port.
fn measured(
    ops: &mut Ops<'_>,
    program: &Program,
    (ports, at): Ports<'_>,
    (cell, port): (u32, FrontPort),
    p: &Params,
) {
    if let (Some(meter), Some(rate)) = (program.meter_named("dre"), Position::rate(at, ports, port)) {
        let config = Some(MeterConfig::Lpf(estimator(rate, p.tau).spec()));
        ops.push(ControlOp::SetMeter { meter, index: Some(cell), config });
    }
}

/// Returns the role at a position: a switch with hosts and uplinks is a leaf with the port ranges of
/// its position, a switch without hosts is a spine.
pub(super) fn role_at(at: &Position) -> Role {
    let highest = at.homes().map(|(switch, _)| switch + 2).max().unwrap_or(0).clamp(16, 256);
    let mut params = vec![("leaves", highest.to_string())];
    match (at.port_range(true), at.port_range(false)) {
        (None, _) => params.push(("role", Side::Spine.to_string())),
        (Some(hosts), Some(uplinks)) => {
            params.extend([("hosts", hosts.to_string()), ("uplinks", uplinks.to_string())]);
        }
        (Some(_), None) => {}
    }
    Role::new(NAME, params)
}

pub(super) fn setup_at(
    program: &Program,
    ports: &PortMap,
    at: &Position,
    p: &Params,
) -> Result<Setup, SetupError> {
    if p.role == Side::Spine {
        let mut ops = leaf::operations_at(program, at)?;
        spine_routes(&mut ops, at)?;
        spine_links(&mut ops, program, (ports, Some(at)), p);
        return Ok(setup_of(ops));
    }
    let mut ops = Ops::new(program);
    let (mut member, mut done) = (0, BTreeSet::new());
    for route in &at.routes {
        let remote = route.ports.iter().all(|(port, _)| is_switch(at, *port));
        let (action, arg) = if remote {
            let leaf = leaf_of(at, route.to, p)?;
            // All hosts of a leaf have the same way.
            if done.insert(leaf) {
                leaf_routes(&mut ops, at, (leaf, &route.ports), &mut member, p)?;
            }
            ("set_group", u128::from(leaf))
        } else {
            let port = route.ports.first().and_then(|(port, _)| at.port(*port));
            ("to_port", port.map_or(0, |port| port.dev_port.into()))
        };
        let (ipv6, len) = route.to.ipv6();
        ops.entry("ipv4_route", [ipv4_prefix(route.to.address, route.to.len.into())], action, [arg])?;
        ops.entry("ipv6_route", [ipv6_prefix(ipv6, len)], action, [arg])?;
    }
    leaf::go_round(&mut ops, program)?;
    leaf_links(&mut ops, program, (ports, Some(at)), p)?;
    Ok(setup_of(ops))
}

fn is_switch(at: &Position, port: FrontPort) -> bool {
    at.port(port).is_some_and(|used| matches!(used.neighbor, Neighbor::Switch { .. }))
}

fn place_error(why: String) -> SetupError {
    SetupError::Place { program: NAME.to_owned(), why }
}

/// Returns the number of the leaf that has these hosts.
fn leaf_of(at: &Position, to: Prefix, p: &Params) -> Result<u32, SetupError> {
    let found = at.homes().find(|(_, home)| *home == to).map(|(switch, _)| switch + 1);
    match found {
        Some(leaf) if leaf < p.leaves => Ok(leaf),
        Some(leaf) => Err(place_error(format!("leaf {leaf} is beyond leaves={}; raise it", p.leaves))),
        None => Err(place_error(format!("{}/{} is at no single leaf", to.address, to.len))),
    }
}

/// Adds the group of a leaf; a member's number is the number of its uplink.
fn leaf_routes(
    ops: &mut Ops<'_>,
    at: &Position,
    (leaf, hops): (u32, &NextHops),
    member: &mut u32,
    p: &Params,
) -> Result<(), SetupError> {
    let first = *member;
    let mut bases = [u128::from(NOWHERE); UPLINKS];
    for (port, _) in hops {
        let number = usize::from(port.0.wrapping_sub(p.uplinks.first));
        let Some(base) = bases.get_mut(number).filter(|_| number < p.count()) else {
            let why = format!(
                "port {} of `{}` is none of uplinks={}, at most {UPLINKS}",
                port.0, at.name, p.uplinks
            );
            return Err(place_error(why));
        };
        *base = 0;
        let dev_port = at.port(*port).map_or(0, |used| used.dev_port.into());
        leaf::member_of(ops, (leaf, p.number(number as u32), *member), dev_port)?;
        *member += 1;
    }
    leaf::group_of(ops, leaf, first..*member)?;
    reach(ops, leaf, bases, p)?;
    wrapped(ops, leaf, at.number + 1)
}

/// Adds the routes to the leaves' outer addresses: a leaf's address has the route of its hosts.
fn spine_routes(ops: &mut Ops<'_>, at: &Position) -> Result<(), SetupError> {
    let (_, of) = at.groups();
    let mut done = BTreeSet::new();
    for (switch, home) in at.homes() {
        let Some((route, set)) = at.routes.iter().zip(&of).find(|(route, _)| route.to == home) else {
            continue;
        };
        if !done.insert(switch) {
            continue;
        }
        let (action, arg) = match route.ports.as_slice() {
            [(only, _)] => ("to_port", at.port(*only).map_or(0, |used| used.dev_port.into())),
            // The groups' numbers are those of `leaf::operations_at`.
            _ => ("set_group", *set as u128 + 1),
        };
        ops.entry("ipv4_route", [ipv4_prefix(Ipv4Addr::from(address(switch + 1)), 32)], action, [arg])?;
    }
    Ok(())
}
