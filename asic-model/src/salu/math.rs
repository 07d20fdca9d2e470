//! Math unit: products, powers and roots of a value by a table of 16 bytes and shifts.

use thiserror::Error;

/// A function that the math unit approximates (model: chip §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MathOp {
    /// `x`.
    Mul,
    /// `x²`.
    Sqr,
    /// `√x`.
    Sqrt,
    /// `1/x`.
    Div,
    /// `1/x²`.
    Rsqr,
    /// `1/√x`.
    Rsqrt,
}

impl MathOp {
    /// Every function.
    pub const ALL: [Self; 6] = [Self::Mul, Self::Sqr, Self::Sqrt, Self::Div, Self::Rsqr, Self::Rsqrt];

    /// Returns the exponent shift: doubled for squares, halved for roots.
    const fn shift(self) -> i8 {
        match self {
            Self::Mul | Self::Div => 0,
            Self::Sqr | Self::Rsqr => 1,
            Self::Sqrt | Self::Rsqrt => -1,
        }
    }

    const fn invert(self) -> bool {
        matches!(self, Self::Div | Self::Rsqr | Self::Rsqrt)
    }

    /// Returns the square of the function at `index / 8`, as a fraction: the square is rational for roots too.
    fn squared(self, index: u128) -> (u128, u128) {
        let (x, one) = (index, 8);
        match self {
            Self::Mul => (x * x, one * one),
            Self::Sqr => (x.pow(4), 8u128.pow(4)),
            Self::Sqrt => (x, one),
            Self::Div => (one * one, x * x),
            Self::Rsqr => (8u128.pow(4), x.pow(4)),
            Self::Rsqrt => (one, x),
        }
    }
}

/// Problem of a math unit's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MathError {
    /// An exponent shift that does not exist.
    #[error("math unit: exponent shift {0}; it is -1 (root), 0 or 1 (square)")]
    Shift(i8),
    /// A scale of more than six bits.
    #[error("math unit: scale {0}; it is -32 to 31, the power of two that the result is multiplied by")]
    Scale(i8),
    /// A factor that is zero or no number.
    #[error("math unit: factor {numerator}/{denominator}; both parts must be 1 or more")]
    Factor {
        /// The numerator.
        numerator: u32,
        /// The denominator.
        denominator: u32,
    },
}

/// The configuration of a SALU's math unit; all actions of a register share it.
///
/// The input's leading one gives an exponent `e` (rounded up to even for roots), the four bits from it down a
/// table index; the entry is shifted left by `±(e doubled, as is, or halved) + scale`, and bits beyond 32 are
/// lost. An input of 0 takes entry 0 (model).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MathUnit {
    invert: bool,
    shift: i8,
    scale: i8,
    table: [u8; 16],
}

/// Table entries have eight bits.
const ENTRY_BITS: i32 = 8;

impl MathUnit {
    /// Creates a math unit with its own table. `invert` negates the exponent, `shift` doubles (1) or halves (-1) it.
    ///
    /// # Errors
    /// Fails if the shift is not -1 to 1, or the scale is not -32 to 31.
    pub fn new(invert: bool, shift: i8, scale: i8, table: [u8; 16]) -> Result<Self, MathError> {
        if !(-1..=1).contains(&shift) {
            return Err(MathError::Shift(shift));
        }
        if !(-32..=31).contains(&scale) {
            return Err(MathError::Scale(scale));
        }
        Ok(Self { invert, shift, scale, table })
    }

    /// Returns the unit that approximates `numerator / denominator * op(x)`: the largest precision at which every entry
    /// fits, entries rounded to nearest, ties to even, as the vendor's compiler chooses them.
    ///
    /// For `1/x²` that compiler fills in the table of a constant; here it is the function's.
    ///
    /// # Errors
    /// Fails if a factor or denominator is zero.
    pub fn approximate(op: MathOp, numerator: u32, denominator: u32) -> Result<Self, MathError> {
        if numerator == 0 || denominator == 0 {
            return Err(MathError::Factor { numerator, denominator });
        }
        let first = if op.shift() < 0 { 4 } else { 8 };
        let square = |value: u32| u128::from(value) * u128::from(value);
        let squared = |index: u128| {
            let (top, bottom) = op.squared(index);
            (square(numerator) * top, square(denominator) * bottom)
        };
        let (top, bottom) = squared(if op.invert() { first } else { 15 });
        let exponent = (-48..=48).rev().find(|&e| !less(top, bottom, e)).unwrap_or(-48);
        let scale = (exponent - (ENTRY_BITS - 1)).clamp(-32, 31);
        let mut table = [0; 16];
        for index in first..16 {
            let (top, bottom) = squared(index);
            table[index as usize] = rounded_root(top, bottom, scale);
        }
        Ok(Self { invert: op.invert(), shift: op.shift(), scale: scale as i8, table })
    }

    /// Returns true if the exponent is negated.
    pub const fn invert(&self) -> bool {
        self.invert
    }

    /// Returns the shift that doubles or halves the exponent.
    pub const fn shift(&self) -> i8 {
        self.shift
    }

    /// Returns the power of two that the result is multiplied by.
    pub const fn scale(&self) -> i8 {
        self.scale
    }

    /// Returns the table.
    pub const fn table(&self) -> &[u8; 16] {
        &self.table
    }

    /// Returns the result for an input.
    #[inline]
    pub fn eval(&self, input: u32) -> u32 {
        let mut leading = 31 - (input | 1).leading_zeros() as i32;
        let exponent = match self.shift {
            0 => leading,
            1 => leading << 1,
            _ => {
                leading += leading & 1;
                leading >> 1
            }
        };
        let exponent = if self.invert { -exponent } else { exponent } + i32::from(self.scale);
        let index = (u64::from(input) << 3 >> leading) as usize & 15;
        let entry = u32::from(self.table[index]);
        match exponent {
            0..=31 => entry << exponent,
            -31..=-1 => entry >> -exponent,
            _ => 0,
        }
    }
}

/// Returns true if `√(top / bottom) < 2^exponent`.
fn less(top: u128, bottom: u128, exponent: i32) -> bool {
    let shift = 2 * exponent.unsigned_abs();
    match exponent {
        0.. => scaled(bottom, shift).is_none_or(|bottom| top < bottom),
        _ => scaled(top, shift).is_some_and(|top| top < bottom),
    }
}

/// Returns `value * 2^shift`, or `None` if that does not fit.
fn scaled(value: u128, shift: u32) -> Option<u128> {
    (value.leading_zeros() >= shift).then(|| value << shift)
}

/// Returns `√(top / bottom) / 2^scale`, rounded to the nearest whole number, ties to even, at most 255.
fn rounded_root(top: u128, bottom: u128, scale: i32) -> u8 {
    let shift = 2 * scale.unsigned_abs();
    let (top, bottom) =
        if scale >= 0 { (Some(top), scaled(bottom, shift)) } else { (scaled(top, shift), Some(bottom)) };
    // A denominator that does not fit is larger than any numerator here, and the other way round.
    let (Some(top), Some(bottom)) = (top, bottom) else { return if scale >= 0 { 0 } else { u8::MAX } };
    // The halfway point below `value` is value - 1/2: (2 value - 1)² / 4.
    let reaches = |value: u32| {
        let odd = u128::from(2 * value - 1);
        let half = odd * odd * bottom;
        4 * top > half || 4 * top == half && value.is_multiple_of(2)
    };
    (1..=u32::from(u8::MAX)).rev().find(|&value| reaches(value)).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tables_of_the_usual_functions() {
        let table = |op, factor| MathUnit::approximate(op, factor, 1).unwrap();
        // x: entries 8..=15 stand for 8/8 to 15/8, and 15/8 * 2^7 = 240 is the largest that fits.
        let mul = table(MathOp::Mul, 1);
        assert_eq!((mul.scale(), mul.shift(), mul.invert()), (-7, 0, false));
        assert_eq!(mul.table()[8..], [128, 144, 160, 176, 192, 208, 224, 240]);
        assert_eq!(mul.table()[..8], [0; 8]);
        // √x: the exponent is even, so entries start at 4/8.
        let sqrt = table(MathOp::Sqrt, 1);
        assert_eq!((sqrt.scale(), sqrt.shift()), (-7, -1));
        assert_eq!(sqrt.table()[4..], [91, 101, 111, 120, 128, 136, 143, 150, 157, 163, 169, 175]);
        let div = table(MathOp::Div, 1);
        assert_eq!((div.scale(), div.invert()), (-7, true));
        assert_eq!(div.table()[8..], [128, 114, 102, 93, 85, 79, 73, 68]);
        let square = table(MathOp::Sqr, 1);
        assert_eq!((square.scale(), square.table()[8], square.table()[15]), (-6, 64, 225));
        assert_eq!(table(MathOp::Mul, 3).scale(), -5);
        // 1/64 of the input: the same table, a smaller scale.
        assert_eq!(MathUnit::approximate(MathOp::Mul, 1, 64).unwrap().scale(), -13);
    }

    #[test]
    fn results_worked_by_hand() {
        let mul = MathUnit::approximate(MathOp::Mul, 1, 1).unwrap();
        for (input, result) in [(0, 0), (1, 1), (5, 5), (15, 15), (17, 16), (0xf000_0000, 0xf000_0000)] {
            assert_eq!(mul.eval(input), result);
        }
        let sqrt = MathUnit::approximate(MathOp::Sqrt, 1, 1).unwrap();
        // Odd exponents round up, which leaves three bits of 9 and 36: √(4/8) stands for both.
        for (input, result) in
            [(0, 0), (1, 1), (4, 2), (9, 2), (16, 4), (36, 5), (100, 9), (1 << 30, 1 << 15)]
        {
            assert_eq!(sqrt.eval(input), result, "sqrt {input}");
        }
        let square = MathUnit::approximate(MathOp::Sqr, 1, 1).unwrap();
        assert_eq!([3, 12, 100, 0x8000].map(|input| square.eval(input)), [9, 144, 9216, 0x4000_0000]);
        // 10000 / x, with 1/x below one.
        let div = MathUnit::approximate(MathOp::Div, 10_000, 1).unwrap();
        assert_eq!([1, 2, 8, 100].map(|input| div.eval(input)), [9984, 4992, 1248, 104]);
    }

    #[test]
    fn refusals() {
        assert_eq!(MathUnit::new(false, 2, 0, [0; 16]), Err(MathError::Shift(2)));
        assert_eq!(MathUnit::new(false, 0, 32, [0; 16]), Err(MathError::Scale(32)));
        assert!(MathUnit::approximate(MathOp::Mul, 1, 0).unwrap_err().to_string().contains("1/0"));
        assert!(MathUnit::new(true, -1, -32, [255; 16]).is_ok());
    }

    proptest! {
        #[test]
        fn table_entries_are_the_nearest(
            which in 0..6usize, numerator in 1..=u32::MAX, denominator in 1..=u32::MAX,
        ) {
            let op = MathOp::ALL[which];
            let unit = MathUnit::approximate(op, numerator, denominator).unwrap();
            let factor = f64::from(numerator) / f64::from(denominator) * (-f64::from(unit.scale())).exp2();
            for index in (if op.shift() < 0 { 4 } else { 8 })..16 {
                let x = index as f64 / 8.0;
                let value = factor * match op {
                    MathOp::Mul => x,
                    MathOp::Sqr => x * x,
                    MathOp::Sqrt => x.sqrt(),
                    MathOp::Div => 1.0 / x,
                    MathOp::Rsqr => 1.0 / (x * x),
                    MathOp::Rsqrt => 1.0 / x.sqrt(),
                };
                let error = (f64::from(unit.table()[index]) - value).abs();
                prop_assert!(error < 0.5 + 1e-6 || value > 255.0, "{:?} {}: {} for {}", op, index, unit.table()[index], value);
            }
            if (-31..=30).contains(&unit.scale()) {
                prop_assert!(unit.table().iter().any(|entry| *entry >= 128), "{:?}", unit);
            }
        }

        #[test]
        fn square_roots_are_within_an_eighth(input in 1u32..) {
            let sqrt = MathUnit::approximate(MathOp::Sqrt, 256, 1).unwrap();
            let (found, exact) = (f64::from(sqrt.eval(input)), f64::from(input).sqrt() * 256.0);
            if exact < f64::from(u32::MAX) / 4.0 {
                prop_assert!((found - exact).abs() <= exact / 8.0 + 1.0, "{} {} {}", input, found, exact);
            }
        }
    }
}
