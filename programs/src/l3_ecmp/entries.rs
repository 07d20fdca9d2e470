//! Default entries of `l3-ecmp`, which forward the packets of any capture, on any port map.
//!
//! | destination | next hop |
//! |---|---|
//! | 10.1.0.0/16 to 10.4.0.0/16, 2001:db8:1::/48, 2001:db8:2::/48 | ECMP over the uplinks, ports 8 to 15 |
//! | 10.5.0.0/16, 2001:db8:4::/48 | WCMP over ports 24 and 25, weights 3 and 1 |
//! | 10.9.9.9/32 | the host on port 20, which runs at a quarter of the ports' speed: bursts to it overflow |
//! | anything else | ECMP over ports 16 to 19 |
//!
//! Denied are TCP and UDP to port 23 and IPv4 from 192.0.2.0/24. Uplinks 12 to 15 carry VLAN 100,
//! tagged. Bridged frames go to port 31, or to port 30 for MAC address 02:00:00:00:02:1e in VLAN 1.

use sluice_asic::port::PortMap;
use sluice_asic::units::BitRate;
use sluice_catalogue::setup::{
    ANY, Ops, Setup, SetupError, front_port, ipv4_prefix, ipv6_prefix, ternary_prefix,
};
use sluice_ir::{KeyValue, Program};
use std::net::{Ipv4Addr, Ipv6Addr};

const UPLINKS: std::ops::RangeInclusive<u16> = 8..=15;
const DEFAULTS: std::ops::RangeInclusive<u16> = 16..=19;
const HOST: u16 = 20;
/// Ports of the WCMP group with their weights.
const WEIGHTED: [(u16, u32); 2] = [(24, 3), (25, 1)];
const BRIDGE_KNOWN: u16 = 30;
const BRIDGE_DEFAULT: u16 = 31;

const UPLINK_GROUP: u32 = 1;
const DEFAULT_GROUP: u32 = 2;
const WEIGHTED_GROUP: u32 = 3;

/// VLAN of all ports except the tagged uplinks.
const VID: u128 = 1;
const TAGGED_VID: u128 = 100;
const TAGGED: std::ops::RangeInclusive<u16> = 12..=15;
const VRF: KeyValue = KeyValue::Exact(0);

const ROUTER_MAC: u128 = 0x02_00_00_00_00_01;
/// MAC address of the neighbour on a port: this plus the number of the port.
const NEIGHBOR_MACS: u128 = 0x02_00_00_00_02_00;

const MEMBERS: &str = "ecmp_members";

/// Returns the number of the next hop on a front-panel port. Numbers start at 1, because 0 means no next hop.
fn nexthop(port: u16) -> u32 {
    u32::from(port) + 1
}

pub(super) fn default_setup(program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
    let cpu = ports.cpu().ok_or(SetupError::NoCpuPort)?.dev_port.number().into();
    let mut ops = Ops::new(program);
    ops.default("to_cpu", "send_to_cpu", [cpu])?;
    ops.entry("vlan", [KeyValue::Exact(TAGGED_VID)], "set_vrf", [0])?;
    neighbors(&mut ops, ports)?;
    groups(&mut ops)?;
    routes(&mut ops)?;
    filter(&mut ops)?;
    bridging(&mut ops, ports)?;
    tagging(&mut ops, ports, cpu)?;
    let (host, _) = front_port(ports, HOST)?;
    let slow = BitRate::from_bps(ports.speed().as_bps() / 4);
    Ok(Setup { ops: ops.into_vec(), port_speeds: vec![(host, slow)] })
}

fn neighbors(ops: &mut Ops<'_>, ports: &PortMap) -> Result<(), SetupError> {
    let weighted = WEIGHTED.map(|(port, _)| port);
    for front in UPLINKS.chain(DEFAULTS).chain([HOST]).chain(weighted) {
        let (_, port) = front_port(ports, front)?;
        let vid = if TAGGED.contains(&front) { TAGGED_VID } else { VID };
        let mac = NEIGHBOR_MACS + u128::from(front);
        let key = [KeyValue::Exact(nexthop(front).into())];
        ops.entry("neighbor", key, "rewrite", [mac, ROUTER_MAC, port.into(), vid])?;
    }
    Ok(())
}

fn groups(ops: &mut Ops<'_>) -> Result<(), SetupError> {
    let equal = |range: std::ops::RangeInclusive<u16>| range.map(|port| (port, 1)).collect::<Vec<_>>();
    let groups = [
        (UPLINK_GROUP, equal(UPLINKS)),
        (DEFAULT_GROUP, equal(DEFAULTS)),
        (WEIGHTED_GROUP, WEIGHTED.to_vec()),
    ];
    for (group, members) in groups {
        for &(port, _) in &members {
            ops.member(MEMBERS, nexthop(port), "set_nexthop", [nexthop(port).into()])?;
        }
        ops.group(MEMBERS, group, members.into_iter().map(|(port, weight)| (nexthop(port), weight)))?;
        ops.group_entry("ecmp", [KeyValue::Exact(group.into())], group)?;
    }
    Ok(())
}

fn routes(ops: &mut Ops<'_>) -> Result<(), SetupError> {
    let mut ipv4 = |net: [u8; 4], len: u16, group: u32| {
        ops.entry(
            "ipv4_route",
            [VRF, ipv4_prefix(Ipv4Addr::from(net), len)],
            "ipv4_set_group",
            [group.into()],
        )
    };
    ipv4([0, 0, 0, 0], 0, DEFAULT_GROUP)?;
    for net in 1..=4 {
        ipv4([10, net, 0, 0], 16, UPLINK_GROUP)?;
    }
    ipv4([10, 5, 0, 0], 16, WEIGHTED_GROUP)?;
    let host = [VRF, ipv4_prefix(Ipv4Addr::new(10, 9, 9, 9), 32)];
    ops.entry("ipv4_route", host, "ipv4_set_nexthop", [nexthop(HOST).into()])?;

    let mut ipv6 = |net: Ipv6Addr, len: u16, group: u32| {
        ops.entry("ipv6_route", [VRF, ipv6_prefix(net, len)], "ipv6_set_group", [group.into()])
    };
    ipv6(Ipv6Addr::UNSPECIFIED, 0, DEFAULT_GROUP)?;
    for (net, group) in [(1, UPLINK_GROUP), (2, UPLINK_GROUP), (4, WEIGHTED_GROUP)] {
        ipv6(Ipv6Addr::new(0x2001, 0xdb8, net, 0, 0, 0, 0, 0), 48, group)?;
    }
    Ok(())
}

fn filter(ops: &mut Ops<'_>) -> Result<(), SetupError> {
    const TELNET: u128 = 23;
    for (priority, protocol) in [(10, 6), (11, 17)] {
        let key = [ANY, ANY, ternary_prefix(protocol, 8, 8), ANY, ternary_prefix(TELNET, 16, 16)];
        ops.ternary("ipv4_acl", priority, key, "ipv4_acl_deny")?;
        ops.ternary("ipv6_acl", priority, key, "ipv6_acl_deny")?;
    }
    let documentation = Ipv4Addr::new(192, 0, 2, 0).to_bits().into();
    ops.ternary("ipv4_acl", 20, [ternary_prefix(documentation, 32, 24), ANY, ANY, ANY, ANY], "ipv4_acl_deny")
}

fn bridging(ops: &mut Ops<'_>, ports: &PortMap) -> Result<(), SetupError> {
    let (_, known) = front_port(ports, BRIDGE_KNOWN)?;
    let (_, other) = front_port(ports, BRIDGE_DEFAULT)?;
    let mac = NEIGHBOR_MACS + u128::from(BRIDGE_KNOWN);
    ops.entry("l2", [KeyValue::Exact(VID), KeyValue::Exact(mac)], "forward", [known.into()])?;
    ops.default("l2", "forward", [other.into()])
}

fn tagging(ops: &mut Ops<'_>, ports: &PortMap, cpu: u128) -> Result<(), SetupError> {
    let mut tagged = vec![cpu];
    for front in TAGGED {
        tagged.push(front_port(ports, front)?.1.into());
    }
    // A device with few ports has the same port for several front panel numbers.
    tagged.sort_unstable();
    tagged.dedup();
    for port in tagged {
        ops.entry("port_vlan_out", [KeyValue::Exact(port), KeyValue::Exact(TAGGED_VID)], "tagged", [])?;
    }
    Ok(())
}
