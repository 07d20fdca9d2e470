//! `sluice run` of a contest: compares programs under the same messages of RDMA hosts in closed loop.

mod amount;
mod csv;
mod json;
mod plot;
mod progress;
mod text;

use super::RunArgs;
use crate::door::Door;
use crate::fail::{Failure, print_error};
use crate::files::{Folder, pretty};
use crate::interrupt::interrupt_flag;
use crate::resolve;
use progress::Progress;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::tm::buffer::BufferFile;
use sluice_catalogue::Catalogue;
use sluice_control::ControlState;
use sluice_fabric::deploy::{DeployError, Files};
use sluice_fabric::topology::Blueprint;
use sluice_ir::Program;
use sluice_pcaps::capture::unpacked;
use sluice_scenario::contest::{
    Contest, ContestProgress, ContestSetup, Results, RunError, Verdicts, checks, offered, run_contest,
};
use sluice_scenario::shipped;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A contest with the folder that its files are in.
pub(super) struct Source {
    contest: Contest,
    folder: PathBuf,
}

/// Results of a contest.
struct Finished {
    contest: Contest,
    results: Results,
    verdicts: Verdicts,
}

/// Most bytes of an unpacked list of flows.
const LONGEST: u64 = 1 << 30;

/// Separates the files of contests from other files.
pub(super) fn among(paths: &[PathBuf]) -> Result<(Vec<Source>, Vec<PathBuf>), Failure> {
    let (mut contests, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        // A file that cannot be read counts as a scenario file, whose reader reports the error.
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if Contest::is_one(&text) {
            let contest = Contest::parse(&path.display().to_string(), &text).map_err(Failure::input)?;
            contests.push(Source { contest, folder: path.parent().map(Path::to_owned).unwrap_or_default() });
        } else {
            others.push(path.clone());
        }
    }
    Ok((contests, others))
}

impl Source {
    /// Returns a path that the contest names, relative to the folder of the contest.
    fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the network, and the catalogue with the programs that are files.
    fn open(&mut self, catalogue: &Catalogue) -> Result<(Blueprint, Catalogue), Failure> {
        let topology = self.beside(&self.contest.topology);
        let mut plan = match topology.to_str().filter(|_| topology.exists()) {
            Some(path) => resolve::blueprint(path)?,
            None => resolve::blueprint(&self.contest.topology)?,
        };
        let mut door = Door::new(catalogue);
        door.topology(&mut plan, topology.parent().unwrap_or(Path::new("")))?;
        let folder = self.folder.clone();
        self.contest.open_files(|file| door.open(file, &folder))?;
        Ok((plan, door.into_catalogue()))
    }
}

impl Files for Source {
    type Error = Failure;

    fn entries(
        &self,
        name: &str,
        program: &Program,
        ports: &PortMap,
        usual: &ControlState,
        into: &mut ControlState,
    ) -> Result<Vec<String>, Failure> {
        resolve::load(program, ports, &self.beside(name), usual, into)
    }

    fn buffer(&self, name: &str, chip: &ChipSpec) -> Result<BufferFile, Failure> {
        if let Some(text) = shipped::profile(name) {
            return BufferFile::parse(name, text).map_err(Failure::input);
        }
        let path = self.beside(name);
        match path.to_str().filter(|_| name.ends_with(".toml") && path.exists()) {
            Some(path) => resolve::buffer(path, chip),
            None => resolve::buffer(name, chip),
        }
    }
}

/// Runs contests and prints their results.
pub(super) fn run(
    sources: Vec<Source>,
    args: &RunArgs,
    catalogue: &Catalogue,
    as_json: bool,
) -> Result<(), Failure> {
    if !args.timelines.is_empty() {
        return Err(Failure::input(
            "--timelines is for scenarios of one device; a contest runs a network for each program",
        ));
    }
    let wanted = |s: &Source| args.filter.is_empty() || args.filter.contains(&s.contest.id);
    let mut sources: Vec<Source> = sources.into_iter().filter(wanted).collect();
    if args.list {
        return list(&sources, as_json);
    }
    if let Some(count) = args.seeds {
        for contest in sources.iter_mut().map(|source| &mut source.contest) {
            contest.set_seeds(count).map_err(|e| Failure::input(format!("--seeds: {e}")))?;
        }
    }
    let mut finished = Vec::new();
    for mut source in sources {
        let (plan, catalogue) = source.open(catalogue)?;
        let results = run_source(&source, &plan, &catalogue, args.threads)?;
        let verdicts = checks(&source.contest, &results);
        finished.push(Finished { contest: source.contest, results, verdicts });
    }
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", json::value(&finished))?;
    } else {
        for contest in &finished {
            write!(out, "{}", text::report(contest, args.markdown))?;
        }
    }
    if let Some(dir) = &args.output {
        write_folder(&finished, dir)?;
    }
    match finished.iter().all(|f| f.verdicts.hold()) {
        true => Ok(()),
        false => Err(Failure::Property),
    }
}

/// Lists contests instead of running them.
fn list(sources: &[Source], as_json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let contests = sources.iter().map(|source| &source.contest);
    if as_json {
        let row = |c: &Contest| serde_json::json!({ "id": c.id, "source": c.source, "title": c.name });
        let list: Vec<_> = contests.map(row).collect();
        writeln!(out, "{}", serde_json::json!({ "schema": "sluice.contests/1", "contests": list }))?;
        return Ok(());
    }
    for contest in contests {
        writeln!(out, "{:<10} {}\n           {}", contest.id, contest.name, contest.source)?;
    }
    Ok(())
}

/// Runs a contest.
fn run_source(
    source: &Source,
    plan: &Blueprint,
    catalogue: &Catalogue,
    threads: usize,
) -> Result<Results, Failure> {
    let contest = &source.contest;
    let chip = contest.chip.as_deref().or(plan.chip.as_deref()).unwrap_or("tofino2");
    let near = source.beside(chip);
    let chip = resolve::chip(
        near.to_str().filter(|near| near.ends_with(".toml") && Path::new(near).is_file()).unwrap_or(chip),
    )?;
    let read = |name: &str| {
        let path = source.beside(name);
        let content = std::fs::read(&path).and_then(|file| unpacked(file, LONGEST));
        let text = content.and_then(|content| String::from_utf8(content).map_err(std::io::Error::other));
        text.map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let at = |e: String| Failure::input(format!("{}: {e}", contest.origin));
    let offered = offered(&contest.workload, read).map_err(at)?;
    let ground = ContestSetup { plan, catalogue, chip, offered: &offered, files: source, threads };
    let (stop, progress) = (interrupt_flag(), Progress::new());
    let tick = |stage: ContestProgress<'_>| {
        progress.tick(&stage);
        !stop.load(Ordering::Relaxed)
    };
    let outcome = run_contest(contest, &ground, &tick);
    progress.finish();
    outcome.map_err(|e| match e {
        RunError::Stopped => Failure::Interrupted,
        RunError::Deploy { source, .. } if matches!(*source, DeployError::NoFit { .. }) => {
            if let DeployError::NoFit { source, .. } = *source {
                print_error(format_args!("{}\n", sluice_report::text_no_fit(&source)));
            }
            Failure::Property
        }
        other => at(other.to_string()),
    })
}

fn write_folder(finished: &[Finished], dir: &Path) -> Result<(), Failure> {
    let mut folder = Folder::of("run");
    let value = pretty(&json::value(finished));
    folder.text(
        dir,
        "contest.json",
        json::SCHEMA,
        "every program's numbers, and what was expected",
        &value,
    )?;
    for (number, contest) in finished.iter().enumerate() {
        let stem = if finished.len() > 1 { format!("{number}.") } else { String::new() };
        let text = text::report(contest, true);
        folder.text(dir, &format!("{stem}contest.md"), "text/markdown", "the same as tables", &text)?;
        let text = csv::messages(&contest.results)?;
        folder.text(dir, &format!("{stem}messages.csv"), "text/csv", "every message that counts", &text)?;
        let svg = plot::slowdowns(contest);
        folder.chart(
            dir,
            &format!("{stem}slowdown.svg"),
            "image/svg+xml",
            "slowdowns over their share",
            &svg,
        )?;
        let svg = plot::sizes(contest);
        let what = "slowdowns at 99 % over sizes of messages";
        folder.chart(dir, &format!("{stem}sizes.svg"), "image/svg+xml", what, &svg)?;
    }
    folder.finish(dir)
}
