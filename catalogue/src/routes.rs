//! Entries for a place in a network, in tables that its routes fill.
//!
//! A table with a selector gets one member for each port of a next hop, one group for each set of next hops, and one entry
//! for each destination that names the group. A table without a selector sends each destination to its first next hop.

use crate::position::{Position, Prefix, Route};
use crate::setup::{lpm_prefix, ternary_prefix};
use sluice_asic::port::FrontPort;
use sluice_control::{ControlOp, GroupMember, Then};
use sluice_ir::text::{RouteValue, RoutesDecl};
use sluice_ir::{ActionCall, KeyValue, MatchKind, Profile, Program};
use std::collections::BTreeSet;

/// Returns the operations that fill these tables of `program` at a place. Tables that share an action profile share its
/// members and groups, so their declarations name the same action.
#[must_use]
pub fn operations(decls: &[RoutesDecl], program: &Program, position: &Position) -> Vec<ControlOp> {
    let (mut ops, mut made) = (Vec::new(), BTreeSet::new());
    for decl in decls {
        let routes = Routes { program, decl, position };
        if let Some(profile) = program.tables[decl.table].profile
            && made.insert(profile)
        {
            routes.members(profile, &mut ops);
        }
        routes.entries(&mut ops);
    }
    ops
}

/// Returns the value of each key of a declaration's table; a table whose only key is the destination needs none.
#[must_use]
pub fn keys(program: &Program, decl: &RoutesDecl) -> Vec<RouteValue> {
    match (decl.keys.as_slice(), program.tables[decl.table].keys.len()) {
        ([], 1) => vec![RouteValue::Destination],
        (keys, _) => keys.to_vec(),
    }
}

/// The entries of one declaration at one place.
struct Routes<'a> {
    program: &'a Program,
    decl: &'a RoutesDecl,
    position: &'a Position,
}

impl Routes<'_> {
    fn call(&self, port: FrontPort) -> ActionCall {
        let dev_port = self.position.port(port).map_or(0, |used| u128::from(used.dev_port));
        let args = self.decl.args.iter().map(|arg| match arg {
            RouteValue::Number(number) => *number,
            RouteValue::Port | RouteValue::Destination => dev_port,
        });
        ActionCall { action: self.decl.action, args: args.collect() }
    }

    /// Returns the ports of next hops, in order. The position of a port in the list is its member's number.
    fn ports(&self) -> Vec<FrontPort> {
        let all = self.position.routes.iter().flat_map(|route| route.ports.iter().map(|(port, _)| *port));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn members(&self, profile: Profile, ops: &mut Vec<ControlOp>) {
        let ports = self.ports();
        for (member, port) in (0..).zip(&ports) {
            ops.push(ControlOp::SetMember { profile, member, call: self.call(*port) });
        }
        if self.program.profiles[profile].selector.is_none() {
            return;
        }
        let (groups, _) = self.position.groups();
        for (group, hops) in (1..).zip(groups) {
            let member = |(port, weight): &(FrontPort, u32)| {
                let member = ports.iter().position(|known| known == port)?;
                Some(GroupMember { member: member as u32, weight: *weight, active: true })
            };
            ops.push(ControlOp::SetGroup {
                profile,
                group,
                members: hops.iter().filter_map(member).collect(),
            });
        }
    }

    /// Returns what an entry of a route does. `set` is the number of its set of next hops.
    fn then(&self, route: &Route, set: usize) -> Option<Then> {
        let (first, _) = *route.ports.first()?;
        let Some(profile) = self.program.tables[self.decl.table].profile else {
            return Some(Then::Call(self.call(first)));
        };
        if self.program.profiles[profile].selector.is_some() {
            return Some(Then::Group(set as u32 + 1));
        }
        let member = self.ports().iter().position(|port| *port == first)?;
        Some(Then::Member(member as u32))
    }

    fn entries(&self, ops: &mut Vec<ControlOp>) {
        let (_, of) = self.position.groups();
        let exact = self.destination() == Some(MatchKind::Exact);
        for (route, set) in self.position.routes.iter().zip(of) {
            let Some(then) = self.then(route, set) else { continue };
            if !exact {
                ops.push(self.entry(route.to, then));
                continue;
            }
            // An exact key takes the addresses of hosts, each by its most specific route.
            for (_, host) in &self.position.hosts {
                let best =
                    self.position.routes.iter().filter(|r| r.to.contains(*host)).max_by_key(|r| r.to.len);
                if best == Some(route) {
                    ops.push(self.entry(Prefix::host(*host), then.clone()));
                }
            }
        }
    }

    fn destination(&self) -> Option<MatchKind> {
        let keys = keys(self.program, self.decl);
        let at = keys.iter().position(|key| *key == RouteValue::Destination)?;
        self.program.tables[self.decl.table].keys.get(at).map(|key| key.kind)
    }

    fn entry(&self, to: Prefix, then: Then) -> ControlOp {
        let table = &self.program.tables[self.decl.table];
        let mut priority = 0;
        let mut columns = Vec::with_capacity(table.keys.len());
        for (key, value) in table.keys.iter().zip(keys(self.program, self.decl)) {
            let width = key.width(self.program);
            let (address, len) = to.ipv6();
            let (value, len) = match value {
                RouteValue::Destination if width == 128 => (address.to_bits(), len),
                RouteValue::Destination => (to.address.to_bits().into(), to.len.into()),
                RouteValue::Number(number) => (number, width),
                RouteValue::Port => (0, width),
            };
            columns.push(match key.kind {
                MatchKind::Lpm => lpm_prefix(value, width, len),
                // The entry of the lowest priority wins, so a longer prefix has a lower one.
                MatchKind::Ternary => {
                    priority = priority.max(u32::from(width - len));
                    ternary_prefix(value, width, len)
                }
                MatchKind::Exact | MatchKind::Range => KeyValue::Exact(value),
            });
        }
        ControlOp::InsertEntry { table: self.decl.table, key: columns, priority, then }
    }
}
