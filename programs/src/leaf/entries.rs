//! Entries of the programs that share the leaf: the default ones, on any port map, and those for a place in a network.
//!
//! | destination | path by default |
//! |---|---|
//! | 10.1.N.0/24, N from 0 to 7 | down to the hosts on port N |
//! | 10.2.0.0/16 | up over group 2: the first two uplinks, as if the others did not lead there |
//! | anything else, including IPv6 | up over group 1: all uplinks, from port 8 on |
//!
//! Member n of a group is its n-th uplink, counted from 0; an uplink of weight w is w members.

use sluice_asic::port::{FrontPort, PortMap};
use sluice_catalogue::position::Position;
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port, ipv4_prefix, ipv6_prefix};
use sluice_control::{ControlOp, Then};
use sluice_hashing::replicas::{Order, layout};
use sluice_ir::{KeyValue, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Front-panel ports that the default entries use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// First port with a host.
    pub(crate) first_host: u16,
    /// Number of hosts.
    pub(crate) hosts: u16,
    /// First port with an uplink.
    pub(crate) uplinks: u16,
    /// Factor from a member's number, counted from 0, to the number by which the program knows the member.
    pub(crate) factor: u32,
}

const PLACES: Places = Places { first_host: 0, hosts: 8, uplinks: 8, factor: 1 };
/// Group of all uplinks.
const ALL: u32 = 1;
/// Group of the first two uplinks.
const TWO: u32 = 2;

/// Returns the default operations for uplinks of these weights, at the default ports.
pub(crate) fn operations<'p>(
    program: &'p Program,
    ports: &PortMap,
    weights: &[u32],
) -> Result<Ops<'p>, SetupError> {
    operations_on(program, ports, weights, PLACES)
}

/// Returns the default operations for uplinks of these weights, at the ports `places`.
pub(crate) fn operations_on<'p>(
    program: &'p Program,
    ports: &PortMap,
    weights: &[u32],
    places: Places,
) -> Result<Ops<'p>, SetupError> {
    let mut ops = Ops::new(program);
    let mut first = 0;
    for (group, weights) in [(ALL, weights), (TWO, weights.get(..2).unwrap_or(weights))] {
        let members = layout(weights, Order::Interleaved);
        for (number, uplink) in (0u32..).zip(&members) {
            let (_, port) = front_port(ports, places.uplinks + *uplink as u16)?;
            member_of(&mut ops, (group, number * places.factor, first + number), port.into())?;
        }
        group_of(&mut ops, group, first..first + members.len() as u32)?;
        first += members.len() as u32;
    }
    let any = [ipv4_prefix(Ipv4Addr::UNSPECIFIED, 0)];
    ops.entry("ipv4_route", any, "set_group", [ALL.into()])?;
    let partly = [ipv4_prefix(Ipv4Addr::new(10, 2, 0, 0), 16)];
    ops.entry("ipv4_route", partly, "set_group", [TWO.into()])?;
    for host in 0..places.hosts {
        let (_, port) = front_port(ports, places.first_host + host)?;
        let here = [ipv4_prefix(Ipv4Addr::new(10, 1, host as u8, 0), 24)];
        ops.entry("ipv4_route", here, "to_port", [port.into()])?;
    }
    let any = [ipv6_prefix(Ipv6Addr::UNSPECIFIED, 0)];
    ops.entry("ipv6_route", any, "set_group", [ALL.into()])?;
    Ok(ops)
}

/// Returns the operations at a position in a network. Every set of several ports that some route
/// spreads over is a group; a route with one port needs no group.
pub(crate) fn operations_at<'p>(program: &'p Program, position: &Position) -> Result<Ops<'p>, SetupError> {
    let mut ops = Ops::new(program);
    let dev_port = |port: FrontPort| position.port(port).map_or(0, |p| u128::from(p.dev_port));
    let (sets, of) = position.groups();
    let mut first = 0;
    for (group, ports) in (1u32..).zip(&sets).filter(|(_, ports)| ports.len() > 1) {
        let weights: Vec<u32> = ports.iter().map(|(_, weight)| *weight).collect();
        let members = layout(&weights, Order::Interleaved);
        for (number, path) in (0u32..).zip(&members) {
            let port = ports.get(*path as usize).map_or(0, |(port, _)| dev_port(*port));
            member_of(&mut ops, (group, number, first + number), port)?;
        }
        group_of(&mut ops, group, first..first + members.len() as u32)?;
        first += members.len() as u32;
    }
    for (route, set) in position.routes.iter().zip(of) {
        let (address, len) = route.to.ipv6();
        let ipv4 = [ipv4_prefix(route.to.address, route.to.len.into())];
        let ipv6 = [ipv6_prefix(address, len)];
        let (action, arg) = match route.ports.as_slice() {
            [(only, _)] => ("to_port", dev_port(*only)),
            _ => ("set_group", set as u128 + 1),
        };
        ops.entry("ipv4_route", ipv4, action, [arg])?;
        ops.entry("ipv6_route", ipv6, action, [arg])?;
    }
    Ok(ops)
}

/// Adds member `number` of a group, which is entry `member` of the action profile, and the entry from number to port.
pub(crate) fn member_of(
    ops: &mut Ops<'_>,
    (group, number, member): (u32, u32, u32),
    port: u128,
) -> Result<(), SetupError> {
    ops.member("uplinks", member, "propose", [number.into(), port])?;
    resolve(ops, (group, number.into()), port)
}

/// Adds the group of these members, all of them up.
pub(crate) fn group_of(
    ops: &mut Ops<'_>,
    group: u32,
    members: std::ops::Range<u32>,
) -> Result<(), SetupError> {
    ops.group("uplinks", group, members.map(|member| (member, 1)))?;
    ops.group_entry("pick", [KeyValue::Exact(group.into())], group)
}

/// Returns the members of each group, as pairs of number and dev_port.
pub(crate) fn members(ops: &Ops<'_>, program: &Program) -> BTreeMap<u32, Vec<(u128, u16)>> {
    let uplink = program.table_named("uplink");
    let mut groups: BTreeMap<u32, Vec<(u128, u16)>> = BTreeMap::new();
    for op in ops.so_far() {
        if let ControlOp::InsertEntry { table, key, then: Then::Call(call), .. } = op
            && Some(*table) == uplink
            && let ([KeyValue::Exact(group), KeyValue::Exact(number)], [port]) =
                (key.as_slice(), call.args.as_slice())
        {
            groups.entry(*group as u32).or_default().push((*number, *port as u16));
        }
    }
    groups
}

/// Adds, as far as table `uplink` has room, entries for numbers that other groups have and a group lacks: such a
/// number wraps around to one of the group's own members. Flows of two groups may share a remembered number. Without
/// an entry, a flow whose group lacks the number would use the candidate's port, which can differ for each packet.
pub(crate) fn go_round(ops: &mut Ops<'_>, program: &Program) -> Result<(), SetupError> {
    let groups = members(ops, program);
    let numbers: BTreeSet<u128> = groups.values().flatten().map(|(number, _)| *number).collect();
    let taken: usize = groups.values().map(Vec::len).sum();
    let size = program.table_named("uplink").map_or(0, |table| program.tables[table].size as usize);
    let missing = groups.iter().flat_map(|(group, members)| {
        let foreign = numbers.iter().filter(|n| members.iter().all(|(own, _)| own != *n));
        foreign.filter_map(|n| Some((*group, *n, members.get(*n as usize % members.len().max(1))?.1)))
    });
    for (group, number, port) in missing.take(size.saturating_sub(taken)) {
        resolve(ops, (group, number), port.into())?;
    }
    Ok(())
}

/// Adds the entry from a group and a member's number to the port.
fn resolve(ops: &mut Ops<'_>, (group, number): (u32, u128), port: u128) -> Result<(), SetupError> {
    ops.entry("uplink", [KeyValue::Exact(group.into()), KeyValue::Exact(number)], "to_uplink", [port])
}

/// Returns the setup at a position in a network, for a program that needs only [`operations_at`].
pub(crate) fn setup_at(program: &Program, position: &Position) -> Result<Setup, SetupError> {
    Ok(Setup { ops: operations_at(program, position)?.into_vec(), port_speeds: Vec::new() })
}

/// Returns the default setup, for a program that needs only [`operations`].
pub(crate) fn default_setup(
    program: &Program,
    ports: &PortMap,
    weights: &[u32],
) -> Result<Setup, SetupError> {
    let ops = operations(program, ports, weights)?.into_vec();
    Ok(Setup { ops, port_speeds: Vec::new() })
}
