//! `sluice report --why-not`: asks why a program does not fit, in a limited number of placements.

use crate::console::fail::Failure;
use crate::console::interrupt::interrupt_flag;
use crate::console::progress::{Bar, eta};
use crate::open::resolve;
use crate::report::args::ReportArgs;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::StageProgram;
use sluice_ir::Program;
use sluice_report::{Question, WhyNot, why_not};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Returns what keeps the program from fitting, and the changes tried; `None` if it fits.
pub(super) fn find(
    args: &ReportArgs,
    stage: &Arc<dyn StageProgram>,
    program: &Program,
    chip: &ChipSpec,
) -> Result<Option<WhyNot>, Failure> {
    let chips: Vec<ChipSpec> = ChipSpec::NAMES
        .iter()
        .filter(|name| **name != chip.name)
        .map(|name| resolve::chip(name))
        .collect::<Result<_, _>>()?;
    let options = args.placing.options();
    let question = Question { program, chip, options: &options, chips: &chips };
    let mut rebuild = |key: &str, value: u64| {
        let mut target = args.target.clone();
        target.sets.retain(|(k, _)| k != key);
        target.sets.push((key.to_owned(), value.to_string()));
        resolve::build(stage, &target).ok()
    };
    let (begun, stop, bar) = (Instant::now(), interrupt_flag(), Bar::bounded());
    let mut proceed = |done: usize, most: usize| {
        let share = done as f64 / most as f64;
        let left = eta(Some(share), begun.elapsed());
        bar.show(Some(share), format!("{done} of at most {most} placements{left}"));
        !stop.load(Ordering::Relaxed)
    };
    let answer = why_not(&question, &mut rebuild, &mut proceed);
    bar.clear();
    Ok(answer)
}
