//! Entries of a spine at a position in a network: a group for every set of next hops.

use super::entries::{Links, links};
use crate::conweave::{CONTROL_DSCP, control_class};
use crate::marking;
use sluice_asic::port::PortMap;
use sluice_catalogue::position::Position;
use sluice_catalogue::setup::{Ops, Setup, SetupError, ipv4_prefix};
use sluice_ir::Program;

pub(super) fn setup_at(program: &Program, ports: &PortMap, at: &Position) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    let (groups, of) = at.groups();
    let mut member = 0;
    for (group, set) in (1..).zip(&groups) {
        let to: Vec<(u16, u32)> = set.iter().map(|(port, weight)| (port.0, *weight)).collect();
        links(&mut ops, ports, Links { group, first_member: member, to: &to })?;
        member += to.len() as u32;
    }
    for (route, group) in at.routes.iter().zip(of) {
        let key = [ipv4_prefix(route.to.address, route.to.len.into())];
        ops.entry("route", key, "to_group", [group as u128 + 1])?;
    }
    control_class(&mut ops, CONTROL_DSCP)?;
    marking::entries(&mut ops, Some(marking::DCQCN))?;
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}
