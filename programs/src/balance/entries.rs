//! Default entries of `ecmp` and `wcmp`, on any port map.
//!
//! | destination | group |
//! |---|---|
//! | 10.1.0.0/16 | to the south: ports 0 to 3 |
//! | anything else | to the north: ports 8 and up |
//!
//! Each entry of a planned member table is a separate member, so two groups share the action profile as two prefixes
//! share the member table of a switch.

use super::plan::Plan;
use sluice_asic::port::PortMap;
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port, ipv4_prefix};
use sluice_ir::{KeyValue, Program};
use std::net::Ipv4Addr;

const NORTH_PORTS: u16 = 8;
const NORTH_GROUP: u32 = 1;
const SOUTH_GROUP: u32 = 2;

pub(super) fn default_setup(program: &Program, ports: &PortMap, plan: &Plan) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    let north = plan.north.table.iter().max().map_or(0, |port| port + 1);
    let mut sides: Vec<u16> = Vec::new();
    for port in 0..north as u16 {
        let (_, dev_port) = front_port(ports, NORTH_PORTS + port)?;
        // A device with few ports has the same port for several front panel numbers.
        if !sides.contains(&dev_port) {
            ops.entry("side", [KeyValue::Exact(dev_port.into())], "north", [])?;
            sides.push(dev_port);
        }
    }
    let mut base = 0;
    for (group, table, first) in
        [(NORTH_GROUP, &plan.north.table, NORTH_PORTS), (SOUTH_GROUP, &plan.south.table, 0)]
    {
        for (member, port) in (base..).zip(table) {
            let (_, dev_port) = front_port(ports, first + *port as u16)?;
            ops.member("members", member, "to_port", [dev_port.into()])?;
        }
        let size = table.len() as u32;
        ops.group("members", group, (base..base + size).map(|member| (member, 1)))?;
        ops.group_entry("group", [KeyValue::Exact(group.into())], group)?;
        base += size;
    }
    ops.entry("ipv4_route", [ipv4_prefix(Ipv4Addr::UNSPECIFIED, 0)], "set_group", [NORTH_GROUP.into()])?;
    let here = ipv4_prefix(Ipv4Addr::new(10, 1, 0, 0), 16);
    ops.entry("ipv4_route", [here], "set_group", [SOUTH_GROUP.into()])?;
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}
