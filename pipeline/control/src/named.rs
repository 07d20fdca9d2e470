//! Entries, members and default actions by names, as packet tests write them.
//!
//! A name may be any end of a name that no other has. Ends of whole parts come first: `t1` is `Ingress.t1`, and `Ingress.test1` if
//! there is no such table. Values are cut to the bits that keys compare.

use super::resolve::{Problem, Resolver, arg_count};
use super::{ControlOp, Then};
use sluice_asic::alu::width_mask;
use sluice_ir::{Action, ActionCall, KeyValue, Program, TableData};
use thiserror::Error;

/// An action by name, with its arguments: by name, or by position where a name is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCall<'a> {
    /// Name of the action.
    pub action: &'a str,
    /// Name of each parameter, if it is given, and its value as text.
    pub args: Vec<(Option<&'a str>, &'a str)>,
}

/// An entry whose parts have names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEntry<'a> {
    /// Name of the table.
    pub table: &'a str,
    /// Names of keys and their values, as [`parse_match`](super::parse_match) reads them. Keys that are not exact may be left out.
    pub keys: Vec<(&'a str, &'a str)>,
    /// Priority among entries of a table with a ternary or range key, the lowest first. Other tables ignore it.
    pub priority: u32,
    /// The action.
    pub call: NamedCall<'a>,
}

/// A name or value that does not suit the program.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{text}")]
pub struct NameError {
    /// What was found and what is expected.
    pub text: String,
    /// How to mend it; empty if the text says it.
    pub help: String,
}

impl From<Problem> for NameError {
    fn from(Problem { text, help }: Problem) -> NameError {
        NameError { text, help }
    }
}

/// Returns the operation that adds an entry.
///
/// # Errors
/// If the program has no such table, key, action or parameter, or if a value cannot be read.
pub fn insert(program: &Program, entry: &NamedEntry<'_>) -> Result<ControlOp, NameError> {
    let resolver = resolver(program);
    let (table, data) = resolver.table(entry.table)?;
    let key = columns(resolver, data, &entry.keys)?;
    let call = call(resolver, &entry.call, &data.actions)?;
    let priority = if super::check::has_priority(data) { entry.priority } else { 0 };
    Ok(ControlOp::InsertEntry { table, key, priority, then: Then::Call(call) })
}

/// Returns the operation that adds a member to a value set. Fields that are left out match everything.
///
/// # Errors
/// If the program has no such value set or field, or if a value cannot be read.
pub fn insert_value(program: &Program, set: &str, keys: &[(&str, &str)]) -> Result<ControlOp, NameError> {
    let resolver = resolver(program);
    let table = program.tables.values().any(|t| t.name == set || t.name.ends_with(&format!(".{set}")));
    let set = resolver.value_set(set).map_err(|unknown| match table {
        true => Problem::new("the action is missing"),
        false => unknown,
    })?;
    let fields = &program.value_sets[set].fields;
    let mut value = vec![(0, 0); fields.len()];
    for (name, text) in keys {
        let at = resolver.set_field(set, name)?;
        value[at] = resolver.set_value(&fields[at], text)?;
    }
    Ok(ControlOp::InsertValue { set, value })
}

/// Returns the operation that sets the default action of a table.
///
/// # Errors
/// As [`insert`].
pub fn set_default(program: &Program, table: &str, by: &NamedCall<'_>) -> Result<ControlOp, NameError> {
    let resolver = resolver(program);
    let (table, _) = resolver.table(table)?;
    Ok(ControlOp::SetDefault { table, call: call(resolver, by, &resolver.default_actions(table))? })
}

/// Returns the operation that sets a member of an action profile.
///
/// # Errors
/// As [`insert`].
pub fn set_member(
    program: &Program,
    profile: &str,
    member: u32,
    by: &NamedCall<'_>,
) -> Result<ControlOp, NameError> {
    let resolver = resolver(program);
    let profile = resolver.profile(profile)?;
    Ok(ControlOp::SetMember {
        profile,
        member,
        call: call(resolver, by, &resolver.profile_actions(profile))?,
    })
}

/// Returns the register of a name.
///
/// # Errors
/// If the program has none.
pub fn register(program: &Program, name: &str) -> Result<sluice_ir::Register, NameError> {
    Ok(resolver(program).register(name)?)
}

/// Returns the counter of a name.
///
/// # Errors
/// If the program has none.
pub fn counter(program: &Program, name: &str) -> Result<sluice_ir::Counter, NameError> {
    Ok(resolver(program).counter(name)?)
}

fn resolver(program: &Program) -> Resolver<'_> {
    Resolver { program, ports: None, loose: true }
}

fn columns(
    resolver: Resolver<'_>,
    data: &TableData,
    keys: &[(&str, &str)],
) -> Result<Vec<KeyValue>, Problem> {
    let mut columns: Vec<Option<KeyValue>> =
        (0..data.keys.len()).map(|column| resolver.absent_key(data, column)).collect();
    for (name, text) in keys {
        let slices = resolver.slices(data, name);
        match resolver.column(data, name) {
            Ok(column) => {
                let value = resolver.key_value(data, column, text)?;
                columns[column] = Some(compared(resolver.program, data, column, value));
            }
            Err(unknown) if slices.is_empty() => return Err(unknown),
            Err(_) => {
                for column in slices {
                    let value = resolver.slice_value(data, column, text)?;
                    columns[column] = Some(compared(resolver.program, data, column, value));
                }
            }
        }
    }
    let missing = columns.iter().position(Option::is_none).map(|at| data.keys[at].name(resolver.program));
    match missing {
        Some(name) => Err(Problem::new(format!(
            "this entry of table `{}` has no value for key `{name}`, which is matched exactly",
            data.name
        ))),
        None => Ok(columns.into_iter().flatten().collect()),
    }
}

/// Returns a value without the bits that neither the key nor the value's own mask compares. Bits above the key stay: they are a
/// mistake.
fn compared(program: &Program, data: &TableData, column: usize, value: KeyValue) -> KeyValue {
    let (key, width) = (&data.keys[column], data.keys[column].width(program));
    let above = !width_mask(width.into());
    let bits = key.compared(program) | above;
    match value {
        KeyValue::Exact(value) => KeyValue::Exact(value & bits),
        KeyValue::Ternary { value, mask } => {
            KeyValue::Ternary { value: value & (mask & bits | above), mask: mask & bits }
        }
        KeyValue::Lpm { value, len } if len <= width => {
            KeyValue::Lpm { value: value & !width_mask((width - len).into()), len }
        }
        KeyValue::Lpm { .. } | KeyValue::Range { .. } => value,
    }
}

fn call(resolver: Resolver<'_>, by: &NamedCall<'_>, offered: &[Action]) -> Result<ActionCall, Problem> {
    let (action, data) = resolver.action(by.action, offered)?;
    if by.args.len() != data.params.len() {
        return Err(arg_count(data, by.args.len()));
    }
    let names = || data.params.iter().map(|p| p.name.as_str());
    let mut args: Vec<Option<u128>> = vec![None; data.params.len()];
    for (position, (name, text)) in by.args.iter().enumerate() {
        let at = match name {
            None => position,
            Some(name) => names().position(|known| known == *name).ok_or_else(|| {
                Problem::unknown(&format!("argument of action `{}` named", data.name), name, names())
            })?,
        };
        args[at] = Some(resolver.arg(data, at, text)?);
    }
    let missing = args.iter().position(Option::is_none).and_then(|at| names().nth(at));
    match missing {
        Some(name) => Err(Problem::new(format!("argument `{name}` of action `{}` is missing", data.name))),
        None => Ok(ActionCall { action, args: args.into_iter().flatten().collect() }),
    }
}
