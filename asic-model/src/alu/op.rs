//! The PHV ALU instructions as data: one line each with mnemonic, class, operand count and chips.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Effect of an instruction on its destination container. Placement uses the class to decide which fields may share the
/// container.
///
/// model: chip §2.2 rule 6, §2.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AluClass {
    /// Addition, subtraction, saturating forms, minimum and maximum. The instruction writes the whole container and so
    /// overwrites every other field in it.
    Arithmetic,
    /// Shift by a constant. Works on the whole container.
    Shift,
    /// Comparison with its result in the container. Works on the whole container. Tofino 2 only.
    Compare,
    /// One of the 16 functions of two bits, applied bit by bit. A neutral operand bit keeps a bit of the container.
    Bitwise,
    /// Copy of one source. Some forms write a slice of the container.
    Move,
}

impl AluClass {
    /// Returns true if the instruction overwrites its whole container, so that the written field must be alone in it.
    pub const fn whole_container(self) -> bool {
        matches!(self, Self::Arithmetic | Self::Shift | Self::Compare)
    }
}

/// Chips that have an instruction (model: chip §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Availability {
    /// Tofino 1 has it.
    pub tofino: bool,
    /// Tofino 2 has it.
    pub tofino2: bool,
}

impl Availability {
    const BOTH: Self = Self { tofino: true, tofino2: true };
    const TOFINO2: Self = Self { tofino: false, tofino2: true };
}

/// The text is not a mnemonic of the instruction list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown ALU instruction `{0}`; {advice}", advice = .0.advice())]
pub struct UnknownMnemonic(Mnemonic);

/// A word that names no instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mnemonic(String);

impl Mnemonic {
    /// Returns what to do instead: other words for multiplication and division name what no ALU does.
    fn advice(&self) -> &'static str {
        match self.0.as_str() {
            "mul" | "mult" | "multiply" => {
                "no ALU multiplies: shift by a constant (`shl`), let a register action use its math unit, or look the product \
                 up in a table"
            }
            "div" | "divide" | "mod" | "rem" => {
                "no ALU of a stage divides: shift by a constant (`shru`), let a register action use its math unit or divider, \
                 or look the quotient up in a table"
            }
            _ => {
                "the mnemonics are those of the vendor's assembler, such as `add`, `saddu`, `xor`, `shl`, `set`"
            }
        }
    }
}

impl std::fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl UnknownMnemonic {
    /// Creates the error for this text.
    pub(crate) fn new(text: &str) -> Self {
        Self(Mnemonic(text.to_owned()))
    }
}

/// Declares the instructions once: variant, mnemonic, class, number of sources, chips.
macro_rules! instructions {
    ($($(#[$doc:meta])* $variant:ident = $mnemonic:literal, $class:ident, $sources:literal, $chips:ident;)*) => {
        /// An instruction of a PHV ALU that maps two operand values to one result (model: chip §2.3).
        ///
        /// Slice and merge forms of the moves (`deposit-field`, `byte-rotate-merge`, `bitmasked-set`,
        /// `cmov`, `load-const`) differ in the bits that they read and write, not in the function, and
        /// have no separate value semantics. Carry chaining is [`add_with_carry`](super::add_with_carry)
        /// and [`sub_with_carry`](super::sub_with_carry), the funnel shift
        /// [`funnel_shift`](super::funnel_shift).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum AluOp { $($(#[$doc])* $variant),* }

        impl AluOp {
            /// Every instruction, in the order of model: chip §2.3.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the vendor assembler's mnemonic.
            pub const fn mnemonic(self) -> &'static str {
                match self { $(Self::$variant => $mnemonic),* }
            }

            /// Returns the class of the instruction.
            pub const fn class(self) -> AluClass {
                match self { $(Self::$variant => AluClass::$class),* }
            }

            /// Returns the number of operands that the result depends on (0, 1 or 2). The constant amount of a shift
            /// counts, because it is operand `b` of [`AluOp::eval`].
            pub const fn operands(self) -> u8 {
                match self { $(Self::$variant => $sources),* }
            }

            /// Returns the chips that have the instruction.
            pub const fn availability(self) -> Availability {
                match self { $(Self::$variant => Availability::$chips),* }
            }
        }
    };
}

instructions! {
    /// `a + b`, wrapping.
    Add = "add", Arithmetic, 2, BOTH;
    /// `a - b`, wrapping.
    Sub = "sub", Arithmetic, 2, BOTH;
    /// `a + b`, unsigned, capped at the largest value.
    Saddu = "saddu", Arithmetic, 2, BOTH;
    /// `a + b`, two's complement, capped at both ends.
    Sadds = "sadds", Arithmetic, 2, BOTH;
    /// `a - b`, unsigned, floored at zero.
    Ssubu = "ssubu", Arithmetic, 2, BOTH;
    /// `a - b`, two's complement, capped at both ends.
    Ssubs = "ssubs", Arithmetic, 2, BOTH;
    /// The smaller of the two, unsigned.
    Minu = "minu", Arithmetic, 2, BOTH;
    /// The smaller of the two, two's complement.
    Mins = "mins", Arithmetic, 2, BOTH;
    /// The larger of the two, unsigned.
    Maxu = "maxu", Arithmetic, 2, BOTH;
    /// The larger of the two, two's complement.
    Maxs = "maxs", Arithmetic, 2, BOTH;
    /// All zeros.
    Setz = "setz", Bitwise, 0, BOTH;
    /// `!(a | b)`.
    Nor = "nor", Bitwise, 2, BOTH;
    /// `!a & b`.
    Andca = "andca", Bitwise, 2, BOTH;
    /// `a & !b`.
    Andcb = "andcb", Bitwise, 2, BOTH;
    /// `!a`.
    Nota = "nota", Bitwise, 1, BOTH;
    /// `!b`.
    Notb = "notb", Bitwise, 1, BOTH;
    /// `a ^ b`.
    Xor = "xor", Bitwise, 2, BOTH;
    /// `!(a & b)`.
    Nand = "nand", Bitwise, 2, BOTH;
    /// `a & b`.
    And = "and", Bitwise, 2, BOTH;
    /// `!(a ^ b)`.
    Xnor = "xnor", Bitwise, 2, BOTH;
    /// `a`.
    AluA = "alu_a", Bitwise, 1, BOTH;
    /// `b`.
    AluB = "alu_b", Bitwise, 1, BOTH;
    /// `!a | b`.
    Orca = "orca", Bitwise, 2, BOTH;
    /// `a | !b`.
    Orcb = "orcb", Bitwise, 2, BOTH;
    /// `a | b`.
    Or = "or", Bitwise, 2, BOTH;
    /// All ones.
    Sethi = "sethi", Bitwise, 0, BOTH;
    /// `a` shifted left by the constant `b`; zeros are shifted in.
    Shl = "shl", Shift, 2, BOTH;
    /// `a` shifted right by the constant `b`; copies of the sign bit are shifted in.
    Shrs = "shrs", Shift, 2, BOTH;
    /// `a` shifted right by the constant `b`; zeros are shifted in.
    Shru = "shru", Shift, 2, BOTH;
    /// `a`.
    Set = "set", Move, 1, BOTH;
    /// `a >= b`, unsigned.
    Gtequ = "gtequ", Compare, 2, TOFINO2;
    /// `a >= b`, two's complement.
    Gteqs = "gteqs", Compare, 2, TOFINO2;
    /// `a < b`, unsigned.
    Ltu = "ltu", Compare, 2, TOFINO2;
    /// `a < b`, two's complement.
    Lts = "lts", Compare, 2, TOFINO2;
    /// `a <= b`, unsigned.
    Lequ = "lequ", Compare, 2, TOFINO2;
    /// `a <= b`, two's complement.
    Leqs = "leqs", Compare, 2, TOFINO2;
    /// `a > b`, unsigned.
    Gtu = "gtu", Compare, 2, TOFINO2;
    /// `a > b`, two's complement.
    Gts = "gts", Compare, 2, TOFINO2;
    /// `a == b`.
    Eq = "eq", Compare, 2, TOFINO2;
    /// `a != b`.
    Neq = "neq", Compare, 2, TOFINO2;
}

impl AluOp {
    /// Returns whether the result depends on the first and on the second operand. [`AluOp::operands`] is their number.
    pub const fn reads(self) -> (bool, bool) {
        match self {
            Self::Setz | Self::Sethi => (false, false),
            Self::Nota | Self::AluA | Self::Set => (true, false),
            Self::Notb | Self::AluB => (false, true),
            _ => (true, true),
        }
    }
}

impl fmt::Display for AluOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mnemonic())
    }
}

impl FromStr for AluOp {
    type Err = UnknownMnemonic;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().copied().find(|op| op.mnemonic() == text);
        found.ok_or_else(|| UnknownMnemonic::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mnemonic_parses_back() {
        for &op in AluOp::ALL {
            assert_eq!(op.to_string().parse::<AluOp>(), Ok(op));
        }
        assert!("mul".parse::<AluOp>().unwrap_err().to_string().contains("`mul`"));
    }

    #[test]
    fn sixteen_bitwise_functions_and_no_compare_on_tofino() {
        assert_eq!(AluOp::ALL.iter().filter(|op| op.class() == AluClass::Bitwise).count(), 16);
        for &op in AluOp::ALL {
            assert!(op.availability().tofino2);
            assert_eq!(op.availability().tofino, op.class() != AluClass::Compare, "{op}");
        }
    }

    #[test]
    fn only_bitwise_and_moves_can_share_a_container() {
        assert!(AluOp::Add.class().whole_container());
        assert!(AluOp::Shl.class().whole_container());
        assert!(!AluOp::Xor.class().whole_container());
        assert!(!AluOp::Set.class().whole_container());
    }
}
