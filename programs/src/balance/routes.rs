//! What `ecmp` and `wcmp` start with at their place in a network: a group for each set of ports that some route
//! spreads over, its members by the cables' weights, IPv4 routes. Ports to higher stages are the north: packets from
//! there hash with the function for the way down. What may not live here: networks.

use crate::position::Position;
use crate::setup::{Ops, Setup, SetupError, ipv4_prefix};
use sluice_pipeline::ir::{KeyValue, Program};

pub(super) fn setup_at(program: &Program, at: &Position) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    for used in at.ports.iter().filter(|used| at.leads_up(used.port)) {
        ops.entry("side", [KeyValue::Exact(used.dev_port.into())], "north", [])?;
    }
    let (groups, of) = at.groups();
    let mut next = 0;
    for (group, ports) in (1..).zip(&groups) {
        let first = next;
        for (port, weight) in *ports {
            let Some(used) = at.port(*port) else { continue };
            // A member for each share, so that it is the hash of the program that picks.
            for _ in 0..*weight {
                ops.member("members", next, "to_port", [used.dev_port.into()])?;
                next += 1;
            }
        }
        ops.group("members", group, (first..next).map(|member| (member, 1)))?;
        ops.group_entry("group", group.into(), group)?;
    }
    for (route, group) in at.routes.iter().zip(of) {
        let key = [ipv4_prefix(route.to.address, route.to.len.into())];
        ops.entry("ipv4_route", key, "set_group", [group as u128 + 1])?;
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}
