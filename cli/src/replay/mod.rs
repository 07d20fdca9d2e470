//! `sluice replay`: does it behave. Resolves the arguments, drives the switch, puts the results where they
//! belong. What may not live here: the switch.

mod inputs;
mod output;
mod pace;
mod run;
mod sink;
mod summary;
mod text;
mod trace;

use crate::args::{EngineKind, ReplayArgs, SchedulerKind};
use crate::fail::Failure;
use crate::files::{Folder, pretty};
use crate::resolve;
use inputs::Inputs;
use output::Outputs;
use pace::Pace;
use run::Session;
use sink::Collector;
use sluice_asic::port::{FrontPort, PortMap, PortName};
use sluice_asic::units::{BitRate, Cells, Duration};
use sluice_pipeline::engine::Engine;
use sluice_pipeline::pass::Executor;
use sluice_pipeline::reference::{Options, Reference};
use sluice_pipeline::report::{self, Report};
use sluice_pipeline::switch::{Mode, QueueSetup, Switch, SwitchConfig};
use std::io::Write;

/// Everything that a run needs, resolved.
pub(crate) struct Plan<'a> {
    pub(crate) args: &'a ReplayArgs,
    pub(crate) program: sluice_pipeline::ir::Program,
    pub(crate) placement: sluice_pipeline::place::Placement,
    pub(crate) ports: sluice_asic::port::PortMap,
    pub(crate) control: sluice_pipeline::control::ControlState,
    pub(crate) config: SwitchConfig,
    pub(crate) pace: Pace,
    pub(crate) drain: Duration,
}

/// Runs a replay and prints its summary.
pub(crate) fn run(args: &ReplayArgs, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    let stage = resolve::stage(&args.program)?;
    let program = resolve::build(stage, &args.target)?;
    let placement = resolve::fit(&program, &chip).map_err(|no_fit| {
        eprintln!("{}", report::text_no_fit(&no_fit));
        Failure::Property
    })?;
    let ports = resolve::ports(&chip, args.port_speed.as_deref())?;
    let (control, setup) = resolve::entries(stage, &program, &ports, args.entries.as_deref())?;
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
    let config = config(args, speeds)?;
    let pace = args.speed.parse().map_err(Failure::input)?;
    let drain = args.drain.parse().map_err(Failure::input)?;
    let plan = Plan { args, program, placement, ports, control, config, pace, drain };
    let inputs = Inputs::open(&args.inputs, &plan.ports)?;
    let cycles = [0, 1].map(|g: usize| plan.placement.gresses[g].parser.cycles.clone());
    let options = Options { parser_cycles: cycles };
    match (args.trace, args.engine) {
        (true, _) => {
            let (tracer, text) = trace::tracer();
            let reference = Reference::traced(&plan.program, &plan.control, options, tracer);
            finish(&plan, inputs, reference, Some(text), as_json)
        }
        (false, EngineKind::Reference) => {
            finish(&plan, inputs, Reference::new(&plan.program, &plan.control, options), None, as_json)
        }
        (false, EngineKind::Fast) => {
            let engine =
                Engine::new(&plan.program, &plan.placement, &plan.control).map_err(Failure::input)?;
            finish(&plan, inputs, engine, None, as_json)
        }
    }
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
        ..SwitchConfig::default()
    })
}

fn finish<E: Executor>(
    plan: &Plan<'_>,
    inputs: Inputs,
    executor: E,
    trace: Option<trace::TraceText>,
    as_json: bool,
) -> Result<(), Failure> {
    let switch = Switch::new(
        &plan.program,
        &plan.placement,
        &plan.ports,
        plan.control.clone(),
        executor,
        plan.config.clone(),
    )
    .map_err(Failure::input)?;
    let outputs = Outputs::create(plan, inputs.origin())?;
    let collector = Collector::new(plan, outputs, trace);
    let mut session = Session::new(plan, inputs, switch, collector);
    let interrupted = session.run()?;
    let done = session.finish();
    let summary = summary::value(plan, &done);
    let Collector { outputs, trace, .. } = done.collector;
    if let Some(dir) = &plan.args.output {
        let mut folder = Folder::default();
        outputs.finish(&mut folder)?;
        folder.text(
            dir,
            "summary.json",
            "sluice.summary/1",
            "counts, latency, ports, queues",
            &pretty(&summary),
        )?;
        let report = report::json(&Report::new(&plan.program, &plan.placement));
        folder.text(dir, "report.json", "sluice.report/1", "the program on the chip", &pretty(&report))?;
        let entries = sluice_pipeline::control::entries::print(&plan.program, &plan.control);
        folder.text(dir, "entries.toml", "sluice.entries", "entries at the start of the run", &entries)?;
        if let Some(trace) = &trace {
            folder.text(dir, "trace.txt", "text", "what happened to each packet", &trace.written)?;
        }
        folder.finish(dir)?;
    } else {
        outputs.finish(&mut Folder::default())?;
    }
    let mut out = std::io::stdout().lock();
    if as_json {
        let mut summary = summary;
        summary["wall"] = done.wall.clone();
        write!(out, "{}", pretty(&summary))?;
    } else {
        if let Some(trace) = &trace {
            write!(out, "{}", trace.written)?;
        }
        write!(out, "{}", text::summary(plan, &summary))?;
    }
    if !done.conserved {
        return Err(Failure::Inconsistent("packets in and packets out do not add up".into()));
    }
    if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}
