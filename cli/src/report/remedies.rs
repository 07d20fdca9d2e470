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
    remedies(program, &others, &mut |remedy| match remedy {
        // A value that the program refuses does not fit.
        Remedy::Lower { key, to, .. } => {
            Ok(placed(args, stage, chip, Some((key, *to))).is_ok_and(|p| p.is_ok()))
        }
        Remedy::Chip { chip } => Ok(placed(args, stage, &resolve::chip(chip)?, None)?.is_ok()),
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
        return "\nNo single parameter and no other chip makes it fit.\n".to_owned();
    }
    let lines: String = list.iter().map(|r| format!("  {}\n", flag(r))).collect();
    format!("\nAny one of these makes it fit\n{lines}")
}
