//! Entries of a spine at a position in a network: a group for every set of next hops.

use super::entries::{Links, links};
use crate::conweave::{CONTROL_DSCP, control_class};
use crate::marking;
use sluice_asic::port::PortMap;
use sluice_catalogue::position::{Neighbor, NextHops, Position};
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

/// A PathID names the ToR's uplink, so it is the same in all DATA that reaches a switch of the second of three tiers from one
/// ToR: the switch sends all of it to one of its next hops.
pub(super) fn warnings_at(at: &Position) -> Vec<String> {
    let switch = |port| match at.port(port).map(|used| used.neighbor) {
        Some(Neighbor::Switch { number, .. }) => Some(number),
        _ => None,
    };
    let several = |hops: &&NextHops| {
        let mut found: Vec<_> = hops.iter().filter_map(|(port, _)| switch(*port)).collect();
        found.dedup();
        found.len() > 1
    };
    let Some(hops) = at.groups().0.into_iter().find(several) else { return Vec::new() };
    vec![format!(
        "ConWeave's PathID names the ToR's uplink and not the next hop here, so all DATA of a ToR that arrives takes one of the {} next \
         hops; give switches without hosts a program that spreads flows: in a contest, `roles = {{ leaf = \"conweave\", spine = \"ecmp\" }}`",
        hops.len()
    )]
}
