//! Sweeps: a contest file with the table `[sweep]` is a contest for each combination of its values.
//!
//! Keys of `[sweep]` are dotted paths of the contest file. Each part of a path is a key of a table; in a list of tables, such
//! as `program`, it is the `label`, `name` or index of one of them, or `*` for all. A value that is an empty list
//! takes the key away.

use super::file::{Contest, ContestError};
use serde_json::{Map, Value as Json};
use sluice_asic::names::nearest;
use sluice_asic::toml_mistakes::line_of;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// Most contests of a sweep.
const MOST_POINTS: usize = 10_000;

/// One contest of a sweep; a file without `[sweep]` has one.
#[derive(Clone, Debug)]
pub struct Point {
    /// The contest.
    pub contest: Contest,
    /// Key and value of each axis, in the order of the file; empty without a sweep.
    pub axes: Vec<(String, String)>,
    table: Table,
}

/// An axis: dotted path, byte in the file, values.
struct Axis {
    path: String,
    at: usize,
    values: Vec<Value>,
}

impl Point {
    /// Parses a contest file and returns the contest of every combination; the last axis varies fastest. `origin` is the
    /// file's name, for errors.
    ///
    /// # Errors
    /// If the text is not a contest, an axis has no values, a path leads nowhere, or a combination is not a contest.
    pub fn parse_all(origin: &str, text: &str) -> Result<Vec<Point>, ContestError> {
        let base = Contest::parse(origin, text)?;
        let wrong = |what| ContestError::Value { origin: origin.to_owned(), what };
        let mut table: Table = toml::from_str(text).map_err(|e| ContestError::toml(origin, text, e))?;
        let Some(swept) = table.remove("sweep") else {
            return Ok(vec![Point { contest: base, axes: Vec::new(), table }]);
        };
        let axes = axes(text, &swept).map_err(wrong)?;
        let count = axes.iter().try_fold(1, |n: usize, axis| n.checked_mul(axis.values.len()));
        if count.is_none_or(|count| count > MOST_POINTS) {
            return Err(wrong(format!(
                "[sweep] has more than {MOST_POINTS} combinations; leave out some values"
            )));
        }
        (0..count.unwrap_or(0)).map(|number| point(&base, &table, &axes, number).map_err(wrong)).collect()
    }

    /// Returns the text of a contest file in which these keys have other values. Keys are dotted paths, as those of `[sweep]`.
    ///
    /// # Errors
    /// If the text is not TOML, or a path leads nowhere.
    pub fn changed(text: &str, changes: &[(String, Value)]) -> Result<String, String> {
        let table: Table = toml::from_str(text).map_err(|e| e.message().to_owned())?;
        let mut root = Value::Table(table);
        for (path, value) in changes {
            let parts: Vec<&str> = path.split('.').collect();
            set(&mut root, &parts, value).map_err(|e| format!("{path}: {e}"))?;
        }
        toml::to_string(&root).map_err(|e| e.to_string())
    }

    /// Returns `KEY = VALUE` for each axis, separated by commas.
    #[must_use]
    pub fn title(&self) -> String {
        let pairs: Vec<String> = self.axes.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        pairs.join(", ")
    }

    /// Returns everything of the file that the run of a program with a seed depends on, with sorted keys. Titles, labels,
    /// expectations, other programs, other seeds and the way of judging are left out. Contents of the files that it names are
    /// not there.
    #[must_use]
    pub fn canonical(&self, program: usize, seed: u64) -> Json {
        let mut table = self.table.clone();
        for key in ["name", "id", "source", "expect", "seed", "seeds", "alone"] {
            table.remove(key);
        }
        if let Some(Value::Table(metrics)) = table.get_mut("metrics") {
            metrics.remove("size_bins");
        }
        let programs = table.remove("program");
        let own = programs.as_ref().and_then(Value::as_array).and_then(|list| list.get(program));
        let mut own = own.cloned().unwrap_or(Value::Table(Table::new()));
        own.as_table_mut().and_then(|own| own.remove("label"));
        table.insert("program".into(), own);
        let mut canonical = canonical(&Value::Table(table));
        canonical["seed"] = seed.into();
        canonical
    }
}

fn canonical(value: &Value) -> Json {
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

/// Returns the contest of combination `number`.
fn point(base: &Contest, table: &Table, axes: &[Axis], number: usize) -> Result<Point, String> {
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
    let Value::Table(table) = root else { return Err("a contest is a table".into()) };
    let place = || {
        let lines: Vec<String> = axes.iter().map(|axis| axis.at.to_string()).collect();
        let pairs: Vec<String> = named.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        format!("line {}: with {}", lines.join(", "), pairs.join(", "))
    };
    let text = toml::to_string(&table).map_err(|e| format!("{}: {e}", place()))?;
    let contest = Contest::parse(&base.origin, &text).map_err(|e| format!("{}: {}", place(), e.bare()))?;
    Ok(Point { contest: contest.with_places_of(base), axes: named, table })
}

/// Sets the value at a path; an empty list takes the key of a table away. Tables on the way are made if they are missing.
fn set(at: &mut Value, path: &[&str], value: &Value) -> Result<(), String> {
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

/// Returns the index of the element of a list that has this label, name or index.
fn place_in(list: &[Value], part: &str) -> Result<usize, String> {
    let of = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
    let label = |one: &Value| of(one, "label").or_else(|| of(one, "name")).or_else(|| of(one, "file"));
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

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
name = "n"
topology = "t"
[workload]
sizes = "solar"
load = 10
time = "1ms"
[hosts]
cable = "1us"
recovery = "selective"
[[program]]
name = "ecmp"
[[program]]
name = "conweave"
label = "cw"
params = { reply = 8 }
"#;

    fn points(sweep: &str) -> Result<Vec<Point>, String> {
        Point::parse_all("f.toml", &format!("{BASE}[sweep]\n{sweep}\n")).map_err(|e| e.to_string())
    }

    #[test]
    fn every_combination_is_a_contest() {
        let all = points("\"workload.load\" = [20, 30]\nprogram.cw.params.reply = [4, 5, 6]").unwrap();
        let titles: Vec<String> = all.iter().map(Point::title).collect();
        assert_eq!(titles[0], "workload.load = 20, program.cw.params.reply = 4");
        assert_eq!(titles[5], "workload.load = 30, program.cw.params.reply = 6");
        assert_eq!(all.len(), 6);
        for (number, point) in all.iter().enumerate() {
            let super::super::workload::Traffic::Poisson(poisson) = &point.contest.workload.list[0].traffic
            else {
                panic!("a Poisson workload")
            };
            assert_eq!(poisson.load, [20, 30][number / 3]);
            let reply = &point.contest.program[1].get_ref().params["reply"];
            assert_eq!(reply.as_integer(), Some([4, 5, 6][number % 3]));
        }
        let all = points("\"program.*.params.ports\" = [1]").unwrap();
        assert!(all[0].contest.program.iter().all(|p| p.get_ref().params.contains_key("ports")));
        let one = Point::parse_all("f.toml", BASE).unwrap();
        assert!(one.len() == 1 && one[0].axes.is_empty());
    }

    #[test]
    fn the_key_of_a_run_is_what_it_depends_on() {
        let all = points("\"workload.load\" = [20, 30]").unwrap();
        let key = |point: usize, program, seed| all[point].canonical(program, seed);
        assert_ne!(key(0, 0, 1), key(1, 0, 1));
        assert_ne!(key(0, 0, 1), key(0, 1, 1));
        assert_ne!(key(0, 0, 1), key(0, 0, 2));
        // A title, a label, expectations and the other program change nothing.
        let text =
            BASE.replace("\"n\"", "\"m\"").replace("label = \"cw\"", "label = \"x\"").replace("= 8", "= 9");
        let other = Point::parse_all("g.toml", &format!("expect = [\"1 == 1\"]\nseeds = 9\n{text}")).unwrap();
        let base = Point::parse_all("f.toml", BASE).unwrap();
        assert_eq!(other[0].canonical(0, 1), base[0].canonical(0, 1));
        assert_ne!(other[0].canonical(1, 1), base[0].canonical(1, 1));
    }

    #[test]
    fn a_text_can_be_changed_by_its_keys() {
        let changes =
            [("workload.load".to_owned(), Value::from(70)), ("program.cw.params.reply".to_owned(), 3.into())];
        let text = Point::changed(BASE, &changes).unwrap();
        let table: Table = toml::from_str(&text).unwrap();
        assert_eq!(table["workload"]["load"].as_integer(), Some(70));
        assert_eq!(table["program"][1]["params"]["reply"].as_integer(), Some(3));
        let error = Point::changed(BASE, &[("program.cx.params.reply".to_owned(), 3.into())]).unwrap_err();
        assert!(error.contains("program.cx.params.reply: there is no `cx`"), "{error}");
    }

    #[test]
    fn an_empty_list_takes_a_key_away() {
        let all = points("\"hosts.mtu\" = [[], 4096]\n\"program.cw.params\" = [[]]").unwrap();
        let mtu: Vec<u32> = all.iter().map(|point| point.contest.hosts.mtu()).collect();
        assert_eq!(mtu, [1_000, 4_096]);
        assert!(all[0].contest.program[1].get_ref().params.is_empty());
        let none = Value::Array(Vec::new());
        let text = Point::changed(BASE, &[("hosts.recovery".to_owned(), none.clone())]).unwrap();
        assert!(!text.contains("recovery"), "{text}");
        assert_eq!(
            Point::changed(BASE, &[("hosts.mtu".to_owned(), none)]).unwrap(),
            Point::changed(BASE, &[]).unwrap()
        );
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (sweep, said) in [
            ("\"workload.load\" = 5", "line 18: sweep.workload.load is not a list"),
            ("\"workload.load\" = []", "is not a list of values"),
            ("\"workload.laod\" = [5]", "workload.laod: is not a key of a workload; did you mean `load`?"),
            ("\"workload.load\" = [5, 0]", "workload.load: found 0, expected 1 to 100"),
            ("\"program.conwave.params.reply\" = [5]", "there is no `conwave` in the list"),
            ("\"program.7.params.reply\" = [5]", "index below 2"),
            ("\"topology.x\" = [5]", "`x` is a key of a value that is not a table"),
            ("", "[sweep] has no key"),
        ] {
            let error = points(sweep).unwrap_err();
            assert!(error.starts_with("f.toml") && error.contains(said), "{sweep}: {error}");
        }
        let many = (0..101).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let error = points(&format!("\"a\" = [{many}]\n\"b\" = [{many}]")).unwrap_err();
        assert!(error.contains("more than 10000 combinations"), "{error}");
    }
}
