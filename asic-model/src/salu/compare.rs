//! Comparators: sums of one memory half, one PHV half and one constant, compared with zero.
//!
//! The sum is exact: operands of up to 32 bits and a constant of up to 34 bits are added in 35 bits, where no sum wraps
//! (model). Only [`Sense::Serial`] truncates the sum to the element's width. Of a wider half the comparators see the
//! low 32 bits; only ternary matches see all 64.

use super::format::{Format, Half};
use super::program::Constant;

/// Relation of the sum to zero (model: chip §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Equal.
    Equ,
    /// Not equal.
    Neq,
    /// Greater.
    Grt,
    /// Less or equal.
    Leq,
    /// Greater or equal.
    Geq,
    /// Less.
    Lss,
}

impl Relation {
    /// Every relation.
    pub const ALL: [Self; 6] = [Self::Equ, Self::Neq, Self::Grt, Self::Leq, Self::Geq, Self::Lss];

    /// Returns the vendor assembler's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equ => "equ",
            Self::Neq => "neq",
            Self::Grt => "grt",
            Self::Leq => "leq",
            Self::Geq => "geq",
            Self::Lss => "lss",
        }
    }

    /// Returns the complement: the relation that holds exactly if this one does not.
    pub const fn negated(self) -> Self {
        match self {
            Self::Equ => Self::Neq,
            Self::Neq => Self::Equ,
            Self::Grt => Self::Leq,
            Self::Leq => Self::Grt,
            Self::Geq => Self::Lss,
            Self::Lss => Self::Geq,
        }
    }

    #[inline]
    const fn holds(self, sum: i64) -> bool {
        match self {
            Self::Equ => sum == 0,
            Self::Neq => sum != 0,
            Self::Grt => sum > 0,
            Self::Leq => sum <= 0,
            Self::Geq => sum >= 0,
            Self::Lss => sum < 0,
        }
    }
}

/// Interpretation of operands and sum (model: chip §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sense {
    /// Operands unsigned, the sum exact: `.u`, and equality.
    Unsigned,
    /// Operands two's complement at the element's width, the sum exact: `.s`.
    Signed,
    /// Operands unsigned, the sum cut to the element's width and read as two's complement: `.uus`. This is how
    /// timestamps that wrap are compared: `now - then > gap`.
    Serial,
}

impl Sense {
    /// Every sense.
    pub const ALL: [Self; 3] = [Self::Unsigned, Self::Signed, Self::Serial];
}

/// A half that takes part in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Term {
    /// Half of the operand.
    pub half: Half,
    /// True if the operand is subtracted.
    pub negate: bool,
    /// Mask of the compared bits; `None` means all bits. Only on chips with compare masks.
    pub mask: Option<u32>,
}

impl Term {
    /// Returns the whole half, added.
    pub const fn plus(half: Half) -> Self {
        Self { half, negate: false, mask: None }
    }

    /// Returns the whole half, subtracted.
    pub const fn minus(half: Half) -> Self {
        Self { half, negate: true, mask: None }
    }

    #[inline]
    fn value(self, halves: [u64; 2], format: Format, sense: Sense) -> i64 {
        let raw = halves[self.half as usize] as u32 & format.math_mask() & self.mask.unwrap_or(u32::MAX);
        let value = match sense {
            Sense::Signed => {
                let spare = 32 - format.math_bits();
                i64::from((raw << spare) as i32 >> spare)
            }
            Sense::Unsigned | Sense::Serial => i64::from(raw),
        };
        if self.negate { -value } else { value }
    }
}

/// `±memory ±phv + constant`, held against zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compare {
    /// The relation to zero.
    pub relation: Relation,
    /// Interpretation of operands and sum.
    pub sense: Sense,
    /// The memory term.
    pub memory: Option<Term>,
    /// The PHV term.
    pub phv: Option<Term>,
    /// The constant, added. `memory > 5` is `memory - 5 > 0`.
    pub constant: Constant,
}

/// Equality of a memory half and a PHV half in chosen bits. Only chips with ternary match units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ternary {
    /// The memory half.
    pub memory: Half,
    /// The PHV half.
    pub phv: Half,
    /// Bits that must be equal. All actions of a register share the mask of a unit.
    pub mask: u64,
}

/// Function of a comparator unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparator {
    /// A sum against zero.
    Compare(Compare),
    /// A ternary match.
    Ternary(Ternary),
}

impl Comparator {
    /// Returns the result for memory halves and PHV halves within `format`, low half first.
    #[inline]
    pub(super) fn holds(
        &self,
        memory: [u64; 2],
        phv: [u64; 2],
        params: &[i64; Constant::PARAMS],
        format: Format,
    ) -> bool {
        match self {
            Self::Compare(compare) => {
                let term = |term: Option<Term>, halves| {
                    term.map_or(0, |term| term.value(halves, format, compare.sense))
                };
                let sum = term(compare.memory, memory)
                    .wrapping_add(term(compare.phv, phv))
                    .wrapping_add(compare.constant.resolve(params));
                let sum = match compare.sense {
                    Sense::Serial => {
                        let spare = 64 - format.math_bits();
                        (sum << spare) >> spare
                    }
                    Sense::Unsigned | Sense::Signed => sum,
                };
                compare.relation.holds(sum)
            }
            Self::Ternary(ternary) => {
                let differ = memory[ternary.memory as usize] ^ phv[ternary.phv as usize];
                differ & ternary.mask & format.half_mask() == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(relation: Relation, sense: Sense, memory: u64, phv: u64, constant: i64, bits: u32) -> bool {
        let compare = Compare {
            relation,
            sense,
            memory: Some(Term::minus(Half::Lo)),
            phv: Some(Term::plus(Half::Lo)),
            constant: Constant::Value(constant),
        };
        let format = Format::single(bits).unwrap();
        Comparator::Compare(compare).holds([memory, 0], [phv, 0], &[0; 4], format)
    }

    #[test]
    fn a_gap_test_survives_the_wrap_only_in_the_serial_sense() {
        // now - then > 100, just after the 32-bit clock wrapped (model: flowlets §2.3).
        let (then, now) = (0xffff_ff00, 0x0000_0064);
        assert!(check(Relation::Grt, Sense::Serial, then, now, -100, 32));
        assert!(!check(Relation::Grt, Sense::Unsigned, then, now, -100, 32));
        assert!(!check(Relation::Grt, Sense::Serial, 0, now, -100, 32));
        assert!(check(Relation::Grt, Sense::Serial, 0xffff_ffff, now, -100, 32));
    }

    #[test]
    fn sums_do_not_wrap_at_the_elements_width() {
        // 200 + 56 - 256 is zero, 200 + 56 alone is not.
        let compare = |constant| {
            Comparator::Compare(Compare {
                relation: Relation::Equ,
                sense: Sense::Unsigned,
                memory: Some(Term::plus(Half::Lo)),
                phv: Some(Term::plus(Half::Lo)),
                constant: Constant::Value(constant),
            })
            .holds([200, 0], [56, 0], &[0; 4], Format::single(8).unwrap())
        };
        assert!(!compare(0) && compare(-256));
        assert!(check(Relation::Lss, Sense::Signed, 0x7f, 0x80, 0, 8));
        assert!(check(Relation::Grt, Sense::Unsigned, 0x7f, 0x80, 0, 8));
    }

    #[test]
    fn masks_and_ternary_matches() {
        let wide = Format::single(64).unwrap();
        let masked = Term { mask: Some(0xff00), ..Term::plus(Half::Lo) };
        let compare = Compare {
            relation: Relation::Equ,
            sense: Sense::Unsigned,
            memory: Some(masked),
            phv: None,
            constant: Constant::Value(-0x1200),
        };
        assert!(Comparator::Compare(compare).holds([0xdead_0000_0000_1234, 0], [0, 0], &[0; 4], wide));
        let ternary = Ternary { memory: Half::Lo, phv: Half::Lo, mask: 0xff00_0000_0000_00f0 };
        let holds = |memory, phv| Comparator::Ternary(ternary).holds([memory, 0], [phv, 0], &[0; 4], wide);
        assert!(holds(0x1200_0000_0000_0034, 0x1234_5678_9abc_de3f));
        assert!(!holds(0x1200_0000_0000_0034, 0x1334_5678_9abc_de3f));
    }

    #[test]
    fn negation_is_the_complement() {
        for relation in Relation::ALL {
            for sum in [-1, 0, 1] {
                assert_ne!(relation.holds(sum), relation.negated().holds(sum), "{}", relation.name());
            }
        }
    }
}
