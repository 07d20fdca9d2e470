//! `sluice replay`: does it behave. Resolves the arguments, drives the switch, puts the results where they belong.

mod ahead;
mod checked;
mod comment;
mod flow;
mod inputs;
mod ndr;
mod network;
mod obey;
mod order;
mod output;
mod pace;
mod progress;
mod run;
mod scribe;
mod sent;
mod sink;
mod sonic;
mod state;
mod stdin;
mod summary;
mod text;
mod trace;

use crate::args::{EngineKind, ReplayArgs, SchedulerKind};
use crate::fail::Failure;
use crate::files::{Folder, pretty};
use crate::resolve;
use crate::timeline::Recorder;
use ahead::Frames;
use inputs::{Inputs, bad};
use output::{Outputs, PortCounts};
use progress::Progress;
use run::{Done, Session};
use serde_json::Value;
use sink::Collector;
use sluice_asic::port::{DevPort, FrontPort, PortKind, PortMap, PortName};
use sluice_asic::units::{BitRate, Cells, Duration, Length, Time};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::cover::{Coverage, Points};
use sluice_exec::engine::{Engine, LowerError};
use sluice_exec::pass::Executor;
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_pcaps::replay::{Pace, Rewrite, Schedule};
use sluice_place::Placement;
use sluice_place::report::Report;
use sluice_report as report;
use sluice_report::coverage as coverage_report;
use sluice_switch::property::{Property, general_and};
use sluice_switch::{BufferSetup, Mode, QueueSetup, Switch, SwitchConfig};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Everything that a run needs, resolved.
pub(crate) struct Plan<'a> {
    pub(crate) args: &'a ReplayArgs,
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    pub(crate) ports: sluice_asic::port::PortMap,
    pub(crate) control: ControlState,
    /// Operations during the run.
    pub(crate) changes: Vec<(Duration, ControlOp)>,
    pub(crate) config: SwitchConfig,
    pub(crate) schedule: Schedule,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) drain: Duration,
    /// Length of the cables to senders that obey PFC, if they do.
    pub(crate) cable: Option<Length>,
    /// Set by Ctrl-C.
    pub(crate) stop: Arc<AtomicBool>,
    /// Makes the properties to ask, with `--check`.
    pub(crate) properties: Option<Properties>,
    /// What can be reached, with `--coverage`.
    pub(crate) points: Option<Points>,
}

/// Makes properties, fresh.
pub(crate) type Properties = Box<dyn Fn() -> Vec<Box<dyn Property>> + Send + Sync>;

impl Plan<'_> {
    /// The speed that a dev_port runs at; 0 if there is no such port.
    pub(crate) fn speed_of(&self, dev_port: u16) -> BitRate {
        let slower = self.config.port_speeds.iter().find(|(dev, _)| *dev == dev_port).map(|(_, s)| *s);
        let port = self.ports.iter().find(|p| p.dev_port.number() == dev_port);
        slower.or(port.map(|p| p.speed)).unwrap_or(BitRate::from_bps(0))
    }

    /// What the summary calls a dev_port: its front-panel number, `cpu` or `recirc:N`.
    pub(crate) fn port_name(&self, dev_port: u16) -> String {
        match self.ports.iter().find(|p| p.dev_port.number() == dev_port).map(|p| p.kind) {
            Some(PortKind::Front(front)) => front.0.to_string(),
            Some(PortKind::Cpu) => "cpu".to_owned(),
            Some(PortKind::Recirculation) => format!("recirc:{dev_port}"),
            None => format!("dev:{dev_port}"),
        }
    }
}

/// Runs a replay and prints its summary.
pub(crate) fn run(args: &ReplayArgs, as_json: bool) -> Result<(), Failure> {
    if let Some(topology) = &args.topology {
        return network::run(args, topology, as_json);
    }
    let chip = resolve::chip(&args.target.chip)?;
    let stage = resolve::stage(&args.program)?;
    let program = resolve::build(stage, &args.target)?;
    let schedule = pace::schedule(args)?;
    let placement = resolve::fit(&program, &chip, &args.placing.options()).map_err(|no_fit| {
        eprintln!("{}", report::text_no_fit(&no_fit));
        Failure::Property
    })?;
    let ports = resolve::ports(&chip, args.port_speed.as_deref())?;
    if let [_, second, ..] = args.entries.as_slice() {
        let help = "one file may hold all entries; several are for the switches of a network (--topology)";
        return Err(Failure::with_help(format!("--entries {second}: there is one already"), help));
    }
    let entries = args.entries.first().map(Path::new);
    let (control, setup) = resolve::entries(stage, &program, &ports, entries)?;
    let mut speeds = Vec::new();
    // A slower port of the default entries keeps its speed unless the user sets the speeds.
    if args.port_speed.is_none() {
        let of =
            |(front, speed): &(FrontPort, BitRate)| Some((ports.front(*front)?.dev_port.number(), *speed));
        speeds.extend(setup.port_speeds.iter().filter_map(of));
    }
    for text in &args.port_speeds {
        speeds.push(port_speed(text, &ports)?);
    }
    let buffer = args.buffer.as_deref().map(|name| resolve::buffer(name, &chip)).transpose()?;
    let buffer = buffer.map(|file| BufferSetup { file, seed: args.seed });
    let config = SwitchConfig { buffer, ..config(args, speeds)? };
    let drain = args.drain.parse().map_err(Failure::input)?;
    let cable = args.obey_pfc.then(|| args.cable.parse()).transpose().map_err(Failure::input)?;
    let stop = interrupt_flag();
    let inputs = Inputs::parse(&args.inputs, &args.program, &ports, Arc::clone(&stop))?;
    if schedule.turns != 1 {
        inputs.check_passes("--loop")?;
    }
    let rewrite = pace::rewrite(args);
    let changes = match &args.changes {
        Some(path) => resolve::changes(&program, &control, path)?,
        None => Vec::new(),
    };
    let properties = args.check.then(|| {
        let program = program.clone();
        Box::new(move || general_and(stage.properties(&program))) as Properties
    });
    if args.coverage && args.engine == EngineKind::Reference {
        return Err(reference_does_not_count());
    }
    let points = args.coverage.then(|| Points::of(&program, &chip));
    let plan = Plan {
        args,
        program,
        placement,
        ports,
        control,
        changes,
        config,
        schedule,
        rewrite,
        drain,
        cable,
        points,
        properties,
        stop,
    };
    let cycles = [0, 1].map(|g: usize| plan.placement.gresses[g].parser.cycles.clone());
    let options = Options { parser_cycles: cycles, ..Options::default() };
    match (args.trace, args.engine) {
        (true, _) => {
            let (tracer, text) = trace::tracer();
            let reference = Reference::traced(&plan.program, &plan.control, options, tracer);
            finish(&plan, &inputs, reference, Some(text), None, as_json)
        }
        (false, EngineKind::Reference) => {
            let make = || Ok(Reference::new(&plan.program, &plan.control, options.clone()));
            search_and_finish(&plan, &inputs, &make, as_json)
        }
        (false, kind) => {
            let Plan { program, placement, control, .. } = &plan;
            let points = plan.points.as_ref();
            let make = || engine(kind, (program, placement, control), points).map_err(Failure::input);
            search_and_finish(&plan, &inputs, &make, as_json)
        }
    }
}

/// The engine that executes as `--engine` says, and counts what is reached if there are points.
fn engine(
    kind: EngineKind,
    (program, placement, control): (&Program, &Placement, &ControlState),
    points: Option<&Points>,
) -> Result<Engine, LowerError> {
    let list = if kind == EngineKind::Steps { &[] } else { sluice_generated::PROGRAMS };
    match points {
        None => Engine::generated(program, placement, control, list),
        Some(points) => Engine::covered(program, placement, control, points.clone(), list),
    }
}

fn reference_does_not_count() -> Failure {
    let help = "leave --engine out: results are the same";
    Failure::with_help("the reference interpreter does not count what is reached", help)
}

/// A flag that Ctrl-C sets.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // A second handler cannot be set in one process; then Ctrl-C ends the run the hard way.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    stop
}

/// `20=100G` or `dev:137=100G`.
fn port_speed(text: &str, ports: &PortMap) -> Result<(u16, BitRate), Failure> {
    let usage = "write PORT=RATE, for example 20=100G";
    let (port, rate) = text
        .split_once('=')
        .ok_or_else(|| Failure::with_help(format!("port `{text}` has no speed"), usage))?;
    let name: PortName = port.parse().map_err(|e| Failure::with_help(e, usage))?;
    let dev_port = ports.resolve(name).map_err(Failure::input)?.dev_port.number();
    Ok((dev_port, rate.parse().map_err(Failure::input)?))
}

fn config(args: &ReplayArgs, port_speeds: Vec<(u16, BitRate)>) -> Result<SwitchConfig, Failure> {
    Ok(SwitchConfig {
        mode: if args.functional { Mode::Functional } else { Mode::Timed },
        clock_origin: args.clock_origin.parse().map_err(Failure::input)?,
        max_batch: if args.trace { 1 } else { SwitchConfig::default().max_batch },
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

/// The switch of the plan, at time zero.
fn switch<E: Executor>(plan: &Plan<'_>, executor: E) -> Result<Switch<E>, Failure> {
    let (control, config) = (plan.control.clone(), plan.config.clone());
    let made = Switch::new(&plan.program, &plan.placement, &plan.ports, control, executor, config);
    let mut switch = made.map_err(Failure::input)?;
    for (at, op) in &plan.changes {
        switch.control(Time::ORIGIN + *at, op.clone()).map_err(Failure::input)?;
    }
    Ok(switch)
}

/// Searches a rate first, if asked to.
fn search_and_finish<E: Executor>(
    plan: &Plan<'_>,
    inputs: &Inputs,
    make: &dyn Fn() -> Result<E, Failure>,
    as_json: bool,
) -> Result<(), Failure> {
    let found = plan.args.find_ndr.then(|| find_ndr(plan, inputs, make)).transpose()?;
    finish(plan, inputs, make()?, None, found, as_json)
}

/// Searches the highest rate without loss, on a fresh switch for each trial.
fn find_ndr<E: Executor>(
    plan: &Plan<'_>,
    inputs: &Inputs,
    make: &dyn Fn() -> Result<E, Failure>,
) -> Result<ndr::Found, Failure> {
    let line = inputs.ports.iter().map(|p| plan.speed_of(p.number())).min();
    ndr::find(plan.args, inputs, line.unwrap_or(BitRate::from_bps(0)), &mut |trial| {
        let schedule = Schedule { pace: Pace::Bits(trial.rate), ..plan.schedule };
        let feed = inputs.feed(schedule, |_, port| plan.speed_of(port.number())).map_err(|e| bad(&e))?;
        let progress = Progress::new(&trial.what(), schedule, inputs);
        let collector = Collector::new(plan, Vec::new(), Outputs::nowhere(feed.origin()), None);
        let done = Session::new(plan, inputs, switch(plan, make()?)?, collector, progress)
            .run(Frames::new(feed, inputs.wait()))?;
        if plan.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        done.check_inputs(plan.args.strict, false)?;
        Ok(ndr::Ran::of(&done))
    })
}

fn finish<E: Executor>(
    plan: &Plan<'_>,
    inputs: &Inputs,
    executor: E,
    trace: Option<trace::TraceText>,
    found: Option<ndr::Found>,
    as_json: bool,
) -> Result<(), Failure> {
    let pace = found.as_ref().map_or(plan.schedule.pace, |f| Pace::Bits(f.rate()));
    let schedule = Schedule { pace, ..plan.schedule };
    let switch = switch(plan, executor)?;
    // Frames take time on the wire only where there is time, or where the pace is the line's.
    let takes_time = plan.config.mode == Mode::Timed || pace == Pace::LineRate;
    let line = |_, port: DevPort| {
        if takes_time { plan.speed_of(port.number()) } else { BitRate::from_bps(0) }
    };
    let feed = inputs.feed(schedule, line).map_err(|e| bad(&e))?;
    let out = plan.args.output.as_ref().map(|dir| dir.join("out.pcapng"));
    let outputs = Outputs::create(plan, feed.origin(), out.as_deref(), plan.args.drops.as_deref())?;
    let names = inputs.sources.iter().map(|s| s.name.as_str()).collect();
    let collector = Collector::new(plan, names, outputs, trace);
    let progress = Progress::new("", schedule, inputs);
    let session =
        Session::new(plan, inputs, switch, collector, progress).with_timelines()?.with_hot_flows()?;
    let done = session.run(Frames::new(feed, inputs.wait()))?;
    let interrupted = plan.stop.load(Ordering::Relaxed);
    done.check_inputs(plan.args.strict, interrupted)?;
    let mut summary = summary::value(plan, &done);
    if let Some(found) = &found {
        summary["ndr"] = found.json();
        if let Some(warnings) = summary["warnings"].as_array_mut() {
            warnings.extend(found.warnings().into_iter().map(Value::String));
        }
    }
    let (conserved, wall) = (done.conserved, done.wall.clone());
    let broken = done.collector.checked.as_ref().is_some_and(|c| !c.monitor.violations().is_empty());
    let coverage = plan.points.as_ref().zip(done.coverage.clone());
    let trace = write_files(plan, done, &summary)?;
    let mut out = std::io::stdout().lock();
    if as_json {
        if let Some((points, coverage)) = &coverage {
            summary["coverage"] = coverage_report::shares(points, coverage);
        }
        summary["wall"] = wall;
        write!(out, "{}", pretty(&summary))?;
    } else {
        if let Some(trace) = &trace {
            write!(out, "{}", trace.written)?;
        }
        if let Some(found) = &found {
            write!(out, "{}", found.text())?;
        }
        write!(out, "{}", text::summary(plan, &summary))?;
        if let Some((points, coverage)) = &coverage {
            write!(out, "{}", coverage_report::text(&plan.program.name, points, coverage))?;
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

/// Completes the captures and the output folder; gives the trace back.
fn write_files(
    plan: &Plan<'_>,
    done: Done<'_>,
    summary: &Value,
) -> Result<Option<trace::TraceText>, Failure> {
    let counts = port_counts(&done);
    let registers = state::all(plan, &done);
    let coverage = plan.points.as_ref().zip(done.coverage.clone());
    done.timelines.map_or(Ok(()), Recorder::finish)?;
    let Collector { outputs, trace, .. } = done.collector;
    let mut folder = Folder::default();
    outputs.finish(&mut folder, "out.pcapng", &counts)?;
    let Some(dir) = &plan.args.output else { return Ok(trace) };
    let what = "counts, latency, ports, queues";
    folder.text(dir, "summary.json", "sluice.summary/1", what, &pretty(summary))?;
    let report = report::json(&Report::new(&plan.program, &plan.placement));
    folder.text(dir, "report.json", "sluice.report/1", "the program on the chip", &pretty(&report))?;
    let entries = sluice_control::entries::print(&plan.program, &plan.control);
    folder.text(dir, "entries.toml", "sluice.entries", "entries at the start of the run", &entries)?;
    if let Some(registers) = &registers {
        let what = "elements of registers that differ from their first value";
        folder.text(dir, "state.json", "sluice.state/1", what, &pretty(registers))?;
    }
    if let Some((points, coverage)) = &coverage {
        coverage_files(&mut folder, dir, "", &plan.program.name, points, coverage)?;
    }
    if let Some(trace) = &trace {
        folder.text(dir, "trace.txt", "text", "what happened to each packet", &trace.written)?;
    }
    folder.finish(dir)?;
    Ok(trace)
}

/// Coverage as files, whose names begin with `prefix`.
fn coverage_files(
    folder: &mut Folder,
    dir: &Path,
    prefix: &str,
    program: &str,
    points: &Points,
    coverage: &Coverage,
) -> Result<(), Failure> {
    let mut file = |name: &str, schema: &str, what: &str, text: &str| {
        folder.text(dir, &format!("{prefix}{name}"), schema, what, text)
    };
    let json = pretty(&coverage_report::json(program, points, coverage));
    file("coverage.json", "sluice.coverage/1", "every point of the program", &json)?;
    let text = coverage_report::text(program, points, coverage);
    file("coverage.txt", "text", "coverage and what is uncovered", &text)?;
    file("coverage.html", "html", "the same as a page", &coverage_report::html(program, points, coverage))
}

/// What the ports received and lost in their queues.
fn port_counts(done: &Done<'_>) -> Vec<PortCounts> {
    let dropped = |dev_port: u16| {
        let of = |q: &&Value| q["dev_port"].as_u64() == Some(dev_port.into());
        done.queues.iter().filter(of).filter_map(|q| q["dropped"].as_u64()).sum()
    };
    let counts = |p: &sluice_switch::PortTotals| PortCounts {
        dev_port: p.dev_port,
        received: p.rx_packets,
        dropped: dropped(p.dev_port),
    };
    done.totals.ports.iter().map(counts).collect()
}
