//! The contests of an experiment at a scale, with the programs of a user as rivals.

use crate::experiment::{Experiment, ExperimentError};
use crate::shipped;
use sluice_scenario::contest::Point;
use std::fmt;
use std::str::FromStr;

/// How large the runs of an experiment are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// All experiments together take minutes.
    #[default]
    Quick,
    /// As long as in the paper, where that is possible; hours.
    Full,
}

impl Scale {
    /// Both scales.
    pub const ALL: [Scale; 2] = [Scale::Quick, Scale::Full];

    /// Returns the name of the scale.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scale::Quick => "quick",
            Scale::Full => "full",
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        let found = Scale::ALL.into_iter().find(|scale| scale.name() == text);
        found.ok_or_else(|| "expected quick or full".to_owned())
    }
}

/// A program of a user that runs beside those of the papers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// File of the program, relative to the current folder, or name of a shipped program.
    pub program: String,
    /// Label in results: letters, digits and `_`.
    pub label: String,
}

impl Rival {
    /// Returns the rival of a file or name; its label is the file's name without its ending.
    #[must_use]
    pub fn new(program: &str) -> Rival {
        let stem = program.rsplit('/').next().unwrap_or_default();
        let stem = stem.trim_end_matches(".sluice").trim_end_matches(".p4");
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        Rival { program: program.to_owned(), label: stem.chars().map(letter).collect() }
    }

    fn table(&self) -> toml::Value {
        let key =
            if self.program.ends_with(".sluice") || self.program.ends_with(".p4") { "file" } else { "name" };
        let pairs = [(key, &self.program), ("label", &self.label)];
        toml::Value::Table(
            pairs.into_iter().map(|(key, value)| (key.to_owned(), value.clone().into())).collect(),
        )
    }
}

/// A contest of an experiment, ready to run.
#[derive(Clone, Debug)]
pub struct ScaledContest {
    /// Name of the part.
    pub part: String,
    /// Name of the contest's file, for errors and for the folder of results.
    pub name: String,
    /// The text that is run; `sluice run` takes it as it is.
    pub text: String,
    /// One contest for each combination of its sweep.
    pub points: Vec<Point>,
}

/// Returns the contests of an experiment at this scale.
///
/// # Errors
/// If a contest is not among the shipped ones, a changed key leads nowhere, or the result is not a contest.
pub fn contests(
    experiment: &Experiment,
    scale: Scale,
    rivals: &[Rival],
) -> Result<Vec<ScaledContest>, ExperimentError> {
    let wrong = |what: String| ExperimentError { id: experiment.id.clone(), what };
    let mut all = Vec::with_capacity(experiment.contest.len());
    for part in &experiment.contest {
        let name = &part.file;
        let text =
            shipped::text(name).ok_or_else(|| wrong(format!("there is no shipped contest `{name}`")))?;
        let changes = match scale {
            Scale::Quick => &part.quick,
            Scale::Full => &part.full,
        };
        let mut changes: Vec<(String, toml::Value)> =
            changes.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let rivals = if part.rivals { rivals } else { &[] };
        if !rivals.is_empty() {
            let table: toml::Table = toml::from_str(text).map_err(|e| wrong(format!("{name}: {e}")))?;
            let mut programs =
                table.get("program").and_then(toml::Value::as_array).cloned().unwrap_or_default();
            programs.extend(rivals.iter().map(Rival::table));
            // First, so that a change of one program still finds it.
            changes.insert(0, ("program".to_owned(), programs.into()));
        }
        let text = match changes.is_empty() {
            true => text.to_owned(),
            false => Point::changed(text, &changes).map_err(|e| wrong(format!("{name}: {e}")))?,
        };
        let points = Point::parse_all(name, &text).map_err(|e| wrong(e.to_string()))?;
        all.push(ScaledContest { part: part.name.clone(), name: name.clone(), text, points });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rival_is_a_program_of_the_contest() {
        let rival = Rival::new("mine/my-leaf.p4");
        assert_eq!(rival.label, "my_leaf");
        let table = rival.table();
        assert_eq!(table["file"].as_str(), Some("mine/my-leaf.p4"));
        assert_eq!(Rival::new("ecmp").table()["name"].as_str(), Some("ecmp"));
    }

    #[test]
    fn scales_have_names() {
        assert!(Scale::ALL.iter().all(|scale| scale.name().parse() == Ok(*scale)));
        assert!("half".parse::<Scale>().is_err());
    }
}
