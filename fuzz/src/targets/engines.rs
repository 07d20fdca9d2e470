//! Random programs: the two engines on them, and placements on both chips and a random one against their verifier. What may not live here: how
//! programs are drawn.

use super::words;
use crate::{Case, Draw, Limits, chip, compare};
use sluice_asic::chip::ChipSpec;
use sluice_pipeline::place::{self, place};
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

/// A program drawn from the bytes, with entries and packets, on both engines: they do the same.
pub fn engines(data: &[u8]) {
    let case = case(data);
    for chip in chips().iter().chain([&drawn(data)]) {
        let Ok(placement) = place(&case.program, chip) else { continue };
        if let Err(difference) = compare(&case, &placement) {
            assert_eq!(difference.to_string(), "", "{}\n{case:?}", chip.name);
        }
    }
}

/// A program drawn from the bytes, placed: the independent verifier has nothing to say.
pub fn placement(data: &[u8]) {
    let case = case(data);
    for chip in chips().iter().chain([&drawn(data)]) {
        let Ok(placement) = place(&case.program, chip) else { continue };
        let findings = place::verify(&case.program, &placement);
        assert!(findings.is_empty(), "{}: {findings:#?}\n{case:?}", chip.name);
    }
}
