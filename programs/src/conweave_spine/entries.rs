//! Entries of a spine: prefixes, links, paths.
//!
//! By default ToR t has the hosts 10.0.t.0/24 and is at front-panel ports `links` (t - 1) and up.

use super::Params;
use crate::conweave::{CONTROL_DSCP, control_class};
use crate::marking;
use sluice_asic::port::PortMap;
use sluice_build::params::Params as _;
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port, ipv4_prefix};
use sluice_ir::{KeyValue, Program};
use std::net::Ipv4Addr;

/// Number of PathIDs that the default entries know, from 1 on.
const PATHS: u32 = 16;
/// Number of ToRs in the default entries.
const TORS: u8 = 8;

/// A ToR's prefix and links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Network address of the ToR's hosts.
    pub net: Ipv4Addr,
    /// Length of the prefix, 0 to 32.
    pub len: u16,
    /// Front-panel ports of the links to the ToR.
    pub links: Vec<u16>,
}

/// Configuration of a spine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpineConfig {
    /// The ToRs.
    pub tors: Vec<Route>,
    /// Queue depths in cells at which marking begins, and above which its probability is 255/256; `None`: no marking.
    pub marking: Option<(u32, u32)>,
}

pub(super) fn default_setup(program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
    let mut p = Params::default();
    for value in &program.params {
        // `program` may be another program, whose parameters fail here; the entries below then report missing tables.
        let _ = p.set(&value.key, &value.value);
    }
    let links = p.links as u16;
    let tor = |t: u8| Route {
        net: Ipv4Addr::new(10, 0, t, 0),
        len: 24,
        links: (0..links).map(|link| u16::from(t - 1) * links + link).collect(),
    };
    let mut tors: Vec<Route> = (1..=TORS.min(p.groups.min(255) as u8)).map(tor).collect();
    // All other destinations go to the first ToR.
    tors.extend(tors.first().map(|t| Route { net: Ipv4Addr::UNSPECIFIED, len: 0, links: t.links.clone() }));
    let config = SpineConfig { tors, marking: Some(marking::DCQCN) };
    spine_setup(program, ports, &config)
}

/// Returns the setup of a spine that runs `program`.
///
/// # Errors
/// If the device lacks a port, or `program` is not `conweave-spine`.
pub fn spine_setup(program: &Program, ports: &PortMap, config: &SpineConfig) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    let mut first_member = 0;
    for (group, tor) in (1u32..).zip(&config.tors) {
        let to: Vec<(u16, u32)> = tor.links.iter().map(|link| (*link, 1)).collect();
        links(&mut ops, ports, Links { group, first_member, to: &to })?;
        first_member += to.len() as u32;
        ops.entry("route", [ipv4_prefix(tor.net, tor.len)], "to_group", [group.into()])?;
    }
    let (_, other) = front_port(ports, 0)?;
    ops.default("l2", "bridge_to", [other.into()])?;
    control_class(&mut ops, CONTROL_DSCP)?;
    marking::entries(&mut ops, config.marking)?;
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}

/// The links of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links<'a> {
    /// Number of the group, from 1.
    pub(super) group: u32,
    /// First member of the group in the action profile; the others follow.
    pub(super) first_member: u32,
    /// Front-panel ports with their weights for ECMP.
    pub(super) to: &'a [(u16, u32)],
}

/// Adds ECMP over a group's links, and a link for every PathID: round robin over the links, whatever their weights.
pub(super) fn links(ops: &mut Ops<'_>, ports: &PortMap, of: Links<'_>) -> Result<(), SetupError> {
    let Links { group, first_member, to } = of;
    for (member, (front, _)) in (first_member..).zip(to) {
        let (_, port) = front_port(ports, *front)?;
        ops.member("ecmp_ports", member, "ecmp_to", [port.into()])?;
    }
    ops.group("ecmp_ports", group, (first_member..).zip(to).map(|(member, (_, weight))| (member, *weight)))?;
    ops.group_entry("ecmp", [KeyValue::Exact(group.into())], group)?;
    for (path, (front, _)) in (1..=PATHS).zip(to.iter().cycle()) {
        let (_, port) = front_port(ports, *front)?;
        let key = [KeyValue::Exact(group.into()), KeyValue::Exact(path.into())];
        ops.entry("by_path", key, "path_to", [port.into()])?;
    }
    Ok(())
}
