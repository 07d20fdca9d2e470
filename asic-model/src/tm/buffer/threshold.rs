//! Limit of the shared cells of one priority group or queue.

use crate::units::Cells;

/// A limit on shared cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Threshold {
    /// No limit other than the size of the pool.
    Unlimited,
    /// A fixed number of cells.
    Static(Cells),
    /// `base + floor(share * free cells of the pool)`.
    Dynamic {
        /// Cells added to the share: the base limit of Tofino's driver, otherwise 0.
        base: Cells,
        /// Share of the free cells.
        share: Share,
    },
}

/// Share of the free cells: alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Share {
    /// `2^n`, `n` from -31 to 31.
    PowerOfTwo(i8),
    /// A fraction; a denominator of 0 counts as 1.
    Fraction(u32, u32),
}

impl Share {
    /// Returns `floor(share * free)`; saturates.
    #[inline]
    pub const fn of(self, free: u32) -> u32 {
        let free = free as u64;
        let scaled = match self {
            Self::PowerOfTwo(n) if n >= 0 => free << (if n > 31 { 31 } else { n }),
            Self::PowerOfTwo(n) => free >> (if n < -31 { 31 } else { -n }),
            Self::Fraction(of, 0 | 1) => free * of as u64,
            Self::Fraction(of, parts) => free * of as u64 / parts as u64,
        };
        if scaled > u32::MAX as u64 { u32::MAX } else { scaled as u32 }
    }
}

impl Threshold {
    /// Returns the limit in cells while `free` cells of the pool are free.
    #[inline]
    pub const fn at(self, free: u32) -> u32 {
        match self {
            Self::Unlimited => u32::MAX,
            Self::Static(cells) => cells.0,
            Self::Dynamic { base, share } => base.0.saturating_add(share.of(free)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_round_down_and_saturate() {
        let share = |n| Share::PowerOfTwo(n);
        assert_eq!([share(-3).of(8999), share(0).of(7), share(7).of(70)], [1124, 7, 8960]);
        assert_eq!(share(31).of(u32::MAX), u32::MAX);
        assert_eq!([Share::Fraction(15, 1000).of(1000), Share::Fraction(0, 1).of(9)], [15, 0]);
        assert_eq!(Share::Fraction(3, 0).of(3), 9);
        let dynamic = Threshold::Dynamic { base: Cells(5), share: share(-1) };
        assert_eq!([dynamic.at(11), Threshold::Static(Cells(3)).at(0)], [10, 3]);
    }
}
