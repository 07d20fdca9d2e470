//! Default entries of `l3-ecmp`: a leaf with uplinks, under which any capture flows.
//!
//! | ports | what |
//! |---|---|
//! | 0–7 | hosts |
//! | 8–15 | eight uplinks: group 1, ECMP |
//! | 16–19 | four uplinks for the default routes: group 2 |
//! | 8–11 | group 3, WCMP 3:1:1:1 |
//! | 20 | host 10.9.9.9 at 100 Gb/s, so that an incast at more shows a full queue |

use crate::catalog::{Setup, SetupError};
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::BitRate;
use sluice_pipeline::control::{ControlOp, GroupMember, Then};
use sluice_pipeline::ir::{ActionCall, KeyValue, Program};
use std::net::{Ipv4Addr, Ipv6Addr};

/// MAC address of the router.
const ROUTER_MAC: u128 = 0x0200_0000_0001;
/// MAC address of the neighbour on port n, to which n is added.
const NEIGHBOR_MAC: u128 = 0x0200_0000_1000;
const UPLINKS: std::ops::RangeInclusive<u16> = 8..=15;
const DEFAULT_UPLINKS: std::ops::RangeInclusive<u16> = 16..=19;
const SLOW_HOST: u16 = 20;
/// Where frames go that nothing else claims.
const FLOOD: u16 = 7;

/// Writes entries by name.
struct Writer<'a> {
    name: &'static str,
    program: &'a Program,
    ports: &'a PortMap,
    ops: Vec<ControlOp>,
}

impl Writer<'_> {
    fn missing(&self, entity: &str) -> SetupError {
        SetupError::Missing { program: self.name, entity: entity.to_owned() }
    }

    fn call(&self, action: &str, args: &[u128]) -> Result<ActionCall, SetupError> {
        let action = self.program.action_named(action).ok_or_else(|| self.missing(action))?;
        Ok(ActionCall { action, args: args.to_vec() })
    }

    fn insert(&mut self, table: &str, key: Vec<KeyValue>, priority: u32, then: Then) -> Result<(), SetupError> {
        let table = self.program.table_named(table).ok_or_else(|| self.missing(table))?;
        self.ops.push(ControlOp::InsertEntry { table, key, priority, then });
        Ok(())
    }

    fn add(&mut self, table: &str, key: Vec<KeyValue>, action: &str, args: &[u128]) -> Result<(), SetupError> {
        let then = Then::Call(self.call(action, args)?);
        self.insert(table, key, 0, then)
    }

    fn default(&mut self, table: &str, action: &str, args: &[u128]) -> Result<(), SetupError> {
        let call = self.call(action, args)?;
        let table = self.program.table_named(table).ok_or_else(|| self.missing(table))?;
        self.ops.push(ControlOp::SetDefault { table, call });
        Ok(())
    }

    fn dev_port(&self, front: u16) -> Result<u128, SetupError> {
        let port = self.ports.front(FrontPort(front)).ok_or_else(|| SetupError::TooFewPorts {
            program: self.name,
            port: front,
            last: (self.ports.front_ports().len() as u16).saturating_sub(1),
        })?;
        Ok(u128::from(port.dev_port.number()))
    }

    /// A group whose members are next hops with weights; next hop n is the neighbour on port n.
    fn group(&mut self, group: u32, hops: &[(u16, u32)]) -> Result<(), SetupError> {
        let profile =
            self.program.profile_named("nexthop_profile").ok_or_else(|| self.missing("nexthop_profile"))?;
        let mut members = Vec::new();
        for &(hop, weight) in hops {
            let call = self.call("set_nexthop", &[u128::from(hop)])?;
            self.ops.push(ControlOp::SetMember { profile, member: u32::from(hop), call });
            members.push(GroupMember { member: u32::from(hop), weight, active: true });
        }
        self.ops.push(ControlOp::SetGroup { profile, group, members });
        self.insert("ecmp", vec![KeyValue::Exact(u128::from(group))], 0, Then::Group(group))
    }

    fn route4(&mut self, prefix: [u8; 4], len: u16, action: &str, arg: u128) -> Result<(), SetupError> {
        let value = u128::from(u32::from(Ipv4Addr::from(prefix)));
        self.add("ipv4_route", vec![KeyValue::Exact(0), KeyValue::Lpm { value, len }], action, &[arg])
    }

    fn route6(&mut self, prefix: &Ipv6Addr, len: u16, group: u128) -> Result<(), SetupError> {
        let key = vec![KeyValue::Exact(0), KeyValue::Lpm { value: u128::from(*prefix), len }];
        self.add("ipv6_route", key, "ipv6_to_group", &[group])
    }

    /// A rule of an ACL over (src, dst, protocol, src_port, dst_port); `None` does not care.
    fn rule(&mut self, table: &str, key: [Option<(u128, u128)>; 5], priority: u32, action: &str) -> Result<(), SetupError> {
        let cell = |c: Option<(u128, u128)>| {
            let (value, mask) = c.unwrap_or((0, 0));
            KeyValue::Ternary { value, mask }
        };
        let then = Then::Call(self.call(action, &[])?);
        self.insert(table, key.map(cell).to_vec(), priority, then)
    }
}

/// The default entries and ports.
pub(super) fn default_setup(name: &'static str, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
    let mut w = Writer { name, program, ports, ops: Vec::new() };
    neighbors(&mut w)?;
    w.group(1, &UPLINKS.map(|p| (p, 1)).collect::<Vec<_>>())?;
    w.group(2, &DEFAULT_UPLINKS.map(|p| (p, 1)).collect::<Vec<_>>())?;
    w.group(3, &[(8, 3), (9, 1), (10, 1), (11, 1)])?;
    routes(&mut w)?;
    rules(&mut w)?;
    let cpu = ports.cpu().map_or(0, |p| u128::from(p.dev_port.number()));
    w.default("cpu", "to_cpu", &[cpu])?;
    let flood = w.dev_port(FLOOD)?;
    w.default("station", "bridge_to", &[flood])?;
    // Two uplinks keep VLAN 100 tagged; the other ports send it untagged.
    for port in [8, 9] {
        let port = w.dev_port(port)?;
        w.add("port_vlan_out", vec![KeyValue::Exact(port), KeyValue::Exact(100)], "tagged", &[])?;
    }
    let slow = w.dev_port(SLOW_HOST)? as u16;
    Ok(Setup { ops: w.ops, port_speeds: vec![(slow, BitRate::from_gbps(100))] })
}

/// Next hop n is the neighbour on port n; uplinks 8 and 9 lie in VLAN 100.
fn neighbors(w: &mut Writer<'_>) -> Result<(), SetupError> {
    for n in UPLINKS.chain(DEFAULT_UPLINKS).chain([SLOW_HOST]) {
        let (port, mac) = (w.dev_port(n)?, NEIGHBOR_MAC + u128::from(n));
        let vid = if n == 8 || n == 9 { 100 } else { 1 };
        w.add("neighbor", vec![KeyValue::Exact(u128::from(n))], "rewrite", &[port, mac, ROUTER_MAC, vid])?;
    }
    Ok(())
}

fn routes(w: &mut Writer<'_>) -> Result<(), SetupError> {
    w.route4([0, 0, 0, 0], 0, "ipv4_to_group", 2)?;
    for (net, group) in [(1, 1), (2, 1), (3, 1), (4, 3)] {
        w.route4([10, net, 0, 0], 16, "ipv4_to_group", group)?;
    }
    w.route4([10, 9, 9, 9], 32, "ipv4_to_nexthop", u128::from(SLOW_HOST))?;
    w.route6(&Ipv6Addr::UNSPECIFIED, 0, 2)?;
    for (site, group) in [(1, 1), (2, 1), (3, 3)] {
        w.route6(&Ipv6Addr::new(0x2001, 0xdb8, site, 0, 0, 0, 0, 0), 48, group)?;
    }
    Ok(())
}

/// No telnet, nothing from the documentation network 192.0.2.0/24.
fn rules(w: &mut Writer<'_>) -> Result<(), SetupError> {
    let telnet = Some((23, 0xffff));
    let (tcp, udp) = (Some((6, 0xff)), Some((17, 0xff)));
    w.rule("ipv4_acl", [Some((0xc000_0200, 0xffff_ff00)), None, None, None, None], 10, "ipv4_deny")?;
    w.rule("ipv4_acl", [None, None, tcp, None, telnet], 20, "ipv4_deny")?;
    w.rule("ipv4_acl", [None, None, udp, None, telnet], 30, "ipv4_deny")?;
    w.rule("ipv6_acl", [None, None, tcp, None, telnet], 10, "ipv6_deny")
}
