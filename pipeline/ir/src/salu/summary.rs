//! One-line summary of a mapped register action, for reports.

use sluice_asic::salu::{OutputSource, SaluProgram};

/// Returns the units that the action uses: `2 cmp, 1 phv, lo 1 value, hi 2 values, out = alu_lo`.
#[must_use]
pub fn summary(program: &SaluProgram) -> String {
    let mut parts = Vec::new();
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    if let Some(bit) = program.bit {
        parts.push(bit.mnemonic().to_owned());
    }
    let comparisons = program.comparators.iter().flatten().count();
    if comparisons > 0 {
        parts.push(format!("{comparisons} cmp"));
    }
    let operands = program.phv_halves().iter().filter(|used| **used).count();
    if operands > 0 {
        parts.push(format!("{operands} phv"));
    }
    for (half, updates) in [("lo", &program.lo), ("hi", &program.hi)] {
        let values = updates.iter().flatten().count();
        if values > 0 {
            parts.push(format!("{half} {}", count(values, "value")));
        }
    }
    if program.math.is_some() {
        parts.push("math unit".to_owned());
    }
    if program.divides() {
        parts.push("divider".to_owned());
    }
    if let Some(lanes) = program.lanes {
        parts.push(format!("{} of lanes", lanes.op.mnemonic()));
    }
    let words = program.outputs.iter().enumerate().filter_map(|(n, o)| o.as_ref().map(|o| (n, o)));
    for (n, output) in words {
        let word = if n == 0 { "out".to_owned() } else { format!("out{n}") };
        parts.push(format!("{word} = {}", source(output.source)));
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn source(source: OutputSource) -> String {
    match source {
        OutputSource::Memory(half) => format!("mem_{}", half.name()),
        OutputSource::Phv(half) => format!("phv_{}", half.name()),
        OutputSource::Alu(half) => format!("alu_{}", half.name()),
        OutputSource::Flag { shift: 0 } => "predicate".to_owned(),
        OutputSource::Flag { shift } => format!("predicate << {shift}"),
        OutputSource::OneHot => "outcome".to_owned(),
        OutputSource::Address => "address".to_owned(),
        OutputSource::Quotient => "quotient".to_owned(),
        OutputSource::Remainder => "remainder".to_owned(),
        OutputSource::LaneValue => "lane value".to_owned(),
        OutputSource::LaneChanged => "changed lane".to_owned(),
        OutputSource::LaneIndex => "lane index".to_owned(),
    }
}
