//! Placements that several tests share.
//!
//! Placing a large program takes seconds without optimisation, and dozens of tests place the same programs. Within one test
//! executable, each program is placed once per chip; the results are kept by the whole content of program and chip. The tests of
//! `sluice-fuzz` have this module too.

use sluice_asic::chip::ChipSpec;
use sluice_ir::Program;
use sluice_place::{NoFit, Placement};
use std::sync::{Arc, Mutex, OnceLock};

/// A program and a chip, with the result once a test has placed them.
struct Case {
    program: Program,
    chip: ChipSpec,
    result: OnceLock<Result<Placement, NoFit>>,
}

static CASES: Mutex<Vec<Arc<Case>>> = Mutex::new(Vec::new());

/// Returns the result of [`sluice_place::place`]. Of several tests that ask for the same program at the same time, one places
/// it and the others wait.
pub(crate) fn place(program: &Program, chip: &ChipSpec) -> Result<Placement, NoFit> {
    let case = {
        let mut cases = CASES.lock().unwrap();
        match cases.iter().find(|case| case.chip == *chip && case.program == *program) {
            Some(case) => Arc::clone(case),
            None => {
                let case = Case { program: program.clone(), chip: chip.clone(), result: OnceLock::new() };
                cases.push(Arc::new(case));
                Arc::clone(cases.last().unwrap())
            }
        }
    };
    case.result.get_or_init(|| sluice_place::place(program, chip)).clone()
}
