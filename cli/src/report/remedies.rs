//! Single changes that make a program fit, as flags.

use super::placed;
use crate::console::fail::Failure;
use crate::open::resolve;
use crate::report::args::ReportArgs;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::StageProgram;
use sluice_ir::Program;
use sluice_report::{Remedy, remedies};
use std::sync::Arc;

/// Finds the changes that make the program fit, the smallest first.
pub(super) fn find(
    args: &ReportArgs,
    stage: &Arc<dyn StageProgram>,
    program: &Program,
    chip: &ChipSpec,
) -> Result<Vec<Remedy>, Failure> {
    let others: Vec<&str> = ChipSpec::NAMES.iter().copied().filter(|name| *name != chip.name).collect();
    let mut is_unfinished = false;
    remedies(program, &others, &mut |remedy| {
        // If the budget of one placement ended before it, those of others would end as well.
        if is_unfinished {
            return Ok(false);
        }
        let placed = match remedy {
            // A value that the program refuses does not fit.
            Remedy::Lower { key, to, .. } => match placed(args, stage, chip, Some((key, *to))) {
                Ok(placed) => placed,
                Err(_) => return Ok(false),
            },
            Remedy::Chip { chip } => placed(args, stage, &resolve::chip(chip)?, None)?,
        };
        is_unfinished = placed.as_ref().is_err_and(|no_fit| no_fit.is_unfinished());
        Ok(placed.is_ok())
    })
}

fn flag(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Lower { key, from, to } => {
            let percent = (from - to) as f64 / *from as f64 * 100.0;
            format!("--set {key}={to} (from {from}, {percent:.1} % less)")
        }
        Remedy::Chip { chip } => format!("--chip {chip}"),
    }
}

/// Returns the section of the report.
pub(super) fn text(list: &[Remedy]) -> String {
    if list.is_empty() {
        return "\nNo single parameter and no other chip makes it fit; --why-not tries changes of the program.\n".to_owned();
    }
    let lines: String = list.iter().map(|r| format!("  {}\n", flag(r))).collect();
    format!("\nAny one of these makes it fit\n{lines}")
}
