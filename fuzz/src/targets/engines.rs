//! Random programs: compares the two engines, and checks placements on both chips and on a random one with the placement
//! verifier.

use super::words;
use crate::{Case, Draw, Limits, chip, compare, numbered};
use sluice_asic::chip::ChipSpec;
use sluice_place::{self as place, Placement, place};
use std::sync::OnceLock;

/// Returns both chips, which are built once.
pub(super) fn chips() -> &'static [ChipSpec; 2] {
    static CHIPS: OnceLock<[ChipSpec; 2]> = OnceLock::new();
    CHIPS.get_or_init(|| [ChipSpec::tofino(), ChipSpec::tofino2()])
}

/// Draws a random chip from the end of the bytes, because the start chooses the program.
fn drawn(data: &[u8]) -> ChipSpec {
    let mut words = words(data);
    words.reverse();
    chip(&mut Draw::new(&words))
}

fn case(data: &[u8]) -> Case {
    Case::drawn(&words(data), &Limits::default())
}

/// Number of programs that are drawn and placed once; inputs for them choose entries and packets only.
const KEPT: usize = 192;

/// A random program with its placement on each of the two chips that it fits.
type Kept = (sluice_ir::Program, Vec<Placement>);

fn kept(number: usize) -> &'static Kept {
    static PROGRAMS: [OnceLock<Kept>; KEPT] = [const { OnceLock::new() }; KEPT];
    PROGRAMS[number % KEPT].get_or_init(|| {
        let limits = Limits::default();
        let program = numbered(number as u64, &limits);
        let placements = chips().iter().filter_map(|chip| place(&program, chip).ok()).collect();
        (program, placements)
    })
}

/// Draws entries and packets from the bytes, for the random program that the first byte names, or for a program drawn from
/// the bytes and also placed on a random chip. The results of both engines must be equal.
pub fn engines(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let same = |case: &Case, placement: &Placement| {
        if let Err(difference) = compare(case, placement) {
            assert_eq!(difference.to_string(), "", "{}\n{case:?}", placement.chip.name);
        }
    };
    if usize::from(*first) < KEPT {
        let (program, placements) = kept((*first).into());
        let case = Case::with(program.clone(), &words(rest), &Limits::default());
        return placements.iter().for_each(|placement| same(&case, placement));
    }
    let case = case(rest);
    let random = drawn(rest);
    let placed = chips().iter().chain([&random]).filter_map(|chip| place(&case.program, chip).ok());
    placed.for_each(|placement| same(&case, &placement));
}

/// Draws a program from the bytes and places it on the chip that the first byte names. The placement verifier must report
/// nothing.
pub fn placement(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let case = case(rest);
    let random;
    let chip = match (chips(), first % 3) {
        ([chip, _], 0) | ([_, chip], 1) => chip,
        _ => {
            random = drawn(rest);
            &random
        }
    };
    let Ok(placement) = place(&case.program, chip) else { return };
    let findings = place::verify(&case.program, &placement);
    assert!(findings.is_empty(), "{}: {findings:#?}\n{case:?}", chip.name);
}
