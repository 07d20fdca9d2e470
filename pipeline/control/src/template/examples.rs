//! Values of a template: entries that a program is known to run with, chosen so that one entry leads to the next.

use crate::ports::{comment, is_port, name_of, of_key};
use crate::{ControlState, Entry, Then, show_key, show_value};
use sluice_asic::port::{DevPort, FrontPort, PortMap};
use sluice_ir::{ActionCall, KeyValue, Profile, Program, Table};
use std::collections::BTreeMap;

/// Examples for the tables and profiles of a program. Without a state, every example is a value that fits.
#[derive(Default)]
pub(super) struct Examples<'a> {
    ports: Option<&'a PortMap>,
    /// By the last part of a field's or parameter's name: the value in the examples.
    values: BTreeMap<String, u128>,
    /// By name of the table.
    entries: BTreeMap<String, EntryExample>,
    /// By name of the profile.
    profiles: BTreeMap<String, ProfileExample>,
}

/// Texts of an entry.
pub(super) struct EntryExample {
    /// Values of the key columns.
    pub(super) key: Vec<String>,
    /// Comment on the ports of the key, or nothing.
    pub(super) key_comment: String,
    /// `None` if the entry names a member or group.
    pub(super) call: Option<CallExample>,
    pub(super) priority: u32,
}

/// Texts of an action with its arguments.
pub(super) struct CallExample {
    pub(super) action: String,
    pub(super) args: Vec<String>,
    /// Comment on the ports among the arguments, or nothing.
    pub(super) comment: String,
}

/// Member and group of a profile.
pub(super) struct ProfileExample {
    pub(super) member: u32,
    pub(super) call: CallExample,
    pub(super) group: Option<u32>,
}

/// Returns the part of a name after the last dot.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl<'a> Examples<'a> {
    /// Chooses examples from a state, table by table in the order of the program. Of several entries, the one that shares the
    /// most values with those chosen before is chosen, so that a route leads to a next hop and the next hop to a port.
    pub(super) fn of(program: &Program, ports: &'a PortMap, control: &ControlState) -> Examples<'a> {
        let mut examples = Examples { ports: Some(ports), ..Examples::default() };
        for (table, data) in program.tables.iter().filter(|(_, data)| data.entries.is_empty()) {
            let mut entries: Vec<&Entry> = control.tables[table].entries().map(|(_, e)| e).collect();
            entries.sort_by_key(|e| e.seq);
            let shared = |entry: &&&Entry| examples.shared(program, table, entry);
            // `max_by_key` returns the last of equals.
            let Some(&entry) = entries.iter().rev().max_by_key(shared) else { continue };
            examples.choose(program, table, entry, control);
            let example = examples.entry_of(program, table, entry);
            examples.entries.insert(data.name.clone(), example);
        }
        examples
    }

    /// Returns the number of key columns whose value occurs in the examples.
    fn shared(&self, program: &Program, table: Table, entry: &Entry) -> usize {
        let keys = program.tables[table].keys.iter().zip(&entry.key);
        let known = |name: &str, key: KeyValue| match key {
            KeyValue::Exact(value) => self.values.get(last(name)) == Some(&value),
            _ => false,
        };
        keys.filter(|(k, value)| known(&k.name(program), **value)).count()
    }

    /// Notes the values of an entry, and the member and group that it leads to.
    fn choose(&mut self, program: &Program, table: Table, entry: &Entry, control: &ControlState) {
        let data = &program.tables[table];
        for (k, value) in data.keys.iter().zip(&entry.key) {
            if let KeyValue::Exact(value) = value {
                self.note(&k.name(program), *value);
            }
        }
        let (member, group) = match &entry.then {
            Then::Call(call) => return self.note_call(program, call),
            Then::Member(member) => (Some(*member), None),
            Then::Group(group) => {
                let members = data.profile.and_then(|p| control.profiles[p].groups.get(group));
                (members.and_then(|m| m.first()).map(|m| m.member), Some(*group))
            }
        };
        if let (Some(profile), Some(member)) = (data.profile, member) {
            self.profile_of(program, profile, member, group, control);
        }
    }

    fn profile_of(
        &mut self,
        program: &Program,
        profile: Profile,
        member: u32,
        group: Option<u32>,
        control: &ControlState,
    ) {
        let Some(call) = control.profiles[profile].members.get(&member) else { return };
        self.note_call(program, call);
        let example = ProfileExample { member, call: self.call_of(program, call), group };
        self.profiles.entry(program.profiles[profile].name.clone()).or_insert(example);
    }

    fn note(&mut self, name: &str, value: u128) {
        self.values.entry(last(name).to_owned()).or_insert(value);
    }

    fn note_call(&mut self, program: &Program, call: &ActionCall) {
        for (p, value) in program.actions[call.action].params.iter().zip(&call.args) {
            self.note(&p.name, *value);
        }
    }

    fn entry_of(&self, program: &Program, table: Table, entry: &Entry) -> EntryExample {
        let columns = program.tables[table].keys.iter().zip(&entry.key);
        let columns: Vec<(String, u16, KeyValue)> =
            columns.map(|(k, value)| (k.name(program), k.width(program), *value)).collect();
        let text = |(name, width, value): &(String, u16, KeyValue)| match of_key(*value) {
            Some(port) if is_port(name, *width) => self.shown(port, *width, name),
            _ => show_key(*value, *width, name),
        };
        let ports = columns.iter().filter(|(name, width, _)| is_port(name, *width));
        let call = match &entry.then {
            Then::Call(call) => Some(self.call_of(program, call)),
            Then::Member(_) | Then::Group(_) => None,
        };
        let key_comment = comment(self.ports, ports.filter_map(|(.., value)| of_key(*value)));
        EntryExample { key: columns.iter().map(text).collect(), key_comment, call, priority: entry.priority }
    }

    fn call_of(&self, program: &Program, call: &ActionCall) -> CallExample {
        let data = &program.actions[call.action];
        let args = data.params.iter().zip(&call.args);
        let ports = args.clone().filter(|(p, _)| is_port(&p.name, p.width)).map(|(_, v)| *v);
        CallExample {
            action: data.name.clone(),
            comment: comment(self.ports, ports),
            args: args.map(|(p, v)| self.shown(*v, p.width, &p.name)).collect(),
        }
    }

    /// Returns the text of a value; a port has its name.
    fn shown(&self, value: u128, width: u16, name: &str) -> String {
        let dev = u16::try_from(value).ok().and_then(DevPort::new);
        match self.ports.zip(dev).and_then(|(ports, dev)| Some((ports, ports.dev(dev)?))) {
            Some((ports, port)) if is_port(name, width) => name_of(ports, port),
            _ => show_value(value, width, name),
        }
    }

    /// Returns the example of a table.
    pub(super) fn entry(&self, table: &str) -> Option<&EntryExample> {
        self.entries.get(table)
    }

    /// Returns the example of a profile.
    pub(super) fn profile(&self, profile: &str) -> Option<&ProfileExample> {
        self.profiles.get(profile)
    }

    /// Returns the value that the examples have for this name, else a value that fits and looks like the field's content.
    pub(super) fn value(&self, name: &str, width: u16) -> String {
        let front = self.ports.and_then(|ports| Some((ports, ports.front(FrontPort(1))?)));
        if let Some((ports, port)) = front.filter(|_| is_port(name, width)) {
            return name_of(ports, port);
        }
        let fits = |value: &&u128| **value & !sluice_asic::alu::width_mask(width.into()) == 0;
        if let Some(value) = self.values.get(last(name)).filter(fits) {
            return show_value(*value, width, name);
        }
        let value = match width {
            32 => 0x0a00_0001,
            48 => 0x0200_0000_0001,
            128 => 0x2001_0db8 << 96 | 1,
            _ => 1,
        };
        show_value(value, width, name)
    }
}
