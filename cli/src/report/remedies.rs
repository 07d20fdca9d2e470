//! What would make a program fit: single changes, found by placing it again.

use super::sweep::point;
use crate::args::{ReportArgs, Target};
use crate::fail::Failure;
use crate::resolve;
use serde_json::{Value, json};
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::Catalogue;
use sluice_ir::Program;

/// One change after which the program fits.
pub(super) enum Remedy {
    /// A parameter lowered to the largest value that fits.
    Lower { key: String, from: u64, to: u64 },
    /// Another chip.
    Chip(String),
}

impl Remedy {
    fn text(&self) -> String {
        match self {
            Remedy::Lower { key, from, to } => {
                let percent = (from - to) as f64 / *from as f64 * 100.0;
                format!("--set {key}={to} (from {from}, {percent:.1} % less)")
            }
            Remedy::Chip(chip) => format!("--chip {chip}"),
        }
    }

    fn json(&self) -> Value {
        match self {
            Remedy::Lower { key, from, to } => json!({ "set": key, "from": from, "to": to }),
            Remedy::Chip(chip) => json!({ "chip": chip }),
        }
    }

    /// Share that is given up, for order: chips come last.
    fn loss(&self) -> f64 {
        match self {
            Remedy::Lower { from, to, .. } => (from - to) as f64 / *from as f64,
            Remedy::Chip(_) => f64::INFINITY,
        }
    }
}

/// Single changes that help, the smallest first.
pub(super) fn find(
    args: &ReportArgs,
    catalogue: &Catalogue,
    program: &Program,
    chip: &ChipSpec,
) -> Result<Vec<Remedy>, Failure> {
    let mut list = Vec::new();
    for param in &program.params {
        let Ok(from) = param.value.parse::<u64>() else { continue };
        if let Some(to) = lowered(args, catalogue, chip, &param.key, from)? {
            list.push(Remedy::Lower { key: param.key.clone(), from, to });
        }
    }
    for name in ChipSpec::NAMES.iter().filter(|n| **n != chip.name) {
        let other = resolve::chip(name)?;
        let target = Target { chip: (*name).to_owned(), sets: args.target.sets.clone() };
        let program = resolve::build(resolve::stage(catalogue, &args.program)?, &target)?;
        if resolve::fit(&program, &other, &args.placing.options()).is_ok() {
            list.push(Remedy::Chip((*name).to_owned()));
        }
    }
    list.sort_by(|a, b| a.loss().total_cmp(&b.loss()));
    Ok(list)
}

/// The largest value below `from` with which the program fits, if lowering this parameter alone helps. Values
/// that the program refuses count as not fitting.
fn lowered(
    args: &ReportArgs,
    catalogue: &Catalogue,
    chip: &ChipSpec,
    key: &str,
    from: u64,
) -> Result<Option<u64>, Failure> {
    let fits = |value: u64| point(args, catalogue, chip, key, value).is_ok_and(|p| p.result.is_ok());
    // The smallest value tells whether the parameter matters at all; refusals of 1 try the next powers.
    let Some(mut good) = [1, 2, 4, 8, 16].into_iter().find(|v| *v < from && fits(*v)) else {
        return Ok(None);
    };
    let mut bad = from;
    while bad > good + 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) { good = middle } else { bad = middle }
    }
    Ok(Some(good))
}

/// The section of the report.
pub(super) fn text(list: &[Remedy]) -> String {
    if list.is_empty() {
        return "\nNo single parameter and no other chip makes it fit.\n".to_owned();
    }
    let lines: String = list.iter().map(|r| format!("  {}\n", r.text())).collect();
    format!("\nAny one of these makes it fit\n{lines}")
}

/// The same for machines.
pub(super) fn json(list: &[Remedy]) -> Value {
    list.iter().map(Remedy::json).collect()
}
