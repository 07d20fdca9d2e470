//! Random programs: the two engines on them, and placements on both chips and a random one against their verifier.

use super::words;
use crate::{Case, Draw, Limits, chip, compare, numbered};
use sluice_asic::chip::ChipSpec;
use sluice_place::{self as place, Placement, place};
use std::sync::OnceLock;

/// Both chips, made once.
pub(super) fn chips() -> &'static [ChipSpec; 2] {
    static CHIPS: OnceLock<[ChipSpec; 2]> = OnceLock::new();
    CHIPS.get_or_init(|| [ChipSpec::tofino(), ChipSpec::tofino2()])
}

/// A random chip: the bytes from the end on, which choose the program last.
fn drawn(data: &[u8]) -> ChipSpec {
    let mut words = words(data);
    words.reverse();
    chip(&mut Draw::new(&words))
}

fn case(data: &[u8]) -> Case {
    Case::drawn(&words(data), &Limits::default())
}

/// Programs that are drawn and placed once: for these inputs are entries and packets.
const KEPT: usize = 192;

/// A random program with where it lies on each of the two chips that it fits.
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

/// Entries and packets drawn from the bytes for a random program that the first byte names, or that is drawn from the bytes
/// as well and then placed on a random chip, too: both engines do the same.
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

/// A program drawn from the bytes, placed on the chip that the first of them names: the independent verifier has nothing to
/// say.
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
