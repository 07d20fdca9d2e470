//! The format of scenario files (TOML).

use super::host::HostSetting;
use super::step::Step;
use crate::language::expr::Expr;
use serde::Deserialize;
use sluice_asic::toml_reader::{line_of, read};
use sluice_asic::units::BitRate;
use std::collections::BTreeMap;
use toml::Spanned;

/// A file of scenarios.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Default device of its scenarios.
    #[serde(default)]
    pub device: Setting,
    /// The scenarios.
    #[serde(default)]
    pub scenario: Vec<Spanned<Scenario>>,
    /// Rows of the source that are not run, with the reason.
    #[serde(default)]
    pub skip: Vec<Skip>,
    /// Name of the file as the caller passed it.
    #[serde(skip)]
    pub origin: String,
    #[serde(skip)]
    text: String,
}

/// A row of the source that is not run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// Id of the row.
    pub id: String,
    /// Place of the row in its source.
    pub source: String,
    /// Subject of the row.
    pub title: String,
    /// Reason why the row cannot be run.
    pub reason: String,
}

/// The device of a scenario; absent keys have the values of the table above it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// Buffer profiles; the scenario is run once for each.
    pub profiles: Option<Vec<String>>,
    /// Chip; by default the chip that the profile is named after, else `tofino2`.
    pub chip: Option<String>,
    /// Speed of all front-panel ports; 100G by default.
    pub speed: Option<BitRate>,
    /// Number of front-panel ports; 32 by default.
    pub ports: Option<u16>,
    /// Changes of the profile; see [`super::profile`].
    #[serde(rename = "override")]
    pub change: Option<toml::Table>,
    /// Seed of marking; 1 by default.
    pub seed: Option<u64>,
    /// DWRR weights of queues 0, 1, .. instead of strict priority.
    pub weights: Option<Vec<u16>>,
}

/// A scenario: a device, steps, and expectations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Id, unique in the file.
    pub id: String,
    /// Source of the scenario, such as a section of a paper.
    pub source: String,
    /// Title for readers.
    pub title: String,
    /// The device.
    #[serde(default)]
    pub device: Setting,
    /// A part of a host, in place of a device.
    pub host: Option<HostSetting>,
    /// Definitions of names for expressions.
    #[serde(rename = "let", default)]
    pub names: BTreeMap<String, Expr>,
    /// Variants: the steps are run for each on a new device; none: once.
    #[serde(default)]
    pub case: Vec<Case>,
    /// Cases by value: one for every combination. The keys `speed`, `cable` and `ports` set the device, other keys
    /// define names. Saved numbers are drawn over the last key.
    #[serde(default)]
    pub sweep: Vec<Axis>,
    /// Steps, in order.
    #[serde(default)]
    pub steps: Vec<Spanned<Step>>,
    /// Expressions over saved numbers, `case.name`, that must not be 0.
    #[serde(default)]
    pub compare: Vec<Spanned<Expr>>,
    /// The profile must be rejected; then there are no steps.
    pub refused: Option<Refused>,
}

/// A key of a sweep and its values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The key.
    pub key: String,
    /// Values: texts for `speed` and `cable`, otherwise whole numbers.
    pub values: Vec<toml::Value>,
}

/// A variant of a scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name; saved numbers are prefixed by it.
    pub name: String,
    /// Differences of the device.
    #[serde(default)]
    pub device: Setting,
    /// Part of a host for this case.
    pub host: Option<HostSetting>,
    /// Definitions of names, which override those of the scenario.
    #[serde(rename = "let", default)]
    pub names: BTreeMap<String, Expr>,
    /// Expected rejection of the profile, in place of running the steps.
    pub refused: Option<Refused>,
}

/// Expected rejection of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// Exactly the checks that must fail; empty if the file cannot be parsed.
    pub checks: Vec<String>,
    /// Words that the diagnostic must contain.
    #[serde(default)]
    pub mentions: Vec<String>,
}

impl Setting {
    /// Returns these settings, with absent ones from `base` and without `change`, which the caller merges.
    #[must_use]
    pub fn over(&self, base: &Setting) -> Setting {
        Setting {
            profiles: self.profiles.clone().or_else(|| base.profiles.clone()),
            chip: self.chip.clone().or_else(|| base.chip.clone()),
            speed: self.speed.or(base.speed),
            ports: self.ports.or(base.ports),
            change: None,
            seed: self.seed.or(base.seed),
            weights: self.weights.clone().or_else(|| base.weights.clone()),
        }
    }
}

/// Error in a scenario file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {message}")]
pub struct ScenarioError {
    /// Name of the file as the caller passed it.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// Found and expected values.
    pub message: String,
}

impl ScenarioFile {
    /// Parses the text of a scenario file; `origin` is its name, for errors.
    ///
    /// # Errors
    /// If the text is not TOML, a key or value is invalid, an id is used twice, or a scenario has no assertion.
    pub fn parse(origin: &str, text: &str) -> Result<ScenarioFile, ScenarioError> {
        let error = |at: usize, message: String| ScenarioError {
            origin: origin.to_owned(),
            line: line_of(text, at),
            message,
        };
        let mut file: ScenarioFile =
            read(text).map_err(|mistake| error(mistake.byte(), mistake.to_string()))?;
        (file.origin, file.text) = (origin.to_owned(), text.to_owned());
        for (i, scenario) in file.scenario.iter().enumerate() {
            let (at, scenario) = (scenario.span().start, scenario.get_ref());
            let id = &scenario.id;
            let twice = file.scenario.iter().take(i).any(|s| s.get_ref().id == *id);
            if twice || file.skip.iter().any(|s| s.id == *id) {
                return Err(error(
                    at,
                    format!("scenario `{id}` is there twice; give every scenario a different id"),
                ));
            }
            if !scenario.asserts() {
                let message = format!(
                    "scenario `{id}` asserts nothing; add a step `expect` or `frame`, or `compare`, or `refused`"
                );
                return Err(error(at, message));
            }
        }
        Ok(file)
    }

    /// Returns the ids of all scenarios, also of those that are skipped.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let scenarios = self.scenario.iter().map(|scenario| scenario.get_ref().id.as_str());
        scenarios.chain(self.skip.iter().map(|skip| skip.id.as_str()))
    }

    /// Returns the line of an item of the file, from 1.
    #[must_use]
    pub fn line<T>(&self, of: &Spanned<T>) -> usize {
        line_of(&self.text, of.span().start)
    }
}

impl Scenario {
    /// Returns true if the scenario is about a part of a host, and not about a device.
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        self.host.is_some() || self.case.iter().any(|case| case.host.is_some())
    }

    /// Returns true if the scenario has an assertion.
    fn asserts(&self) -> bool {
        fn any(steps: &[Spanned<Step>]) -> bool {
            steps.iter().any(|step| match step.get_ref() {
                Step::Expect(_) | Step::Frame(_) => true,
                Step::Repeat(repeat) => any(&repeat.steps),
                _ => false,
            })
        }
        let refused = self.refused.is_some()
            || !self.case.is_empty() && self.case.iter().all(|case| case.refused.is_some());
        refused || any(&self.steps) || !self.compare.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "[[scenario]]\nid = \"1\"\nsource = \"s\"\ntitle = \"t\"\n";

    fn message(rest: &str) -> String {
        match ScenarioFile::parse("a.toml", &format!("{HEAD}{rest}")) {
            Ok(_) => String::new(),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn errors_name_line_and_what_is_expected() {
        assert_eq!(message("steps = [{ expect = { what = \"total\", is = 1 } }]"), "");
        let found = message("steps = [\n  { block = 1 },\n  { blok = 1 },\n]");
        assert!(found.starts_with("a.toml:7: unknown word `blok`; did you mean `block`?"), "{found}");
        let found = message("steps = [{ expect = { what = \"total +\" } }]");
        assert!(found.starts_with("a.toml:5: `the end`; expected a number"), "{found}");
        let found = message("steps = [{ wait = \"5 apples\" }]");
        assert!(found.contains("a.toml:5: ") && found.contains("duration"), "{found}");
        let found = message("steps = [{ send = { from = 0, too = 1 } }]");
        assert!(found.contains("unknown key `too`; did you mean `to`? (known keys: from, to"), "{found}");
        let found = message("steps = [{ block = 1 }]");
        assert!(found.contains("a.toml:1: scenario `1` asserts nothing"), "{found}");
        let found =
            message(&format!("refused = {{ checks = [\"xon\"] }}\n{HEAD}refused = {{ checks = [] }}"));
        assert!(found.contains("a.toml:6: scenario `1` is there twice"), "{found}");
    }
}
