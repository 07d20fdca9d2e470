//! Restoring an earlier state after some operations.

use super::{ControlOp, ControlState};
use sluice_ir::{Profile, Table, ValueSet};

/// Part of the control-plane state that an operation can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Entries or the default action of a table.
    Table(Table),
    /// Members or groups of a profile.
    Profile(Profile),
    /// Members of a value set.
    ValueSet(ValueSet),
    /// The packet generator, a port or a queue.
    Device,
    /// Register writes and meter configurations.
    Arrays,
    /// Any part.
    Any,
}

impl ControlOp {
    /// Returns the part that this operation can change.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        match self {
            ControlOp::InsertEntry { table, .. }
            | ControlOp::ModifyEntry { table, .. }
            | ControlOp::DeleteEntry { table, .. }
            | ControlOp::SetDefault { table, .. } => Scope::Table(*table),
            ControlOp::SetMember { profile, .. }
            | ControlOp::DeleteMember { profile, .. }
            | ControlOp::SetGroup { profile, .. }
            | ControlOp::DeleteGroup { profile, .. }
            | ControlOp::SetMemberActive { profile, .. } => Scope::Profile(*profile),
            ControlOp::InsertValue { set, .. } | ControlOp::DeleteValue { set, .. } => Scope::ValueSet(*set),
            ControlOp::Device(_) => Scope::Device,
            ControlOp::WriteRegister { .. } => Scope::Arrays,
            _ => Scope::Any,
        }
    }
}

impl ControlState {
    /// Restores `first`, from which `self` differs only by operations of these scopes. Copies only the
    /// tables, profiles and settings that the scopes name, so that repeated runs do not copy every entry.
    pub fn restore(&mut self, first: &ControlState, scopes: &[Scope]) {
        if scopes.contains(&Scope::Any) || !self.pipes.is_empty() || !first.pipes.is_empty() {
            self.clone_from(first);
            return;
        }
        for scope in scopes {
            match *scope {
                Scope::Table(table) => {
                    self.tables[table].clone_from(&first.tables[table]);
                    self.index[table].clone_from(&first.index[table]);
                }
                Scope::Profile(profile) => self.profiles[profile].clone_from(&first.profiles[profile]),
                Scope::ValueSet(set) => self.value_sets[set].clone_from(&first.value_sets[set]),
                Scope::Device => self.device.clone_from(&first.device),
                Scope::Arrays => self.arrays.clone_from(&first.arrays),
                Scope::Any => {}
            }
        }
        debug_assert!(self == first, "operations changed more than their scopes say");
    }
}

#[cfg(test)]
mod tests {
    use crate::{ControlOp, ControlState, DeviceOp, Scope, toml};
    use sluice_samples::router::router;

    #[test]
    fn operations_are_taken_back() {
        let program = router();
        let mut first = ControlState::new(&program);
        let before = r#"
            profile.nexthops.member = [{ id = 1, action = "set_nexthop", args = [1, 1] }]
            profile.nexthops.group = [{ id = 1, members = [1] }]
            table.ipv4_lpm = [{ key = { dst = "10.0.0.0/8" }, group = 1 }]
        "#;
        toml::parse(&program, before, "e.toml").unwrap().apply(&program, &mut first).unwrap();
        let more = r#"
            profile.nexthops.member = [{ id = 3, action = "set_nexthop", args = [2, 2] }]
            profile.nexthops.group = [{ id = 2, members = [1, 3] }]
            table.ipv4_lpm = [{ key = { dst = "11.0.0.0/8" }, group = 2 }]
            table.acl = [{ key = { src = "192.0.2.0/24" }, action = "deny", priority = 3 }]
        "#;
        let more = toml::parse(&program, more, "e.toml").unwrap();
        let mut ops: Vec<ControlOp> = more.ops.into_iter().map(|s| s.op).collect();
        ops.push(ControlOp::Device(DeviceOp::SetPort { port: 8, up: false }));
        let table = program.table_named("ipv4_lpm").unwrap();
        ops.push(ControlOp::DeleteEntry { table, entry: 0 });
        let mut state = first.clone();
        let mut scopes = Vec::new();
        for op in ops {
            scopes.push(op.scope());
            state.apply(&program, op).unwrap();
        }
        assert_ne!(state, first);
        assert!(!scopes.contains(&Scope::Any));
        let mut again = state.clone();
        again.restore(&first, &scopes);
        assert_eq!(again, first);
        state.restore(&first, &[Scope::Any]);
        assert_eq!(state, first);
    }
}
