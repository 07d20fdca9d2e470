//! Entries of [`routed`](super::routed): the default ones, and those at a position in a network.

use super::{assign_queues, send_elsewhere};
use sluice_asic::port::{FrontPort, PortMap};
use sluice_catalogue::position::{Position, Route};
use sluice_catalogue::setup::{Ops, SetupError, front_port, ipv4_prefix, ipv6_prefix};
use sluice_ir::KeyValue;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Front-panel ports to which the default entries send packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultRoutes {
    /// Port for 10.1.0.0/16 and 2001:db8:1::/48.
    pub(crate) near: u16,
    /// Port for 10.9.9.9 and 2001:db8:9::9.
    pub(crate) host: u16,
    /// Port for 10.2.0.0/16 and 2001:db8:2::/48; `None`: they go to `far`.
    pub(crate) home: Option<u16>,
    /// Two ports for 10.3.0.0/16 and 2001:db8:3::/48; the hash of the flow picks one.
    pub(crate) either: [u16; 2],
    /// Port for anything else, including frames that are not routed.
    pub(crate) far: u16,
}

/// ECMP group of the two ports `either`.
const EITHER: u32 = 1;

/// Adds the default entries. They have default routes, so that the packets of any capture are forwarded.
pub(crate) fn default_routes(
    ops: &mut Ops<'_>,
    ports: &PortMap,
    to: DefaultRoutes,
) -> Result<(), SetupError> {
    let near: u128 = front_port(ports, to.near)?.1.into();
    let host: u128 = front_port(ports, to.host)?.1.into();
    let far: u128 = front_port(ports, to.far)?.1.into();
    let v4 = |net: [u8; 4], len| [ipv4_prefix(Ipv4Addr::from(net), len)];
    ops.entry("ipv4_route", v4([0; 4], 0), "ipv4_to", [far])?;
    ops.entry("ipv4_route", v4([10, 1, 0, 0], 16), "ipv4_to", [near])?;
    ops.entry("ipv4_route", v4([10, 9, 9, 9], 32), "ipv4_to", [host])?;
    let v6 =
        |net: u16, last: u16, len| [ipv6_prefix(Ipv6Addr::new(0x2001, 0xdb8, net, 0, 0, 0, 0, last), len)];
    ops.entry("ipv6_route", [ipv6_prefix(Ipv6Addr::UNSPECIFIED, 0)], "ipv6_to", [far])?;
    ops.entry("ipv6_route", v6(1, 0, 48), "ipv6_to", [near])?;
    ops.entry("ipv6_route", v6(9, 9, 128), "ipv6_to", [host])?;
    if let Some(home) = to.home {
        let home: u128 = front_port(ports, home)?.1.into();
        ops.entry("ipv4_route", v4([10, 2, 0, 0], 16), "ipv4_to", [home])?;
        ops.entry("ipv6_route", v6(2, 0, 48), "ipv6_to", [home])?;
    }
    for (member, port) in (0..).zip(to.either) {
        ops.member("ways", member, "take", [front_port(ports, port)?.1.into()])?;
    }
    ops.group("ways", EITHER, [(0, 1), (1, 1)])?;
    ops.group_entry("group", [KeyValue::Exact(EITHER.into())], EITHER)?;
    ops.entry("ipv4_route", v4([10, 3, 0, 0], 16), "ipv4_spread", [EITHER.into()])?;
    ops.entry("ipv6_route", v6(3, 0, 48), "ipv6_spread", [EITHER.into()])?;
    send_elsewhere(ops, front_port(ports, to.far)?.1)?;
    class_queues(ops)
}

/// Maps the DSCP class selectors 1 to 7 to the queues 1 to 7.
fn class_queues(ops: &mut Ops<'_>) -> Result<(), SetupError> {
    assign_queues(ops, (1..8).map(|class| (class << 3, class)))
}

/// Adds routes to all hosts of a network: to one port, or to a weighted group of ports. Frames that are
/// not routed get no port, because they have no TTL that would end a loop.
pub(crate) fn routes_at(ops: &mut Ops<'_>, at: &Position) -> Result<(), SetupError> {
    let dev_port = |port: FrontPort| at.port(port).map_or(0, |used| u128::from(used.dev_port));
    let (sets, of) = at.groups();
    let mut next = 0;
    for (group, set) in (1u32..).zip(&sets).filter(|(_, set)| set.len() > 1) {
        let members: Vec<(u32, u32)> = (next..).zip(set.iter().map(|(_, weight)| *weight)).collect();
        for ((member, _), (port, _)) in members.iter().zip(*set) {
            ops.member("ways", *member, "take", [dev_port(*port)])?;
        }
        next += members.len() as u32;
        ops.group("ways", group, members)?;
        ops.group_entry("group", [KeyValue::Exact(group.into())], group)?;
    }
    for (route, set) in at.routes.iter().zip(of) {
        let Route { to, ports, .. } = route;
        let (action, arg) = match ports.as_slice() {
            [(only, _)] => ("to", dev_port(*only)),
            _ => ("spread", set as u128 + 1),
        };
        let (ipv6, len) = to.ipv6();
        ops.entry("ipv4_route", [ipv4_prefix(to.address, to.len.into())], &format!("ipv4_{action}"), [arg])?;
        ops.entry("ipv6_route", [ipv6_prefix(ipv6, len)], &format!("ipv6_{action}"), [arg])?;
    }
    class_queues(ops)
}
