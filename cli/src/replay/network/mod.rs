//! `sluice replay --topology`: the same for a network of switches. Resolves the arguments, drives the network, puts the
//! results where they belong.

mod agent;
mod changes;
mod resolve;
mod run;
mod runner;
mod seat;
mod summary;
mod text;

pub(super) use agent::{Agent, Told, text as hot_flows_text};

use super::inputs::{Inputs, bad};
use super::ndr::{self, Found, Ran};
use super::output::Outputs;
use super::progress::Progress;
use super::sink::{Collector, Origins};
use super::trace::{self, TraceText};
use super::{Plan, Properties, config, interrupt_flag, pace, port_counts};
use crate::args::{EngineKind, ReplayArgs};
use crate::fail::Failure;
use crate::files::{Folder, beside, pretty};
use crate::timeline::NetworkFiles;
use resolve::Resolved;
use run::{Drive, Finished};
use runner::Runner;
use seat::{Seat, Wants};
use serde_json::{Value, json};
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::QosMaps;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Time};
use sluice_control::ControlOp;
use sluice_exec::cover::{Coverage, Points};
use sluice_exec::pass::Executor;
use sluice_fabric::network::{NetworkSetup, Placed, SwitchId};
use sluice_fabric::senders::Senders;
use sluice_fabric::story::{Narrator, RoceNarrator, Story, Watcher};
use sluice_ir::Program;
use sluice_pcaps::replay::{Pace, Schedule};
use sluice_place::report::Report;
use sluice_programs::by_name;
use sluice_programs::position::Position;
use sluice_report as report;
use sluice_report::coverage as coverage_report;
use sluice_switch::property::general_and;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Packets whose origin and time of entry are remembered.
const REMEMBERED: usize = 1 << 17;

/// The network of a replay.
type Network = sluice_fabric::network::Network<Runner>;

/// Runs a replay on a network and prints its summary.
pub(super) fn run(args: &ReplayArgs, topology: &str, as_json: bool) -> Result<(), Failure> {
    let schedule = pace::schedule(args)?;
    if args.coverage && args.engine == EngineKind::Reference {
        return Err(super::reference_does_not_count());
    }
    let resolved = resolve::network(args, topology, config(args, Vec::new())?)?;
    let stop = interrupt_flag();
    let samples = by_name(&args.program).map(|program| program.network_samples()).unwrap_or_default();
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
    let deployment = resolved.deployment;
    let bench = Bench {
        args,
        plans: &plans,
        inputs: &inputs,
        own: &own,
        setup: &deployment.network,
        positions: &deployment.positions,
        changes: &deployment.changes,
        stop: &stop,
    };
    let found = args.find_ndr.then(|| bench.find_ndr(schedule)).transpose()?;
    let pace = found.as_ref().map_or(schedule.pace, |f| Pace::Bits(f.rate()));
    let finished = bench.replay(Schedule { pace, ..schedule }, "", true)?;
    bench.finish(finished, resolved.unused, found.as_ref(), as_json)
}

/// What replays on one network have in common.
struct Bench<'a> {
    args: &'a ReplayArgs,
    plans: &'a [Plan<'a>],
    inputs: &'a Inputs,
    /// The inputs of each switch.
    own: &'a [Inputs],
    setup: &'a NetworkSetup,
    positions: &'a [Position],
    changes: &'a [(SwitchId, Time, ControlOp)],
    stop: &'a Arc<AtomicBool>,
}

impl<'a> Bench<'a> {
    /// Searches the highest rate without loss, on a fresh network for each trial.
    fn find_ndr(&self, schedule: Schedule) -> Result<Found, Failure> {
        let places = self.inputs.switches.iter().zip(&self.inputs.ports);
        let line = places.map(|(switch, port)| self.line(*switch, *port)).min();
        ndr::find(self.args, self.inputs, line.unwrap_or(BitRate::from_bps(0)), &mut |trial| {
            let schedule = Schedule { pace: Pace::Bits(trial.rate), ..schedule };
            let finished = self.replay(schedule, &trial.what(), false)?;
            if self.stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
            for done in &finished.switches {
                done.check_inputs(self.args.strict, false)?;
            }
            let totals = finished.network.totals();
            Ok(Ran::over(&finished.switches, totals.entered, totals.on_links))
        })
    }

    /// The rate of a port's line.
    fn line(&self, switch: u32, port: DevPort) -> BitRate {
        let plan = self.plans.get(switch as usize);
        plan.map_or(BitRate::from_bps(0), |p| p.speed_of(port.number()))
    }

    /// Replays the inputs; what leaves and what is watched is written if it is `final_one`.
    fn replay(&self, schedule: Schedule, what: &str, final_one: bool) -> Result<Finished<'a>, Failure> {
        let args = self.args;
        let mut traces = Vec::with_capacity(self.plans.len());
        let mut points = self.plans.iter().map(|plan| plan.points.as_ref());
        let numbers = Arc::new(AtomicU64::new(0));
        let network = Network::with(self.setup.clone(), |switch| {
            let (tracer, text) = args.trace.then(trace::tracer).unzip();
            traces.push(text);
            Runner::new(switch, args.engine, points.next().flatten(), tracer)
        });
        let mut network = network.map_err(Failure::input)?;
        let timed = !args.functional;
        let agent =
            args.hot_flows.as_deref().map(|of| Agent::new(of, &network, self.positions)).transpose()?;
        for (switch, time, op) in self.changes {
            network.control(*switch, *time, op.clone()).map_err(Failure::input)?;
        }
        // Frames take time on the wire only where there is time, or where the pace is the line's.
        let takes_time = timed || schedule.pace == Pace::LineRate;
        let line = |switch, port| if takes_time { self.line(switch, port) } else { BitRate::from_bps(0) };
        let feed = self.inputs.feed(schedule, line).map_err(|e| bad(&e))?;
        let names: Vec<&str> = self.inputs.sources.iter().map(|s| s.name.as_str()).collect();
        let origins = Arc::new(Mutex::new(Origins::new(REMEMBERED)));
        let wants = Wants { digests: agent.as_ref().map(Agent::counts), pauses: args.obey_pfc };
        let narrator = narrator(self.plans);
        let mut seats = Vec::with_capacity(self.plans.len());
        for ((id, plan), trace) in network.ids().zip(self.plans).zip(traces) {
            let name = name_of(&network, id);
            let out = args.output.as_ref().map(|dir| dir.join(capture(name))).filter(|_| final_one);
            let drops = args.drops.as_ref().map(|path| beside(path, name)).filter(|_| final_one);
            let outputs = Outputs::create(plan, feed.origin(), out.as_deref(), drops.as_deref())?;
            let number = |text: TraceText| if timed { text } else { text.numbered(Arc::clone(&numbers)) };
            let mut collector = Collector::new(plan, names.clone(), outputs, trace.map(number));
            collector.shared = Some(Arc::clone(&origins));
            let watcher = args.story.map(|flow| Watcher::new(flow, &plan.program, Arc::clone(&narrator)));
            seats.push(Seat::new(collector, watcher, wants));
        }
        let all = network.ids().map(|id| name_of(&network, id).to_owned()).collect();
        let timelines = match final_one {
            true => NetworkFiles::create(&args.timelines, all)?,
            false => None,
        };
        let senders = self.senders(&network);
        let progress = Progress::new(what, schedule, self.inputs);
        let drive = Drive::new(self, network, seats, origins, progress);
        drive.with(agent).obeying(senders).watched(timelines).run(feed, self.own)
    }

    /// Senders that obey PFC, with what their switches say of it.
    fn senders(&self, network: &Network) -> Option<Senders> {
        let cable = self.plans.first()?.cable?;
        let places = self.inputs.switches.iter().zip(&self.inputs.ports);
        let sender = |(switch, port): (&u32, &DevPort)| {
            let flow = network.switch(SwitchId(*switch)).and_then(|s| s.flow(Time::ORIGIN));
            let (pfc, maps) =
                flow.map_or((PfcConfig::default(), QosMaps::azure()), |f| (f.config.pfc, f.config.maps));
            ((*switch, *port), self.line(*switch, *port), pfc, maps)
        };
        Some(Senders::new(places.map(sender), cable))
    }
}

/// The reader of a story's frames: that of the first program that has one.
fn narrator(plans: &[Plan]) -> Arc<dyn Narrator> {
    let own = |plan: &Plan| by_name(&plan.program.name).ok()?.story();
    plans.iter().find_map(own).unwrap_or_else(|| Arc::new(RoceNarrator))
}

fn name_of(network: &Network, id: SwitchId) -> &str {
    network.setup(id).map_or("", |s| s.name.as_str())
}

/// The capture of what leaves a switch.
fn capture(switch: &str) -> String {
    format!("{switch}.pcapng")
}

/// What a switch needs, as if it were replayed alone.
fn plans<'a>(
    args: &'a ReplayArgs,
    resolved: &Resolved,
    schedule: Schedule,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<Plan<'a>>, Failure> {
    let drain = args.drain.parse().map_err(Failure::input)?;
    let cable = args.obey_pfc.then(|| args.cable.parse()).transpose().map_err(Failure::input)?;
    let speeds = resolved.speeds();
    let mut known: Vec<(&Arc<Placed>, Points)> = Vec::new();
    let mut points = |placed| {
        if let Some((_, points)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, placed)) {
            return points.clone();
        }
        let points = Points::of(&placed.program, &placed.placement.chip);
        known.push((placed, points.clone()));
        points
    };
    let switches = resolved.deployment.network.switches.iter().zip(speeds);
    let changes = |id: SwitchId| {
        let own = resolved.deployment.changes.iter().filter(move |(of, ..)| *of == id);
        own.map(|(_, time, op)| (time.saturating_since(Time::ORIGIN), op.clone())).collect()
    };
    Ok((0..)
        .map(SwitchId)
        .zip(switches)
        .map(|(id, (s, port_speeds))| Plan {
            cable,
            properties: args.check.then(|| properties(&s.placed.program)).flatten(),
            points: args.coverage.then(|| points(&s.placed)),
            args,
            program: s.placed.program.clone(),
            placement: s.placed.placement.clone(),
            ports: s.ports.clone(),
            control: s.control.clone(),
            changes: changes(id),
            config: sluice_switch::SwitchConfig { port_speeds, ..s.config.clone() },
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

/// What packets reached of a program, at all switches that run it.
struct Covered {
    /// The first of them, which files are named after.
    name: String,
    switches: Vec<String>,
    program: String,
    points: Points,
    coverage: Coverage,
}

impl Covered {
    fn json(&self) -> Value {
        let shares = coverage_report::shares(&self.points, &self.coverage);
        json!({ "program": self.program, "switches": self.switches, "shares": shares })
    }

    fn text(&self) -> String {
        let text = coverage_report::text(&self.program, &self.points, &self.coverage);
        format!("\nat {}:\n{text}", self.switches.join(", "))
    }
}

/// Takes what was counted, with `--coverage`.
fn coverage(network: &mut Network, plans: &[Plan<'_>]) -> Vec<Covered> {
    let mut all: Vec<(Arc<Placed>, Covered)> = Vec::new();
    for (id, plan) in network.ids().zip(plans) {
        let (Some(points), Some(placed)) = (&plan.points, network.setup(id).map(|s| Arc::clone(&s.placed)))
        else {
            continue;
        };
        let name = name_of(network, id).to_owned();
        let at = all.iter().position(|(known, _)| Arc::ptr_eq(known, &placed)).unwrap_or_else(|| {
            let (points, coverage) = (points.clone(), Coverage::new(points));
            let program = plan.program.name.clone();
            let covered = Covered { name: name.clone(), switches: Vec::new(), program, points, coverage };
            all.push((placed, covered));
            all.len() - 1
        });
        if let (Some((_, covered)), Some(executor)) = (all.get_mut(at), network.executor_mut(id)) {
            covered.switches.push(name);
            executor.take_coverage(&mut covered.coverage);
        }
    }
    all.into_iter().map(|(_, covered)| covered).collect()
}

impl Bench<'_> {
    /// Prints and writes what came of a replay.
    fn finish(
        &self,
        mut finished: Finished<'_>,
        unused: Vec<String>,
        found: Option<&Found>,
        as_json: bool,
    ) -> Result<(), Failure> {
        let (args, plans) = (self.args, self.plans);
        let interrupted = self.stop.load(Ordering::Relaxed);
        for done in &finished.switches {
            done.check_inputs(args.strict, interrupted)?;
        }
        let mut summary = summary::value(args, plans, &finished, unused);
        if let Some(found) = found {
            summary["ndr"] = found.json();
            if let Some(warnings) = summary["warnings"].as_array_mut() {
                warnings.extend(found.warnings().into_iter().map(Value::String));
            }
        }
        let tell = |flow| Story::tell(flow, &finished.network, &finished.watchers);
        let story = args.story.map(tell).transpose().map_err(Failure::input)?;
        let (conserved, broken, wall) = (finished.conserved(), finished.broken(), finished.wall.clone());
        let trace = args.trace.then(|| finished.take_trace());
        let covered = coverage(&mut finished.network, plans);
        let files =
            Words { summary: &summary, story: story.as_ref(), trace: trace.as_deref(), covered: &covered };
        write_files(args, plans, finished, &files)?;
        let mut out = std::io::stdout().lock();
        if as_json {
            summary["wall"] = wall;
            if let Some(story) = &story {
                summary["story"] = story.text().lines().collect();
            }
            if args.coverage {
                summary["coverage"] = covered.iter().map(Covered::json).collect();
            }
            write!(out, "{}", pretty(&summary))?;
        } else if let Some(story) = &story {
            write!(out, "{}", story.text())?;
        } else {
            write!(out, "{}", trace.as_deref().unwrap_or_default())?;
            if let Some(found) = found {
                write!(out, "{}", found.text())?;
            }
            write!(out, "{}", text::summary(plans, &summary))?;
            for covered in &covered {
                write!(out, "{}", covered.text())?;
            }
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
}

/// What is said of a run, besides captures.
struct Words<'t> {
    summary: &'t Value,
    story: Option<&'t Story>,
    trace: Option<&'t str>,
    covered: &'t [Covered],
}

/// Completes the captures and the output folder.
fn write_files(
    args: &ReplayArgs,
    plans: &[Plan<'_>],
    finished: Finished<'_>,
    told: &Words<'_>,
) -> Result<(), Failure> {
    let mut folder = Folder::default();
    finished.timelines.map_or(Ok(()), NetworkFiles::finish)?;
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
        let entries = sluice_control::entries::print(&plan.program, &plan.control);
        let what = "entries at the start of the run";
        folder.text(dir, &format!("{name}.entries.toml"), "sluice.entries", what, &entries)?;
        if let Some(registers) = &registers {
            let what = "elements of registers that differ from their first value";
            folder.text(dir, &format!("{name}.state.json"), "sluice.state/1", what, &pretty(registers))?;
        }
    }
    let Some(dir) = &args.output else { return Ok(()) };
    if let Some(story) = told.story {
        folder.text(dir, "story.txt", "text", "the life of a flow as a sequence diagram", &story.text())?;
        folder.text(dir, "story.svg", "svg", "the same drawn to scale", &story.svg())?;
    }
    if let Some(trace) = told.trace {
        let what = "what happened to each packet, at all switches";
        folder.text(dir, "trace.txt", "text", what, trace)?;
    }
    for Covered { name, program, points, coverage, .. } in told.covered {
        super::coverage_files(&mut folder, dir, &format!("{name}."), program, points, coverage)?;
    }
    let what = "counts, latency, switches, links, ports, queues";
    folder.text(dir, "summary.json", "sluice.summary/1", what, &pretty(told.summary))?;
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
