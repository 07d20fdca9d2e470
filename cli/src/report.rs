//! `sluice report`: does it fit. What may not live here: placement.

use crate::args::ReportArgs;
use crate::fail::Failure;
use crate::files::{Folder, pretty};
use crate::resolve;
use sluice_pipeline::report::{self, Report};
use std::io::Write;

/// Places a program and prints the report; exit 1 when it does not fit.
pub(crate) fn run(args: &ReportArgs, as_json: bool) -> Result<(), Failure> {
    let chip = resolve::chip(&args.target.chip)?;
    let stage = resolve::stage(&args.program)?;
    let program = resolve::build(stage, &args.target)?;
    let (text, value, fits) = match resolve::fit(&program, &chip) {
        Ok(placement) => {
            let report = Report::new(&program, &placement);
            (report::text(&report), report::json(&report), true)
        }
        Err(no_fit) => (report::text_no_fit(&no_fit), report::json_no_fit(&program, &no_fit), false),
    };
    if let Some(dir) = &args.output {
        let mut folder = Folder::default();
        folder.text(dir, "report.txt", "text", "the report for people", &text)?;
        folder.text(dir, "report.json", "sluice.report/1", "the report for machines", &pretty(&value))?;
        folder.finish(dir)?;
    }
    let mut out = std::io::stdout().lock();
    if as_json {
        write!(out, "{}", pretty(&value))?
    } else {
        write!(out, "{text}")?
    }
    if fits { Ok(()) } else { Err(Failure::Property) }
}
