//! `sluice replay`: turns flags into a replay, and its results into files and text.

mod args;
mod brief;
mod control_plane;
mod endings;
mod executors;
mod failure;
mod generators;
mod inputs;
pub(crate) mod network;
mod own;
mod page;
mod progress;
mod rate_text;
mod schedule;
mod sonic;
mod spans;
mod stdin;
mod text;

use crate::console::fail::{Failure, print_error};
use crate::console::hint::own_arguments;
use crate::console::interrupt::interrupt_flag;
use crate::console::terminal;
use crate::open::buffer_profile;
use crate::open::door::{Door, OpenProgram};
use crate::open::p4::is_p4;
use crate::open::resolve::{self, Entries};
use crate::open::topology;
use crate::output::files::{self, Folder, Pending, pretty};
use crate::output::timeline;
pub(crate) use args::ReplayArgs;
use args::{EngineKind, SchedulerKind};
pub(crate) use brief::brief;
pub(crate) use network::Callers;
pub use network::{PlaneOf, PropertiesOf};
pub(crate) use own::OwnArgs;
use progress::ProgressLine;
use serde::Serialize;
use serde_json::Value;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::{BitRate, Cells, Duration};
use sluice_catalogue::control_plane::ControlPlane;
use sluice_catalogue::setup::Replaced;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_control::ControlOp;
use sluice_exec::cover::{Coverage, Points};
use sluice_fabric::network::{Placed, SwitchSetup};
use sluice_pcaps::replay::{Pace, Schedule};
use sluice_place::report::Report;
use sluice_replay::{
    Attached, Captures, Checks, ExecutorFactory, Inputs, Options, Outcome, PropertyFactory, RateSearch,
    Replay, Summary, TimelineRequest, TraceFilter,
};
use sluice_report as report;
use sluice_report::coverage as coverage_report;
use sluice_switch::property::general_and;
use sluice_switch::{BufferSetup, Mode, QueueSetup, SwitchConfig};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A resolved replay of one switch.
struct Job<'a> {
    args: &'a ReplayArgs,
    program: &'a OpenProgram,
    switch: SwitchSetup,
    /// Operations during the run.
    changes: Vec<(Duration, ControlOp)>,
    checks: Checks,
    inputs: Inputs,
    options: Options,
    /// Set by Ctrl-C.
    stop: Arc<AtomicBool>,
    /// Warnings about entries.
    warnings: Vec<String>,
}

impl Job<'_> {
    fn replay<'r>(&'r self, options: &'r Options) -> Replay<'r> {
        let Job { switch, changes, checks, inputs, stop, .. } = self;
        Replay { switch, changes, checks, inputs, options, stop }
    }
}

/// Runs a replay and prints its summary.
pub(crate) fn run(args: &ReplayArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let program = open(args, catalogue)?;
    if let Some(topology) = &args.topology {
        return network::run(args, &program, topology, Callers::default(), as_json);
    }
    let job = job(args, &program)?;
    let catalogue = &program.catalogue;
    search_and_finish(&job, &mut |request| executors::make(catalogue, args.engine, request), as_json)
}

/// A switch as the arguments describe it.
pub(crate) struct Described {
    pub(crate) stage: Arc<dyn StageProgram>,
    pub(crate) switch: SwitchSetup,
    /// Warnings about entries.
    pub(crate) warnings: Vec<String>,
}

/// Opens the program.
pub(crate) fn open(args: &ReplayArgs, catalogue: &Catalogue) -> Result<OpenProgram, Failure> {
    let mut chip = resolve::chip(&args.target.chip)?;
    if let Some(topology) = args.topology.as_deref().filter(|_| is_p4(Path::new(&args.program))) {
        // A P4 program is read for the chip of the network.
        chip = topology::chip(topology, &resolve::blueprint(topology)?, &args.target.chip)?;
    }
    Door::new(catalogue, &args.target.p4, &chip).program(&args.program)
}

/// Returns the switch of a replay of one switch.
pub(crate) fn device(args: &ReplayArgs, opened: &OpenProgram) -> Result<Described, Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    let stage = &opened.stage;
    let program = resolve::build(stage, &args.target)?;
    let placement = resolve::fit(&program, &chip, &args.placing.options()).map_err(|no_fit| {
        print_error(format_args!("{}\n", crate::console::snippet::no_fit(&no_fit)));
        Failure::Property
    })?;
    let ports = resolve::ports(&chip, args.port_speed, args.own.port_map.as_deref())?;
    if let [_, second, ..] = args.entries.as_slice() {
        let help = "give one file with all entries; only a network (--topology) takes several";
        return Err(Failure::with_help(
            format!("--entries {second}: a file of entries is already given"),
            help,
        ));
    }
    let profile = |name| buffer_profile::profile(name, &chip, Path::new(""), ports.names().map(Arc::as_ref));
    let buffer = args.buffer.as_deref().map(profile).transpose()?;
    let replaced = Replaced::by(buffer.as_ref());
    let entries = args.entries.first().map(Path::new);
    let placed = (&program, Some(&placement));
    let Entries { control, setup, warnings } = match &args.own.routes {
        Some(path) => resolve::routed(stage, placed, &ports, path, replaced)?,
        None => resolve::entries(stage, placed, &ports, entries, replaced)?,
    };
    // The user's speeds count most, then those of the port map.
    let mut speeds = BTreeMap::new();
    if args.port_speed.is_none() {
        let of =
            |(front, speed): &(FrontPort, BitRate)| Some((ports.front(*front)?.dev_port.number(), *speed));
        speeds.extend(setup.port_speeds.iter().filter_map(of));
        speeds.extend(resolve::mapped_speeds(&ports));
    }
    for text in &args.port_speeds {
        speeds.extend([port_speed(text, &ports)?]);
    }
    let speeds = speeds.into_iter().collect();
    let buffer = buffer.map(|file| BufferSetup { file, seed: args.seed });
    let config = SwitchConfig { buffer, ..config(args, speeds)? };
    let placed = Arc::new(Placed { program, placement });
    let switch = SwitchSetup { name: "switch".to_owned(), placed, ports, control, config };
    Ok(Described { stage: Arc::clone(stage), switch, warnings })
}

fn job<'a>(args: &'a ReplayArgs, opened: &'a OpenProgram) -> Result<Job<'a>, Failure> {
    let Described { stage, switch, warnings } = device(args, opened)?;
    let SwitchSetup { placed, ports, control, .. } = &switch;
    let Placed { program, placement } = placed.as_ref();
    let schedule = schedule::schedule(args)?;
    let options = options(args, schedule, &[&switch])?;
    let stop = interrupt_flag();
    let inputs = inputs::of_switch(&args.inputs, stage.as_ref(), ports, &stop)?;
    check_turns(&inputs, schedule)?;
    let changes = match &args.changes {
        Some(path) => resolve::changes(program, ports, control, path)?,
        None => Vec::new(),
    };
    let properties = args.check.then(|| {
        let (stage, program) = (Arc::clone(&stage), program.clone());
        Box::new(move || general_and(stage.properties(&program))) as PropertyFactory
    });
    if args.coverage && args.engine == EngineKind::Reference {
        return Err(reference_does_not_count());
    }
    let points = args.coverage.then(|| Points::of(program, &placement.chip));
    let checks = Checks { properties, points };
    Ok(Job { args, program: opened, switch, changes, checks, inputs, options, stop, warnings })
}

fn reference_does_not_count() -> Failure {
    let help = "leave --engine out; the results are the same";
    Failure::with_help("--engine reference cannot count coverage", help)
}

/// Refuses standard input early if the inputs are sent more than once.
fn check_turns(inputs: &Inputs, schedule: Schedule) -> Result<(), Failure> {
    match schedule.turns {
        1 => Ok(()),
        _ => Ok(inputs.check_repeatable(sluice_replay::Passes::Turns)?),
    }
}

/// Parses `20=100G` or `dev:137=100G`.
fn port_speed(text: &str, ports: &PortMap) -> Result<(u16, BitRate), Failure> {
    let usage = "write PORT=RATE, for example 20=100G";
    let (port, rate) = text
        .split_once('=')
        .ok_or_else(|| Failure::with_help(format!("--port {text}: the speed is missing"), usage))?;
    let dev_port = ports.find(port).map_err(|e| Failure::with_help(e, usage))?.dev_port.number();
    Ok((dev_port, rate.parse().map_err(Failure::input)?))
}

fn config(args: &ReplayArgs, port_speeds: Vec<(u16, BitRate)>) -> Result<SwitchConfig, Failure> {
    Ok(SwitchConfig {
        mode: if args.functional { Mode::Functional } else { Mode::Timed },
        clock_origin: args.clock_origin,
        max_recirculations: args.max_recirculations,
        queues: QueueSetup {
            limit: Cells(args.queue_limit),
            strict: args.scheduler == SchedulerKind::Strict,
            ..QueueSetup::default()
        },
        port_speeds,
        seed: args.seed,
        ..SwitchConfig::default()
    })
}

fn options(args: &ReplayArgs, schedule: Schedule, switches: &[&SwitchSetup]) -> Result<Options, Failure> {
    let filter = args.trace_where.as_ref().map(|text| match TraceFilter::new(text, switches) {
        Ok(filter) => Ok(Arc::new(filter)),
        Err(error) => Err(Failure::with_help(format!("--where `{text}`, {error}"), &error.help)),
    });
    Ok(Options {
        schedule,
        rewrite: schedule::rewrite(args),
        drain: args.drain,
        pfc_cable: args.obey_pfc.then_some(args.cable),
        comments: args.comments,
        strict: args.strict,
        trace: args.trace,
        trace_filter: filter.transpose()?,
        spans: args.traces.request(None),
    })
}

/// Runs the replay, with `--find-ndr` after a search of the rate.
fn search_and_finish(
    job: &Job<'_>,
    executors: &mut ExecutorFactory<'_>,
    as_json: bool,
) -> Result<(), Failure> {
    let folder = Folder::asked("replay", job.args.output.as_ref(), names(job.args))?;
    let mut progress = ProgressLine::new();
    let found = match job.args.find_ndr {
        true => {
            job.inputs.check_repeatable(sluice_replay::Passes::RateSearch)?;
            let replay = job.replay(&job.options);
            Some(replay.find_rate(job.args.ndr_resolution, executors, &mut progress)?)
        }
        false => None,
    };
    finish(job, executors, found.as_ref(), (progress, folder), as_json)
}

/// Returns the names of the files of `-o`.
fn names(args: &ReplayArgs) -> Vec<String> {
    let mut names: Vec<String> =
        [CAPTURE, "summary.json", "report.json", "entries.toml", "state.json"].map(str::to_owned).into();
    names.extend(coverage_names(args, ""));
    names.extend(args.trace.then(|| TRACE.to_owned()));
    names
}

/// Returns the names of the files of coverage; they begin with `prefix`.
fn coverage_names(args: &ReplayArgs, prefix: &str) -> Vec<String> {
    let files = ["coverage.json", "coverage.txt", "coverage.html"];
    files.iter().filter(|_| args.coverage).map(|file| format!("{prefix}{file}")).collect()
}

/// Files of a replay that are written while it runs.
struct Files {
    folder: Option<Folder>,
    sent: Option<Pending>,
    lost: Option<Pending>,
    timeline: Option<timeline::Files>,
}

impl Files {
    fn create(args: &ReplayArgs, folder: Option<Folder>) -> Result<Files, Failure> {
        let sent = folder.as_ref().map(|folder| Pending::create(&folder.path(CAPTURE)?)).transpose()?;
        let lost = args.drops.as_deref().map(Pending::create).transpose()?;
        let targets = &args.timelines.timeline;
        let on_page = args.html.is_some() && !args.functional;
        let files = || timeline::Files::create(targets);
        let timeline = (on_page || !targets.is_empty()).then(files).transpose()?;
        let timeline = if on_page { timeline.map(timeline::Files::on_page) } else { timeline };
        Ok(Files { folder, sent, lost, timeline })
    }

    fn captures(&self) -> Result<Captures, Failure> {
        Ok(Captures { sent: writer(self.sent.as_ref())?, lost: writer(self.lost.as_ref())? })
    }
}

/// Returns a writer of a file.
fn writer(file: Option<&Pending>) -> Result<Option<Box<dyn Write + Send>>, Failure> {
    file.map(|file| Ok(Box::new(file.handle()?) as Box<dyn Write + Send>)).transpose()
}

fn finish(
    job: &Job<'_>,
    executors: &mut ExecutorFactory<'_>,
    found: Option<&RateSearch>,
    (mut progress, folder): (ProgressLine, Option<Folder>),
    as_json: bool,
) -> Result<(), Failure> {
    let pace = found.map_or(job.options.schedule.pace, |found| Pace::Bits(found.rate()));
    let schedule = Schedule { pace, ..job.options.schedule };
    let options = Options { schedule, ..job.options.clone() };
    let mut agent = control_plane::of_switch(job.args, &job.program.catalogue, &job.switch)?;
    let prepared = job.replay(&options).prepare(executors)?;
    generators::warn(&job.inputs, schedule, [&job.switch.control]);
    // Files are created only after all inputs were opened.
    let mut files = Files::create(job.args, folder)?;
    let captures = files.captures()?;
    let every = job.args.timelines.every(files.timeline.is_some())?;
    let outcome = prepared.run(Attached {
        captures,
        timeline: files.timeline.as_mut().map(|rows| TimelineRequest { every, rows }),
        control_plane: agent.as_mut().map(|agent| agent.as_mut() as &mut dyn ControlPlane),
        progress: Some(&mut progress),
    })?;
    let mut summary = outcome.summary();
    summary.warnings.splice(0..0, job.warnings.iter().cloned());
    summary.warnings.extend(doubt(found));
    let results = Results { summary: &summary, found };
    let program = &job.switch.placed.program.name;
    spans::write(job.args, program, &[(program, &outcome)], &|_, _| String::new(), outcome.sent)?;
    if let Some(path) = &job.args.html {
        files::write(path, &page(job, &files, &outcome, &summary))?;
    }
    let written = write_files(job, files, &outcome, &results);
    let coverage = job.checks.points.as_ref().zip(outcome.coverage.as_ref());
    let mut out = terminal::results(as_json);
    if as_json {
        let coverage = coverage.map(|(points, coverage)| coverage_report::shares(points, coverage));
        let printed = Printed { results, wall: progress.wall(outcome.sent), coverage, story: None };
        write!(out, "{}", pretty(&printed))?;
    } else {
        if let Some(trace) = &outcome.trace {
            write!(out, "{}{}", text::matched(job.args, trace.matched()), trace.text())?;
        }
        if let Some(found) = found {
            write!(out, "{}", rate_text::text(found))?;
        }
        let properties = text::checked([&job.checks], &summary);
        let is_written = job.args.output.is_some();
        write!(out, "{}", text::summary(&job.switch, &job.args.program, is_written, &properties, &summary))?;
        if let Some((points, coverage)) = coverage {
            write!(out, "{}", coverage_report::text(&job.switch.placed.program.name, points, coverage))?;
        }
    }
    written?;
    verdict(outcome.is_conserved, outcome.interrupted, !outcome.violations.is_empty())
}

/// Returns the page of `--html`.
fn page(job: &Job<'_>, files: &Files, outcome: &Outcome<'_>, summary: &Summary) -> String {
    let placed = &job.switch.placed;
    let chip = &placed.placement.chip;
    page::page(&page::Run {
        title: format!("{} on {}", placed.program.name, chip.name),
        command: format!("sluice replay {}", own_arguments::<ReplayArgs>("replay", &job.args.program)),
        summary,
        network: None,
        programs: vec![&placed.program],
        latency: &outcome.latency,
        cell: summary.buffer.as_ref().map_or(chip.tm.cell.get(), |buffer| buffer.cell_bytes),
        levels: files.timeline.iter().map(|files| ("", files.levels())).collect(),
        story: None,
        hits: text::hits(&job.switch, summary),
    })
}

/// Results of the command as `summary.json` has them.
#[derive(Serialize)]
struct Results<'a, S> {
    #[serde(flatten)]
    summary: &'a S,
    /// Result of `--find-ndr`.
    #[serde(rename = "ndr", skip_serializing_if = "Option::is_none")]
    found: Option<&'a RateSearch>,
}

/// Results of the command as it prints them.
#[derive(Serialize)]
struct Printed<'a, S: Serialize> {
    #[serde(flatten)]
    results: Results<'a, S>,
    wall: progress::Wall,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Value>,
    /// Lines of the story of `--watch-flow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    story: Option<Vec<&'a str>>,
}

/// Returns the reason to doubt the result of a rate search, if there is one.
fn doubt(found: Option<&RateSearch>) -> Option<String> {
    found.and_then(RateSearch::warning).map(|warning| failure::doubt(&warning))
}

/// Returns the result of the command, after its results are written and printed.
fn verdict(conserved: bool, interrupted: bool, broken: bool) -> Result<(), Failure> {
    match (conserved, interrupted, broken) {
        (false, ..) => Err(Failure::Inconsistent("packets in and packets out do not add up".into())),
        (true, true, _) => Err(Failure::Interrupted),
        (true, false, true) => Err(Failure::Property),
        (true, false, false) => Ok(()),
    }
}

/// Completes the captures, the timelines and the output folder.
fn write_files(
    job: &Job<'_>,
    files: Files,
    outcome: &Outcome<'_>,
    results: &impl Serialize,
) -> Result<(), Failure> {
    let Files { folder, sent, lost, timeline } = files;
    timeline.map_or(Ok(()), timeline::Files::finish)?;
    lost.map_or(Ok(()), Pending::finish)?;
    let Some(mut folder) = folder else { return Ok(()) };
    if let Some(file) = sent {
        folder.add(file, CAPTURE, "application/vnd.tcpdump.pcap", SENT);
    }
    let what = "counts, latency, ports, queues";
    folder.text("summary.json", "sluice.summary/1", what, &pretty(results))?;
    let SwitchSetup { placed, control, ports, .. } = &job.switch;
    let Placed { program, placement } = placed.as_ref();
    let report = report::json(&Report::new(program, placement));
    folder.text("report.json", "sluice.report/1", "the program on the chip", &pretty(&report))?;
    let entries = sluice_control::entries::print_on(program, ports, control);
    folder.text("entries.toml", "sluice.entries", "entries at the start of the run", &entries)?;
    if let Some(registers) = &outcome.state() {
        let what = "elements of registers that differ from their first value";
        folder.text("state.json", "sluice.state/1", what, &pretty(registers))?;
    }
    if let Some((points, coverage)) = job.checks.points.as_ref().zip(outcome.coverage.as_ref()) {
        coverage_files(&mut folder, "", &program.name, points, coverage)?;
    }
    if let Some(trace) = &outcome.trace {
        folder.text(TRACE, "text/plain", "what happened to each packet", trace.text())?;
    }
    folder.finish()
}

/// Name of the capture of sent packets.
const CAPTURE: &str = "out.pcapng";
/// Name of the trace.
const TRACE: &str = "trace.txt";
/// The manifest's description of a capture of sent packets.
const SENT: &str = "packets that left, one interface per port, ns stamps";

/// Adds the files of coverage; their names begin with `prefix`.
fn coverage_files(
    folder: &mut Folder,
    prefix: &str,
    program: &str,
    points: &Points,
    coverage: &Coverage,
) -> Result<(), Failure> {
    let mut file = |name: &str, schema: &str, what: &str, text: &str| {
        folder.text(&format!("{prefix}{name}"), schema, what, text)
    };
    let json = pretty(&coverage_report::json(program, points, coverage));
    file("coverage.json", "sluice.coverage/1", "every point of the program", &json)?;
    let text = coverage_report::text(program, points, coverage);
    file("coverage.txt", "text/plain", "coverage and what is uncovered", &text)?;
    file(
        "coverage.html",
        "text/html",
        "the same as a page",
        &coverage_report::html(program, points, coverage),
    )
}
