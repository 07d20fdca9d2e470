//! The whole P4 front end on mutants of legal programs.

use super::{Programs, p4, words};
use crate::p4_mutants::p4_mutant;
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::verify::{Severity, for_chip};
use sluice_p4::lower::findings;
use sluice_p4::source::Texts;
use sluice_p4::{Step, write};
use sluice_place::place;

/// Programs that are no shipped ones.
const SNIPPETS: [&str; 2] =
    [include_str!("../../corpus/p4/a-whole-pipe.p4"), include_str!("../../corpus/p4/t2na.p4")];

/// Makes a mutant of a shipped program, written as P4, or of a snippet, and takes it through all passes. The first bytes choose
/// the programs, whether the mutant is placed, and the chip; the rest the changes.
pub fn p4_mutants(programs: &'static Programs, data: &[u8]) {
    let (mut words, mut last) = (words(data).into_iter(), 0u32);
    let mut draws = || {
        // Bytes that have come to their end go on as a simple sequence.
        last = words.next().unwrap_or_else(|| last.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f));
        last >> 7
    };
    let (seed, other, how) = (draws(), draws(), draws());
    let text = p4_mutant(seed_text(programs, seed), seed_text(programs, other), &mut draws);
    p4_program(&text, how % 4 == 0);
}

/// Returns one of the programs that mutants are made of. Half of the draws are for snippets.
fn seed_text(programs: &'static Programs, draw: u32) -> &'static str {
    let written = programs.written();
    let number = draw as usize / 2;
    match written.get(number % written.len().max(1)) {
        Some(text) if draw.is_multiple_of(2) => text,
        _ => SNIPPETS[number % SNIPPETS.len()],
    }
}

/// Takes a P4 program through all passes, for the chip of the architecture that it includes. `placed` also places a legal one.
/// Returns the program's name of the last pass that it came to.
pub fn p4_program(text: &str, placed: bool) -> &'static str {
    let chip = if text.contains("t2na.p4") { ChipSpec::tofino2() } else { ChipSpec::tofino() };
    let architecture = Architecture::of(&chip);
    let mut parsed = p4::parsed(&Texts::new().with("main.p4", text), architecture);
    let lowered = parsed.lower(architecture);
    // Every message has a place in the text, and is short.
    assert!(parsed.messages().len() < 1 << 20, "the messages are long");
    let lowered = match lowered {
        Ok(lowered) => lowered,
        Err(Step::Parse) => return "read",
        Err(Step::Check) => return "parsed",
        Err(Step::Elaborate) => return "checked",
        Err(Step::Lower) => return "elaborated",
    };
    let mut found = findings(&lowered.program);
    if found.iter().all(|diag| diag.severity != Severity::Error) {
        found.extend(for_chip(&lowered.program, &chip));
    }
    if found.iter().any(|diag| diag.severity == Severity::Error) {
        return "lowered";
    }
    // A legal program has a text form, which is read as the same program.
    let printed = sluice_ir::text::print(&lowered.program);
    let again = sluice_ir::text::parse(&printed);
    assert!(
        again.as_ref().is_ok_and(|again| sluice_ir::text::print(again) == printed),
        "the text form of the program is not that program: {:?}\n{printed}",
        again.err()
    );
    let _ = write::write(&lowered.program);
    if !placed {
        return "legal";
    }
    if place(&lowered.program, &chip).is_ok() { "placed" } else { "legal" }
}
