//! Rules of the control plane, all in this module:
//!
//! - handles refer to entities of the program; named entries, members and groups exist;
//! - a table with const entries, or without a key, takes no entries;
//! - a key has one column per key field, of the field's match kind and width. No bit is set that the mask or
//!   prefix does not compare. Only tables with a ternary or range key have priorities;
//! - entries of a table with a profile name a member or (with a selector) a group; entries of other tables
//!   name an action of the table. Members and defaults name an action of every table concerned; a default may
//!   also be the program's own default action. Arguments fit their parameters;
//! - no two entries have the same key (and priority); tables, profiles and groups stay within their sizes,
//!   and the ranges of a table within its TCAM rows;
//! - a group names a member once, with weight at least 1;
//! - only entries of a table that notifies have a time to live, and it fits the bits that count it;
//! - an object that is still used is not deleted.

use super::{ControlError, ControlState, Entry, EntryId, GroupMember, Then, show_key, show_value};
use sluice_asic::alu::width_mask;
use sluice_asic::salu::State as Element;
use sluice_asic::units::Duration;
use sluice_ir::cfg::table_actions;
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::meter_array::MeterConfigError;
use sluice_ir::{
    Action, ActionCall, Counter, IdleMode, Key, KeyValue, MatchKind, Meter, MeterConfig, Profile,
    ProfileData, Program, Register, Table, TableData,
};
use std::collections::BTreeSet;

type Checked = Result<(), ControlError>;

/// Checks operations against a program and its present state.
pub(super) struct Checker<'a> {
    pub(super) program: &'a Program,
    pub(super) state: &'a ControlState,
}

/// Returns the data of an entity, if the program has it.
fn known<K: Entity, V>(map: &EntityMap<K, V>, key: K) -> Result<&V, ControlError> {
    map.get(key).ok_or_else(|| ControlError::NoSuchEntity(format!("{key:?}")))
}

impl<'a> Checker<'a> {
    fn table(&self, table: Table) -> Result<&'a TableData, ControlError> {
        known(&self.program.tables, table)
    }

    fn profile(&self, profile: Profile) -> Result<&'a ProfileData, ControlError> {
        known(&self.program.profiles, profile)
    }

    fn writable(&self, table: Table) -> Result<&'a TableData, ControlError> {
        let data = self.table(table)?;
        if !data.entries.is_empty() {
            return Err(ControlError::ConstTable { table: data.name.clone(), entries: data.entries.len() });
        }
        Ok(data)
    }

    /// Checks a new entry, except for duplicates and capacity, which the side index knows.
    pub(super) fn new_entry(&self, table: Table, key: &[KeyValue], priority: u32, then: &Then) -> Checked {
        let data = self.writable(table)?;
        if data.keys.is_empty() {
            return Err(ControlError::KeylessTable { table: data.name.clone() });
        }
        if key.len() != data.keys.len() {
            let columns: Vec<String> = data.keys.iter().map(|k| k.name(self.program)).collect();
            return Err(ControlError::KeyArity {
                table: data.name.clone(),
                found: key.len(),
                expected: data.keys.len(),
                columns: columns.join(", "),
            });
        }
        for (column, value) in data.keys.iter().zip(key) {
            self.key_column(data, *column, *value)?;
        }
        if priority != 0 && !has_priority(data) {
            return Err(ControlError::PriorityUnused { table: data.name.clone(), priority });
        }
        self.then(table, then)
    }

    fn key_column(&self, data: &TableData, column: Key, given: KeyValue) -> Checked {
        let (table, name, width) = (data.name.clone(), column.name(self.program), column.width(self.program));
        let found = match given {
            KeyValue::Exact(_) => MatchKind::Exact,
            KeyValue::Ternary { .. } => MatchKind::Ternary,
            KeyValue::Lpm { .. } => MatchKind::Lpm,
            KeyValue::Range { .. } => MatchKind::Range,
        };
        if found != column.kind {
            return Err(ControlError::KeyKind { table, field: name, found, expected: column.kind });
        }
        let (all, compared) = (width_mask(width.into()), column.compared(self.program));
        let (value, mask) = match given {
            KeyValue::Exact(value) => (value, if value > all { all } else { compared }),
            KeyValue::Ternary { value, mask } if value & !mask == 0 && value <= all && mask <= all => {
                (value, compared)
            }
            KeyValue::Ternary { value, mask } => (value, mask),
            KeyValue::Lpm { len, .. } if len > width => {
                return Err(ControlError::PrefixTooLong { table, field: name, len, width });
            }
            KeyValue::Lpm { value, len } => (value, all & !width_mask((width - len).into())),
            KeyValue::Range { lo, hi } if lo > hi => {
                return Err(ControlError::EmptyRange { table, field: name, lo, hi });
            }
            KeyValue::Range { hi, .. } => (hi, all),
        };
        if let Some(&value) = [value, mask].iter().find(|&&v| v > all) {
            return Err(ControlError::KeyTooWide { table, field: name, value, width });
        }
        if value & !mask != 0 {
            let (text, mended) = (show_value(value, width, &name), show_value(value & mask, width, &name));
            return Err(match given {
                KeyValue::Lpm { len, .. } => {
                    ControlError::BeyondPrefix { table, field: name, value: text, len, mended }
                }
                _ => ControlError::BeyondMask { table, field: name, value: text, mask, mended },
            });
        }
        Ok(())
    }

    /// Checks that the table's bits can count the time to live.
    pub(super) fn ttl(&self, table: Table, ttl: Option<Duration>) -> Checked {
        let data = self.table(table)?;
        let name = || data.name.clone();
        let Some(idle) = data.idle else { return Err(ControlError::NoAgeing { table: name() }) };
        let Some(ttl) = ttl else { return Ok(()) };
        if idle.mode == IdleMode::Poll {
            return Err(ControlError::TtlPolled { table: name() });
        }
        let (sweeps, most) = (idle.sweeps(ttl), idle.most());
        if sweeps > most.into() {
            let longest = idle.interval * u64::from(most);
            return Err(ControlError::TtlTooLong { table: name(), ttl, sweeps, bits: idle.bits, longest });
        }
        Ok(())
    }

    pub(super) fn duplicate(&self, table: Table, entry: EntryId, new: &Entry) -> ControlError {
        let data = &self.program.tables[table];
        let priority = has_priority(data).then_some(new.priority);
        let key = show_entry_key(self.program, data, &new.key);
        ControlError::Duplicate { table: data.name.clone(), entry, key, priority }
    }

    pub(super) fn old_entry(&self, table: Table, entry: EntryId) -> Checked {
        let data = self.writable(table)?;
        match self.state.tables[table].slots.get(entry as usize) {
            Some(Some(_)) => Ok(()),
            _ => Err(ControlError::NoSuchEntry { table: data.name.clone(), entry }),
        }
    }

    /// Checks the action, member or group of an entry.
    pub(super) fn then(&self, table: Table, then: &Then) -> Checked {
        let data = self.table(table)?;
        match (then, data.profile) {
            (Then::Call(call), None) => self.call(table, call, &data.actions),
            (Then::Call(_), Some(profile)) => Err(ControlError::NeedsProfile {
                table: data.name.clone(),
                profile: self.program.profiles[profile].name.clone(),
            }),
            (_, None) => Err(ControlError::NoProfile { table: data.name.clone() }),
            (Then::Member(member), Some(profile)) => self.has_member(profile, *member),
            (Then::Group(group), Some(profile)) => {
                self.selector(profile)?;
                self.has_group(profile, *group)
            }
        }
    }

    pub(super) fn default(&self, table: Table, call: &ActionCall) -> Checked {
        let data = self.table(table)?;
        if data.constant_default {
            let (table, action) = (data.name.clone(), self.program.actions[data.default.action].name.clone());
            return Err(ControlError::ConstantDefault { table, action });
        }
        self.call(table, call, &table_actions(self.program, table))
    }

    fn call(&self, table: Table, call: &ActionCall, allowed: &[Action]) -> Checked {
        let action = known(&self.program.actions, call.action)?;
        if !allowed.contains(&call.action) {
            let listed: Vec<&str> = allowed.iter().map(|a| self.program.actions[*a].name.as_str()).collect();
            return Err(ControlError::ActionNotListed {
                table: self.program.tables[table].name.clone(),
                action: action.name.clone(),
                listed: listed.join(", "),
            });
        }
        if call.args.len() != action.params.len() {
            let params: Vec<&str> = action.params.iter().map(|p| p.name.as_str()).collect();
            return Err(ControlError::ArgCount {
                action: action.name.clone(),
                found: call.args.len(),
                expected: params.len(),
                params: params.join(", "),
            });
        }
        match action.params.iter().zip(&call.args).find(|(p, v)| **v > width_mask(p.width.into())) {
            Some((param, &value)) => Err(ControlError::ArgTooWide {
                action: action.name.clone(),
                param: param.name.clone(),
                value,
                width: param.width,
            }),
            None => Ok(()),
        }
    }

    fn selector(&self, profile: Profile) -> Result<(u32, u32), ControlError> {
        let data = self.profile(profile)?;
        let selector = data.selector.as_ref().map(|s| (s.groups, s.max_group_size));
        selector.ok_or_else(|| ControlError::NoSelector { profile: data.name.clone() })
    }

    fn has_member(&self, profile: Profile, member: u32) -> Checked {
        let data = self.profile(profile)?;
        if self.state.profiles[profile].members.contains_key(&member) {
            return Ok(());
        }
        Err(ControlError::NoSuchMember { profile: data.name.clone(), member })
    }

    fn has_group(&self, profile: Profile, group: u32) -> Checked {
        let data = self.profile(profile)?;
        if self.state.profiles[profile].groups.contains_key(&group) {
            return Ok(());
        }
        Err(ControlError::NoSuchGroup { profile: data.name.clone(), group })
    }

    pub(super) fn member(&self, profile: Profile, member: u32, call: &ActionCall) -> Checked {
        let data = self.profile(profile)?;
        for (table, owner) in self.program.tables.iter().filter(|(_, t)| t.profile == Some(profile)) {
            self.call(table, call, &owner.actions)?;
        }
        let members = &self.state.profiles[profile].members;
        if !members.contains_key(&member) && members.len() >= data.size as usize {
            return Err(ControlError::ProfileFull { profile: data.name.clone(), size: data.size });
        }
        Ok(())
    }

    pub(super) fn group(&self, profile: Profile, group: u32, members: &[GroupMember]) -> Checked {
        let (groups, limit) = self.selector(profile)?;
        let profile_name = || self.program.profiles[profile].name.clone();
        let mut seen = BTreeSet::new();
        for m in members {
            let member = m.member;
            self.has_member(profile, member)?;
            if m.weight == 0 {
                return Err(ControlError::ZeroWeight { profile: profile_name(), group, member });
            }
            if !seen.insert(member) {
                return Err(ControlError::MemberTwice { profile: profile_name(), group, member });
            }
        }
        let slots = members.iter().map(|m| u64::from(m.weight)).sum();
        if slots > u64::from(limit) {
            return Err(ControlError::GroupTooLarge { profile: profile_name(), group, slots, limit });
        }
        let existing = &self.state.profiles[profile].groups;
        if !existing.contains_key(&group) && existing.len() >= groups as usize {
            return Err(ControlError::GroupsFull { profile: profile_name(), groups });
        }
        Ok(())
    }

    pub(super) fn in_group(&self, profile: Profile, group: u32, member: u32) -> Checked {
        self.has_group(profile, group)?;
        let members = self.state.profiles[profile].groups.get(&group);
        if members.is_some_and(|list| list.iter().any(|m| m.member == member)) {
            return Ok(());
        }
        Err(ControlError::NotInGroup { profile: self.program.profiles[profile].name.clone(), group, member })
    }

    pub(super) fn member_unused(&self, profile: Profile, member: u32) -> Checked {
        self.has_member(profile, member)?;
        let groups = &self.state.profiles[profile].groups;
        let group = groups.iter().find(|(_, list)| list.iter().any(|m| m.member == member));
        let user = group.map(|(g, _)| format!("group {g}"));
        match user.or_else(|| self.entry_that(profile, &Then::Member(member))) {
            Some(user) => Err(ControlError::MemberInUse {
                profile: self.program.profiles[profile].name.clone(),
                member,
                user,
            }),
            None => Ok(()),
        }
    }

    pub(super) fn group_unused(&self, profile: Profile, group: u32) -> Checked {
        self.has_group(profile, group)?;
        match self.entry_that(profile, &Then::Group(group)) {
            Some(user) => Err(ControlError::GroupInUse {
                profile: self.program.profiles[profile].name.clone(),
                group,
                user,
            }),
            None => Ok(()),
        }
    }

    /// Returns the first entry, over the tables that use the profile, with this action, member or group.
    fn entry_that(&self, profile: Profile, then: &Then) -> Option<String> {
        let mut tables = self.program.tables.iter().filter(|(_, t)| t.profile == Some(profile));
        tables.find_map(|(table, data)| {
            let (id, entry) = self.state.tables[table].entries().find(|(_, e)| e.then == *then)?;
            let key = show_entry_key(self.program, data, &entry.key);
            Some(format!("entry {id} of table `{}` ({key})", data.name))
        })
    }

    pub(super) fn counter(&self, counter: Counter, index: Option<u32>) -> Checked {
        let data = known(&self.program.counters, counter)?;
        let size = self.program.cells(data.home);
        match index.filter(|i| *i >= size) {
            Some(index) => {
                Err(ControlError::CounterIndex { counter: data.name.clone(), index, size: size as usize })
            }
            None => Ok(()),
        }
    }

    pub(super) fn register(&self, register: Register, index: Option<u32>, value: Option<Element>) -> Checked {
        let data = known(&self.program.registers, register)?;
        let size = self.program.cells(data.home);
        if let Some(index) = index.filter(|i| *i >= size) {
            return Err(ControlError::RegisterIndex { register: data.name.clone(), index, size });
        }
        let (format, pair) = (data.format, data.format.has_hi());
        let value = value.unwrap_or_default();
        for (value, half, bits) in [
            (value.lo, if pair { "the low half" } else { "the element" }, format.half_bits()),
            (value.hi, "a high half", if pair { format.half_bits() } else { 0 }),
        ] {
            if u128::from(value) > width_mask(bits) {
                let register = data.name.clone();
                return Err(ControlError::RegisterValue { register, format, value, bits, half });
            }
        }
        Ok(())
    }

    /// Checks a register parameter and its value.
    pub(super) fn register_param(&self, register: Register, param: u8, value: u32) -> Checked {
        let data = known(&self.program.registers, register)?;
        let Some(found) = data.params.get(usize::from(param)) else {
            let (register, has) = (data.name.clone(), data.params.len());
            return Err(ControlError::NoParam { register, param, has });
        };
        let most = data.most_param();
        if value > most {
            let (register, param) = (data.name.clone(), found.name.clone());
            return Err(ControlError::ParamValue { register, param, value, most });
        }
        Ok(())
    }

    /// Checks the cell and the kind of configuration. The range of the chip's rate codes is checked when
    /// cells are configured.
    pub(super) fn meter(&self, meter: Meter, index: Option<u32>, config: Option<&MeterConfig>) -> Checked {
        let data = known(&self.program.meters, meter)?;
        let size = self.program.cells(data.home);
        if let Some(index) = index.filter(|i| *i >= size) {
            return Err(ControlError::MeterIndex { meter: data.name.clone(), index, size });
        }
        if config.is_some_and(|c| !c.is_for(data.kind)) {
            let error = MeterConfigError::Kind(data.kind);
            return Err(ControlError::Meter { meter: data.name.clone(), error });
        }
        Ok(())
    }
}

/// Returns true if entries of the table have a priority.
pub(super) fn has_priority(data: &TableData) -> bool {
    data.keys.iter().any(|k| matches!(k.kind, MatchKind::Ternary | MatchKind::Range))
}

/// Returns the kind of key that makes entries need a priority, as errors name it.
pub(super) fn ordered_kind(data: &TableData) -> &'static str {
    if data.keys.iter().any(|k| k.kind == MatchKind::Ternary) { "ternary" } else { "range" }
}

/// Formats the columns of a key, as in `ipv4.dst = 10.0.0.0/8, …`.
fn show_entry_key(program: &Program, data: &TableData, key: &[KeyValue]) -> String {
    let columns = data.keys.iter().zip(key).map(|(column, value)| {
        let name = column.name(program);
        format!("{name} = {}", show_key(*value, column.width(program), &name))
    });
    columns.collect::<Vec<_>>().join(", ")
}
