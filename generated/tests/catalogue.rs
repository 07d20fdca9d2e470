//! Engines of the catalogue with generated code: which of them run it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use sluice_asic::chip::ChipSpec;
use sluice_catalogue::Catalogue;
use sluice_control::ControlState;
use sluice_exec::cover::Points;
use sluice_ir::Program;
use sluice_place::{Placement, place};

/// Returns whether the engine of a placed program runs generated code, and whether the engine that counts coverage does.
fn runs_code(catalogue: &Catalogue, program: &Program, placement: &Placement) -> [bool; 2] {
    let (control, points) = (ControlState::new(program), Points::of(program, &placement.chip));
    let engine = catalogue.engine(program, placement, &control).unwrap();
    let counting = catalogue.covered(program, placement, &control, points).unwrap();
    [engine.runs_generated(), counting.runs_generated()]
}

fn placed(name: &str, sets: &[(&str, &str)], chip: &ChipSpec) -> (Program, Placement) {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let program = sluice_generated::catalogue().get(name).unwrap().build(&sets).unwrap();
    let placement = place(&program, chip).unwrap_or_else(|e| panic!("{name}: {e}"));
    (program, placement)
}

#[test]
fn code_is_there_with_and_without_counting_and_of_shipped_programs_alone() {
    let (catalogue, shipped) = (sluice_generated::catalogue(), sluice_programs::catalogue());
    let names = |catalogue: &Catalogue| -> Vec<String> {
        catalogue.programs().iter().map(|program| program.name().to_owned()).collect()
    };
    assert_eq!(names(&catalogue), names(&shipped));
    let mut found: Vec<&str> = catalogue.code().iter().map(|code| code.program).collect();
    found.sort_unstable();
    let (pairs, rest) = found.as_chunks::<2>();
    assert!(rest.is_empty() && pairs.iter().all(|[a, b]| a == b), "each is there twice: {found:?}");
    assert!(pairs.windows(2).all(|two| two[0] != two[1]), "each is there twice: {found:?}");
    assert!(pairs.iter().all(|[name, _]| shipped.get(name).is_ok()), "{found:?}");
    // A debug build has none unless `SLUICE_GENERATED` asks for some, as `.ci/slow` does.
    let expected = match std::env::var("SLUICE_GENERATED").as_deref() {
        Ok("all") => shipped.programs().len(),
        Ok(names) => names.split(',').filter(|name| !name.trim().is_empty()).count(),
        Err(_) if cfg!(debug_assertions) => 0,
        Err(_) => shipped.programs().len(),
    };
    assert_eq!(pairs.len(), expected, "{found:?}");
    assert!(catalogue.code().iter().all(|code| code.chip == "tofino2"));
}

#[test]
fn an_engine_runs_code_exactly_for_the_placement_that_it_was_generated_from() {
    let catalogue = sluice_generated::catalogue();
    let (tofino, tofino2) = (ChipSpec::tofino(), ChipSpec::tofino2());
    let has_code = |name: &str| catalogue.code().iter().any(|code| code.program == name);
    for name in ["l3-ecmp", "ecmp", "letflow", "ecn-mark"] {
        let (program, placement) = placed(name, &[], &tofino2);
        assert_eq!(runs_code(&catalogue, &program, &placement), [has_code(name); 2], "{name}");
        let without = sluice_programs::catalogue();
        assert_eq!(runs_code(&without, &program, &placement), [false, false], "{name} without code");
        // The code belongs to the program, whether or not the catalogue lists it.
        let code_alone = Catalogue::new().with_code(sluice_generated::CODE);
        assert_eq!(runs_code(&code_alone, &program, &placement), [has_code(name); 2], "{name}, not listed");
    }
    // Constants are not in the text that code is generated from.
    let (program, placement) = placed("letflow", &[("timeout", "40us")], &tofino2);
    assert_eq!(runs_code(&catalogue, &program, &placement), [has_code("letflow"); 2]);
    // Other actions and another chip are.
    for (sets, chip) in [(&[("detect", "age")][..], &tofino2), (&[], &tofino)] {
        let (program, placement) = placed("letflow", sets, chip);
        assert_eq!(runs_code(&catalogue, &program, &placement), [false, false], "{} {sets:?}", chip.name);
    }
    // So is a program of the same name that does something else.
    let (mut other, placement) = placed("ecmp", &[], &tofino2);
    other.name = "letflow".to_owned();
    assert_eq!(runs_code(&catalogue, &other, &placement), [false, false]);
}
