//! Runs of scenario files one by one: over a grid, with seeds, on each profile.
//!
//! Two keys may stand in such a file beside those of [`ScenarioFile`]: the table `[sweep]`, a grid over any key, and `seeds`, a
//! number of seeds from 1 on or a list, each of which becomes the seed of all devices.

use super::lab::{HOST, Lab, Profiles};
use super::outcome::Outcome;
use crate::buffer::file::scenario::{ScenarioError, ScenarioFile};
use crate::contest::SeedsSetting;
use crate::language::grid::{Combination, canonical, combinations};
use serde_json::{Value as Json, json};
use toml::{Table, Value};

/// A scenario file of one combination of a grid, with one seed.
#[derive(Clone, Debug)]
pub struct ScenarioPoint {
    file: ScenarioFile,
    /// Key and value of each axis, in the order of the file; empty without a grid.
    pub axes: Vec<(String, String)>,
    table: Table,
    /// True if lines of `file` are those of the text that a user wrote.
    has_lines: bool,
}

/// One run: a scenario on a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioRun {
    index: usize,
    /// Id of the scenario.
    pub id: String,
    /// The buffer profile; `host` for a scenario about a host.
    pub profile: String,
    /// Seed of the device; `None` for a scenario about a host, which has no random numbers.
    pub seed: Option<u64>,
}

impl ScenarioPoint {
    /// Parses a file and returns a point for each combination and seed; seeds vary fastest. `origin` is the file's name, for
    /// errors.
    ///
    /// # Errors
    /// If the text is not a scenario file, an axis has no values or leads nowhere, or `seeds` is wrong or for scenarios about
    /// hosts.
    pub fn parse_all(origin: &str, text: &str) -> Result<Vec<ScenarioPoint>, ScenarioError> {
        let wrong = |message| ScenarioError { origin: origin.to_owned(), line: 1, message };
        // An error of TOML has its place from the parser of scenarios.
        let Ok(mut table) = toml::from_str::<Table>(text) else {
            return ScenarioFile::parse(origin, text).map(|_| Vec::new());
        };
        let (swept, seeds) = (table.remove("sweep"), table.remove("seeds"));
        if swept.is_none() && seeds.is_none() {
            let file = ScenarioFile::parse(origin, text)?;
            return Ok(vec![ScenarioPoint { file, axes: Vec::new(), table, has_lines: true }]);
        }
        let one = || vec![Combination { table: table.clone(), axes: Vec::new(), place: "seeds".to_owned() }];
        let all = swept.as_ref().map_or_else(|| Ok(one()), |swept| combinations(text, &table, swept));
        let seeds = seeds.map(seeds_of).transpose().map_err(wrong)?;
        let mut points = Vec::new();
        for combination in all.map_err(wrong)? {
            for seed in
                seeds.as_ref().map_or_else(|| vec![None], |all| all.iter().map(|s| Some(*s)).collect())
            {
                points.push(point(origin, &combination, seed)?);
            }
        }
        Ok(points)
    }

    /// Returns the runs: scenarios in the order of the file, each on its profiles. Rows that are not run are left out.
    #[must_use]
    pub fn runs(&self) -> Vec<ScenarioRun> {
        let scenarios = self.file.scenario.iter().map(|scenario| scenario.get_ref()).enumerate();
        let runs = scenarios.flat_map(|(index, scenario)| {
            let setting = scenario.device.over(&self.file.device);
            let run =
                move |profile: String, seed| ScenarioRun { index, id: scenario.id.clone(), profile, seed };
            match scenario.is_of_host() {
                true => vec![run(HOST.to_owned(), None)],
                false => {
                    let seed = Some(setting.seed.unwrap_or(1));
                    // A scenario without a profile has a run, whose error says so.
                    let names = setting.profiles.filter(|names| !names.is_empty());
                    names
                        .unwrap_or_else(|| vec![String::new()])
                        .into_iter()
                        .map(|name| run(name, seed))
                        .collect()
                }
            }
        });
        runs.collect()
    }

    /// Returns everything of the file that a run depends on, with sorted keys. Contents of the files that it names are not there.
    #[must_use]
    pub fn canonical(&self, run: &ScenarioRun) -> Json {
        let mut device = self.table.get("device").cloned().unwrap_or(Value::Table(Table::new()));
        let list = self.table.get("scenario").and_then(Value::as_array);
        let mut own =
            list.and_then(|list| list.get(run.index)).cloned().unwrap_or(Value::Table(Table::new()));
        for key in ["source", "title"] {
            own.as_table_mut().and_then(|own| own.remove(key));
        }
        for device in [Some(&mut device), own.get_mut("device")].into_iter().flatten() {
            device.as_table_mut().and_then(|device| device.remove("profiles"));
        }
        json!({ "device": canonical(&device), "scenario": canonical(&own), "profile": run.profile })
    }

    /// Does a run. Checks have lines of the file if no key of it was changed for the point, otherwise 0.
    pub fn run(&self, run: &ScenarioRun, profiles: &Profiles<'_>) -> Option<Outcome> {
        let scenario = self.file.scenario.get(run.index)?.get_ref();
        let mut outcome = Lab::default().scenario(&self.file, scenario, &run.profile, profiles);
        if run.profile.is_empty() {
            outcome.error = Some("no profile; expected `device = { profiles = [..] }`".to_owned());
        }
        if !self.has_lines {
            outcome.checks.iter_mut().for_each(|check| check.line = 0);
        }
        Some(outcome)
    }
}

/// Returns the list of seeds.
fn seeds_of(value: Value) -> Result<Vec<u64>, String> {
    let setting: SeedsSetting =
        value.try_into().map_err(|e: toml::de::Error| format!("seeds: {}", e.message()))?;
    setting.list().map_err(|e| format!("seeds: {e}"))
}

/// Returns the file of a combination with a seed.
fn point(origin: &str, combination: &Combination, seed: Option<u64>) -> Result<ScenarioPoint, ScenarioError> {
    let Combination { table, axes, place } = combination;
    let wrong = |message: String| ScenarioError {
        origin: origin.to_owned(),
        line: 1,
        message: format!("{place}: {message}"),
    };
    let mut table = table.clone();
    if let Some(seed) = seed {
        set_seed(&mut table, seed).map_err(wrong)?;
    }
    let text = toml::to_string(&table).map_err(|e| wrong(e.to_string()))?;
    let file = ScenarioFile::parse(origin, &text).map_err(|e| wrong(e.message))?;
    if let Some(of_host) =
        file.scenario.iter().map(|one| one.get_ref()).find(|one| seed.is_some() && one.is_of_host())
    {
        let id = &of_host.id;
        return Err(wrong(format!(
            "scenario `{id}` is about a host, which has no random numbers; leave out the seeds"
        )));
    }
    Ok(ScenarioPoint { file, axes: axes.clone(), table, has_lines: false })
}

/// Gives all devices of a file a seed, also those of scenarios and cases that have their own.
fn set_seed(table: &mut Table, seed: u64) -> Result<(), String> {
    let seed = i64::try_from(seed).map_err(|_| format!("seed {seed} is too large for a file"))?;
    let device = table.entry("device").or_insert_with(|| Value::Table(Table::new()));
    device.as_table_mut().map(|device| device.insert("seed".to_owned(), seed.into()));
    let tables = |value: Option<&mut Value>, with: &mut dyn FnMut(&mut Table)| {
        value
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
            .filter_map(Value::as_table_mut)
            .for_each(with);
    };
    let forget = |one: &mut Table| {
        one.get_mut("device").and_then(Value::as_table_mut).and_then(|device| device.remove("seed"));
    };
    tables(table.get_mut("scenario"), &mut |scenario: &mut Table| {
        forget(scenario);
        tables(scenario.get_mut("case"), &mut |case: &mut Table| forget(case));
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;

    const TEXT: &str = r#"
device = { ports = 4 }
[[scenario]]
id = "8.1"
source = "s"
title = "t"
device = { profiles = ["a", "th"], seed = 7 }
let = { n = 1 }
steps = [
  { block = 1 },
  { send = { from = 0, to = 1, size = 60, count = "n" } },
  { save = { name = "held", value = "total" } },
  { expect = { what = "total", is = 2 } },
]
"#;
    const HOST: &str = r#"
[[scenario]]
id = "cut"
source = "s"
title = "t"
host = { reaction-point = { form = "published", line = "100Gbps" } }
steps = [{ notify = 1 }, { expect = { what = "rp.rate", is = 50000000 } }]
"#;

    fn points(more: &str) -> Result<Vec<ScenarioPoint>, String> {
        ScenarioPoint::parse_all("f.toml", &format!("{more}{TEXT}")).map_err(|e| e.to_string())
    }

    fn profile(name: &str) -> Result<String, String> {
        shipped::profile(name).map(str::to_owned).ok_or_else(|| name.to_owned())
    }

    #[test]
    fn every_combination_and_seed_is_a_point() {
        let all = points("seeds = [3, 4]\nsweep.scenario.8_1.let.n = [2, 5]\n").unwrap();
        let axes: Vec<&str> = all.iter().map(|point| point.axes[0].1.as_str()).collect();
        assert_eq!(axes, ["2", "2", "5", "5"]);
        let runs: Vec<ScenarioRun> = all.iter().flat_map(ScenarioPoint::runs).collect();
        let seeds: Vec<Option<u64>> = runs.iter().map(|run| run.seed).collect();
        assert_eq!(seeds, [3, 3, 4, 4, 3, 3, 4, 4].map(Some), "also of a scenario that has a seed");
        let outcome = all[2].run(&all[2].runs()[0], &profile).unwrap();
        // Five frames of a cell each are held; two were expected. The lines of the changed text are not the file's.
        assert_eq!(outcome.saved["held"], 5);
        assert_eq!((outcome.passed(), outcome.checks[0].line), (Some(false), 0));
        let plain = points("").unwrap();
        let runs = plain[0].runs();
        assert_eq!((plain.len(), runs[1].profile.as_str(), runs[1].seed), (1, "th", Some(7)));
        assert_eq!(plain[0].run(&runs[0], &profile).unwrap().checks[0].line, 13);
    }

    #[test]
    fn the_key_of_a_run_is_what_it_depends_on() {
        let key = |more: &str, run: usize| {
            let points = points(more).unwrap();
            points[0].canonical(&points[0].runs()[run])
        };
        assert_ne!(key("", 0), key("", 1));
        assert_ne!(key("", 0), key("seeds = 1\n", 0));
        // Titles, other profiles and other scenarios change nothing.
        let other = TEXT.replace("\"t\"", "\"u\"").replace(", \"th\"", "") + HOST;
        let other = ScenarioPoint::parse_all("g.toml", &other).unwrap();
        assert_eq!(other[0].canonical(&other[0].runs()[0]), key("", 0));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (more, said) in [
            ("seeds = 0\n", "f.toml:1: seeds: seeds has 0 seeds; expected 1 to 1000"),
            ("seeds = \"x\"\n", "expected a number of seeds, or a list"),
            ("sweep.device.spede = [1]\n", "with device.spede = 1: unknown key `spede`"),
            (
                "sweep.scenario.9.let.n = [1]\n",
                "there is no `9` in the list; expected 8.1, `*`, or an index below 1",
            ),
        ] {
            let error = points(more).unwrap_err();
            assert!(error.starts_with("f.toml:") && error.contains(said), "{error}");
        }
        let error = ScenarioPoint::parse_all("f.toml", &format!("seeds = 2\n{HOST}")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "f.toml:1: seeds: scenario `cut` is about a host, which has no random numbers; leave out the seeds"
        );
        assert_eq!(ScenarioPoint::parse_all("f.toml", HOST).unwrap()[0].runs()[0].seed, None);
    }
}
