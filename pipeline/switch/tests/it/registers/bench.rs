//! Programs without entries on both engines: packets in, bytes and arrays out.

use crate::tables::bench;
pub(crate) use crate::tables::bench::Ran;
use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::State as Element;
use sluice_control::ControlState;
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify::{has_errors, verify};
use sluice_place::Placement;

/// Places a program that must be clean and must survive its text form.
pub(crate) fn placed(program: &Program, chip: &ChipSpec) -> Placement {
    let diags = verify(program);
    assert!(!has_errors(&diags), "{diags:#?}");
    let text = text::print(program);
    assert_eq!(text::print(&text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))), text);
    bench::placed(program, chip)
}

/// Runs the reference, and the engine at several batch sizes, which must agree with it in everything.
pub(crate) fn agree(program: &Program, placement: &Placement, frames: &[Vec<u8>]) -> Ran {
    bench::agree(program, placement, &ControlState::new(program), frames)
}

/// Like [`agree`], on both chips.
pub(crate) fn both_chips(program: &Program, frames: &[Vec<u8>]) -> Ran {
    agree(program, &placed(program, &ChipSpec::tofino()), frames);
    agree(program, &placed(program, &ChipSpec::tofino2()), frames)
}

/// Returns the value of an element of a register.
pub(crate) fn element(program: &Program, ran: &Ran, register: &str, index: usize) -> Element {
    ran.state.registers[program.register_named(register).unwrap()][index]
}
