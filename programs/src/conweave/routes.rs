//! A ToR at its place in a network: ports, routes and flows.
//!
//! The flows between its hosts and all hosts behind its paths are known from the start, those of the first UDP ports;
//! others take ECMP.

use super::entries::{FlowEntry, Group, Prefix, Tor, flows, params_of, setup_of};
use super::params::Params;
use crate::conweave::NAME;
use crate::conweave_spine::NAME as SPINE;
use crate::marking;
use sluice_asic::port::PortMap;
use sluice_catalogue::Role;
use sluice_catalogue::position::{Neighbor, Position};
use sluice_catalogue::setup::{Ops, Setup, SetupError};
use sluice_ir::Program;
use std::net::Ipv4Addr;

/// A switch with hosts and paths is a ToR with the port ranges of its place, one without hosts a spine.
pub(super) fn role_at(at: &Position) -> Role {
    match (at.port_range(true), at.port_range(false)) {
        (None, _) => Role::new(SPINE, []),
        (Some(_), None) => Role::new(NAME, []),
        (Some(hosts), Some(uplinks)) => {
            let pipe = at.ports.first().map_or(0, |used| used.dev_port >> 7).to_string();
            Role::new(NAME, [("hosts", hosts.to_string()), ("uplinks", uplinks.to_string()), ("pipe", pipe)])
        }
    }
}

pub(super) fn setup_at(program: &Program, ports: &PortMap, at: &Position) -> Result<Setup, SetupError> {
    let p = params_of(program);
    check(program, &p, at)?;
    let hosts = own_hosts(at);
    let flows = known(program, &p, at, &hosts)?;
    let tor = Tor { hosts, groups: groups(at), flows, marking: Some(marking::DCQCN) };
    setup_of(Ops::new(program), ports, &p, &tor)
}

/// Every port is on the side that the parameters say.
fn check(program: &Program, p: &Params, at: &Position) -> Result<(), SetupError> {
    for used in &at.ports {
        let (key, what, ours) = match used.neighbor {
            Neighbor::Host(_) => ("hosts", "a host", p.hosts),
            Neighbor::Switch { .. } => ("uplinks", "a switch", p.uplinks),
        };
        if !ours.contains(used.port.0) {
            let why = format!(
                "port {} of `{}` leads to {what}, but {key}={ours}; leave `{key}` out or have it cover the port",
                used.port.0, at.name
            );
            return Err(SetupError::Place { program: program.name.clone(), why });
        }
    }
    Ok(())
}

fn own_hosts(at: &Position) -> Vec<(u16, Ipv4Addr)> {
    let host = |n: &Neighbor| if let Neighbor::Host(address) = n { Some(*address) } else { None };
    at.ports.iter().filter_map(|used| Some((used.port.0, host(&used.neighbor)?))).collect()
}

/// Destinations behind paths, by the paths.
fn groups(at: &Position) -> Vec<Group> {
    let to_switch = |port| at.port(port).is_some_and(|u| matches!(u.neighbor, Neighbor::Switch { .. }));
    let (sets, of) = at.groups();
    let sets = sets.iter().enumerate().filter(|(_, ports)| ports.iter().all(|(port, _)| to_switch(*port)));
    let group = |(number, ports): (usize, &&sluice_catalogue::position::NextHops)| {
        let routes = at.routes.iter().zip(&of).filter(|(_, of)| **of == number);
        let prefix = |to: sluice_catalogue::position::Prefix| Prefix { net: to.address, len: to.len.into() };
        Group {
            prefixes: routes.map(|(route, _)| prefix(route.to)).collect(),
            paths: ports.iter().map(|(port, weight)| (port.0, *weight)).collect(),
        }
    };
    sets.map(group).collect()
}

/// Flows between the ToR's hosts and the others, both directions.
fn known(
    program: &Program,
    p: &Params,
    at: &Position,
    hosts: &[(u16, Ipv4Addr)],
) -> Result<Vec<FlowEntry>, SetupError> {
    let here = |address: &Ipv4Addr| hosts.iter().any(|(_, own)| own == address);
    let mut others: Vec<Ipv4Addr> = at.hosts.iter().map(|(_, host)| *host).filter(|h| !here(h)).collect();
    others.sort_unstable();
    others.dedup();
    let pairs = hosts.iter().flat_map(|(_, own)| others.iter().map(|other| (*own, *other)));
    let pairs: Vec<_> = pairs.flat_map(|(own, other)| [(own, other), (other, own)]).collect();
    let flows = flows(p, &pairs);
    let asked = pairs.len() * p.known as usize;
    if flows.len() < asked {
        let why = format!(
            "{} rows are too few for the {asked} flows of its hosts (row 0 is none); raise `flows`, lower `known`, or give the \
             switches `entries` of their own",
            p.flows
        );
        return Err(SetupError::Place { program: program.name.clone(), why });
    }
    Ok(flows)
}
