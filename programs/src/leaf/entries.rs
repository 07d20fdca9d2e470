//! What the programs of a leaf start with, on any port map.
//!
//! | destination | way |
//! |---|---|
//! | 10.1.N.0/24, N from 0 to 7 | down to the hosts on port N |
//! | 10.2.0.0/16 | over group 2: the first two uplinks, as if the others did not lead there |
//! | anything else, IPv6 too | over group 1: all uplinks, from port 8 on |
//!
//! Member n of a group is its n-th uplink, counted from 0; an uplink of weight w is w members. What may not live
//! here: tables.

use crate::planning::replicas::{Order, layout};
use crate::setup::{Ops, Setup, SetupError, front_port, ipv4_prefix, ipv6_prefix};
use sluice_asic::port::PortMap;
use sluice_pipeline::ir::{KeyValue, Program};
use std::net::{Ipv4Addr, Ipv6Addr};

/// First front-panel port of the uplinks.
const UPLINKS: u16 = 8;
/// Ports of hosts.
const HOSTS: u16 = 8;
/// Group of all uplinks, and of the first two.
const ALL: u32 = 1;
const TWO: u32 = 2;

/// The operations, for uplinks of these weights.
pub(crate) fn operations<'p>(
    program: &'p Program,
    ports: &PortMap,
    weights: &[u32],
) -> Result<Ops<'p>, SetupError> {
    let mut ops = Ops::new(program);
    let mut first = 0;
    for (group, weights) in [(ALL, weights), (TWO, weights.get(..2).unwrap_or(weights))] {
        let members = layout(weights, Order::Interleaved);
        for (number, uplink) in (0u32..).zip(&members) {
            let (_, port) = front_port(ports, UPLINKS + *uplink as u16)?;
            ops.member("uplinks", first + number, "propose", [number.into(), port.into()])?;
            let key = [KeyValue::Exact(group.into()), KeyValue::Exact(number.into())];
            ops.entry("uplink", key, "to_uplink", [port.into()])?;
        }
        let size = members.len() as u32;
        ops.group("uplinks", group, (first..first + size).map(|member| (member, 1)))?;
        ops.group_entry("pick", group.into(), group)?;
        first += size;
    }
    let any = [ipv4_prefix(Ipv4Addr::UNSPECIFIED, 0)];
    ops.entry("ipv4_route", any, "set_group", [ALL.into()])?;
    let partly = [ipv4_prefix(Ipv4Addr::new(10, 2, 0, 0), 16)];
    ops.entry("ipv4_route", partly, "set_group", [TWO.into()])?;
    for host in 0..HOSTS {
        let (_, port) = front_port(ports, host)?;
        let here = [ipv4_prefix(Ipv4Addr::new(10, 1, host as u8, 0), 24)];
        ops.entry("ipv4_route", here, "to_port", [port.into()])?;
    }
    let any = [ipv6_prefix(Ipv6Addr::UNSPECIFIED, 0)];
    ops.entry("ipv6_route", any, "set_group", [ALL.into()])?;
    Ok(ops)
}

/// The setup of a program that needs nothing else.
pub(crate) fn default_setup(
    program: &Program,
    ports: &PortMap,
    weights: &[u32],
) -> Result<Setup, SetupError> {
    let ops = operations(program, ports, weights)?.into_vec();
    Ok(Setup { ops, port_speeds: Vec::new() })
}
