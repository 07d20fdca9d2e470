//! The stateful ALU: one read, one decision and one write of a register element per packet.
//!
//! Register formats, the parts of a register action as the chip has them (comparators, predicates, four update ALUs,
//! math unit, divider, lane search, outputs), the rules that decide whether they fit a chip, and their results, bit by
//! bit.
//!
//! ```text
//! element ─┬─► comparators ─► outcome ─► predicates of every part below
//!          ├─► ALU1-lo │ ALU2-lo ─► new lo half ─┐
//!          ├─► ALU1-hi │ ALU2-hi ─► new hi half ─┼─► outputs ─► action data bus
//! PHV ─────┴─────────────────────────────────────┘
//! ```
//!
//! Sources: model: chip §4. Details that this section leaves open (widths of the comparators' sums, wide halves,
//! division by zero, ties of the lane search, the math unit's rounding) follow the behavioural model that the vendor
//! published with open-p4studio (`tofino-model`, stateful ALU); items that rest on it say "model".
//!
//! Not modelled: FIFO and stack access, learning and match buses between SALUs, the random number that Tofino 2's
//! comparators can take for a PHV operand.
//!
//! Known difference: on the chip the math unit and the lane search take two cycles, so that an access to the
//! same element in the very next cycle shows them the older value. Here every access sees the one before.

mod bit;
mod clear;
mod compare;
mod error;
mod execute;
mod format;
mod lanes;
mod math;
mod op;
mod predicate;
mod prepared;
mod program;
mod register;
mod rules;

pub use bit::{BitOp, SELECTOR_BITS, SelectorBitOp};
pub use clear::Clear;
pub use compare::{Comparator, Compare, Relation, Sense, Term, Ternary};
pub use error::{SaluError, SaluPart};
pub use execute::{Operands, Outcome, State};
pub use format::{Format, FormatError, Half};
pub use lanes::{LaneMask, LaneOp, LanePost, LaneSearch, PostAmount};
pub use math::{MathError, MathOp, MathUnit};
pub use op::SaluOp;
pub use predicate::Predicate;
pub use prepared::{Accesses, Prepared};
pub use program::{
    Constant, Divide, DivideSource, Output, OutputSource, SaluProgram, SourceA, SourceB, Update,
};
pub use register::{register_file_rows, validate_register};
