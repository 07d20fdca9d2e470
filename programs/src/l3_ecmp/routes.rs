//! Entries of `l3-ecmp` at a position in a network: a next hop for each port in use, a group for each set of ports that
//! some route spreads over, IPv4 and IPv6 routes.

use sluice_asic::port::PortMap;
use sluice_catalogue::position::{Position, Route};
use sluice_catalogue::setup::{Ops, Setup, SetupError, ipv4_prefix, ipv6_prefix};
use sluice_ir::{KeyValue, Program};

const MEMBERS: &str = "ecmp_members";
const VID: u128 = 1;
const VRF: KeyValue = KeyValue::Exact(0);
/// MAC address of a switch: this plus its number. MAC address of a neighbour: `NEIGHBOR_MACS` plus switch and port.
const SWITCH_MACS: u128 = 0x02_01_00_00_00_00;
const NEIGHBOR_MACS: u128 = 0x02_02_00_00_00_00;

/// Returns the number of the next hop on a front-panel port. Numbers start at 1, because 0 means no next hop.
fn nexthop(port: u16) -> u32 {
    u32::from(port) + 1
}

pub(super) fn setup_at(program: &Program, ports: &PortMap, at: &Position) -> Result<Setup, SetupError> {
    let cpu = ports.cpu().ok_or(SetupError::NoCpuPort)?.dev_port.number().into();
    let mut ops = Ops::new(program);
    ops.default("to_cpu", "send_to_cpu", [cpu])?;
    for used in &at.ports {
        let number = u128::from(at.number);
        let mac = NEIGHBOR_MACS | number << 16 | u128::from(used.port.0);
        let key = [KeyValue::Exact(nexthop(used.port.0).into())];
        ops.entry("neighbor", key, "rewrite", [mac, SWITCH_MACS | number, used.dev_port.into(), VID])?;
        ops.member(MEMBERS, nexthop(used.port.0), "set_nexthop", [nexthop(used.port.0).into()])?;
    }
    let (groups, of) = at.groups();
    for (group, members) in (1..).zip(&groups).filter(|(_, members)| members.len() > 1) {
        ops.group(MEMBERS, group, members.iter().map(|(port, weight)| (nexthop(port.0), *weight)))?;
        ops.group_entry("ecmp", [KeyValue::Exact(group.into())], group)?;
    }
    for (route, group) in at.routes.iter().zip(of) {
        insert(&mut ops, route, group as u32 + 1)?;
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}

fn insert(ops: &mut Ops<'_>, route: &Route, group: u32) -> Result<(), SetupError> {
    let (ipv6, len) = route.to.ipv6();
    let keys = [ipv4_prefix(route.to.address, route.to.len.into()), ipv6_prefix(ipv6, len)];
    for (key, family) in keys.into_iter().zip(["ipv4", "ipv6"]) {
        let (action, arg) = match route.ports.as_slice() {
            [(port, _)] => ("set_nexthop", nexthop(port.0)),
            _ => ("set_group", group),
        };
        let (table, action) = (format!("{family}_route"), format!("{family}_{action}"));
        ops.entry(&table, [VRF, key], &action, [arg.into()])?;
    }
    Ok(())
}
