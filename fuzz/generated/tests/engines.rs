//! Generated code does what the reference interpreter does: random programs, and the shipped ones with random entries.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use sluice_asic::chip::ChipSpec;
use sluice_fuzz::hunt::words;
use sluice_fuzz::{Case, Limits, compare_by};
use sluice_fuzz_generated::{CODE, PROGRAMS, chip_of, program};
use sluice_pipeline::control::ControlState;
use sluice_pipeline::engine::Engine;
use sluice_pipeline::engine::generated::Generated;
use sluice_pipeline::ir::Program;
use sluice_pipeline::place::{Placement, place};

/// Entries and packets of each program.
const WORLDS: u64 = 6;

/// Compares on several worlds; returns how many packets left.
fn agree(program: &Program, placement: &Placement, code: &[Generated]) -> usize {
    let limits = Limits { frames: 200, ..Limits::default() };
    let mut out = 0;
    for world in 0..WORLDS {
        let draws: Vec<u32> = words(0x67e_0000 + world).take(limits.choices * 4).collect();
        let case = Case::with(program.clone(), &draws, &limits);
        let ran = compare_by(&case, placement, |program, placement, control| {
            let engine = Engine::generated(program, placement, control, code)?;
            assert!(engine.runs_generated(), "no code for {}", program.name);
            Ok(engine)
        });
        match ran {
            Ok(ran) => out += ran.out,
            Err(difference) => panic!("{} on {}: {difference}\n{case:?}", program.name, placement.chip.name),
        }
    }
    out
}

#[test]
fn random_programs_agree() {
    let (mut fit, mut out) = (0, 0);
    for number in 0..PROGRAMS {
        let program = program(number);
        let Ok(placement) = place(&program, &chip_of(number)) else { continue };
        fit += 1;
        out += agree(&program, &placement, CODE);
    }
    // The comparison means nothing if programs do not fit, or packets do not get through.
    assert!(2 * fit > PROGRAMS, "{fit} of {PROGRAMS} programs fit");
    assert!(out > 1000, "{out} packets left");
}

#[test]
fn shipped_programs_agree_with_other_constants_too() {
    for stage in sluice_programs::all() {
        let hunt = stage.hunt().iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        for sets in [Vec::new(), hunt.collect()] {
            let program = stage.build(&sets).unwrap();
            let placement = place(&program, &ChipSpec::tofino2()).unwrap();
            agree(&program, &placement, sluice_generated::PROGRAMS);
        }
    }
}

#[test]
fn a_program_that_lowers_to_something_else_does_not_run_the_code() {
    let stage = sluice_programs::by_name("letflow").unwrap();
    let aged = ("detect".to_owned(), "age".to_owned());
    for (chip, sets) in [(ChipSpec::tofino(), vec![]), (ChipSpec::tofino2(), vec![aged])] {
        let program = stage.build(&sets).unwrap();
        let placement = place(&program, &chip).unwrap();
        let control = ControlState::new(&program);
        let engine = sluice_generated::engine(&program, &placement, &control).unwrap();
        assert!(!engine.runs_generated(), "{} {sets:?}", chip.name);
    }
}
