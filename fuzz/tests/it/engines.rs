//! Both engines give the same results for random programs wherever they fit.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sluice_asic::chip::ChipSpec;
use sluice_fuzz::{Case, Limits, compare};
use sluice_place::{self as place, place};
use std::cell::Cell;

/// Returns a strategy for cases; they shrink to smaller programs and fewer packets.
pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let limits = Limits::default();
    // Four fifths of the usual choices: of larger programs fewer than half fit a Tofino.
    let words = proptest::collection::vec(any::<u32>(), 0..=limits.choices * 4 / 5);
    words.prop_map(move |words| Case::drawn(&words, &limits))
}

fn runner(cases: u32, seed: u8) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
}

fn agree(chip: &ChipSpec, seed: u8) {
    let (tried, fit, out) = (Cell::new(0), Cell::new(0), Cell::new(0));
    runner(250, seed)
        .run(&cases(), |case| {
            tried.set(tried.get() + 1);
            let Ok(placement) = place(&case.program, chip) else { return Ok(()) };
            fit.set(fit.get() + 1);
            let findings = place::verify(&case.program, &placement);
            prop_assert!(findings.is_empty(), "{:#?}", findings);
            match compare(&case, &placement) {
                Ok(ran) => out.set(out.get() + ran.out),
                Err(difference) => prop_assert!(false, "{}", difference),
            }
            Ok(())
        })
        .unwrap();
    // The comparison means nothing if programs do not fit, or packets do not get through.
    assert!(2 * fit.get() > tried.get(), "{} of {} programs fit {}", fit.get(), tried.get(), chip.name);
    assert!(out.get() > 1000, "{} packets left on {}", out.get(), chip.name);
}

#[test]
fn engines_agree_on_tofino() {
    agree(&ChipSpec::tofino(), 2);
}

#[test]
fn engines_agree_on_tofino2() {
    agree(&ChipSpec::tofino2(), 3);
}

#[test]
fn engines_agree_on_chips_that_nobody_made() {
    let words = || proptest::collection::vec(any::<u32>(), 32);
    let (tried, fit) = (Cell::new(0), Cell::new(0));
    runner(250, 4)
        .run(&(cases(), words()), |(case, words)| {
            let chip = sluice_fuzz::chip(&mut sluice_fuzz::Draw::new(&words));
            tried.set(tried.get() + 1);
            let Ok(placement) = place(&case.program, &chip) else { return Ok(()) };
            fit.set(fit.get() + 1);
            let findings = place::verify(&case.program, &placement);
            prop_assert!(findings.is_empty(), "{:#?}", findings);
            let agrees = compare(&case, &placement);
            prop_assert!(agrees.is_ok(), "{:?}", agrees);
            Ok(())
        })
        .unwrap();
    // Fewer programs fit a chip with fewer resources, but some must.
    assert!(5 * fit.get() > tried.get(), "{} of {} programs fit", fit.get(), tried.get());
}
