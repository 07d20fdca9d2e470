//! `sluice replay --topology`: the same for a network of switches. Resolves the arguments, drives the network, puts
//! the results where they belong. What may not live here: the network itself.

mod agent;
mod resolve;
mod run;
mod seat;
mod summary;
mod text;

pub(crate) use agent::HotFlowArgs;
pub(super) use agent::{Agent, Told, is_data, text as hot_flows_text};

use super::inputs::{Inputs, bad};
use super::output::Outputs;
use super::progress::Progress;
use super::sink::{Collector, Origins};
use super::{Plan, Properties, config, interrupt_flag, pace, port_counts};
use crate::args::ReplayArgs;
use crate::fail::Failure;
use crate::files::{Folder, pretty};
use resolve::Resolved;
use run::{Drive, Finished};
use seat::Seat;
use serde_json::Value;
use sluice_asic::port::DevPort;
use sluice_fabric::network::{Network, SwitchId};
use sluice_fabric::story::{Story, Watcher};
use sluice_pcaps::replay::Schedule;
use sluice_pcaps::samples;
use sluice_pipeline::ir::Program;
use sluice_pipeline::property::general_and;
use sluice_pipeline::report::{self, Report};
use sluice_programs::by_name;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Packets whose origin and time of entry are remembered.
const REMEMBERED: usize = 1 << 17;

/// Runs a replay on a network and prints its summary.
pub(super) fn run(args: &ReplayArgs, topology: &str, as_json: bool) -> Result<(), Failure> {
    let schedule = pace::schedule(args)?;
    let resolved = resolve::network(args, topology, config(args, Vec::new())?)?;
    let stop = interrupt_flag();
    let samples = samples::of_network(&args.program);
    if args.inputs.is_empty() && samples.is_empty() {
        return Err(resolved.no_inputs());
    }
    let port = |name: &str| resolved.port(name);
    let inputs = match args.inputs.is_empty() {
        true => Inputs::of_samples(&samples, port, Arc::clone(&stop))?,
        false => Inputs::into_network(&args.inputs, port, Arc::clone(&stop))?,
    };
    if schedule.turns != 1 {
        inputs.check_passes("--loop")?;
    }
    let plans = plans(args, &resolved, schedule, &stop)?;
    let own: Vec<Inputs> = (0..plans.len() as u32).map(|switch| inputs.at(switch)).collect();
    let positions = resolved.deployment.positions;
    let mut network = Network::new(resolved.deployment.network).map_err(Failure::input)?;
    let agent = args.hot_flows.map(|of| Agent::new(of, &network, &positions)).transpose()?;
    for (switch, time, op) in resolved.deployment.changes {
        network.control(switch, time, op).map_err(Failure::input)?;
    }
    let line = |switch: u32, port: DevPort| {
        plans
            .get(switch as usize)
            .map_or(sluice_asic::units::BitRate::from_bps(0), |p| p.speed_of(port.number()))
    };
    let feed = inputs.feed(schedule, line).map_err(|e| bad(&e))?;
    let names: Vec<&str> = inputs.sources.iter().map(|s| s.name.as_str()).collect();
    let origins = Arc::new(Mutex::new(Origins::new(REMEMBERED)));
    let mut seats = Vec::with_capacity(plans.len());
    for (id, plan) in network.ids().zip(&plans) {
        let name = name_of(&network, id);
        let out = args.output.as_ref().map(|dir| dir.join(capture(name)));
        let drops = args.drops.as_ref().map(|path| beside(path, name));
        let outputs = Outputs::create(plan, feed.origin(), out.as_deref(), drops.as_deref())?;
        let mut collector = Collector::new(plan, names.clone(), outputs, None);
        collector.shared = Some(Arc::clone(&origins));
        let watcher = args.story.map(|flow| Watcher::new(flow, &plan.program));
        seats.push(Seat::new(collector, watcher, agent.is_some()));
    }
    let progress = Progress::new("", schedule, &inputs);
    let drive = Drive::new(args, &plans, &inputs, network, seats, origins, progress).with(agent);
    let finished = drive.run(feed, &own, &stop)?;
    finish(args, &plans, finished, (resolved.unused, &stop), as_json)
}

fn name_of(network: &Network, id: SwitchId) -> &str {
    network.setup(id).map_or("", |s| s.name.as_str())
}

/// The capture of what leaves a switch.
fn capture(switch: &str) -> String {
    format!("{switch}.pcapng")
}

/// The capture of what dies at a switch: its name stands before the file's extension.
fn beside(path: &Path, switch: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or("pcapng".into(), |e| e.to_string_lossy());
    path.with_file_name(format!("{stem}.{switch}.{extension}"))
}

/// What a switch needs, as if it were replayed alone.
fn plans<'a>(
    args: &'a ReplayArgs,
    resolved: &Resolved,
    schedule: Schedule,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<Plan<'a>>, Failure> {
    let drain = args.drain.parse().map_err(Failure::input)?;
    let speeds = resolved.speeds();
    let switches = resolved.deployment.network.switches.iter().zip(speeds);
    Ok(switches
        .map(|(s, port_speeds)| Plan {
            cable: None,
            properties: args.check.then(|| properties(&s.placed.program)).flatten(),
            points: None,
            args,
            program: s.placed.program.clone(),
            placement: s.placed.placement.clone(),
            ports: s.ports.clone(),
            control: s.control.clone(),
            changes: Vec::new(),
            config: sluice_pipeline::switch::SwitchConfig { port_speeds, ..s.config.clone() },
            schedule,
            rewrite: pace::rewrite(args),
            drain,
            stop: Arc::clone(stop),
        })
        .collect())
}

/// The properties of every program and those of this one.
fn properties(program: &Program) -> Option<Properties> {
    let stage = by_name(&program.name).ok()?;
    let program = program.clone();
    Some(Box::new(move || general_and(stage.properties(&program))))
}

fn finish(
    args: &ReplayArgs,
    plans: &[Plan<'_>],
    finished: Finished<'_>,
    (unused, stop): (Vec<String>, &AtomicBool),
    as_json: bool,
) -> Result<(), Failure> {
    let interrupted = stop.load(Ordering::Relaxed);
    for done in &finished.switches {
        done.check_inputs(args.strict, interrupted)?;
    }
    let mut summary = summary::value(args, plans, &finished, unused);
    let tell = |flow| Story::tell(flow, &finished.network, &finished.watchers);
    let story = args.story.map(tell).transpose().map_err(Failure::input)?;
    let (conserved, broken, wall) = (finished.conserved(), finished.broken(), finished.wall.clone());
    write_files(args, plans, finished, &summary, story.as_ref())?;
    let mut out = std::io::stdout().lock();
    if as_json {
        summary["wall"] = wall;
        if let Some(story) = &story {
            summary["story"] = story.text().lines().collect();
        }
        write!(out, "{}", pretty(&summary))?;
    } else if let Some(story) = &story {
        write!(out, "{}", story.text())?;
    } else {
        write!(out, "{}", text::summary(plans, &summary))?;
    }
    if !conserved {
        return Err(Failure::Inconsistent("packets in and packets out do not add up".into()));
    }
    match (interrupted, broken) {
        (true, _) => Err(Failure::Interrupted),
        (false, true) => Err(Failure::Property),
        (false, false) => Ok(()),
    }
}

/// Completes the captures and the output folder.
fn write_files(
    args: &ReplayArgs,
    plans: &[Plan<'_>],
    finished: Finished<'_>,
    summary: &Value,
    story: Option<&Story>,
) -> Result<(), Failure> {
    let mut folder = Folder::default();
    let names: Vec<String> =
        finished.network.ids().map(|id| name_of(&finished.network, id).to_owned()).collect();
    if let Some(dir) = &args.output {
        reports(&mut folder, dir, &finished.network, plans)?;
    }
    for ((done, name), plan) in finished.switches.into_iter().zip(&names).zip(plans) {
        let counts = port_counts(&done);
        let registers = super::state::all(plan, &done);
        done.collector.outputs.finish(&mut folder, &capture(name), &counts)?;
        let Some(dir) = &args.output else { continue };
        let entries = sluice_pipeline::control::entries::print(&plan.program, &plan.control);
        let what = "entries at the start of the run";
        folder.text(dir, &format!("{name}.entries.toml"), "sluice.entries", what, &entries)?;
        if let Some(registers) = &registers {
            let what = "elements of registers that differ from their first value";
            folder.text(dir, &format!("{name}.state.json"), "sluice.state/1", what, &pretty(registers))?;
        }
    }
    let Some(dir) = &args.output else { return Ok(()) };
    if let Some(story) = story {
        folder.text(dir, "story.txt", "text", "the life of a flow as a sequence diagram", &story.text())?;
        folder.text(dir, "story.svg", "svg", "the same drawn to scale", &story.svg())?;
    }
    let what = "counts, latency, switches, links, ports, queues";
    folder.text(dir, "summary.json", "sluice.summary/1", what, &pretty(summary))?;
    folder.finish(dir)
}

/// The programs on the chip: a report for each, named after the first switch that runs it.
fn reports(folder: &mut Folder, dir: &Path, network: &Network, plans: &[Plan<'_>]) -> Result<(), Failure> {
    let mut known = Vec::new();
    for (id, plan) in network.ids().zip(plans) {
        let Some(placed) = network.setup(id).map(|setup| &setup.placed) else { continue };
        if known.iter().any(|other| Arc::ptr_eq(other, placed)) {
            continue;
        }
        known.push(Arc::clone(placed));
        let same = |id: &SwitchId| network.setup(*id).is_some_and(|s| Arc::ptr_eq(&s.placed, placed));
        let switches: Vec<&str> = network.ids().filter(same).map(|id| name_of(network, id)).collect();
        let what = format!("the program on the chip of {}", switches.join(", "));
        let json = pretty(&report::json(&Report::new(&plan.program, &plan.placement)));
        folder.text(
            dir,
            &format!("{}.report.json", name_of(network, id)),
            "sluice.report/1",
            &what,
            &json,
        )?;
    }
    Ok(())
}
