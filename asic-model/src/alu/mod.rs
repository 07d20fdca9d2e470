//! Instruction list of the PHV ALUs: mnemonics, classes, the chips that have them, and their semantics.
//!
//! The semantics are pure functions from operand values to a result, at any width from one bit to the 128 bits of the
//! widest field.
//!
//! Operands are named as the chip names its sources: `a` is source 1, which may be action data or a constant; `b` is
//! source 2, which is always PHV (model: chip §2.2 rule 4).

mod eval;
mod op;

pub use eval::{add_with_carry, funnel_shift, sub_with_carry, width_mask};
pub use op::{AluClass, AluOp, Availability, UnknownMnemonic};
