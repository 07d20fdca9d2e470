//! Scenarios whose runs are done one by one, for callers that share out runs to processes.
//!
//! A run is a scenario on a profile. It is kept as `OUT/runs/DIGEST/run.json`; DIGEST is the SHA-256 of all that it depends on.

use super::contest::{Texts, inputs};
use super::kept::{self, SOURCES, UNSEALED, sha256};
use super::{json, source};
use crate::console::fail::Failure;
use crate::console::text_file;
use crate::open::p4::P4Args;
use serde::Serialize;
use serde_json::{Value, json};
use sluice_scenario::{Outcome, ScenarioPoint, ScenarioRun};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the schema of `run.json`.
const SCHEMA: &str = "sluice.scenario-run/1";

/// One run with its configuration.
pub(crate) struct ScenarioJob {
    point: usize,
    pub(crate) run: ScenarioRun,
    /// Swept keys with their values.
    pub(crate) axes: Vec<(String, String)>,
    pub(crate) digest: String,
    configuration: Configuration,
}

/// Everything that a run depends on.
#[derive(Clone, Serialize)]
struct Configuration {
    /// SHA-256 of the sources of Sluice.
    sources: &'static str,
    /// Settings of the scenario file that describe the run.
    scenario: Value,
    /// SHA-256 of each file that the scenario names.
    files: BTreeMap<String, String>,
    /// SHA-256 of each text that comes with Sluice and that the scenario names.
    texts: BTreeMap<String, String>,
}

/// The file `run.json`.
#[derive(Serialize)]
struct RunFile<'a> {
    schema: &'static str,
    /// SHA-256 of this file's text with zeros in place of this digest.
    content: &'static str,
    digest: &'a str,
    seed: Option<u64>,
    configuration: &'a Configuration,
    outcome: json::OutcomeRow<'a>,
    /// Saved numbers; one beyond 64 bits is a text.
    saved: BTreeMap<&'a str, Value>,
}

/// The runs of a scenario file.
pub(crate) struct ScenarioJobs {
    points: Vec<ScenarioPoint>,
    folder: PathBuf,
    pub(crate) list: Vec<ScenarioJob>,
}

impl ScenarioJobs {
    /// Reads the text of a scenario file, whose files are in `folder`; `origin` is its name in errors.
    pub(crate) fn read(origin: &str, text: &str, folder: &Path) -> Result<ScenarioJobs, Failure> {
        let points = ScenarioPoint::parse_all(origin, text).map_err(Failure::input)?;
        let of = |(number, point): (usize, &ScenarioPoint)| {
            let runs = point.runs().into_iter();
            runs.map(|run| job(number, point, run, folder)).collect::<Vec<_>>()
        };
        let list: Vec<ScenarioJob> = points.iter().enumerate().flat_map(of).collect();
        if list.is_empty() {
            return Err(Failure::with_help(
                format!(
                    "{origin}:1: no scenario; expected [[scenario]], or [workload] and [[program]] of a contest"
                ),
                "docs/scenario-files.md and docs/contest.md have an example of each",
            ));
        }
        Ok(ScenarioJobs { points, folder: folder.to_owned(), list })
    }

    /// Returns the paths of the files that the runs depend on.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let of =
            |job: &ScenarioJob| inputs::files(&job.configuration.scenario, &self.folder, &P4Args::default());
        self.list.iter().flat_map(of)
    }

    /// Does a run and keeps it in a folder, unless the folder has it.
    pub(crate) fn run(&self, job: &ScenarioJob, out: &Path) -> Result<(), Failure> {
        let path = out.join("runs").join(&job.digest).join("run.json");
        if text_file::text(&path).is_ok_and(|text| kept::check(&text).is_ok()) {
            return Ok(());
        }
        let profiles = |name: &str| source::profile(name, Some(&self.folder));
        let outcome = self.points.get(job.point).and_then(|point| point.run(&job.run, &profiles));
        let outcome = outcome.ok_or_else(|| Failure::Inconsistent("a run of no scenario".to_owned()))?;
        if let Some(error) = &outcome.error {
            return Err(Failure::input(format!("scenario {} on {}: {error}", outcome.id, outcome.profile)));
        }
        kept::write(&path, &run_file(job, &outcome))
    }
}

fn job(point: usize, of: &ScenarioPoint, run: ScenarioRun, folder: &Path) -> ScenarioJob {
    let scenario = of.canonical(&run);
    let files = inputs::digests(&scenario, folder);
    let texts = inputs::texts(&scenario, &Texts::default());
    let configuration = Configuration { sources: SOURCES, scenario, files, texts };
    let digest = sha256(json!(configuration).to_string().as_bytes());
    ScenarioJob { point, run, axes: of.axes.clone(), digest, configuration }
}

/// Returns a run as it is kept.
fn run_file<'a>(job: &'a ScenarioJob, outcome: &'a Outcome) -> RunFile<'a> {
    let saved = |(name, number): (&'a String, &i128)| {
        let value = i64::try_from(*number).map_or_else(|_| Value::from(number.to_string()), Value::from);
        (name.as_str(), value)
    };
    RunFile {
        schema: SCHEMA,
        content: UNSEALED,
        digest: &job.digest,
        seed: job.run.seed,
        configuration: &job.configuration,
        outcome: json::OutcomeRow::of(outcome),
        saved: outcome.saved.iter().map(saved).collect(),
    }
}
