//! Sweeps: a contest file with the table `[sweep]` is a contest for each combination of its values.

use super::contest::{Contest, ContestError};
use crate::language::grid::{Combination, canonical, combinations, set};
use serde_json::Value as Json;
use sluice_asic::toml_reader::read;
use toml::{Table, Value};

/// One contest of a sweep; a file without `[sweep]` has one.
#[derive(Clone, Debug)]
pub struct Point {
    /// The contest.
    pub contest: Contest,
    /// Key and value of each axis, in the order of the file; empty without a sweep.
    pub axes: Vec<(String, String)>,
    table: Table,
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
        let mut table: Table = read(text).map_err(|mistake| ContestError::toml(origin, text, &mistake))?;
        let Some(swept) = table.remove("sweep") else {
            return Ok(vec![Point { contest: base, axes: Vec::new(), table }]);
        };
        let combinations = combinations(text, &table, &swept).map_err(wrong)?;
        combinations.into_iter().map(|combination| point(&base, combination).map_err(wrong)).collect()
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

/// Returns the contest of a combination.
fn point(base: &Contest, combination: Combination) -> Result<Point, String> {
    let Combination { table, axes, place } = combination;
    let text = toml::to_string(&table).map_err(|e| format!("{place}: {e}"))?;
    let contest = Contest::parse(&base.origin, &text).map_err(|e| format!("{place}: {}", e.bare()))?;
    Ok(Point { contest: contest.with_places_of(base), axes, table })
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
            let crate::contest::workload::Traffic::Poisson(poisson) = &point.contest.workload.list[0].traffic
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
