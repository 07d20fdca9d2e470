//! Conditions as truth tables over the comparators.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Condition as a truth table. Bit `i` says whether the condition holds if the comparators' results, with comparator 0
/// as the lowest bit, form the number `i` (model: chip §4.1).
///
/// A table of 16 bits expresses every Boolean function of four results. On a chip with two comparators the upper
/// results are always false, so only the four lowest bits matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predicate(u16);

/// Truth table of each comparator (model: chip §4.1).
const UNITS: [u16; 4] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];

impl Predicate {
    /// Holds always.
    pub const ALWAYS: Self = Self(0xffff);
    /// Holds never.
    pub const NEVER: Self = Self(0);

    /// Returns the condition that comparator `unit` (0 to 3) holds; it is always false for any other number.
    pub const fn comparator(unit: usize) -> Self {
        if unit < 4 { Self(UNITS[unit]) } else { Self::NEVER }
    }

    /// Returns the condition with this truth table.
    pub const fn from_table(table: u16) -> Self {
        Self(table)
    }

    /// Returns the truth table.
    pub const fn table(self) -> u16 {
        self.0
    }

    /// Returns true if the condition holds for an outcome: the comparators' results as a number below 16.
    #[inline]
    pub const fn holds(self, outcome: u8) -> bool {
        self.0 >> (outcome & 15) & 1 != 0
    }

    /// Returns true if the condition depends on the result of comparator `unit`.
    pub const fn depends_on(self, unit: usize) -> bool {
        if unit >= 4 {
            return false;
        }
        let with = self.0 & UNITS[unit];
        with >> (1 << unit) != self.0 & !UNITS[unit]
    }
}

impl BitAnd for Predicate {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Predicate {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for Predicate {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Not for Predicate {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// The truth table in hexadecimal.
impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_results() {
        let [a, b, c, d] = [0, 1, 2, 3].map(Predicate::comparator);
        let both = a & !b | c ^ d;
        for outcome in 0..16u8 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|unit| outcome >> unit & 1 != 0);
            assert_eq!(both.holds(outcome), a && !b || (c != d));
            assert!(Predicate::ALWAYS.holds(outcome) && !Predicate::NEVER.holds(outcome));
        }
    }

    #[test]
    fn dependence_is_by_value_not_by_spelling() {
        let [a, b] = [0, 1].map(Predicate::comparator);
        for (predicate, expected) in [
            (a, [true, false, false, false]),
            (a & b, [true, true, false, false]),
            (a & b | a & !b, [true, false, false, false]),
            (Predicate::ALWAYS, [false; 4]),
            (Predicate::comparator(3), [false, false, false, true]),
        ] {
            assert_eq!([0, 1, 2, 3].map(|unit| predicate.depends_on(unit)), expected, "{predicate}");
        }
        assert_eq!(Predicate::comparator(4), Predicate::NEVER);
    }
}
