//! `sluice replay --topology`: turns flags into a replay through a network, and its results into files and text.

mod buffers;
mod hosts;
mod resolve;
mod story;
mod text;

use super::progress::ProgressLine;
use super::text::{checked, matched};
use super::{
    Printed, Results, SENT, TRACE, check_turns, config, control_plane, coverage_files, coverage_names, doubt,
    executors, generators, options, page, rate_text, schedule, spans, verdict, writer,
};
use crate::console::fail::Failure;
use crate::console::hint::own_arguments;
use crate::console::interrupt::interrupt_flag;
use crate::console::terminal;
use crate::open::door::OpenProgram;
use crate::output::files::{self, Folder, Pending, beside, pretty};
use crate::output::timeline;
use crate::output::trace_out::direction;
use crate::replay::args::{EngineKind, ReplayArgs};
use resolve::Resolved;
use serde::Serialize;
use serde_json::json;
use sluice_catalogue::Catalogue;
use sluice_catalogue::control_plane::ControlPlane;
use sluice_exec::cover::Points;
use sluice_fabric::deploy::{Deployment, HostPort};
use sluice_fabric::network::{LinkId, NetworkSetup, Placed, SwitchSetup, Way};
use sluice_fabric::story::Story;
use sluice_ir::Program;
use sluice_pcaps::replay::{Pace, Schedule};
use sluice_place::report::Report;
use sluice_replay::network::{NetworkSummary, ProgramCoverage};
use sluice_replay::{
    Captures, Checks, ExecutorRequest, NetworkAttached, NetworkOutcome, NetworkReplay, Options,
    PropertyFactory, TimelineRequest,
};
use sluice_report as report;
use sluice_report::coverage as coverage_report;
use sluice_switch::property::{Property, general_and};
use std::io::Write;
use std::sync::Arc;

/// Makes the properties of a switch by its name.
pub type PropertiesOf = Arc<dyn Fn(&str) -> Vec<Box<dyn Property>> + Send + Sync>;
/// Makes the control plane of all switches, in the order of the network.
pub type PlaneOf = Box<dyn FnOnce(&[SwitchSetup]) -> Box<dyn ControlPlane>>;

/// Parts that a caller in the same process adds to a replay.
#[derive(Default)]
pub(crate) struct Callers {
    /// Properties, in addition to those of `--check`.
    pub(crate) properties: Option<PropertiesOf>,
    /// The control plane, in place of `--control-plane`.
    pub(crate) control_plane: Option<PlaneOf>,
}

/// Runs a replay on a network and prints its summary.
pub(crate) fn run(
    args: &ReplayArgs,
    program: &OpenProgram,
    topology: &str,
    callers: Callers,
    as_json: bool,
) -> Result<(), Failure> {
    let schedule = schedule::schedule(args)?;
    if args.coverage && args.engine == EngineKind::Reference {
        return Err(super::reference_does_not_count());
    }
    let resolved = resolve::network(args, program, topology, config(args, Vec::new())?)?;
    let stop = interrupt_flag();
    let samples = program.stage.network_samples();
    let (inputs, strangers) = resolved.inputs(args, &samples, &stop)?;
    check_turns(&inputs, schedule)?;
    let Resolved { deployment, unused, catalogue } = resolved;
    let Deployment { network, positions, changes, hosts, warnings: own, place_warnings } = deployment;
    let options = options(args, schedule, &network.switches.iter().collect::<Vec<_>>())?;
    let own = own.into_iter().chain(place_warnings);
    let catalogue = &catalogue;
    let checks = checks(args, catalogue, &network, callers.properties.as_ref());
    let replay = |options| NetworkReplay {
        network: &network,
        changes: &changes,
        checks: &checks,
        inputs: &inputs,
        options,
        threads: args.threads.get(),
        stop: &stop,
    };
    let folder = Folder::asked("replay", args.output.as_ref(), names(args, &network.switches))?;
    let mut executors = |request: ExecutorRequest<'_>| executors::make(catalogue, args.engine, request);
    let mut progress = ProgressLine::new();
    let found = match args.find_ndr {
        true => {
            inputs.check_repeatable(sluice_replay::Passes::RateSearch)?;
            Some(replay(&options).find_rate(args.ndr_resolution, &mut executors, &mut progress)?)
        }
        false => None,
    };
    let pace = found.as_ref().map_or(schedule.pace, |found| Pace::Bits(found.rate()));
    let options = Options { schedule: Schedule { pace, ..schedule }, ..options.clone() };
    let mut agent = match callers.control_plane {
        Some(_) if args.control_plane.is_some() => {
            return Err(Failure::input("--control-plane is given beside a control plane of the caller"));
        }
        Some(make) => Some(make(&network.switches)),
        None => control_plane::of_network(args, catalogue, &network.switches, &positions)?,
    };
    let prepared = replay(&options).prepare(&mut executors)?;
    generators::warn(&inputs, options.schedule, network.switches.iter().map(|switch| &switch.control));
    // Files are created only after all inputs were opened.
    let mut files = Files::create(args, &network.switches, folder)?;
    let mut watch = story::Watch::new(args, catalogue, &network.switches);
    let every = args.timelines.every(files.timeline.is_some())?;
    let outcome = prepared.run(NetworkAttached {
        captures: files.captures()?,
        observers: watch.as_mut().map_or(Vec::new(), story::Watch::observers),
        timeline: files.timeline.as_mut().map(|rows| TimelineRequest { every, rows }),
        control_plane: agent.as_mut().map(|agent| agent.as_mut() as &mut dyn ControlPlane),
        progress: Some(&mut progress),
    })?;
    let mut summary = WithHosts {
        network: outcome.summary(),
        hosts: hosts.iter().map(|host| HostRow::of(&network, host)).collect(),
    };
    let warnings = &mut summary.network.total.warnings;
    warnings.splice(0..0, unused.into_iter().chain(own).chain(strangers));
    warnings.extend(doubt(found.as_ref()));
    let results = Results { summary: &summary, found: found.as_ref() };
    let story = watch.map(|watch| watch.tell(&outcome.network)).transpose()?;
    let trace = args.trace.then(|| outcome.trace());
    let words = Words { results: &results, story: story.as_ref(), trace: trace.as_deref() };
    trace_out(args, program.name(), &outcome)?;
    if let Some(path) = &args.html {
        files::write(path, &run_page(args, &network, &files, &outcome, &words))?;
    }
    let written = write_files(&network.switches, files, &outcome, &words);
    let mut out = terminal::results(as_json);
    if as_json {
        let told = story.as_ref().map(Story::text);
        let printed = Printed {
            results,
            wall: progress.wall(outcome.sent),
            coverage: args.coverage.then(|| outcome.coverage.iter().map(coverage_json).collect()),
            story: told.as_ref().map(|told| told.lines().collect()),
        };
        write!(out, "{}", pretty(&printed))?;
    } else if let Some(story) = &story {
        write!(out, "{}", story.text())?;
    } else {
        write!(out, "{}{}", matched(args, outcome.matched()), trace.as_deref().unwrap_or_default())?;
        if let Some(found) = &found {
            write!(out, "{}", rate_text::text(found))?;
        }
        let programs: Vec<&Program> = network.switches.iter().map(|s| &s.placed.program).collect();
        write!(
            out,
            "{}{}",
            text::summary(&programs, &summary.network, &summary.hosts),
            checked(&checks, &summary.network.total)
        )?;
        for covered in &outcome.coverage {
            write!(out, "{}", coverage_text(covered))?;
        }
    }
    written?;
    verdict(outcome.is_conserved(), outcome.interrupted, outcome.has_violations())
}

/// A network and its hosts.
#[derive(Serialize)]
struct WithHosts {
    #[serde(flatten)]
    network: NetworkSummary,
    hosts: Vec<HostRow>,
}

/// A host.
#[derive(Serialize)]
struct HostRow {
    address: String,
    /// Name of its switch.
    switch: String,
    /// Port of the switch.
    port: String,
    rate_bps: u64,
}

impl HostRow {
    fn of(network: &NetworkSetup, host: &HostPort) -> HostRow {
        let switch = network.switches.get(host.end.switch.0 as usize);
        HostRow {
            address: host.address.to_string(),
            switch: switch.map_or_else(|| "?".to_owned(), |switch| switch.name.clone()),
            port: host.end.port.to_string(),
            rate_bps: host.rate.as_bps(),
        }
    }
}

/// Returns properties and coverage points of each switch, for `--check`, `--coverage` and the caller.
fn checks(
    args: &ReplayArgs,
    catalogue: &Catalogue,
    network: &NetworkSetup,
    own: Option<&PropertiesOf>,
) -> Vec<Checks> {
    let mut known: Vec<(&Arc<Placed>, Points)> = Vec::new();
    let mut points = |placed| {
        if let Some((_, points)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, placed)) {
            return points.clone();
        }
        let points = Points::of(&placed.program, &placed.placement.chip);
        known.push((placed, points.clone()));
        points
    };
    let switches = network.switches.iter();
    switches
        .map(|switch| {
            let usual = args.check.then(|| properties(catalogue, &switch.placed.program)).flatten();
            Checks {
                properties: both(usual, own.cloned(), &switch.name),
                points: args.coverage.then(|| points(&switch.placed)),
            }
        })
        .collect()
}

/// Returns the properties of a switch with those of the caller.
fn both(usual: Option<PropertyFactory>, own: Option<PropertiesOf>, switch: &str) -> Option<PropertyFactory> {
    let Some(own) = own else { return usual };
    let name = switch.to_owned();
    Some(Box::new(move || {
        let mut all = usual.as_ref().map_or_else(Vec::new, |usual| usual());
        all.extend(own(&name));
        all
    }))
}

/// Returns the properties of every program and those of this one.
fn properties(catalogue: &Catalogue, program: &Program) -> Option<PropertyFactory> {
    let stage = Arc::clone(catalogue.get(&program.name).ok()?);
    let program = program.clone();
    Some(Box::new(move || general_and(stage.properties(&program))))
}

fn coverage_json(covered: &ProgramCoverage) -> serde_json::Value {
    let shares = coverage_report::shares(&covered.points, &covered.coverage);
    json!({ "program": covered.program, "switches": covered.switches, "shares": shares })
}

fn coverage_text(covered: &ProgramCoverage) -> String {
    let text = coverage_report::text(&covered.program, &covered.points, &covered.coverage);
    format!("\nat {}:\n{text}", covered.switches.join(", "))
}

/// Returns the names of the files of `-o`.
fn names(args: &ReplayArgs, switches: &[SwitchSetup]) -> Vec<String> {
    let mut names: Vec<String> = vec!["summary.json".to_owned()];
    names.extend(args.trace.then(|| TRACE.to_owned()));
    names.extend(args.story.into_iter().flat_map(|_| story::NAMES.map(str::to_owned)));
    for SwitchSetup { name, .. } in switches {
        let files = ["report.json", "entries.toml", "state.json"].map(|file| format!("{name}.{file}"));
        names.extend(files.into_iter().chain([capture(name)]));
        names.extend(coverage_names(args, &format!("{name}.")));
    }
    names
}

/// Files of a replay that are written while it runs.
struct Files {
    folder: Option<Folder>,
    /// By switch: sent packets, and lost packets.
    captures: Vec<(Option<Pending>, Option<Pending>)>,
    timeline: Option<timeline::NetworkFiles>,
}

impl Files {
    fn create(args: &ReplayArgs, switches: &[SwitchSetup], folder: Option<Folder>) -> Result<Files, Failure> {
        let mut captures = Vec::with_capacity(switches.len());
        for SwitchSetup { name, .. } in switches {
            let sent = folder.as_ref().map(|folder| Pending::create(&folder.path(&capture(name))?));
            let lost = args.drops.as_ref().map(|path| Pending::create(&beside(path, name)));
            captures.push((sent.transpose()?, lost.transpose()?));
        }
        let names = switches.iter().map(|s| s.name.clone()).collect();
        let targets = &args.timelines.timeline;
        let on_page = args.html.is_some() && !args.functional;
        let start = || timeline::NetworkFiles::create(targets, names);
        let timeline = (on_page || !targets.is_empty()).then(start).transpose()?;
        let timeline = if on_page { timeline.map(timeline::NetworkFiles::on_page) } else { timeline };
        Ok(Files { folder, captures, timeline })
    }

    fn captures(&self) -> Result<Vec<Captures>, Failure> {
        let captures = self
            .captures
            .iter()
            .map(|(sent, lost)| Ok(Captures { sent: writer(sent.as_ref())?, lost: writer(lost.as_ref())? }));
        captures.collect()
    }
}

/// Returns the file name of the capture of packets that a switch sent.
fn capture(switch: &str) -> String {
    format!("{switch}.pcapng")
}

/// Writes the trace of `--trace-out`.
fn trace_out(args: &ReplayArgs, program: &str, outcome: &NetworkOutcome<'_>) -> Result<(), Failure> {
    let network = &outcome.network;
    let named = network.ids().zip(&outcome.switches).map(|(id, own)| (outcome.name_of(id), own));
    let link = |link: LinkId, way: Way| direction(&network.link_name(link), way);
    spans::write(args, program, &named.collect::<Vec<_>>(), &link, outcome.sent)
}

/// Returns the page of `--html`.
fn run_page(
    args: &ReplayArgs,
    network: &NetworkSetup,
    files: &Files,
    outcome: &NetworkOutcome<'_>,
    words: &Words<'_>,
) -> String {
    let summary = &words.results.summary.network;
    let cell = summary.switches.iter().find_map(|s| Some(s.summary.buffer.as_ref()?.cell_bytes));
    let chip = network.switches.first().map(|s| &s.placed.placement.chip);
    page::page(&page::Run {
        title: format!("{} on {} switches", summary.total.program, network.switches.len()),
        command: format!("sluice replay {}", own_arguments::<ReplayArgs>("replay", &args.program)),
        summary: &summary.total,
        network: Some(summary),
        programs: network.switches.iter().map(|s| &s.placed.program).collect(),
        latency: &outcome.latency,
        cell: cell.or(chip.map(|chip| chip.tm.cell.get())).unwrap_or(0),
        levels: files.timeline.iter().flat_map(timeline::NetworkFiles::levels).collect(),
        story: words.story.map(|story| (story.text(), story.svg())),
        hits: Vec::new(),
    })
}

/// Texts about a run.
struct Words<'t> {
    results: &'t Results<'t, WithHosts>,
    story: Option<&'t Story>,
    trace: Option<&'t str>,
}

/// Completes the captures, the timelines and the output folder.
fn write_files(
    switches: &[SwitchSetup],
    files: Files,
    outcome: &NetworkOutcome<'_>,
    words: &Words<'_>,
) -> Result<(), Failure> {
    let notes = files.timeline.map_or(Ok(Vec::new()), timeline::NetworkFiles::finish)?;
    notes.iter().for_each(|note| terminal::note(format_args!("note: {note}\n")));
    let mut folder = files.folder;
    if let Some(folder) = &mut folder {
        reports(folder, switches)?;
    }
    let results = outcome.switches.iter().zip(switches).zip(files.captures);
    for ((own, SwitchSetup { name, placed, control, ports, .. }), (sent, lost)) in results {
        lost.map_or(Ok(()), Pending::finish)?;
        let Some(folder) = &mut folder else { continue };
        if let Some(file) = sent {
            folder.add(file, &capture(name), "application/vnd.tcpdump.pcap", SENT);
        }
        let entries = sluice_control::entries::print_on(&placed.program, ports, control);
        let what = "entries at the start of the run";
        folder.text(&format!("{name}.entries.toml"), "sluice.entries", what, &entries)?;
        if let Some(registers) = &own.state() {
            let what = "elements of registers that differ from their first value";
            folder.text(&format!("{name}.state.json"), "sluice.state/1", what, &pretty(registers))?;
        }
    }
    let Some(mut folder) = folder else { return Ok(()) };
    if let Some(story) = words.story {
        story::write(story, &mut folder)?;
    }
    if let Some(trace) = words.trace {
        let what = "what happened to each packet, at all switches";
        folder.text(TRACE, "text/plain", what, trace)?;
    }
    for ProgramCoverage { program, switches, points, coverage } in &outcome.coverage {
        // The files have the name of the first switch that runs the program.
        let prefix = switches.first().map_or(String::new(), |name| format!("{name}."));
        coverage_files(&mut folder, &prefix, program, points, coverage)?;
    }
    let what = "counts, latency, switches, links, ports, queues";
    folder.text("summary.json", "sluice.summary/1", what, &pretty(words.results))?;
    folder.finish()
}

/// Adds a report for each placed program, named after the first switch that runs it.
fn reports(folder: &mut Folder, switches: &[SwitchSetup]) -> Result<(), Failure> {
    let mut known: Vec<&Arc<Placed>> = Vec::new();
    for SwitchSetup { name, placed, .. } in switches {
        if known.iter().any(|other| Arc::ptr_eq(other, placed)) {
            continue;
        }
        known.push(placed);
        let same = switches.iter().filter(|s| Arc::ptr_eq(&s.placed, placed));
        let names: Vec<&str> = same.map(|s| s.name.as_str()).collect();
        let what = format!("the program on the chip of {}", names.join(", "));
        let json = pretty(&report::json(&Report::new(&placed.program, &placed.placement)));
        folder.text(&format!("{name}.report.json"), "sluice.report/1", &what, &json)?;
    }
    Ok(())
}
