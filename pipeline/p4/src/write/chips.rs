//! Chips that have all that a program uses.

use sluice_asic::chip::ChipSpec;
use sluice_ir::Program;
use sluice_ir::verify::{Severity, for_chip};

/// Returns true if a program uses nothing that only Tofino 2 has.
pub(super) fn both(program: &Program) -> bool {
    program.ghost.is_empty()
        && !for_chip(program, &ChipSpec::tofino()).iter().any(|diag| diag.severity == Severity::Error)
}
