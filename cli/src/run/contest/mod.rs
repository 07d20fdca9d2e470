//! `sluice run` of a contest: compares programs under the same messages of RDMA hosts in closed loop.

mod amount;
mod compared;
mod csv;
mod dry_run;
pub(crate) mod inputs;
mod job;
mod json;
mod lists;
mod page;
mod plot;
mod progress;
pub(super) mod store;
mod sweep_page;
mod tables;
mod text;
mod watch;

use super::RunArgs;
use crate::console::fail::{Failure, print_error, reason};
use crate::console::interrupt::interrupt_flag;
use crate::console::invocation::Out;
use crate::console::terminal;
use crate::console::text_file;
use crate::open::buffer_profile;
use crate::open::door::Door;
use crate::open::named::Naming;
use crate::open::p4::P4Args;
use crate::open::resolve;
use crate::output::files::{self, Folder, pretty};
use crate::output::verdict::{Ended, Verdict};
pub(crate) use job::Job;
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
    Contest, ContestProgress, ContestSetup, Point, Results, RunError, RunKey, RunStore, Verdicts, checks,
    run_all, run_contest,
};
use sluice_scenario::shipped;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::Store;

/// A contest, which may be one of a sweep, with the folder that its files are in.
pub(crate) struct Source {
    point: Point,
    folder: PathBuf,
    /// Texts that go before files of the same name.
    texts: Texts,
}

/// Texts by the names under which contests call them, in addition to the buffer profiles that come with Sluice.
#[derive(Clone, Default)]
pub(crate) struct Texts(pub(crate) Arc<BTreeMap<String, String>>);

impl Texts {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).or_else(|| shipped::profile(name))
    }
}

/// Results of a contest.
pub(crate) struct Finished {
    contest: Contest,
    /// Keys that vary in its sweep, with its values.
    pub(crate) axes: Vec<(String, String)>,
    pub(crate) results: Results,
    pub(crate) verdicts: Verdicts,
    /// Digest of the configuration of each run.
    digests: BTreeMap<RunKey, String>,
}

/// How contests are run.
pub(crate) struct Running<'a> {
    /// Threads that share the runs.
    pub(crate) threads: usize,
    /// Folder that keeps the runs.
    pub(crate) out: Option<&'a Path>,
    /// False if runs in the folder are run again.
    pub(crate) uses: bool,
    pub(crate) p4: &'a P4Args,
}

/// Name of the folder of kept runs in the folder of `-o`.
pub(crate) const RUNS: &str = "runs";
/// Most contests of a sweep that have a page each.
const PAGES: usize = 200;

/// Most bytes of an unpacked list of flows or capture.
const LONGEST: u64 = 1 << 30;

/// Reads the text of a contest file, whose files are in `folder`; `origin` is its name in errors.
pub(crate) fn read(origin: &str, text: &str, folder: &Path) -> Result<Vec<Source>, Failure> {
    let points = Point::parse_all(origin, text).map_err(Failure::input)?;
    Ok(points.into_iter().map(|point| Source::new(point, folder.to_owned(), Texts::default())).collect())
}

/// Separates the files of contests from other files.
pub(super) fn among(paths: &[PathBuf]) -> Result<(Vec<Source>, Vec<PathBuf>), Failure> {
    let (mut contests, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        // A file that cannot be read counts as a scenario file, whose reader reports the error.
        let text = text_file::text(path).unwrap_or_default();
        if Contest::is_one(&text) {
            let folder = path.parent().unwrap_or(Path::new(""));
            contests.extend(read(&path.display().to_string(), &text, folder)?);
        } else {
            others.push(path.clone());
        }
    }
    Ok((contests, others))
}

impl Source {
    /// Returns a contest whose files are in `folder`, or among `texts`.
    pub(crate) fn new(point: Point, folder: PathBuf, texts: Texts) -> Source {
        Source { point, folder, texts }
    }

    /// Returns a path that the contest names, relative to the folder of the contest.
    fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the contest as the file that names others.
    fn naming(&self) -> Naming {
        Naming::new(self.point.contest.origin.as_str(), self.point.contest.text())
    }

    /// Returns the failure of a file that the contest or its topology names, with the place.
    fn named(&self, name: &str, failure: Failure) -> Failure {
        let topology = Naming::of_file(self.beside(&self.point.contest.topology).display().to_string());
        match [self.naming(), topology].into_iter().find(|file| file.has(name)) {
            Some(naming) => naming.failed(name, failure),
            None => failure,
        }
    }

    /// Reads everything that the contest names.
    fn open(&mut self, catalogue: &Catalogue, p4: &P4Args) -> Result<Opened, Failure> {
        let naming = self.naming();
        let topology = self.beside(&self.point.contest.topology);
        let plan = match (self.texts.get(&self.point.contest.topology), topology.to_str()) {
            (Some(text), _) => resolve::blueprint_of(text, &self.point.contest.topology),
            (None, Some(path)) if topology.exists() => resolve::blueprint(path),
            _ => resolve::blueprint(&self.point.contest.topology),
        };
        let mut plan = plan.map_err(|e| naming.failed(&self.point.contest.topology, e))?;
        let chip = self.point.contest.chip.as_deref().or(plan.chip.as_deref()).unwrap_or("tofino2");
        let near = self.beside(chip);
        let near = near.to_str().filter(|near| near.ends_with(".toml") && Path::new(near).is_file());
        let chip = resolve::chip(near.unwrap_or(chip)).map_err(|e| naming.failed(chip, e))?;
        let mut door = Door::new(catalogue, p4, &chip);
        door.topology(&mut plan, topology.parent().unwrap_or(Path::new("")))?;
        let folder = self.folder.clone();
        let open = |file: &str| door.open(file, &folder).map_err(|e| naming.failed(file, e));
        self.point.contest.open_files(open)?;
        let beside = |name: &str| self.folder.join(name);
        let texts = self.texts.clone();
        let read = |name: &str| {
            if let Some(text) = texts.get(name) {
                return Ok(text.as_bytes().to_vec());
            }
            let path = beside(name);
            let content = text_file::bytes(&path).and_then(|file| unpacked(file, LONGEST));
            content.map_err(|e| format!("cannot read {}: {}", path.display(), reason(&e)))
        };
        let text = |name: &str| {
            let text = String::from_utf8(read(name)?);
            text.map_err(|_| format!("{} is not a text", beside(name).display()))
        };
        let origin = self.point.contest.origin.clone();
        let opened = self.point.contest.workload.open(read);
        opened.map_err(|e| Failure::input(format!("{origin}: {e}")))?;
        let schedule = self.point.contest.open_schedule(text);
        schedule.map_err(|e| Failure::input(format!("{}: {e}", self.point.contest.origin)))?;
        Ok(Opened { plan, catalogue: door.into_catalogue(), chip })
    }
}

/// Topology, programs and chip that a contest names.
struct Opened {
    plan: Blueprint,
    /// The catalogue with the programs that are files.
    catalogue: Catalogue,
    chip: ChipSpec,
}

/// Calls `with` with a contest's setup on these threads, whose runs a store keeps.
fn with_setup<R>(
    source: &Source,
    opened: &Opened,
    (threads, store): (usize, &dyn RunStore),
    with: impl FnOnce(&ContestSetup<'_, Source>) -> R,
) -> R {
    let Opened { plan, catalogue, chip } = opened;
    with(&ContestSetup { plan, catalogue, chip: chip.clone(), files: source, threads, store })
}

/// Returns the failure of a contest; prints why a program does not fit.
fn failure(contest: &Contest, error: RunError<Failure>) -> Failure {
    let RunError::Deploy { line, source } = error else {
        return match error {
            RunError::Stopped => Failure::Interrupted,
            other => Failure::input(format!("{}: {other}", contest.origin)),
        };
    };
    match *source {
        DeployError::NoFit { source, .. } => {
            print_error(format_args!("{}\n", crate::console::snippet::no_fit(&source)));
            Failure::Property
        }
        // It says where the contest names the file.
        DeployError::File { source, .. } => source,
        other => Failure::input(format!("{}: line {line}: {other}", contest.origin)),
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
        resolve::load(program, ports, &self.beside(name), usual, into).map_err(|e| self.named(name, e))
    }

    fn buffer(&self, name: &str, chip: &ChipSpec) -> Result<BufferFile, Failure> {
        if let Some(text) = self.texts.get(name) {
            return BufferFile::parse(name, text).map_err(Failure::input);
        }
        buffer_profile::profile(name, chip, &self.folder, None).map_err(|e| self.named(name, e))
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
    let wanted = |s: &Source| args.filter.is_empty() || args.filter.contains(&s.point.contest.id);
    let mut sources: Vec<Source> = sources.into_iter().filter(wanted).collect();
    if args.list {
        return list(&sources, as_json);
    }
    if let Some(count) = args.seeds {
        for contest in sources.iter_mut().map(|source| &mut source.point.contest) {
            contest.set_seeds(count).map_err(|e| Failure::input(format!("--seeds: {e}")))?;
        }
    }
    let out = args.output.as_deref();
    if let Some(dir) = &args.write_flows {
        let opened = open_all(&mut sources, catalogue, &args.p4)?;
        return lists::write(&sources, &opened, dir);
    }
    if args.dry_run {
        let opened = open_all(&mut sources, catalogue, &args.p4)?;
        return dry_run::run(&sources, &opened, args.threads.get(), as_json);
    }
    if let (Some(flow), Some(dir)) = (args.watch_flow, out) {
        let opened = open_all(&mut sources, catalogue, &args.p4)?;
        let ([source], [opened]) = (sources.as_slice(), opened.as_slice()) else {
            let count = sources.len();
            return Err(Failure::input(format!(
                "--watch-flow takes one contest, found {count}; name one file without [sweep]"
            )));
        };
        return watch::run(source, opened, (flow, args.watch_every), &args.traces, args.threads.get(), dir);
    }
    let folder = Folder::asked("run", args.output.as_ref(), names(&sources))?;
    let running = Running { threads: args.threads.get(), out, uses: !args.again, p4: &args.p4 };
    let finished = run_sources(sources, &running, catalogue)?;
    report(&finished, args, folder, as_json)?;
    args.verdicts.write("run", &finished.iter().flat_map(for_ci).collect::<Vec<_>>())?;
    match finished.iter().all(|f| f.verdicts.hold()) {
        true => Ok(()),
        false => Err(Failure::Property),
    }
}

/// Returns the verdicts on a contest's expectations.
fn for_ci(finished: &Finished) -> Vec<Verdict> {
    let axes: Vec<String> = finished.axes.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let contest = &finished.contest;
    let suite =
        if axes.is_empty() { contest.id.clone() } else { format!("{}, {}", contest.id, axes.join(", ")) };
    let verdict = |name: &str, ended: Ended, line: Option<usize>| Verdict {
        suite: suite.clone(),
        name: name.to_owned(),
        ended,
        at: Some((contest.origin.clone(), line)),
    };
    let mut all: Vec<Verdict> = Vec::new();
    for expected in &finished.verdicts.list {
        let ended = match expected.holds {
            true => Ended::Passed,
            false => Ended::Failed(text::checked(expected, &finished.results.seeds).trim_end().to_owned()),
        };
        all.push(verdict(&expected.what, ended, Some(expected.line)));
    }
    if let Some(error) = &finished.verdicts.error {
        all.push(verdict("expectations", Ended::Broken(error.clone()), None));
    }
    all
}

/// Runs a contest that comes with the command line, and returns its setting, its slowdowns and its expectations. The arguments
/// are the names and texts of the contest and of its buffer profile. Returns `None` if the catalogue lacks a program.
pub(crate) fn brief(
    (origin, text): (&str, &str),
    profile: (&str, &str),
    running: &Running<'_>,
    catalogue: &Catalogue,
) -> Result<Option<String>, Failure> {
    let texts = Texts(Arc::new([profile].map(|(name, text)| (name.to_owned(), text.to_owned())).into()));
    let points = Point::parse_all(origin, text).map_err(Failure::input)?;
    let lacks =
        |point: &Point| point.contest.program.iter().any(|p| catalogue.get(&p.get_ref().name).is_err());
    if points.iter().any(lacks) {
        return Ok(None);
    }
    let sources = points.into_iter().map(|point| Source::new(point, PathBuf::new(), texts.clone())).collect();
    let finished = run_sources(sources, running, catalogue)?;
    Ok(Some(finished.iter().map(text::brief).collect()))
}

/// Reads everything that contests name.
fn open_all(sources: &mut [Source], catalogue: &Catalogue, p4: &P4Args) -> Result<Vec<Opened>, Failure> {
    sources.iter_mut().map(|source| source.open(catalogue, p4)).collect()
}

/// Runs contests, with their progress on a terminal.
pub(crate) fn run_sources(
    mut sources: Vec<Source>,
    running: &Running<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Finished>, Failure> {
    let Running { threads, out, uses, p4 } = *running;
    let opened = open_all(&mut sources, catalogue, p4)?;
    let stores = sources.iter().zip(&opened).map(|(source, opened)| Store::new(source, opened, out, uses));
    let stores: Vec<Store> = stores.collect::<Result<_, _>>()?;
    let (stop, progress) = (interrupt_flag(), Progress::new(&sources));
    let outcome = run_all(threads, sources.len(), |number, threads| {
        let tick = |stage: ContestProgress<'_>| {
            progress.tick(number, &stage);
            !stop.load(Ordering::Relaxed)
        };
        let (source, store) = (&sources[number], &stores[number]);
        let contest = &source.point.contest;
        with_setup(source, &opened[number], (threads, store), |setup| {
            run_contest(contest, setup, &tick).map_err(|e| failure(contest, e))
        })
    });
    progress.finish();
    let outcome = outcome.inspect_err(|failure| kept(failure, &stores, out))?;
    let mut finished = Vec::with_capacity(sources.len());
    for ((source, results), store) in sources.into_iter().zip(outcome).zip(&stores) {
        let verdicts = checks(&source.point.contest, &results);
        let Point { contest, axes, .. } = source.point;
        finished.push(Finished { contest, axes, results, verdicts, digests: store.digests() });
    }
    Ok(finished)
}

/// Says which runs an interrupted command has kept.
fn kept(failure: &Failure, stores: &[Store], out: Option<&Path>) {
    let (Failure::Interrupted, Some(out)) = (failure, out) else { return };
    let (done, all) = stores.iter().map(Store::count).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let runs = out.join(RUNS);
    terminal::note(format_args!(
        "note: {done} of {all} runs are in {}; the same command continues with the others\n",
        runs.display()
    ));
}

/// Prints the results and writes the files.
fn report(
    finished: &[Finished],
    args: &RunArgs,
    folder: Option<Folder>,
    as_json: bool,
) -> Result<(), Failure> {
    let mut out = terminal::results(as_json || args.markdown);
    if as_json {
        writeln!(out, "{}", serde_json::json!(json::Contests::of(finished)))?;
    } else {
        for contest in finished {
            write!(out, "{}", text::report(contest, args.markdown))?;
        }
    }
    if let Some(path) = &args.html {
        files::write(path, &whole_page(finished))?;
    }
    folder.map_or(Ok(()), |folder| write_folder(finished, folder))
}

/// Returns the page of `--html`: of one contest, of a sweep, or of several contests.
fn whole_page(finished: &[Finished]) -> String {
    match finished {
        [one] => page::page(one),
        all if all.iter().any(|contest| !contest.axes.is_empty()) => sweep_page::page(all, false),
        all => page::pages(all),
    }
}

/// Lists contests instead of running them.
fn list(sources: &[Source], as_json: bool) -> Result<(), Failure> {
    let mut out = Out::new();
    let mut contests: Vec<&Contest> = sources.iter().map(|source| &source.point.contest).collect();
    // All contests of a sweep have the same title.
    contests.dedup_by_key(|contest| (&contest.origin, &contest.id, &contest.name));
    if as_json {
        let row = |c: &Contest| serde_json::json!({ "id": c.id, "source": c.source, "title": c.name });
        let list: Vec<_> = contests.into_iter().map(row).collect();
        writeln!(out, "{}", serde_json::json!({ "schema": "sluice.contests/1", "contests": list }))?;
        return Ok(());
    }
    for contest in contests {
        writeln!(out, "{:<10} {}\n           {}", contest.id, contest.name, contest.source)?;
    }
    Ok(())
}

/// Returns the names of the files of `-o`, and that of the folder of kept runs.
fn names(sources: &[Source]) -> Vec<String> {
    let mut names = vec![RUNS.to_owned() + "/", "contest.json".to_owned()];
    names.extend(tables::names());
    if sources.iter().any(|source| !source.point.axes.is_empty()) {
        names.push("sweep.html".to_owned());
        names.extend((0..sources.len().min(PAGES)).map(|number| format!("{number}.contest.html")));
        return names;
    }
    for number in 0..sources.len() {
        let stem = if sources.len() > 1 { format!("{number}.") } else { String::new() };
        let files = ["contest.md", "contest.html", "messages.csv", "slowdown.svg", "sizes.svg"];
        names.extend(files.map(|file| format!("{stem}{file}")));
    }
    names
}

fn write_folder(finished: &[Finished], mut folder: Folder) -> Result<(), Failure> {
    let value = pretty(&json::Contests::of(finished));
    folder.text("contest.json", json::SCHEMA, "every program's numbers, and what was expected", &value)?;
    tables::write(finished, &mut folder)?;
    let swept = finished.iter().any(|contest| !contest.axes.is_empty());
    if swept {
        folder.text("sweep.html", "text/html", "the sweep as a page", &sweep_page::page(finished, true))?;
        for (number, contest) in finished.iter().enumerate().take(PAGES) {
            let name = format!("{number}.contest.html");
            folder.text(&name, "text/html", "one contest of the sweep as a page", &page::page(contest))?;
        }
    }
    for (number, contest) in finished.iter().enumerate().filter(|_| !swept) {
        let stem = if finished.len() > 1 { format!("{number}.") } else { String::new() };
        let text = text::report(contest, true);
        folder.text(&format!("{stem}contest.md"), "text/markdown", "the same as tables", &text)?;
        let what = "the results as a page";
        folder.text(&format!("{stem}contest.html"), "text/html", what, &page::page(contest))?;
        let text = csv::messages(&contest.results)?;
        folder.text(&format!("{stem}messages.csv"), "text/csv", "every message that counts", &text)?;
        let svg = plot::slowdowns(contest);
        folder.chart(&format!("{stem}slowdown.svg"), "image/svg+xml", "slowdowns over their share", &svg)?;
        let svg = plot::sizes(contest);
        let what = "slowdowns at 99 % over sizes of messages";
        folder.chart(&format!("{stem}sizes.svg"), "image/svg+xml", what, &svg)?;
    }
    folder.finish()
}
