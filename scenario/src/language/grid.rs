//! Grids: a TOML file with the table `[sweep]` stands for one file for each combination of its values.
//!
//! Keys of `[sweep]` are dotted paths of the file. Each part of a path is a key of a table; in a list of tables, such as
//! `program` or `scenario`, it is the `label`, `name`, `file`, `id` or index of one of them, or `*` for all. A value that is an
//! empty list takes the key away.

use serde_json::{Map, Value as Json};
use sluice_asic::limits;
use sluice_asic::names::nearest;
use sluice_asic::toml_reader::line_of;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// An axis: dotted path, line in the file, values.
struct Axis {
    path: String,
    at: usize,
    values: Vec<Value>,
}

/// One combination of a grid.
pub(crate) struct Combination {
    /// The file with the values of the combination.
    pub(crate) table: Table,
    /// Key and value of each axis, in the order of the file.
    pub(crate) axes: Vec<(String, String)>,
    /// Lines and values of the axes, for errors.
    pub(crate) place: String,
}

/// Returns the combinations of a file with this text and this table, whose key `sweep` was `swept`; the last axis varies fastest.
pub(crate) fn combinations(text: &str, table: &Table, swept: &Value) -> Result<Vec<Combination>, String> {
    let axes = axes(text, swept)?;
    let count = axes.iter().try_fold(1, |n: usize, axis| n.checked_mul(axis.values.len()));
    let limit = &limits::SWEEP_RUNS;
    if count.is_none_or(|count| limit.is_below(count)) {
        return Err(format!(
            "[sweep] has more than {} combinations; leave out some values, or {}",
            limit.get(),
            limit.advice()
        ));
    }
    (0..count.unwrap_or(0)).map(|number| combination(table, &axes, number)).collect()
}

/// Returns the axes in the order of the file.
fn axes(text: &str, swept: &Value) -> Result<Vec<Axis>, String> {
    let whole = DeTable::parse(text).map_err(|e| e.message().to_owned())?;
    let mut places = Vec::new();
    if let Some(DeValue::Table(table)) = whole.get_ref().get("sweep").map(Spanned::get_ref) {
        places_of(table, "", &mut places);
    }
    places.sort_by_key(|(_, at)| *at);
    let line = |at: usize| line_of(text, at);
    let mut axes = Vec::new();
    for (keys, at) in places {
        let found = keys.iter().try_fold(swept, |value, key| value.as_table()?.get(key));
        let path = keys.join(".");
        let values = found.and_then(Value::as_array).filter(|values| !values.is_empty());
        let values = values.ok_or_else(|| {
            format!(
                "line {}: sweep.{path} is not a list of values; expected a list such as [30, 50, 80]",
                line(at)
            )
        })?;
        if path == "name" || path.split('.').next() == Some("sweep") {
            return Err(format!("line {}: sweep.{path}: this key cannot vary", line(at)));
        }
        axes.push(Axis { path, at: line(at), values: values.clone() });
    }
    if axes.is_empty() {
        return Err("[sweep] has no key; expected a path of the file with a list, such as \"workload.load\" = [30, 50]".into());
    }
    Ok(axes)
}

/// Collects the keys that lead to each value that is not a table, and the byte of the value.
fn places_of(table: &DeTable<'_>, before: &str, into: &mut Vec<(Vec<String>, usize)>) {
    for (key, value) in table {
        let key = key.get_ref().as_ref();
        let path = if before.is_empty() { key.to_owned() } else { format!("{before}\0{key}") };
        match value.get_ref() {
            DeValue::Table(inner) => places_of(inner, &path, into),
            _ => into.push((path.split('\0').map(str::to_owned).collect(), value.span().start)),
        }
    }
}

/// Returns combination `number`.
fn combination(table: &Table, axes: &[Axis], number: usize) -> Result<Combination, String> {
    let mut root = Value::Table(table.clone());
    let (mut rest, mut chosen) = (number, Vec::new());
    for axis in axes.iter().rev() {
        chosen.push(axis.values[rest % axis.values.len()].clone());
        rest /= axis.values.len();
    }
    chosen.reverse();
    let mut named = Vec::with_capacity(axes.len());
    for (axis, value) in axes.iter().zip(chosen) {
        let parts: Vec<&str> = axis.path.split('.').collect();
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        set(&mut root, &parts, &value).map_err(|e| format!("line {}: sweep.{}: {e}", axis.at, axis.path))?;
        named.push((axis.path.clone(), text));
    }
    let Value::Table(table) = root else { return Err("a file is a table".into()) };
    let lines: Vec<String> = axes.iter().map(|axis| axis.at.to_string()).collect();
    let pairs: Vec<String> = named.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let place = format!("line {}: with {}", lines.join(", "), pairs.join(", "));
    Ok(Combination { table, axes: named, place })
}

/// Sets the value at a path; an empty list takes the key of a table away. Tables on the way are made if they are missing.
pub(crate) fn set(at: &mut Value, path: &[&str], value: &Value) -> Result<(), String> {
    let Some((part, rest)) = path.split_first() else {
        *at = value.clone();
        return Ok(());
    };
    let unset = rest.is_empty() && value.as_array().is_some_and(Vec::is_empty);
    match at {
        Value::Table(table) if unset => {
            table.remove(*part);
            Ok(())
        }
        Value::Table(table) => {
            let inner = table.entry((*part).to_owned()).or_insert_with(|| Value::Table(Table::new()));
            set(inner, rest, value)
        }
        Value::Array(list) if *part == "*" => list.iter_mut().try_for_each(|one| set(one, rest, value)),
        Value::Array(list) => {
            let place = place_in(list, part)?;
            set(&mut list[place], rest, value)
        }
        _ => Err(format!("`{part}` is a key of a value that is not a table")),
    }
}

/// Returns the index of the element of a list that has this label, name, file, id or index.
fn place_in(list: &[Value], part: &str) -> Result<usize, String> {
    let of = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
    let label = |one: &Value| ["label", "name", "file", "id"].iter().find_map(|key| of(one, key));
    let names: Vec<Option<String>> = list.iter().map(label).collect();
    let letters = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let named =
        names.iter().position(|name| name.as_deref().is_some_and(|name| letters(name) == letters(part)));
    let index = || part.parse::<usize>().ok().filter(|index| *index < list.len());
    named.or_else(index).ok_or_else(|| {
        let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        let near = nearest(part, known.iter().copied())
            .map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!(
            "there is no `{part}` in the list; {near}expected {}, `*`, or an index below {}",
            known.join(", "),
            list.len()
        )
    })
}

/// Returns a value as JSON with sorted keys.
pub(crate) fn canonical(value: &Value) -> Json {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        // Texts keep all digits of a number.
        Value::Float(_) | Value::Datetime(_) => value.to_string().into(),
        Value::Array(list) => list.iter().map(canonical).collect(),
        // JSON's maps are sorted by key.
        Value::Table(table) => Json::Object(
            table.iter().map(|(key, value)| (key.clone(), canonical(value))).collect::<Map<_, _>>(),
        ),
    }
}
