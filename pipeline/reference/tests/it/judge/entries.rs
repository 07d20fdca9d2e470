//! The entries of a lowered program as those of the tree.

use num_bigint::BigInt;
use sluice_control as control;
use sluice_control::ControlState;
use sluice_ir::{self as ir, KeyValue, Program};
use sluice_p4::elaborate::{ActionId, TableId};
use sluice_reference::{ActionCall, Entry, Match, Reference, TableState, Then, Value};

/// Gives the tree the entries, members and parameters of a lowered program. An error names what has no counterpart.
pub(super) fn convert(program: &Program, from: &ControlState, to: &mut Reference<'_>) -> Result<(), String> {
    for (table, state) in from.tables.iter() {
        let data = &program.tables[table];
        let changed = state.default != data.default;
        let entries: Vec<_> = state.entries().map(|(_, entry)| entry).collect();
        if !data.entries.is_empty() || entries.is_empty() && !changed {
            continue;
        }
        let id = to.table_named(&data.name).map_err(|error| error.to_string())?;
        let mut made = TableState::default();
        for entry in entries {
            made.entries.push(convert_entry(program, data, entry, to, id)?);
        }
        if changed {
            made.default = Some(call(program, data, &state.default, to, id)?);
        }
        to.control.tables.insert(id, made);
    }
    members(program, from, to)?;
    value_sets(program, from, to)?;
    for change in from.arrays.changes() {
        if let control::Change::Param(register, position, value) = change {
            let name = &program.registers[register].params[usize::from(position)].name;
            let object = to.object_named(name).map_err(|error| error.to_string())?;
            to.set_register(object, 0, Value::number(value));
        }
    }
    match from.port_metadata.is_empty() {
        true => Ok(()),
        false => Err("port metadata".to_owned()),
    }
}

fn convert_entry(
    program: &Program,
    data: &ir::TableData,
    entry: &control::Entry,
    to: &mut Reference<'_>,
    id: TableId,
) -> Result<Entry, String> {
    let mut columns =
        data.keys.iter().zip(&entry.key).map(|(key, value)| (u32::from(key.width(program)), value));
    let mut keys = Vec::new();
    for width in to.key_widths(id) {
        let (mut bits, mut parts) = (0, Vec::new());
        while bits < width {
            let Some((part, value)) = columns.next() else {
                return Err(format!("the keys of table `{}`", data.name));
            };
            bits += part;
            parts.push((part, value));
        }
        if bits != width {
            return Err(format!("the widths of the keys of table `{}`", data.name));
        }
        keys.push(joined(&parts).ok_or_else(|| format!("a split key of table `{}`", data.name))?);
    }
    if columns.next().is_some() {
        return Err(format!("more keys of table `{}`", data.name));
    }
    let then = match &entry.then {
        control::Then::Call(by) => Then::Call(call(program, data, by, to, id)?),
        control::Then::Member(member) => Then::Member(*member),
        control::Then::Group(group) => Then::Group(*group),
    };
    Ok(Entry { keys, priority: entry.priority, then })
}

/// Returns the condition on a key whose parts are columns, the most significant first.
fn joined(parts: &[(u32, &KeyValue)]) -> Option<Match> {
    let big = |value: &u128| BigInt::from(*value);
    if let [(_, only)] = parts {
        return Some(match only {
            KeyValue::Exact(value) => Match::Exact(big(value)),
            KeyValue::Ternary { value, mask } => Match::Ternary { value: big(value), mask: big(mask) },
            KeyValue::Lpm { value, len } => Match::Lpm { value: big(value), length: u32::from(*len) },
            KeyValue::Range { lo, hi } => Match::Range { low: big(lo), high: big(hi) },
        });
    }
    let (mut all, mut under) = (BigInt::from(0), BigInt::from(0));
    for (width, part) in parts {
        let full = (BigInt::from(1) << *width) - 1;
        let (value, mask) = match part {
            KeyValue::Exact(value) => (big(value), full),
            KeyValue::Ternary { value, mask } => (big(value), big(mask)),
            _ => return None,
        };
        all = (all << *width) + value;
        under = (under << *width) + mask;
    }
    Some(Match::Ternary { value: all, mask: under })
}

fn call(
    program: &Program,
    data: &ir::TableData,
    by: &ir::ActionCall,
    to: &mut Reference<'_>,
    id: TableId,
) -> Result<ActionCall, String> {
    let action = action(program, data, by.action, to, id)
        .ok_or_else(|| format!("action `{}` of table `{}`", program.actions[by.action].name, data.name))?;
    let params = program.actions[by.action].params.iter().map(|param| u32::from(param.width));
    let mut values = params.zip(&by.args);
    let mut args = Vec::new();
    for width in to.arg_widths(action) {
        let (mut bits, mut arg) = (0, BigInt::from(0));
        while bits < width {
            let Some((part, value)) = values.next() else {
                return Err(format!("the arguments of action `{}`", program.actions[by.action].name));
            };
            bits += part;
            arg = (arg << part) + *value;
        }
        args.push(arg);
    }
    Ok(ActionCall { action, args })
}

/// Returns the action of the tree that a lowered action was. A table has a lowered action of its own for each of its actions, whose
/// name may end with a number.
fn action(
    program: &Program,
    data: &ir::TableData,
    lowered: ir::Action,
    to: &Reference<'_>,
    id: TableId,
) -> Option<ActionId> {
    let pipe = to.pipe();
    let listed = &pipe.tables[id].actions;
    if listed.len() == data.actions.len() {
        let at = data.actions.iter().position(|action| *action == lowered);
        if let Some(at) = at {
            return Some(listed[at].0);
        }
    }
    let name = program.actions[lowered].name.as_str();
    let named = |name: &str| {
        let is = |full: &str| full == name || full.ends_with(&format!(".{name}"));
        listed.iter().find(|(action, _)| is(&pipe.actions[*action].name)).map(|(action, _)| *action)
    };
    named(name).or_else(|| {
        let (stem, number) = name.rsplit_once('_')?;
        number.parse::<u32>().ok()?;
        named(stem)
    })
}

fn members(program: &Program, from: &ControlState, to: &mut Reference<'_>) -> Result<(), String> {
    for (profile, state) in from.profiles.iter() {
        let Some(data) = program.tables.values().find(|data| data.profile == Some(profile)) else { continue };
        if state.members.is_empty() {
            continue;
        }
        let id = to.table_named(&data.name).map_err(|error| error.to_string())?;
        let Some(object) = to.profile_of(id) else {
            return Err(format!("the profile of table `{}`", data.name));
        };
        for (member, by) in &state.members {
            let call = call(program, data, by, to, id)?;
            to.control.members.insert((object, *member), call);
        }
    }
    Ok(())
}

fn value_sets(program: &Program, from: &ControlState, to: &mut Reference<'_>) -> Result<(), String> {
    for (set, members) in from.value_sets.iter() {
        let name = &program.value_sets[set].name;
        let mut sets = to.pipe().value_sets.iter();
        let found = sets.find(|(_, data)| data.name.ends_with(name.as_str()));
        let Some((id, _)) = found else {
            if members.is_empty() {
                continue;
            }
            return Err(format!("value set `{name}`"));
        };
        let members = members.iter().map(|member| {
            member.iter().map(|(value, mask)| (BigInt::from(*value), BigInt::from(*mask))).collect()
        });
        let members = members.collect();
        to.control.value_sets.insert(id, members);
    }
    Ok(())
}
