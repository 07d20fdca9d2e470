//! `sluice gen`: writes seeded traffic into a capture and prints a summary.

mod args;
mod source;
mod summary;
mod write;

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::console::terminal;
use crate::output::files::pretty;
pub(crate) use args::GenArgs;
use std::io::Write;

/// Writes the capture and prints the summary.
pub(crate) fn run(args: &GenArgs, as_json: bool) -> Result<(), Failure> {
    let job = source::job(&args.what)?;
    let plan = write::Plan::new(job.out, job.kind, job.packets)?;
    if as_json && plan.to_stdout {
        let text = "--json and -o - both write to stdout";
        return Err(Failure::with_help(text, "write the capture to a file, or leave --json out"));
    }
    let (tally, interrupted) = write::run(&plan, job.source)?;
    let summary = summary::value(&plan, job.seed, &tally);
    if as_json {
        write!(Out::new(), "{}", pretty(&summary))?;
    } else if plan.to_stdout {
        terminal::note(summary::text(&plan, &tally));
    } else {
        terminal::print(&summary::text(&plan, &tally))?;
    }
    if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}
