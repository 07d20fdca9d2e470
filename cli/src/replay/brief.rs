//! A replay of one switch in a few lines: the fit, the totals, and where packets ended.

use super::args::ReplayArgs;
use super::{executors, job, open, text};
use crate::console::fail::Failure;
use sluice_catalogue::Catalogue;
use sluice_place::report::Report;
use sluice_replay::Attached;
use std::fmt::Write;

/// Places the program, replays the inputs, and returns both results in a few lines.
pub(crate) fn brief(args: &ReplayArgs, catalogue: &Catalogue) -> Result<String, Failure> {
    let opened = open(args, catalogue)?;
    let job = job(args, &opened)?;
    let prepared = job
        .replay(&job.options)
        .prepare(&mut |request| executors::make(&opened.catalogue, args.engine, request))?;
    let outcome = prepared.run(Attached::default())?;
    if outcome.interrupted {
        return Err(Failure::Interrupted);
    }
    let summary = outcome.summary();
    let program = &job.switch.placed.program;
    let report = Report::new(program, &job.switch.placed.placement);
    let mut out = format!("Does it fit?\n{}\nDoes it behave?\n", sluice_report::brief(&report));
    // Writing into a String cannot fail.
    for input in &summary.inputs {
        let _ = writeln!(out, "  {} packets from {} into port {}", input.packets, input.file, input.port);
    }
    let _ = writeln!(out, "  packets: {}", text::packets(&summary.packets));
    if let Some(latency) = &summary.latency_ns {
        let _ = writeln!(out, "  latency: {}", text::latencies(latency));
    }
    let _ = text::deaths(&mut out, &[program], &summary);
    Ok(out)
}
