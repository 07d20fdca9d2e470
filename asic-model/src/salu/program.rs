//! Register action as the SALU executes it: plain data, in which every field is a part of the chip.

use super::bit::BitOp;
use super::compare::Comparator;
use super::format::{Format, Half};
use super::lanes::LaneSearch;
use super::math::MathUnit;
use super::op::SaluOp;
use super::predicate::Predicate;
use crate::chip::SaluSpec;

/// A number that an instruction names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// The number itself. A small number is part of the instruction; a larger one takes a row of the register file.
    Value(i64),
    /// A register parameter: the row of the register file that the control plane writes.
    Param(u8),
}

impl Constant {
    /// Register parameters that a register can have: rows of the register file (model: chip §4.1).
    pub const PARAMS: usize = 4;
    /// Zero.
    pub const ZERO: Self = Self::Value(0);

    /// Returns the number; a parameter is taken from `params`, and is 0 if it does not exist.
    #[inline]
    pub(super) fn resolve(self, params: &[i64; Self::PARAMS]) -> i64 {
        match self {
            Self::Value(value) => value,
            Self::Param(row) => params.get(usize::from(row)).copied().unwrap_or(0),
        }
    }
}

/// First operand of an update ALU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceA {
    /// A half of the element as it was.
    Memory(Half),
    /// A number.
    Constant(Constant),
}

/// Second operand of an update ALU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceB {
    /// A PHV operand.
    Phv(Half),
    /// A number.
    Constant(Constant),
    /// The math unit's result for a half of the element. ALU2-lo only.
    MathMemory(Half),
    /// The math unit's result for a PHV operand. ALU2-lo only.
    MathPhv(Half),
}

/// Function of one update ALU (model: chip §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Update {
    /// Condition under which the ALU acts. The results of a half's two ALUs are ORed; if neither acts, the half is
    /// unchanged.
    pub when: Predicate,
    /// The instruction.
    pub op: SaluOp,
    /// The first operand; `None` if the instruction has none.
    pub a: Option<SourceA>,
    /// The second operand; `None` if the instruction has none.
    pub b: Option<SourceB>,
}

impl Update {
    /// Returns an instruction with both operands.
    pub const fn binary(when: Predicate, op: SaluOp, a: SourceA, b: SourceB) -> Self {
        Self { when, op, a: Some(a), b: Some(b) }
    }

    /// Returns an instruction that copies a PHV operand to the half.
    pub const fn set_phv(when: Predicate, half: Half) -> Self {
        Self { when, op: SaluOp::AluB, a: None, b: Some(SourceB::Phv(half)) }
    }

    /// Returns an instruction that sets the half to a number.
    pub const fn set_constant(when: Predicate, constant: Constant) -> Self {
        Self { when, op: SaluOp::AluA, a: Some(SourceA::Constant(constant)), b: None }
    }

    /// Returns an instruction that copies a half of the element to the half.
    pub const fn set_memory(when: Predicate, half: Half) -> Self {
        Self { when, op: SaluOp::AluA, a: Some(SourceA::Memory(half)), b: None }
    }
}

/// Operand of the divider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DivideSource {
    /// A half of the element.
    Memory(Half),
    /// A PHV operand.
    Phv(Half),
    /// A number.
    Constant(Constant),
}

/// A division; it takes the place of ALU2-hi (model: chip §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Divide {
    /// Dividend.
    pub dividend: DivideSource,
    /// Divisor.
    pub divisor: DivideSource,
}

/// Source of an output word (model: chip §4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputSource {
    /// A half of the element as it was.
    Memory(Half),
    /// A PHV operand.
    Phv(Half),
    /// A half as the update ALUs leave it; for a one-bit register, the bit that the instruction outputs. The high half
    /// of a single element is not memory: it is the result of ALU1-hi and ALU2-hi, or 0.
    Alu(Half),
    /// A one in this bit if the output's predicate holds.
    Flag {
        /// The bit, 0 to 31.
        shift: u8,
    },
    /// A one in the bit whose number is the comparators' outcome, if the predicate holds for that outcome.
    OneHot,
    /// The index of the element, as the meter ALU's address.
    Address,
    /// The quotient, 16 bits.
    Quotient,
    /// The remainder, 16 bits.
    Remainder,
    /// The lane that the search chose, before its change.
    LaneValue,
    /// Value of the lane found, after its change.
    LaneChanged,
    /// The number of the lane.
    LaneIndex,
}

/// One output word of 32 bits. Words 0 and 1 show the low 32 bits of their source, words 2 and 3 the high 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Output {
    /// Condition under which the word has its value; otherwise the word is 0.
    pub when: Predicate,
    /// Source of the word.
    pub source: OutputSource,
}

impl Output {
    /// Shows `source` always.
    pub const fn always(source: OutputSource) -> Self {
        Self { when: Predicate::ALWAYS, source }
    }
}

/// A register action as the SALU has it: its effect on one element in one access.
///
/// Exactly one of the three ways to update is used: the four ALUs (`lo`, `hi`, also none of them), `bit` for
/// one-bit registers, or `lanes`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SaluProgram {
    /// The element's format.
    pub format: Format,
    /// Comparators by unit.
    pub comparators: [Option<Comparator>; 4],
    /// ALU1-lo and ALU2-lo.
    pub lo: [Option<Update>; 2],
    /// ALU1-hi and ALU2-hi.
    pub hi: [Option<Update>; 2],
    /// The math unit, if ALU2-lo uses it.
    pub math: Option<MathUnit>,
    /// A division.
    pub divide: Option<Divide>,
    /// Instruction of a one-bit register.
    pub bit: Option<BitOp>,
    /// A lane search.
    pub lanes: Option<LaneSearch>,
    /// Output words.
    pub outputs: [Option<Output>; 4],
}

impl SaluProgram {
    /// Creates an action that changes and shows nothing.
    pub const fn new(format: Format) -> Self {
        Self {
            format,
            comparators: [None; 4],
            lo: [None; 2],
            hi: [None; 2],
            math: None,
            divide: None,
            bit: None,
            lanes: None,
            outputs: [None; 4],
        }
    }

    /// Returns true if the stage has the divider's latency (model: cycles §1).
    pub const fn divides(&self) -> bool {
        self.divide.is_some()
    }

    /// Returns which PHV operands the action needs, low first; they are bytes of the exact crossbar (model: chip §1.3).
    pub fn phv_halves(&self) -> [bool; 2] {
        let mut used = [false; 2];
        let mut mark = |half: Half| used[half as usize] = true;
        for comparator in self.comparators.iter().flatten() {
            match comparator {
                Comparator::Compare(compare) => compare.phv.iter().for_each(|term| mark(term.half)),
                Comparator::Ternary(ternary) => mark(ternary.phv),
            }
        }
        for update in self.lo.iter().chain(&self.hi).flatten() {
            if let Some(SourceB::Phv(half) | SourceB::MathPhv(half)) = update.b {
                mark(half);
            }
        }
        for source in self.divide.iter().flat_map(|divide| [divide.dividend, divide.divisor]) {
            if let DivideSource::Phv(half) = source {
                mark(half);
            }
        }
        for output in self.outputs.iter().flatten() {
            if let OutputSource::Phv(half) = output.source {
                mark(half);
            }
        }
        if let Some(lanes) = self.lanes {
            use super::lanes::{LaneMask, PostAmount};
            let post = lanes.post.is_some_and(|post| post.amount == PostAmount::Phv);
            used[0] |= lanes.from_phv || lanes.mask == LaneMask::Phv || post;
            used[1] |= lanes.from_phv;
        }
        used
    }

    /// Returns the bytes of an exact crossbar group, as bits of a mask, that the operands must take: the low operand
    /// from the chip's first operand byte on, the high operand directly after it (model: chip §1.3; both are as wide as
    /// a half).
    pub fn phv_bytes(&self, spec: &SaluSpec) -> u32 {
        let size = self.format.half_bits().div_ceil(8);
        let operand = (1u32 << size) - 1;
        let [lo, hi] = self.phv_halves();
        let bytes = if lo { operand } else { 0 } | if hi { operand << size } else { 0 };
        bytes.checked_shl(spec.operand_start_byte).unwrap_or(0)
    }
}
