//! Chips that have all that a program uses.

use sluice_asic::chip::ChipSpec;
use sluice_ir::verify::{Severity, for_chip};
use sluice_ir::{CounterLoad, ParserOpKind, Program};

/// Returns true if a program uses nothing that only Tofino 2 has, and nothing that one P4 text cannot say for both chips.
pub(super) fn both(program: &Program) -> bool {
    program.ghost.is_empty()
        && !program.states.values().flat_map(|state| &state.ops).any(|op| masks_counter(&op.kind))
        && !for_chip(program, &ChipSpec::tofino()).iter().any(|diag| diag.severity == Severity::Error)
}

/// Returns true for a load of a parser counter with a part of a byte: its mask is a number of bits on Tofino, and has a bit
/// for each bit of the field on Tofino 2.
fn masks_counter(op: &ParserOpKind) -> bool {
    let (ParserOpKind::SetCounter(load) | ParserOpKind::PushCounter(load, _)) = op else { return false };
    match *load {
        CounterLoad::Const(_) => false,
        CounterLoad::Field { mask, .. } | CounterLoad::Ahead { mask, .. } => mask < 7,
    }
}
