//! Entries of `int` at a position in a network.
//!
//! Switches with hosts play all parts, the others are transits. INT begins and ends at ports of hosts. Node IDs are the
//! switches' numbers, counted from 1. Every switch sends its reports on its last port without a cable, or on the CPU's
//! port if every port has one.

use super::entries::{collect, telemetry};
use super::params::Params;
use crate::forwarding::routes::routes_at;
use sluice_asic::port::PortMap;
use sluice_catalogue::position::{Neighbor, Position};
use sluice_catalogue::setup::{Ops, Setup, SetupError};
use sluice_catalogue::{ProgramDef, Role};
use sluice_ir::Program;

pub(super) fn role_at(at: &Position) -> Role {
    let hosts = at.ports.iter().any(|used| matches!(used.neighbor, Neighbor::Host(_)));
    let role = if hosts { "all" } else { "transit" };
    Role::new(super::Int::NAME, [("role", role.to_owned())])
}

pub(super) fn setup_at(
    program: &Program,
    ports: &PortMap,
    at: &Position,
    p: &Params,
) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    routes_at(&mut ops, at)?;
    ops.default("node", "is_node", [u128::from(at.number) + 1])?;
    let is_host = |neighbor: &Neighbor| matches!(neighbor, Neighbor::Host(_));
    let hosts = at.ports.iter().filter(|used| is_host(&used.neighbor));
    let hosts: Vec<u16> = hosts.map(|used| used.dev_port).collect();
    telemetry(&mut ops, p, &hosts)?;
    let used = |port: u16| at.ports.iter().any(|used| used.dev_port == port);
    let mut free = ports.front_ports().iter().map(|port| port.dev_port.number()).filter(|port| !used(*port));
    let collector = free.next_back().or_else(|| ports.cpu().map(|port| port.dev_port.number()));
    if let Some(port) = collector {
        collect(&mut ops, p, ports, port)?;
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}
