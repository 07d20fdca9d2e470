//! Instruction list of the four update ALUs: one line per instruction, with its result on up to 32 bits in terms of the
//! PHV ALUs' arithmetic.

use crate::alu::{AluOp, UnknownMnemonic};
use std::fmt;
use std::str::FromStr;

macro_rules! instructions {
    ($($(#[$doc:meta])* $variant:ident = $mnemonic:literal, $alu:ident, $order:ident, $uses:literal;)*) => {
        /// An instruction of an update ALU (model: chip §4.2). `a` is memory or a constant, `b` is PHV, a
        /// constant or the math unit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SaluOp { $($(#[$doc])* $variant),* }

        impl SaluOp {
            /// Every instruction.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the vendor assembler's mnemonic.
            pub const fn mnemonic(self) -> &'static str {
                match self { $(Self::$variant => $mnemonic),* }
            }

            /// Returns true if the result depends on operand `a`.
            pub fn uses_a(self) -> bool {
                match self { $(Self::$variant => $uses.contains('a')),* }
            }

            /// Returns true if the result depends on operand `b`.
            pub fn uses_b(self) -> bool {
                match self { $(Self::$variant => $uses.contains('b')),* }
            }

            /// Returns the result at `width` (1..=32) bits; operand bits above it are ignored.
            #[inline]
            pub const fn eval(self, a: u32, b: u32, width: u32) -> u32 {
                match self { $(Self::$variant => instructions!($order $alu a b width)),* }
            }
        }
    };
    (straight $alu:ident $a:ident $b:ident $width:ident) => { AluOp::$alu.eval32($a, $b, $width) };
    (swapped $alu:ident $a:ident $b:ident $width:ident) => { AluOp::$alu.eval32($b, $a, $width) };
}

instructions! {
    /// `a + b`, wrapping.
    Add = "add", Add, straight, "ab";
    /// `a - b`, wrapping.
    Sub = "sub", Sub, straight, "ab";
    /// `b - a`, wrapping.
    Subr = "subr", Sub, swapped, "ab";
    /// `a + b`, unsigned, capped.
    Saddu = "saddu", Saddu, straight, "ab";
    /// `a + b`, two's complement, capped at both ends.
    Sadds = "sadds", Sadds, straight, "ab";
    /// `a - b`, unsigned, floored at zero.
    Ssubu = "ssubu", Ssubu, straight, "ab";
    /// `a - b`, two's complement, capped at both ends.
    Ssubs = "ssubs", Ssubs, straight, "ab";
    /// `b - a`, unsigned, floored at zero.
    Ssubru = "ssubru", Ssubu, swapped, "ab";
    /// `b - a`, two's complement, capped at both ends.
    Ssubrs = "ssubrs", Ssubs, swapped, "ab";
    /// The smaller, unsigned.
    Minu = "minu", Minu, straight, "ab";
    /// The smaller, two's complement.
    Mins = "mins", Mins, straight, "ab";
    /// The larger, unsigned.
    Maxu = "maxu", Maxu, straight, "ab";
    /// The larger, two's complement.
    Maxs = "maxs", Maxs, straight, "ab";
    /// All zeros.
    Setz = "setz", Setz, straight, "";
    /// `!(a | b)`.
    Nor = "nor", Nor, straight, "ab";
    /// `!a & b`.
    Andca = "andca", Andca, straight, "ab";
    /// `!a`.
    Nota = "nota", Nota, straight, "a";
    /// `a & !b`.
    Andcb = "andcb", Andcb, straight, "ab";
    /// `!b`.
    Notb = "notb", Notb, straight, "b";
    /// `a ^ b`.
    Xor = "xor", Xor, straight, "ab";
    /// `!(a & b)`.
    Nand = "nand", Nand, straight, "ab";
    /// `a & b`.
    And = "and", And, straight, "ab";
    /// `!(a ^ b)`.
    Xnor = "xnor", Xnor, straight, "ab";
    /// `b`.
    AluB = "alu_b", AluB, straight, "b";
    /// `!a | b`.
    Orca = "orca", Orca, straight, "ab";
    /// `a`.
    AluA = "alu_a", AluA, straight, "a";
    /// `a | !b`.
    Orcb = "orcb", Orcb, straight, "ab";
    /// `a | b`.
    Or = "or", Or, straight, "ab";
    /// All ones.
    Sethi = "sethi", Sethi, straight, "";
}

impl SaluOp {
    /// Returns true if the instruction is valid on a half of 64 bits, of which only the low 32 are computed: copies,
    /// and add, subtract, or, exclusive or as long as no carry crosses bit 32 (model: chip §4.2).
    pub const fn fits_wide_half(self) -> bool {
        matches!(self, Self::AluA | Self::AluB | Self::Add | Self::Sub | Self::Or | Self::Xor)
    }
}

impl fmt::Display for SaluOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.mnemonic())
    }
}

impl FromStr for SaluOp {
    type Err = UnknownMnemonic;

    fn from_str(text: &str) -> Result<Self, UnknownMnemonic> {
        Self::ALL.iter().copied().find(|op| op.mnemonic() == text).ok_or_else(|| UnknownMnemonic::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_parse_back_and_operands_are_what_matters() {
        for &op in SaluOp::ALL {
            assert_eq!(op.mnemonic().parse(), Ok(op));
            let a = (0..16).any(|b| (0..16).any(|a| op.eval(a, b, 4) != op.eval(a ^ 5, b, 4)));
            let b = (0..16).any(|a| (0..16).any(|b| op.eval(a, b, 4) != op.eval(a, b ^ 5, 4)));
            assert_eq!((op.uses_a(), op.uses_b()), (a, b), "{op}");
        }
        assert!("shl".parse::<SaluOp>().is_err());
    }

    #[test]
    fn reversed_forms() {
        assert_eq!(SaluOp::Subr.eval(3, 10, 8), 7);
        assert_eq!(SaluOp::Ssubru.eval(10, 3, 8), 0);
        assert_eq!(SaluOp::Ssubrs.eval(100, 0x9c, 8), 0x80);
    }
}
