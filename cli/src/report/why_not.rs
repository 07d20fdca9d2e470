//! `sluice report --why-not`: asks why a program does not fit, for a limited time.

use crate::args::ReportArgs;
use crate::fail::Failure;
use crate::resolve;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::Catalogue;
use sluice_ir::Program;
use sluice_report::{Question, WhyNot, why_not};
use std::time::{Duration, Instant};

/// Longest search.
const TIME: Duration = Duration::from_secs(30);

/// Returns what keeps the program from fitting, and the changes tried; `None` if it fits.
pub(super) fn find(
    args: &ReportArgs,
    catalogue: &Catalogue,
    program: &Program,
    chip: &ChipSpec,
) -> Result<Option<WhyNot>, Failure> {
    let chips: Vec<ChipSpec> = ChipSpec::NAMES
        .iter()
        .filter(|name| **name != chip.name)
        .map(|name| resolve::chip(name))
        .collect::<Result<_, _>>()?;
    let stage = resolve::stage(catalogue, &args.program)?;
    let options = args.placing.options();
    let question = Question { program, chip, options: &options, chips: &chips };
    let mut rebuild = |key: &str, value: u64| {
        let mut target = args.target.clone();
        target.sets.retain(|(k, _)| k != key);
        target.sets.push((key.to_owned(), value.to_string()));
        resolve::build(stage, &target).ok()
    };
    let begun = Instant::now();
    Ok(why_not(&question, &mut rebuild, &mut || begun.elapsed() < TIME))
}
