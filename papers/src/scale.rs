//! The contests of an experiment at a scale, with the programs of a user as rivals.

use crate::experiment::{ContestPart, Experiment, ExperimentError};
use crate::read;
use crate::shipped::Library;
use sluice_asic::names::did_you_mean;
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
        found.ok_or_else(|| {
            let near = did_you_mean(text, Scale::ALL.map(Scale::name));
            format!("expected quick or full{near}")
        })
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
    /// Name of a file with this text among the results of its experiment: the contest's own, with its part and label.
    pub file: String,
    /// Names of the library's texts that the contest names, such as its buffer profile.
    pub names: Vec<String>,
    /// One contest for each combination of its sweep.
    pub points: Vec<Point>,
}

/// Returns the contests of an experiment at this scale.
///
/// # Errors
/// If a contest is not in the library, a changed key leads nowhere, or the result is not a contest.
pub fn contests(
    experiment: &Experiment,
    library: &Library,
    scale: Scale,
    rivals: &[Rival],
) -> Result<Vec<ScaledContest>, ExperimentError> {
    let wrong = |what: String| ExperimentError { id: experiment.id.clone(), what };
    let mut all = Vec::with_capacity(experiment.contest.len());
    for part in &experiment.contest {
        let name = &part.file;
        let missing = || wrong(format!("line {}: there is no contest `{name}`", part.line));
        let text = library.texts.get(name).ok_or_else(missing)?;
        let table: toml::Table = read(text).map_err(|e| wrong(format!("{name}: {e}")))?;
        let rivals = if part.rivals { rivals } else { &[] };
        let mut changes = Vec::new();
        if !rivals.is_empty() || part.label.is_some() {
            let programs = programs(part, &table, rivals).map_err(|e| wrong(format!("{name}: {}", e)))?;
            changes.push(("program".to_owned(), programs));
        }
        let scaled = match scale {
            Scale::Quick => &part.quick,
            Scale::Full => &part.full,
        };
        changes.extend(part.set.iter().chain(scaled).map(|(key, value)| (key.clone(), value.clone())));
        let text = match changes.is_empty() {
            true => text.clone(),
            false => Point::changed(text, &changes).map_err(|e| wrong(format!("{name}: {e}")))?,
        };
        let points = Point::parse_all(name, &text).map_err(|e| wrong(e.to_string()))?;
        let names =
            library.texts.keys().filter(|known| text.contains(&format!("\"{known}\""))).cloned().collect();
        let (part_name, file) = (part.name.clone(), file_name(experiment, part));
        all.push(ScaledContest { part: part_name, name: name.clone(), text, file, names, points });
    }
    Ok(all)
}

/// Returns a file name that no other contest of the experiments has.
fn file_name(experiment: &Experiment, part: &ContestPart) -> String {
    let stem = part.file.rsplit('/').next().unwrap_or_default().trim_end_matches(".toml");
    let mut name = format!("{}.{stem}", experiment.id.replace('/', "-"));
    for word in [Some(&part.name), part.label.as_ref()].into_iter().flatten().filter(|word| !word.is_empty())
    {
        name = format!("{name}.{word}");
    }
    name + ".toml"
}

/// Returns the programs of a contest, with those of the user, and with the part's label.
fn programs(part: &ContestPart, table: &toml::Table, rivals: &[Rival]) -> Result<toml::Value, String> {
    let mut programs = table.get("program").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let mut rivals: Vec<Rival> = rivals.to_vec();
    if let Some(label) = &part.label {
        let [program] = programs.as_mut_slice() else {
            return Err(format!("has {} programs, but `label` is for contests with one", programs.len()));
        };
        let program = program.as_table_mut().ok_or("a program is a table")?;
        program.insert("label".to_owned(), label.clone().into());
        rivals.iter_mut().for_each(|rival| rival.label = format!("{label}_{}", rival.label));
    }
    programs.extend(rivals.iter().map(Rival::table));
    Ok(programs.into())
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
