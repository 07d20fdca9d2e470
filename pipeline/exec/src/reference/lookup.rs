//! Table lookup: finds the entry, and the action that it selects.

use super::Run;
use super::eval::Env;
use sluice_control::{Entry, EntryId, TableState, Then};
use sluice_ir::{ActionCall, Key, KeyValue, MatchKind, Table};
use std::cmp::Reverse;

/// Result of a lookup.
pub(super) struct LookupResult<'a> {
    /// Entry that matched; `None` for a miss.
    pub(super) entry: Option<EntryId>,
    /// Group that the entry names.
    pub(super) group: Option<u32>,
    /// Member that the entry names or the selector picked.
    pub(super) member: Option<u32>,
    /// Action to run, with its arguments.
    pub(super) call: &'a ActionCall,
}

impl<'a, T> Run<'a, T> {
    /// Looks up the key values (one per key column) in a table.
    pub(super) fn lookup(&self, table: Table, values: &[u128]) -> LookupResult<'a> {
        let state = &self.control.tables[table];
        let miss = LookupResult { entry: None, group: None, member: None, call: &state.default };
        let Some((id, entry)) = self.best_entry(table, state, values) else { return miss };
        match &entry.then {
            Then::Call(call) => LookupResult { entry: Some(id), call, ..miss },
            Then::Member(member) => self.found_member(table, id, None, Some(*member)),
            Then::Group(group) => self.found_member(table, id, Some(*group), self.pick(table, *group)),
        }
    }

    /// Returns the result of a hit that selects a member; if there is no such member, the default action runs.
    fn found_member(
        &self,
        table: Table,
        id: EntryId,
        group: Option<u32>,
        member: Option<u32>,
    ) -> LookupResult<'a> {
        let profile = self.program.tables[table].profile.map(|p| &self.control.profiles[p]);
        let call = profile.and_then(|p| p.members.get(&member?));
        LookupResult {
            entry: Some(id),
            group,
            member,
            call: call.unwrap_or(&self.control.tables[table].default),
        }
    }

    /// Returns the entry that wins: longest prefix, then lowest priority number, then oldest.
    fn best_entry(
        &self,
        table: Table,
        state: &'a TableState,
        values: &[u128],
    ) -> Option<(EntryId, &'a Entry)> {
        let keys = &self.program.tables[table].keys;
        if keys.is_empty() {
            return None;
        }
        let width = |key: &Key| key.width(self.program);
        let columns: Vec<(u128, u16)> = values.iter().copied().zip(keys.iter().map(width)).collect();
        let matches = |(_, entry): &(EntryId, &Entry)| {
            entry.key.iter().zip(&columns).all(|(key, (value, width))| key.matches(*value, *width))
        };
        let mut matching = state.entries().filter(matches);
        if keys.iter().all(|key| key.kind == MatchKind::Exact) {
            // No two entries have the same key.
            return matching.next();
        }
        matching.min_by_key(|(_, e)| (Reverse(prefix_len(e)), e.priority, e.seq))
    }

    /// Returns the member of a group that the packet's hash selects.
    fn pick(&self, table: Table, group: u32) -> Option<u32> {
        let profile = self.program.tables[table].profile?;
        let selector = self.program.profiles[profile].selector.as_ref()?;
        let env = Env { program: self.program, phv: self.phv, args: &[] };
        let hash = env.hash(&self.program.hashes[selector.hash]);
        let slots = self.control.profiles[profile].slots(group);
        let slot = selector.arithmetic().pick(hash.into(), slots.shape.as_ref()?)?;
        slots.members.get(slot as usize).copied().flatten()
    }
}

fn prefix_len(entry: &Entry) -> u16 {
    entry.key.iter().map(|k| if let KeyValue::Lpm { len, .. } = k { *len } else { 0 }).max().unwrap_or(0)
}
