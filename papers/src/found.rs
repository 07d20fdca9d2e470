//! The numbers that the parts of an experiment gave.

use sluice_scenario::Outcome;
use sluice_scenario::contest::{FigureTable, Results};
use std::collections::BTreeMap;

/// Everything that an experiment found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Points of each part, by the part's name.
    pub parts: BTreeMap<String, Vec<FoundPoint>>,
    /// Results of the scenarios.
    pub outcomes: Vec<Outcome>,
}

/// One combination of the keys that vary in a part.
#[derive(Clone, Debug, Default)]
pub struct FoundPoint {
    /// Keys that vary, with their values as texts.
    pub axes: Vec<(String, String)>,
    /// Figures of all labels.
    pub figures: FigureTable,
    /// Results of a contest; hashing has none.
    pub results: Option<Results>,
    /// Something that is wrong whatever the paper says, such as a deadlock that nobody expects.
    pub error: Option<String>,
}

impl FoundPoint {
    /// Returns `KEY = VALUE` for each axis, separated by commas; the last part of a path stands for the path.
    #[must_use]
    pub fn title(&self) -> String {
        let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let pairs: Vec<String> =
            self.axes.iter().map(|(key, value)| format!("{} = {value}", name(key))).collect();
        pairs.join(", ")
    }

    /// Returns the value of an axis.
    #[must_use]
    pub fn axis(&self, key: &str) -> Option<&str> {
        self.axes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns true if the axes have these values.
    #[must_use]
    pub fn is_at(&self, at: &BTreeMap<String, toml::Value>) -> bool {
        at.iter().all(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.axis(key) == Some(text.as_str())
        })
    }
}

impl Found {
    /// Returns the points of a part at which axes have these values.
    ///
    /// # Errors
    /// If no point has them.
    pub fn at(&self, part: &str, at: &BTreeMap<String, toml::Value>) -> Result<Vec<&FoundPoint>, String> {
        let points = self.parts.get(part).map(Vec::as_slice).unwrap_or_default();
        let some: Vec<&FoundPoint> = points.iter().filter(|point| point.is_at(at)).collect();
        if some.is_empty() {
            let wanted: Vec<String> = at.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let known: Vec<String> = points.iter().map(FoundPoint::title).collect();
            return Err(format!("no run has {}; there are {}", wanted.join(", "), known.join("; ")));
        }
        Ok(some)
    }
}
