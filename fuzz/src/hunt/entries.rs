//! Draws changes of the configuration: entries, groups and register elements.

use super::PORT_BITS;
use super::configured::other;
use super::input::{Aim, Maker};
use super::pools::column;
use crate::Draw;
use crate::world::{entry, set_member};
use sluice_asic::alu::width_mask;
use sluice_control::{ControlOp, ControlState, Entry, GroupMember, Then};
use sluice_exec::cover::Point;
use sluice_ir::{Action, ActionCall, Home, Intrinsic, Key, KeySource, KeyValue, Profile, Table, ValueSet};

/// Most entries of a table that are changed at once.
const MOST_CHANGED: usize = 64;

impl Maker<'_> {
    /// Draws changes of entries and applies them to `entries`, so that each change is valid when it is applied.
    pub(crate) fn changes(&self, entries: &mut ControlState, d: &mut Draw<'_>) -> Vec<ControlOp> {
        let program = &self.subject.program;
        let mut ops = Vec::new();
        for _ in 0..d.below(4) {
            let op = other(program, &self.configured, d);
            ops.extend(op.filter(|op| entries.apply(program, op.clone()).is_ok()));
        }
        if d.chance(1, 6) {
            ops.extend(self.renamed(entries, d));
        }
        let sets: Vec<ValueSet> = program.value_sets.keys().collect();
        if let Some(set) = d.pick(&sets).filter(|_| d.chance(1, 2)) {
            let members = &entries.value_sets[set];
            let gone = members.get(d.below(members.len())).filter(|_| d.chance(1, 2)).cloned();
            let op = gone
                .map_or_else(|| set_member(program, set, d), |value| ControlOp::DeleteValue { set, value });
            ops.extend(Some(op).filter(|op| entries.apply(program, op.clone()).is_ok()));
        }
        for _ in 0..=d.below(3) {
            let Some(table) = d.pick(&program.tables.keys().collect::<Vec<_>>()) else { break };
            let data = &program.tables[table];
            let live: Vec<u32> = entries.tables[table].entries().map(|(id, _)| id).take(64).collect();
            let fixed = data.keys.is_empty() || !data.entries.is_empty();
            let op = match d.below(4) {
                _ if data.profile.is_some_and(|p| !entries.profiles[p].groups.is_empty())
                    && d.chance(1, 2) =>
                {
                    data.profile.and_then(|profile| self.regroup(profile, entries, d))
                }
                0 if !fixed => d.pick(&live).map(|entry| ControlOp::DeleteEntry { table, entry }),
                1 if !fixed && data.profile.is_none() => d.pick(&live).and_then(|entry| {
                    let then = Then::Call(self.call(table, d)?);
                    Some(ControlOp::ModifyEntry { table, entry, then })
                }),
                2 | 3 if !fixed => entry(program, table, entries, d).map(|op| self.sensible(op, d)),
                _ => None,
            };
            // The default action of a table with constant entries is part of the program and does not change.
            let free = |_: &ActionCall| data.entries.is_empty();
            let default = |call| ControlOp::SetDefault { table, call };
            let op = op.or_else(|| self.call(table, d).filter(free).map(default));
            ops.extend(op.filter(|op| entries.apply(program, op.clone()).is_ok()));
        }
        ops
    }

    /// Returns copies of the entries that match a value in a column, for another value, such as a priority that is treated
    /// like another one. Arguments that contain the old value, or its bit, get the new value or its bit.
    fn renamed(&self, entries: &mut ControlState, d: &mut Draw<'_>) -> Vec<ControlOp> {
        let program = &self.subject.program;
        let free = |t: &Table| program.tables[*t].entries.is_empty() && !program.tables[*t].keys.is_empty();
        let tables: Vec<Table> = program.tables.keys().filter(free).collect();
        let mut ops = Vec::new();
        let Some(table) = d.pick(&tables) else { return ops };
        let live: Vec<&Entry> = entries.tables[table].entries().map(|(_, e)| e).take(MOST_CHANGED).collect();
        let Some(known) = live.get(d.below(live.len())) else { return ops };
        let at = d.below(known.key.len());
        let Some(KeyValue::Exact(old)) = known.key.get(at).copied() else { return ops };
        let key = program.tables[table].keys[at];
        let width = key.width(program);
        let new = match self.port_of(&key, d) {
            Some(port) => port,
            None if d.chance(1, 2) => d.below(1 << width.min(4)) as u128,
            None => old.wrapping_add([1, u128::MAX][d.below(2)]) & width_mask(width.into()),
        };
        let new = new & key.compared(program);
        for table in tables {
            let keys = &program.tables[table].keys;
            let alike = |n: &usize| keys[*n].width(program) == width && keys[*n].mask == key.mask;
            let columns: Vec<usize> = (0..keys.len()).filter(alike).collect();
            for (_, entry) in entries.tables[table].entries() {
                let named = |n: &&usize| entry.key.get(**n) == Some(&KeyValue::Exact(old));
                let Some(column) = columns.iter().find(named).filter(|_| ops.len() < MOST_CHANGED) else {
                    continue;
                };
                let (mut key, mut then) = (entry.key.clone(), entry.then.clone());
                key[*column] = KeyValue::Exact(new);
                if let Then::Call(call) = &mut then {
                    self.rename(call, old, new);
                }
                ops.push(ControlOp::InsertEntry { table, key, priority: entry.priority, then });
            }
        }
        ops.retain(|op| entries.apply(program, op.clone()).is_ok());
        ops
    }

    /// Replaces one value by another in arguments.
    fn rename(&self, call: &mut ActionCall, old: u128, new: u128) {
        let bit = |value: u128| u32::try_from(value).ok().and_then(|n| 1u128.checked_shl(n));
        let params = &self.subject.program.actions[call.action].params;
        for (arg, param) in call.args.iter_mut().zip(params) {
            let full = width_mask(param.width.into());
            match *arg {
                value if value == old => *arg = new & full,
                value if Some(value) == bit(old) => *arg = bit(new).unwrap_or(value) & full,
                _ => {}
            }
        }
    }

    /// Returns changes by which every packet that reaches a table runs the aim's action.
    pub(super) fn all_run(
        &self,
        table: Table,
        action: Action,
        entries: &mut ControlState,
        d: &mut Draw<'_>,
    ) -> Vec<ControlOp> {
        let program = &self.subject.program;
        let data = &program.tables[table];
        let mut ops = Vec::new();
        if !data.entries.is_empty() {
            return ops;
        }
        if data.profile.is_none() {
            for (entry, was) in entries.tables[table].entries().take(MOST_CHANGED) {
                let drawn = self.drawn_call(action, d);
                let args = match &was.then {
                    // Another action with parameters of the same kinds gets the same values.
                    Then::Call(call) if self.alike(call.action, action) => call.args.clone(),
                    _ => drawn.args,
                };
                let then = Then::Call(ActionCall { action, args });
                ops.push(ControlOp::ModifyEntry { table, entry, then });
            }
        }
        ops.push(ControlOp::SetDefault { table, call: self.drawn_call(action, d) });
        ops.retain(|op| entries.apply(program, op.clone()).is_ok());
        ops
    }

    /// Returns changes by which packets reach a constant entry through metadata: entries and default actions that write the
    /// values that the entry matches.
    pub(super) fn given(
        &self,
        (table, at): (Table, usize),
        entries: &mut ControlState,
        d: &mut Draw<'_>,
    ) -> Vec<ControlOp> {
        let program = &self.subject.program;
        let data = &program.tables[table];
        let columns = data.entries.get(at).map_or(&[][..], |e| &e.key).iter().zip(&data.keys);
        let mut list = Vec::new();
        for (value, key) in columns {
            let KeySource::Field(field) = key.what else { continue };
            let (value, mask) = column(*value, key.width(program));
            list.extend(self.pools.givers(field).into_iter().map(|by| (by, value, mask)));
        }
        let Some(((action, param), value, mask)) = d.pick(&list) else { return Vec::new() };
        let runs = |t: &Table| program.tables[*t].actions.contains(&action);
        let Some(by) = d.pick(&program.tables.keys().filter(runs).collect::<Vec<_>>()) else {
            return Vec::new();
        };
        let mut tried = entries.clone();
        let mut ops = self.all_run(by, action, &mut tried, d);
        for op in &mut ops {
            let (ControlOp::ModifyEntry { then: Then::Call(call), .. } | ControlOp::SetDefault { call, .. }) =
                op
            else {
                continue;
            };
            if let Some(arg) = call.args.get_mut(usize::from(param)).filter(|_| call.action == action) {
                *arg = *arg & !mask | value & mask;
            }
        }
        ops.retain(|op| entries.apply(program, op.clone()).is_ok());
        ops
    }

    /// Returns true if two actions have parameters of the same widths.
    fn alike(&self, a: Action, b: Action) -> bool {
        let widths = |action: Action| self.subject.program.actions[action].params.iter().map(|p| p.width);
        widths(a).eq(widths(b))
    }

    /// Returns a table with the action that is aimed at; `None` if no action is.
    pub(super) fn runs(&self, aim: &Aim) -> Option<(Table, Action)> {
        let points = self.subject.points.list();
        aim.points.iter().find_map(|n| match points.get(*n as usize)?.point {
            Point::Ran(Some(table), action) => Some((table, action)),
            _ => None,
        })
    }

    /// Draws other members for a group.
    fn regroup(&self, profile: Profile, entries: &ControlState, d: &mut Draw<'_>) -> Option<ControlOp> {
        let state = &entries.profiles[profile];
        let groups: Vec<u32> = state.groups.keys().copied().take(64).collect();
        let known: Vec<u32> = state.members.keys().copied().take(64).collect();
        let group = d.pick(&groups)?;
        let mut members: Vec<GroupMember> = Vec::new();
        for _ in 0..2 + d.below(4) {
            let member = d.pick(&known)?;
            if members.iter().all(|m| m.member != member) {
                members.push(GroupMember { member, weight: 1, active: true });
            }
        }
        Some(ControlOp::SetGroup { profile, group, members })
    }

    /// Draws a port if a key is a whole intrinsic field with a port.
    fn port_of(&self, key: &Key, d: &mut Draw<'_>) -> Option<u128> {
        let KeySource::Field(field) = key.what else { return None };
        match self.subject.program.fields[field].home {
            Home::Intrinsic(Intrinsic::IngressPort) => Some(self.pools.port(d).into()),
            Home::Intrinsic(Intrinsic::EgressPort) => Some(self.pools.out(d).into()),
            _ => None,
        }
    }

    /// Draws an entry with a key and arguments that are likely to have an effect.
    fn sensible(&self, mut op: ControlOp, d: &mut Draw<'_>) -> ControlOp {
        if let ControlOp::InsertEntry { table, key, .. } = &mut op {
            let keys = &self.subject.program.tables[*table].keys;
            for (value, k) in key.iter_mut().zip(keys) {
                if let KeyValue::Exact(value) = value
                    && d.chance(3, 4)
                {
                    let program = &self.subject.program;
                    let new = match (self.port_of(k, d), k.what) {
                        (Some(port), _) => port,
                        (None, KeySource::Field(field)) => self.pools.key(field, k.width(program), d),
                        (None, _) => continue,
                    };
                    *value = new & k.compared(program);
                }
            }
        }
        if let ControlOp::InsertEntry { table, then: Then::Call(call), .. } = &mut op {
            // Half of the calls are those of existing entries.
            if let Some(known) = self.known_call(*table, call.action, d).filter(|_| d.chance(1, 2)) {
                *call = known;
                return op;
            }
            let params = &self.subject.program.actions[call.action].params;
            for (n, (arg, param)) in (0u16..).zip(call.args.iter_mut().zip(params)) {
                if param.width == PORT_BITS || d.chance(1, 2) {
                    *arg = self.argument(call.action, n, param.width, d);
                }
            }
        }
        op
    }

    /// Draws a call with arguments that entries have, or small ones.
    fn call(&self, table: Table, d: &mut Draw<'_>) -> Option<ActionCall> {
        let program = &self.subject.program;
        let action = d.pick(&program.tables[table].actions)?;
        let known = self.known_call(table, action, d).filter(|_| d.chance(3, 4));
        Some(known.unwrap_or_else(|| self.drawn_call(action, d)))
    }

    /// Returns a call of an action as an entry of the table has it.
    fn known_call(&self, table: Table, action: Action, d: &mut Draw<'_>) -> Option<ActionCall> {
        let known: Vec<&ActionCall> = self.subject.control.tables[table]
            .entries()
            .take(64)
            .filter_map(|(_, e)| if let Then::Call(call) = &e.then { Some(call) } else { None })
            .filter(|call| call.action == action)
            .collect();
        known.get(d.below(known.len())).map(|call| (*call).clone())
    }

    fn drawn_call(&self, action: Action, d: &mut Draw<'_>) -> ActionCall {
        let params = (0u16..).zip(&self.subject.program.actions[action].params);
        ActionCall { action, args: params.map(|(n, p)| self.argument(action, n, p.width, d)).collect() }
    }

    /// Draws an argument: a value that tables match in the field that it is written to. An argument as wide as a dev_port
    /// is a front-panel port, because packets that recirculate for ever are no fault of the program.
    fn argument(&self, action: Action, param: u16, width: u16, d: &mut Draw<'_>) -> u128 {
        match width {
            PORT_BITS => self.pools.out(d).into(),
            _ => self.pools.argument(action, param, width, d),
        }
    }
}
