//! Problems of a register action: one variant per rule, with the value found, the limit and a remedy.

use super::format::{Format, Half};
use super::lanes::LaneOp;
use super::op::SaluOp;
use std::fmt;
use thiserror::Error;

/// The part of the SALU that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SaluPart {
    /// A comparator unit.
    Comparator(u8),
    /// An update ALU: the half and which of its two, 0 or 1.
    Update(Half, u8),
    /// An output word.
    Output(u8),
    /// The divider.
    Divide,
    /// The lane search.
    Lanes,
}

impl fmt::Display for SaluPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comparator(unit) => write!(f, "comparator {unit}"),
            Self::Update(half, number) => write!(f, "ALU{}-{}", number + 1, half.name()),
            Self::Output(word) => write!(f, "output word {word}"),
            Self::Divide => f.write_str("divider"),
            Self::Lanes => f.write_str("lane search"),
        }
    }
}

/// A rule that a register action breaks (model: chip §4).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SaluError {
    /// The chip does not have elements of this format.
    #[error(
        "register format {found}: this chip has single elements of up to {single} bits and pairs of up to {pair} bits each; {remedy}"
    )]
    Format {
        /// The format.
        found: Format,
        /// Widest single element.
        single: u32,
        /// Widest half of a pair.
        pair: u32,
        /// Remedy.
        remedy: &'static str,
    },
    /// A comparator that the chip does not have.
    #[error(
        "{part} is used; this chip has {limit}: combine conditions, or compute one of them in a stage before and pass it as a PHV operand"
    )]
    Comparators {
        /// The comparator.
        part: SaluPart,
        /// Comparators of the chip.
        limit: u32,
    },
    /// A ternary match is in a unit without ternary matching.
    #[error(
        "{part} is a ternary match; this chip has {limit} ternary match units, the lowest comparators: use one of those, or a comparison"
    )]
    Ternary {
        /// The comparator.
        part: SaluPart,
        /// Ternary match units of the chip.
        limit: u32,
    },
    /// A masked comparison on a chip without masks.
    #[error(
        "{part} masks an operand; this chip's comparators have no masks: mask the field in a stage before, or keep the bits in a separate register"
    )]
    Masks {
        /// The comparator.
        part: SaluPart,
    },
    /// Two masks, or a mask and a constant, that would need two rows at once.
    #[error(
        "{part} needs {found} different register file rows for masks and constant; it can read 1: use equal masks, or a constant from {min} to {max}"
    )]
    ComparatorRows {
        /// The comparator.
        part: SaluPart,
        /// Rows needed.
        found: usize,
        /// Smallest constant without a row.
        min: i32,
        /// Largest constant without a row.
        max: i32,
    },
    /// A constant that the part cannot hold.
    #[error(
        "{part}: constant {found} is out of range, {min} to {max} for this element: use a wider element or a smaller constant"
    )]
    Constant {
        /// The part.
        part: SaluPart,
        /// The constant.
        found: i64,
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A register parameter that the register does not declare.
    #[error("{part}: register parameter {found}; the register has {limit}: declare it")]
    Param {
        /// The part.
        part: SaluPart,
        /// The parameter's number.
        found: u8,
        /// Parameters of the register.
        limit: usize,
    },
    /// One instruction has two different constants.
    #[error(
        "{part} names two different constants; an instruction has room for 1: compute one in a stage before and pass it as a PHV operand"
    )]
    TwoConstants {
        /// The ALU.
        part: SaluPart,
    },
    /// An operand missing or too many.
    #[error("{part}: `{op}` takes {expected}; found {found}")]
    OperandCount {
        /// The ALU.
        part: SaluPart,
        /// The instruction.
        op: SaluOp,
        /// Operands that it has.
        expected: &'static str,
        /// Operands that it was given.
        found: &'static str,
    },
    /// The high half of a single element is read.
    #[error(
        "{part} reads the high half of a {format}-bit element, which has none: use the low half, or a pair"
    )]
    NoHighHalf {
        /// The part.
        part: SaluPart,
        /// The format.
        format: Format,
    },
    /// An instruction that cannot be done on 64 bits.
    #[error(
        "{part}: `{op}` on a half of {found} bits; the ALUs compute on {limit} bits, above them only copies and add, sub, or, xor with a low operand work: split the value into a pair of 32 bits"
    )]
    Wide {
        /// The ALU.
        part: SaluPart,
        /// The instruction.
        op: SaluOp,
        /// Bits of the half.
        found: u32,
        /// Bits that are computed on.
        limit: u32,
    },
    /// The math unit in an ALU that has none.
    #[error("{part} uses the math unit; only ALU2-lo can: move the instruction there")]
    MathPlace {
        /// The ALU.
        part: SaluPart,
    },
    /// The math unit used but not configured.
    #[error("{part} uses the math unit, which has no table: configure `math`")]
    MathTable {
        /// The ALU.
        part: SaluPart,
    },
    /// A condition on a comparator that compares nothing.
    #[error(
        "{part} depends on comparator {found}, which compares nothing: define it, or drop it from the condition"
    )]
    Condition {
        /// The part with the condition.
        part: SaluPart,
        /// The comparator.
        found: u8,
    },
    /// An output word that the chip does not have.
    #[error(
        "{part} is used; this chip's register actions return {limit} words of 32 bits: return less, or read the rest from a second register"
    )]
    OutputWords {
        /// The output word.
        part: SaluPart,
        /// Words of the chip.
        limit: u32,
    },
    /// An output that the part of the chip cannot show.
    #[error("{part}: {what} {reason}")]
    OutputSource {
        /// The output word.
        part: SaluPart,
        /// Content of the output word.
        what: &'static str,
        /// Reason for which it is impossible, and the remedy.
        reason: &'static str,
    },
    /// Predicate outputs with different predicates or shifts.
    #[error(
        "{part} shows another condition than {other}; a register action can return 1 condition: return the comparators' outcome (one-hot) and decode it in the next stage"
    )]
    TwoConditions {
        /// The second output word.
        part: SaluPart,
        /// First part.
        other: SaluPart,
    },
    /// The chip lacks the feature.
    #[error("{part} is used; this chip has none: {remedy}")]
    Missing {
        /// The part.
        part: SaluPart,
        /// Remedy.
        remedy: &'static str,
    },
    /// The divider's ALU is taken.
    #[error("the divider takes the place of ALU2-hi, which also has an update: use ALU1-hi for it")]
    DivideTaken,
    /// A lane search is combined with updates, or used on another format.
    #[error("lane search `{}` {found}; it works on whole 128-bit elements and leaves no ALU to updates: {remedy}", .op.mnemonic())]
    Lanes {
        /// The search.
        op: LaneOp,
        /// Part found.
        found: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// A one-bit register has a part other than a bit instruction, or a bit instruction is on a wider register.
    #[error(
        "a one-bit access {found}; it is one set, clear or read instruction whose output is `alu_lo`, without conditions: {remedy}"
    )]
    Bit {
        /// Part found.
        found: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// There are too many actions on one register.
    #[error(
        "{found} register actions; a register has room for {limit}: merge some with the help of a condition, or split the register"
    )]
    Actions {
        /// Actions found.
        found: usize,
        /// Instructions of the SALU.
        limit: u32,
    },
    /// Too many large constants and parameters.
    #[error(
        "{found} register file rows are needed ({constants} large constants and masks, {params} parameters); this chip has {limit}: use constants from {min} to {max}, pass some as PHV operands, or drop parameters"
    )]
    FileRows {
        /// Rows needed.
        found: usize,
        /// Rows for constants.
        constants: usize,
        /// Rows for parameters.
        params: usize,
        /// Rows of the chip.
        limit: u32,
        /// Smallest constant without a row.
        min: i32,
        /// Largest constant without a row.
        max: i32,
    },
    /// Actions on one register differ in a part that they share.
    #[error(
        "register actions {first} and {second} differ in {what}; all actions of a register share it: {remedy}"
    )]
    Shared {
        /// The first action's position.
        first: usize,
        /// The second action's position.
        second: usize,
        /// Shared part.
        what: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
}
