//! Entries of `ecmp` and `wcmp` at a position in a network: a group for each set of ports that some route spreads over,
//! with the member table of the scheme or of the cables' weights, and IPv4 routes. Ports to higher stages are the
//! north: packets from there use the flow hash for the way down.

use sluice_catalogue::position::Position;
use sluice_catalogue::setup::{Ops, Setup, SetupError, ipv4_prefix};
use sluice_ir::{KeyValue, Program};

/// Returns the setup. `table` gives the member table of a group over links of some weights, or says why there is none.
pub(super) fn setup_at(
    program: &Program,
    at: &Position,
    table: impl Fn(&[u32]) -> Result<Vec<u32>, String>,
) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    for used in at.ports.iter().filter(|used| at.leads_up(used.port)) {
        ops.entry("side", [KeyValue::Exact(used.dev_port.into())], "north", [])?;
    }
    let (groups, of) = at.groups();
    let mut next = 0;
    for (group, ports) in (1..).zip(&groups) {
        let first = next;
        let weights: Vec<u32> = ports.iter().map(|(_, weight)| *weight).collect();
        let refuse = |why| SetupError::Place { program: program.name.clone(), why };
        // Each entry is one member, so that the program's hash picks the entry.
        for entry in table(&weights).map_err(refuse)? {
            let used = ports.get(entry as usize).and_then(|(port, _)| at.port(*port));
            let Some(used) = used else { continue };
            ops.member("members", next, "to_port", [used.dev_port.into()])?;
            next += 1;
        }
        ops.group("members", group, (first..next).map(|member| (member, 1)))?;
        ops.group_entry("group", [KeyValue::Exact(group.into())], group)?;
    }
    for (route, group) in at.routes.iter().zip(of) {
        let key = [ipv4_prefix(route.to.address, route.to.len.into())];
        ops.entry("ipv4_route", key, "set_group", [group as u128 + 1])?;
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}
