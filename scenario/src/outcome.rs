//! What became of scenarios.

use std::collections::BTreeMap;

/// One assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The case; empty if there are none.
    pub case: String,
    /// Its line in the file.
    pub line: usize,
    /// The number, as the file has it.
    pub what: String,
    /// What it must be.
    pub expected: String,
    /// What it is.
    pub actual: String,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// Whether it holds.
    pub passed: bool,
}

/// What a case of a sweep has saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The case: `key=value` with blanks between.
    pub case: String,
    /// Numbers by name.
    pub saved: BTreeMap<String, i128>,
}

/// A scenario on a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The scenario's id.
    pub id: String,
    /// Where it is from.
    pub source: String,
    /// What it shows.
    pub title: String,
    /// The file.
    pub origin: String,
    /// The buffer profile, or `host`; empty for a row that is not run.
    pub profile: String,
    /// Its assertions, in order.
    pub checks: Vec<Check>,
    /// Of a sweep, what each case has saved.
    pub points: Vec<Point>,
    /// Why it could not be carried out.
    pub error: Option<String>,
    /// Why it is not run.
    pub not_applicable: Option<String>,
}

impl Outcome {
    /// Whether all assertions hold, and there are some; `None` for a row that is not run.
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

    /// The assertion to show: the first that fails, else the last.
    #[must_use]
    pub fn main(&self) -> Option<&Check> {
        self.checks.iter().find(|c| !c.passed).or_else(|| self.checks.last())
    }
}
