//! Finished runs in a folder, keyed by everything that they depend on.
//!
//! `OUT/runs/DIGEST/` has `run.json` and the completed messages, as `flows.csv` and, if the build writes Parquet, as
//! `flows.parquet`. DIGEST is the SHA-256 of the run's configuration as JSON: what its contest file says about it, its seed,
//! the contents of the files that are named there, the programs of its switches with their entries, and the sources that Sluice
//! was built from. The programs count as built, whether they come from Sluice, from a user's crate or from a file. `run.json` has
//! digests of itself and of the messages, and appears last, so a run that was interrupted or changed is not there.

use super::{Opened, RUNS, Source, failure, inputs};
use crate::console::fail::Failure;
use crate::console::terminal;
use crate::console::text_file;
use crate::output::files::Pending;
use crate::output::rows::{Cell, Column, Format, Kind, RowWriter};
use crate::run::kept::{self, SOURCES, UNSEALED, sha256};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sluice_ir::Program;
use sluice_ir::text::print;
use sluice_scenario::contest::{
    KeptRun, MESSAGE_COLUMNS, RunKey, RunRecord, RunStore, Sent, message_row, network_programs, read_message,
};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the schema of `run.json`.
const SCHEMA: &str = "sluice.run/1";
/// Positions of addresses in a message's row.
const ADDRESSES: [usize; 2] = [1, 2];

/// Configuration of a run and its digest, which names the run's folder.
struct Identity {
    digest: String,
    configuration: Value,
}

/// Everything that a run depends on.
#[derive(Serialize)]
struct Configuration {
    /// SHA-256 of the sources of Sluice.
    sources: &'static str,
    /// Settings of the contest file that describe the run.
    contest: Value,
    programs: Programs,
    /// SHA-256 of each file that the contest names, without files of programs.
    files: BTreeMap<String, String>,
    /// SHA-256 of each text that comes with Sluice and that the contest names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    texts: BTreeMap<String, String>,
}

/// The programs of a run's switches.
#[derive(Clone, Serialize)]
struct Programs {
    /// SHA-256 of the text of each program with its parameters, without the program's name.
    texts: Vec<String>,
    /// SHA-256 of the entries of all switches that follow from their places.
    entries: String,
}

impl Programs {
    /// Builds the programs of a contest's switches with one of the contest's programs.
    fn of(source: &Source, opened: &Opened, program: usize) -> Result<Programs, Failure> {
        let (contest, Opened { plan, catalogue, chip }) = (&source.point.contest, opened);
        let network = network_programs::<Failure>(contest, (plan, chip), catalogue, program);
        let network = network.map_err(|e| failure(contest, e))?;
        // The name of a program in a file is a path, and runs do not depend on where their files are.
        let unnamed = |program: &Program| Program { name: String::new(), ..program.clone() };
        let text = |program: &Program| sha256(print(&unnamed(program)).as_bytes());
        // Entries of a large network are too many for one text.
        let entries = network.switches.iter().map(|(program, setup)| {
            // Without entries that follow from its place, a switch has those of a file, which counts by its contents.
            sha256(format!("{program} {:?}", setup.as_ref().ok()).as_bytes())
        });
        let entries = sha256(entries.collect::<String>().as_bytes());
        Ok(Programs { texts: network.programs.iter().map(text).collect(), entries })
    }
}

/// The file `run.json`.
#[derive(Serialize, Deserialize)]
struct RunFile {
    schema: String,
    /// SHA-256 of this file's text with zeros in place of this digest.
    content: String,
    /// SHA-256 of the run's other files.
    kept: BTreeMap<String, String>,
    digest: String,
    seed: u64,
    configuration: Value,
    /// Numbers for readers: over the program's own time alone. `None` beyond 64 bits.
    numbers: BTreeMap<String, Option<i64>>,
    #[serde(flatten)]
    record: RunRecord,
}

/// The runs of one contest.
pub(super) struct Store {
    runs: Arc<BTreeMap<RunKey, Identity>>,
    /// Folder of the runs; `None`: nothing is kept.
    folder: Option<PathBuf>,
    /// False if runs in the folder are run again.
    uses: bool,
}

impl Store {
    /// Identifies all runs of a contest. The runs are kept in `OUT/runs` if `out` is given.
    pub(super) fn new(
        source: &Source,
        opened: &Opened,
        out: Option<&Path>,
        uses: bool,
    ) -> Result<Store, Failure> {
        let Source { point, folder: beside, texts } = source;
        let mut runs = BTreeMap::new();
        for program in 0..point.contest.program.len() {
            let programs = Programs::of(source, opened, program)?;
            // Files are the same with every seed.
            let mut files = None;
            for seed in point.contest.seeds() {
                let contest = point.canonical(program, seed);
                let files = files.get_or_insert_with(|| inputs::digests(&contest, beside));
                let configuration = json!(Configuration {
                    sources: SOURCES,
                    programs: programs.clone(),
                    files: files.clone(),
                    texts: inputs::texts(&contest, texts),
                    contest,
                });
                let digest = sha256(configuration.to_string().as_bytes());
                runs.insert(RunKey { program, seed }, Identity { digest, configuration });
            }
        }
        let folder = out.map(|out| out.join(RUNS));
        Ok(Store { runs: Arc::new(runs), folder, uses })
    }

    /// Returns a store of the same runs that keeps them in `OUT/runs`, and uses those that are there.
    pub(super) fn at(&self, out: &Path) -> Store {
        Store { runs: Arc::clone(&self.runs), folder: Some(out.join(RUNS)), uses: true }
    }

    /// Returns the digest of each run.
    pub(super) fn digests(&self) -> BTreeMap<RunKey, String> {
        self.runs.iter().map(|(run, identity)| (*run, identity.digest.clone())).collect()
    }

    /// Returns the number of runs that are in the folder, and of all.
    pub(super) fn count(&self) -> (usize, usize) {
        let there =
            |run: &&RunKey| self.folder(**run).is_some_and(|(_, folder)| folder.join("run.json").is_file());
        (self.runs.keys().filter(there).count(), self.runs.len())
    }

    fn folder(&self, run: RunKey) -> Option<(&Identity, PathBuf)> {
        let identity = self.runs.get(&run)?;
        Some((identity, self.folder.as_ref()?.join(&identity.digest)))
    }

    fn write(&self, run: RunKey, done: &KeptRun) -> Result<(), Failure> {
        let Some((identity, folder)) = self.folder(run) else { return Ok(()) };
        let mut digests = BTreeMap::new();
        for (format, name) in [(Format::Csv, "flows.csv"), (Format::Parquet, "flows.parquet")] {
            if format.is_written() {
                let path = folder.join(name);
                flows(&path, format, &done.performance.sent)?.finish()?;
                let content = std::fs::read(&path).map_err(|e| Failure::file("read", &path, &e))?;
                digests.insert(name.to_owned(), sha256(&content));
            }
        }
        let run = RunFile {
            schema: SCHEMA.to_owned(),
            content: UNSEALED.to_owned(),
            kept: digests,
            digest: identity.digest.clone(),
            seed: run.seed,
            configuration: identity.configuration.clone(),
            numbers: numbers(done),
            record: done.record(),
        };
        kept::write(&folder.join("run.json"), &run)
    }

    fn read(folder: &Path, digest: &str) -> Result<Option<KeptRun>, String> {
        let path = folder.join("run.json");
        let text = match text_file::text(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e.to_string()),
        };
        let run: RunFile = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        if run.schema != SCHEMA || run.digest != digest {
            return Err("run.json is of another run".to_owned());
        }
        kept::check(&text)?;
        let name = "flows.csv";
        let flows = text_file::bytes(folder.join(name)).map_err(|e| format!("{name}: {e}"))?;
        if run.kept.get(name) != Some(&sha256(&flows)) {
            return Err(format!("{name} was changed since it was written"));
        }
        let sent = read_flows(&flows)?;
        run.record.with_messages(sent).map(Some).map_err(|e| e.to_string())
    }
}

/// Returns the numbers of a run for readers of its file.
fn numbers(done: &KeptRun) -> BTreeMap<String, Option<i64>> {
    let numbers = done.performance.numbers();
    let own = numbers.iter().filter(|(name, _)| !name.starts_with("fastest_"));
    own.map(|(name, value)| (name.clone(), i64::try_from(*value).ok())).collect()
}

impl RunStore for Store {
    fn find(&self, run: RunKey) -> Option<KeptRun> {
        let (identity, folder) = self.folder(run).filter(|_| self.uses)?;
        match Store::read(&folder, &identity.digest) {
            Ok(found) => found,
            Err(why) => {
                let folder = folder.display();
                terminal::note(format_args!("note: {folder} is damaged ({why}); the run is done again\n"));
                None
            }
        }
    }

    fn keep(&self, run: RunKey, done: &KeptRun) -> Result<(), String> {
        self.write(run, done).map_err(|e| e.to_string())
    }
}

/// Columns of a message.
pub(super) fn columns() -> Vec<Column> {
    let kind = |at| if ADDRESSES.contains(&at) { Kind::Text } else { Kind::Number };
    MESSAGE_COLUMNS.iter().enumerate().map(|(at, name)| Column::new(name, kind(at))).collect()
}

/// Calls `with` with the values of a message by [`columns`].
pub(super) fn with_cells<R>(sent: &Sent, with: impl FnOnce(&[Cell<'_>]) -> R) -> R {
    let row = message_row(sent);
    let texts = ADDRESSES.map(|at| Ipv4Addr::from_bits(row[at] as u32).to_string());
    let mut cells = row.map(Cell::Number);
    for (at, text) in ADDRESSES.into_iter().zip(&texts) {
        cells[at] = Cell::Text(text);
    }
    with(&cells)
}

fn flows(path: &Path, format: Format, sent: &[Sent]) -> Result<Pending, Failure> {
    let mut table = RowWriter::create(path, format, "flows", &columns())?;
    sent.iter().try_for_each(|sent| with_cells(sent, |cells| table.row(cells)))?;
    table.finish()
}

fn read_flows(text: &[u8]) -> Result<Vec<Sent>, String> {
    let mut reader = csv::Reader::from_reader(text);
    let mut sent = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |at: usize| -> Option<u64> {
            let text = record.get(at)?;
            match ADDRESSES.contains(&at) {
                true => text.parse::<Ipv4Addr>().ok().map(|address| address.to_bits().into()),
                false => text.parse().ok(),
            }
        };
        let mut row = [0; MESSAGE_COLUMNS.len()];
        for (at, value) in row.iter_mut().enumerate() {
            *value = number(at)
                .ok_or_else(|| format!("flows.csv:{line}: `{}` has no value", MESSAGE_COLUMNS[at]))?;
        }
        sent.push(read_message(row).ok_or_else(|| format!("flows.csv:{line}: a number is out of range"))?);
    }
    Ok(sent)
}
