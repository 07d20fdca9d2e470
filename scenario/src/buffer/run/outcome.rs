//! Results of scenarios.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Result of one assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The case; empty if there are none.
    #[serde(serialize_with = "given")]
    pub case: String,
    /// Line in the file.
    #[serde(serialize_with = "known")]
    pub line: usize,
    /// Expression of the number, as in the file.
    pub what: String,
    /// Expected value.
    pub expected: String,
    /// Actual value.
    pub actual: String,
    /// Unit; empty for a plain number.
    pub unit: &'static str,
    /// True if the assertion holds.
    pub passed: bool,
    /// True if the expected value, and the numbers of all steps before it, are numbers of the files or follow from them and
    /// the speed of lines alone. False if one was computed from thresholds of the resolved profile, or measured in the
    /// same run: such an assertion finds changes, and not errors that profile and device share.
    pub stated: bool,
}

fn given<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    (!text.is_empty()).then_some(text).serialize(serializer)
}

fn known<S: Serializer>(line: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    (*line > 0).then_some(line).serialize(serializer)
}

/// Saved numbers of one case of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The case, as `key=value` words.
    pub case: String,
    /// Numbers by name.
    pub saved: BTreeMap<String, i128>,
}

/// Result of a scenario on a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The scenario's id.
    pub id: String,
    /// Source of the scenario.
    pub source: String,
    /// Title.
    pub title: String,
    /// Name of the file.
    pub origin: String,
    /// The buffer profile, or `host`; empty for a row that is not run.
    pub profile: String,
    /// Assertions, in order.
    pub checks: Vec<Check>,
    /// Saved numbers of each case of a sweep.
    pub points: Vec<Point>,
    /// Saved numbers, by name, or by `case.name` in a scenario with cases.
    pub saved: BTreeMap<String, i128>,
    /// Error that stopped the scenario.
    pub error: Option<String>,
    /// Reason why the row is not run.
    pub not_applicable: Option<String>,
}

impl Outcome {
    /// Returns true if there are assertions and all hold; `None` for a row that is not run.
    #[must_use]
    pub fn passed(&self) -> Option<bool> {
        match self.not_applicable {
            Some(_) => None,
            None => {
                let holds = self.error.is_none() && self.checks.iter().all(|c| c.passed);
                Some(holds && !self.checks.is_empty())
            }
        }
    }

    /// Returns the assertion to show: the first one that fails, otherwise the last one.
    #[must_use]
    pub fn main(&self) -> Option<&Check> {
        self.checks.iter().find(|c| !c.passed).or_else(|| self.checks.last())
    }
}
