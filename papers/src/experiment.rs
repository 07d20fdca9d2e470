//! The file of an experiment.

use crate::read;
use serde::{Deserialize, Serialize};
use sluice_asic::toml_reader::line_of_text;
use sluice_scenario::Expr;
use std::collections::BTreeMap;
use thiserror::Error;

/// An experiment of a paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Id: `paper/what`.
    pub id: String,
    /// Title for readers.
    pub title: String,
    /// Figures, tables and sections of the paper that it repeats.
    pub figures: String,
    /// Each way in which the set-up differs from the paper's, a sentence each.
    pub deviations: Vec<String>,
    /// True if the experiment takes less than a second; the test run repeats those.
    #[serde(default)]
    pub brief: bool,
    /// Contests that it runs.
    #[serde(default)]
    pub contest: Vec<ContestPart>,
    /// Buffer scenarios that it runs.
    #[serde(default)]
    pub scenario: Vec<ScenarioPart>,
    /// Hashing of flows that it measures.
    #[serde(default)]
    pub hashing: Vec<HashingPart>,
    /// Numbers beside published ones.
    #[serde(default)]
    pub row: Vec<Row>,
    /// Inequalities that the paper claims.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Plots of its page.
    #[serde(default)]
    pub plot: Vec<PlotSetting>,
}

/// A contest of an experiment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContestPart {
    /// Name by which rows, claims and plots call it; empty if there is one part only.
    #[serde(default)]
    pub name: String,
    /// Name of the contest's text in the library.
    pub file: String,
    /// Line that names the text, for errors.
    #[serde(skip)]
    pub line: usize,
    /// Label of the contest's only program in results; the contest's own by default. Contests with the same `name` are one
    /// part, with the labels of all of them: so two kinds of hosts are compared with each other.
    pub label: Option<String>,
    /// Keys of the contest, by dotted path, that differ from the text.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// Keys that differ at scale `quick`, in addition.
    #[serde(default)]
    pub quick: BTreeMap<String, toml::Value>,
    /// The same at scale `full`.
    #[serde(default)]
    pub full: BTreeMap<String, toml::Value>,
    /// True if the programs of a user run in it as rivals.
    #[serde(default = "yes")]
    pub rivals: bool,
}

fn yes() -> bool {
    true
}

/// A buffer scenario of an experiment: all its assertions are claims.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioPart {
    /// Id of the scenario.
    pub id: String,
    /// The claim that it shows, in words.
    pub what: String,
}

/// Flows that are sent through a network under several hashing schemes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashingPart {
    /// Name by which rows, claims and plots call it; empty if there is one part only.
    #[serde(default)]
    pub name: String,
    /// The network: `clos`, `dring` or `wan`.
    pub topology: String,
    /// Server blocks of `clos` and `dring`; the network's own number by default.
    pub blocks: Option<u32>,
    /// Number of flows at scale `quick`; not of a part with `packets`.
    #[serde(default)]
    pub flows: u64,
    /// The same at scale `full`; that of `quick` by default.
    pub full_flows: Option<u64>,
    /// The only block that sends, if there is one.
    pub from_block: Option<u32>,
    /// Distribution of the flows; `uniform` by default.
    pub workload: Option<String>,
    /// The schemes.
    pub schemes: Vec<String>,
    /// Hash functions of the switches; RTAG7's by default.
    pub functions: Option<String>,
    /// Members of replicated groups, each a measurement of its own; the planner's choice by default.
    #[serde(default)]
    pub members: Vec<u32>,
    /// Number of seeds, each with flows and draws of its own.
    pub seeds: u32,
    /// Stage program through which packets go at every hop. The flows are then those of the reader's capture.
    pub packets: Option<String>,
}

/// A number beside a published one.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the number for readers.
    pub what: String,
    /// The part that has the number; the only one by default.
    #[serde(default, skip_serializing)]
    pub part: String,
    /// Values of the part's axes at which the number is taken.
    #[serde(default, skip_serializing)]
    pub at: BTreeMap<String, toml::Value>,
    /// The number: an expression over the part's figures, in whole numbers.
    #[serde(rename(serialize = "expression"))]
    pub here: String,
    /// Divisor from the expression to the unit of the published value; 1 by default.
    #[serde(default = "one", skip_serializing)]
    pub per: f64,
    /// Unit for readers; empty for a ratio.
    #[serde(default)]
    pub unit: String,
    /// Id of the paper's value.
    #[serde(skip_serializing)]
    pub published: Option<String>,
    /// Id of the reference simulator's value.
    #[serde(skip_serializing)]
    pub reference: Option<String>,
    /// Id of a closed form's value.
    #[serde(skip_serializing)]
    pub theory: Option<String>,
    /// Agreement: the whole interval is within this many percent of the value.
    #[serde(default = "ten", rename(serialize = "within_percent"))]
    pub within: f64,
    /// The found cause if the row disagrees or is undecided; empty if there is none.
    #[serde(default)]
    pub because: String,
}

fn one() -> f64 {
    1.0
}

fn ten() -> f64 {
    10.0
}

/// An inequality that a paper claims.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim in words.
    pub what: String,
    /// Where the paper claims it.
    pub source: String,
    /// The part that has the numbers; the only one by default.
    #[serde(default)]
    pub part: String,
    /// Values of the part's axes at which it must hold; at all points by default.
    #[serde(default)]
    pub at: BTreeMap<String, toml::Value>,
    /// The inequality, with sign and factor.
    pub expect: String,
    /// The found cause if the claim disagrees or is undecided; empty if there is none.
    #[serde(default)]
    pub because: String,
}

/// A plot of a page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlotSetting {
    /// Heading.
    pub title: String,
    /// The part whose numbers it draws; the only one by default.
    #[serde(default)]
    pub part: String,
    /// Quantity on the horizontal axis.
    pub over: Axis,
    /// Name and unit of the horizontal axis.
    pub x: String,
    /// Name and unit of the vertical axis.
    pub y: String,
    /// The number that is drawn for each label: `p99`; of `over = "sizes"` and `"time"` it has a meaning of its own.
    pub number: String,
    /// Divisor of the number; 1 by default.
    #[serde(default = "one")]
    pub per: f64,
    /// Labels that are drawn; all by default.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Values of the axes that are held; over a key, all other axes must be held.
    #[serde(default)]
    pub at: BTreeMap<String, toml::Value>,
    /// The place at which the horizontal axis ends; that of the last point by default.
    pub until: Option<f64>,
    /// Beginnings of the ids of published values that are drawn as points, by their `x`.
    #[serde(default)]
    pub published: Vec<String>,
}

/// Quantity on the horizontal axis of a plot.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// A key of the part's sweep.
    Key(String),
    /// Sizes of messages, in twenty classes with equally many messages; the number is `avg`, `p50`, `p95` or `p99` of the
    /// slowdown.
    Sizes,
    /// Time of the run with the first seed; the number is one of the samples: `buffer`, `deepest-queue`, `delivered`.
    Time,
    /// Share of samples that are no larger; the number is as over `time`, or `imbalance`.
    Share,
}

/// Reason why the file of an experiment is rejected.
#[derive(Debug, Error)]
#[error("{id}: {what}")]
pub struct ExperimentError {
    /// Id of the experiment, or name of its file.
    pub id: String,
    /// The mistake, and what is expected.
    pub what: String,
}

impl Experiment {
    /// Returns true if it needs a capture of the reader.
    #[must_use]
    pub fn needs_capture(&self) -> bool {
        self.hashing.iter().any(|part| part.packets.is_some())
    }

    /// Parses the file of an experiment. `name` is the file's name.
    ///
    /// # Errors
    /// If the text is not TOML, has unknown keys, has a text that is no expression, or names a part that is not there.
    pub fn parse(name: &str, text: &str) -> Result<Experiment, ExperimentError> {
        let wrong = |what: String| ExperimentError { id: name.to_owned(), what };
        let mut file: Experiment = read(text).map_err(wrong)?;
        for part in &mut file.contest {
            part.line = line_of_text(text, &|own| own == part.file).unwrap_or_default();
        }
        let named: Vec<&str> = file.contest.iter().map(|part| part.name.as_str()).collect();
        let measured: Vec<&str> = file.hashing.iter().map(|part| part.name.as_str()).collect();
        for (number, part) in measured.iter().enumerate() {
            if measured[..number].contains(part) || named.contains(part) {
                return Err(wrong(format!("two parts are called `{part}`; give each a name")));
            }
        }
        let named: Vec<&str> = named.into_iter().chain(measured).collect();
        let parts = file.row.iter().map(|row| &row.part);
        let parts = parts.chain(file.claim.iter().map(|claim| &claim.part));
        for part in parts.chain(file.plot.iter().map(|plot| &plot.part)) {
            if !named.contains(&part.as_str()) {
                return Err(wrong(format!("there is no part `{part}`; there are `{}`", named.join("`, `"))));
            }
        }
        let divisors = file.row.iter().map(|row| (&row.what, row.per));
        for (what, per) in divisors.chain(file.plot.iter().map(|plot| (&plot.title, plot.per))) {
            if !per.is_normal() {
                return Err(wrong(format!(
                    "`{what}`: `per` is {per}; expected a divisor other than 0, such as 1000"
                )));
            }
        }
        if let Some(row) = file.row.iter().find(|row| !row.within.is_finite() || row.within < 0.0) {
            let Row { what, within, .. } = row;
            return Err(wrong(format!("`{what}`: `within` is {within}; expected a percentage, 0 or more")));
        }
        for text in file.row.iter().map(|row| &row.here).chain(file.claim.iter().map(|claim| &claim.expect)) {
            Expr::parse(text).map_err(wrong)?;
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_and_percentages_that_give_no_number_are_refused() {
        let head = "id = \"p/x\"\ntitle = \"t\"\nfigures = \"f\"\ndeviations = []\n[[contest]]\nfile = \"c\"\n[[row]]\nwhat = \"w\"\n\
                    here = \"a.avg\"\n";
        for (key, expected) in [
            ("per = 0", "`w`: `per` is 0; expected a divisor other than 0, such as 1000"),
            ("per = inf", "`w`: `per` is inf; expected a divisor other than 0, such as 1000"),
            ("within = -1", "`w`: `within` is -1; expected a percentage, 0 or more"),
            ("within = nan", "`w`: `within` is NaN; expected a percentage, 0 or more"),
        ] {
            assert_eq!(Experiment::parse("x", &format!("{head}{key}\n")).unwrap_err().what, expected);
        }
    }
}
