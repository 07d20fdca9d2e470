//! Semantics of the PHV ALU instructions.
//!
//! One definition of the arithmetic is instantiated for field values (128 bits) and for container values (32 bits, the
//! engine's word).
//!
//! Values are right-aligned in their integer. Operand bits above the width are ignored, and result bits above it are
//! zero. A width of 0 yields 0; a width above the integer's own counts as the integer's width.
//!
//! Assumption (model: chip §2.3 says only "result into container"): a comparison yields 1 if it holds and 0 if it does
//! not.

use super::AluOp;

/// Returns the low `width` bits set; all 128 for wider.
pub const fn width_mask(width: u32) -> u128 {
    match width {
        0 => 0,
        1..=127 => u128::MAX >> (128 - width),
        _ => u128::MAX,
    }
}

macro_rules! define_eval {
    ($(#[$doc:meta])* $name:ident, $unsigned:ty, $signed:ty) => {
        $(#[$doc])*
        #[inline]
        pub const fn $name(self, a: $unsigned, b: $unsigned, width: u32) -> $unsigned {
            const BITS: u32 = <$unsigned>::BITS;
            if width == 0 {
                return 0;
            }
            let width = if width > BITS { BITS } else { width };
            let spare = BITS - width;
            let mask = <$unsigned>::MAX >> spare;
            // A shift amount is a constant of the instruction, not a value of the operand's width.
            let amount = if b >= BITS as $unsigned { BITS } else { b as u32 };
            let (a, b) = (a & mask, b & mask);
            // The arithmetic right shift spreads the width's own sign bit.
            let sa = ((a << spare) as $signed) >> spare;
            let sb = ((b << spare) as $signed) >> spare;
            let largest = (mask >> 1) as $signed;
            let smallest = !largest;
            let result = match self {
                Self::Add => a.wrapping_add(b),
                Self::Sub => a.wrapping_sub(b),
                Self::Saddu => {
                    let sum = a.saturating_add(b);
                    if sum > mask { mask } else { sum }
                }
                Self::Ssubu => a.saturating_sub(b),
                Self::Sadds | Self::Ssubs => {
                    let exact =
                        if let Self::Sadds = self { sa.saturating_add(sb) } else { sa.saturating_sub(sb) };
                    let capped = if exact > largest { largest } else { exact };
                    (if capped < smallest { smallest } else { capped }) as $unsigned
                }
                Self::Minu => if a < b { a } else { b },
                Self::Mins => if sa < sb { a } else { b },
                Self::Maxu => if a > b { a } else { b },
                Self::Maxs => if sa > sb { a } else { b },
                Self::Setz => 0,
                Self::Nor => !(a | b),
                Self::Andca => !a & b,
                Self::Andcb => a & !b,
                Self::Nota => !a,
                Self::Notb => !b,
                Self::Xor => a ^ b,
                Self::Nand => !(a & b),
                Self::And => a & b,
                Self::Xnor => !(a ^ b),
                Self::AluA | Self::Set => a,
                Self::AluB => b,
                Self::Orca => !a | b,
                Self::Orcb => a | !b,
                Self::Or => a | b,
                Self::Sethi => mask,
                Self::Shl => if amount >= width { 0 } else { a << amount },
                Self::Shru => if amount >= width { 0 } else { a >> amount },
                Self::Shrs => (sa >> (if amount >= width { width - 1 } else { amount })) as $unsigned,
                Self::Gtequ => (a >= b) as $unsigned,
                Self::Gteqs => (sa >= sb) as $unsigned,
                Self::Ltu => (a < b) as $unsigned,
                Self::Lts => (sa < sb) as $unsigned,
                Self::Lequ => (a <= b) as $unsigned,
                Self::Leqs => (sa <= sb) as $unsigned,
                Self::Gtu => (a > b) as $unsigned,
                Self::Gts => (sa > sb) as $unsigned,
                Self::Eq => (a == b) as $unsigned,
                Self::Neq => (a != b) as $unsigned,
            };
            result & mask
        }
    };
}

impl AluOp {
    define_eval! {
        /// Returns the result of the instruction on field values of `width` (1..=128) bits; `b` is the constant
        /// amount of a shift.
        eval, u128, i128
    }
    define_eval! {
        /// Evaluates the instruction on container values, as [`AluOp::eval`] does on field values: `width` is 1 to 32.
        eval32, u32, i32
    }
}

/// Returns `a + b + carry` at `width` (1..=128) bits, and the carry out (`addc`).
///
/// Two adjacent 32-bit containers add 64 bits as `add` on the low one and `addc` on the high one (model:
/// chip §2.3).
pub const fn add_with_carry(a: u128, b: u128, carry: bool, width: u32) -> (u128, bool) {
    let mask = width_mask(width);
    let (a, b) = (a & mask, b & mask);
    let (sum, over) = a.overflowing_add(b);
    let (sum, over_carry) = sum.overflowing_add(carry as u128);
    (sum & mask, over || over_carry || sum > mask)
}

/// Returns `a - b - 1 + carry` at `width` (1..=128) bits, and the carry out, which means no borrow (`subc`).
///
/// Assumption (model: chip §2.3 names the chain, not the carry's sense): carry set means no borrow, so the
/// low container's `sub` runs as `subc` with carry set.
pub const fn sub_with_carry(a: u128, b: u128, carry: bool, width: u32) -> (u128, bool) {
    add_with_carry(a, !b, carry, width)
}

/// Returns the funnel shift: the low `width` bits of (`high` ‖ `low`) shifted right by `amount`, where each source is
/// `width` (1..=64) bits wide. The chip takes amounts 0..=31 (model: chip §2.3); `amount` beyond twice the width yields
/// 0.
pub const fn funnel_shift(high: u64, low: u64, amount: u32, width: u32) -> u64 {
    let width = if width > 64 { 64 } else { width };
    let mask = width_mask(width);
    let joined = ((high as u128 & mask) << width) | (low as u128 & mask);
    if amount >= 2 * width { 0 } else { ((joined >> amount) & mask) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the mathematical value of `v` as a `width`-bit two's complement number.
    fn signed(v: i64, width: u32) -> i64 {
        if v >= 1 << (width - 1) { v - (1 << width) } else { v }
    }

    /// Defines each instruction over the integers; only the final result is reduced modulo 2^width.
    fn definition(op: AluOp, a: i64, b: i64, width: u32) -> i64 {
        let (sa, sb) = (signed(a, width), signed(b, width));
        let (low, high) = (-(1 << (width - 1)), (1 << (width - 1)) - 1);
        let top = (1i64 << width) - 1;
        // A bitwise function is its truth table: bit (2*a + b) of a nibble.
        let table = |truth: i64| {
            (0..width).fold(0, |acc, bit| {
                let index = 2 * (a >> bit & 1) + (b >> bit & 1);
                acc | (truth >> index & 1) << bit
            })
        };
        let exact = match op {
            AluOp::Add => a + b,
            AluOp::Sub => a - b,
            AluOp::Saddu => (a + b).min(top),
            AluOp::Ssubu => (a - b).max(0),
            AluOp::Sadds => (sa + sb).clamp(low, high),
            AluOp::Ssubs => (sa - sb).clamp(low, high),
            AluOp::Minu => a.min(b),
            AluOp::Maxu => a.max(b),
            AluOp::Mins => sa.min(sb),
            AluOp::Maxs => sa.max(sb),
            AluOp::Setz => table(0b0000),
            AluOp::Nor => table(0b0001),
            AluOp::Andca => table(0b0010),
            AluOp::Nota => table(0b0011),
            AluOp::Andcb => table(0b0100),
            AluOp::Notb => table(0b0101),
            AluOp::Xor => table(0b0110),
            AluOp::Nand => table(0b0111),
            AluOp::And => table(0b1000),
            AluOp::Xnor => table(0b1001),
            AluOp::AluB => table(0b1010),
            AluOp::Orca => table(0b1011),
            AluOp::AluA | AluOp::Set => table(0b1100),
            AluOp::Orcb => table(0b1101),
            AluOp::Or => table(0b1110),
            AluOp::Sethi => table(0b1111),
            AluOp::Shl => a * (1i64 << b),
            AluOp::Shru => a / (1i64 << b),
            AluOp::Shrs => sa.div_euclid(1i64 << b),
            AluOp::Gtequ => i64::from(a >= b),
            AluOp::Gteqs => i64::from(sa >= sb),
            AluOp::Ltu => i64::from(a < b),
            AluOp::Lts => i64::from(sa < sb),
            AluOp::Lequ => i64::from(a <= b),
            AluOp::Leqs => i64::from(sa <= sb),
            AluOp::Gtu => i64::from(a > b),
            AluOp::Gts => i64::from(sa > sb),
            AluOp::Eq => i64::from(a == b),
            AluOp::Neq => i64::from(a != b),
        };
        exact.rem_euclid(1 << width)
    }

    #[test]
    fn every_instruction_exhaustively_up_to_five_bits() {
        for width in 1..=5u32 {
            for a in 0..1i64 << width {
                for b in 0..1i64 << width {
                    for &op in AluOp::ALL {
                        let want = definition(op, a, b, width) as u128;
                        assert_eq!(
                            op.eval(a as u128, b as u128, width),
                            want,
                            "{op} {a} {b} at {width} bits"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn operand_count_is_what_the_result_depends_on() {
        for &op in AluOp::ALL {
            let depends_on_a = (0..16).any(|b| (0..16).any(|a| op.eval(a, b, 4) != op.eval(a ^ 5, b, 4)));
            let depends_on_b = (0..16).any(|a| (0..16).any(|b| op.eval(a, b, 4) != op.eval(a, b ^ 5, 4)));
            assert_eq!(op.operands(), u8::from(depends_on_a) + u8::from(depends_on_b), "{op}");
            assert_eq!(op.reads(), (depends_on_a, depends_on_b), "{op}");
        }
    }

    #[test]
    fn limits_of_the_widest_fields() {
        assert_eq!(AluOp::Sadds.eval(i128::MAX as u128, 1, 128), i128::MAX as u128);
        assert_eq!(AluOp::Ssubs.eval(1 << 127, 1, 128), 1 << 127);
        assert_eq!(AluOp::Saddu.eval(u128::MAX, 7, 128), u128::MAX);
        assert_eq!(AluOp::Shrs.eval(1 << 127, 127, 128), u128::MAX);
        assert_eq!(AluOp::Shl.eval(u128::MAX, 128, 128), 0);
        assert_eq!(AluOp::Shru.eval(u128::MAX, u128::MAX, 128), 0);
        assert_eq!(AluOp::Sethi.eval(0, 0, 0), 0);
        assert_eq!(AluOp::Sethi.eval(0, 0, 500), u128::MAX);
    }

    proptest! {
        #[test]
        fn containers_agree_with_fields(
            index in 0..AluOp::ALL.len(), a: u32, b: u32, small in 0u32..70, width in 1u32..=32,
        ) {
            let op = AluOp::ALL[index];
            // Shift amounts are interesting near the width only.
            let b = if op.class() == crate::alu::AluClass::Shift { small } else { b };
            prop_assert_eq!(u128::from(op.eval32(a, b, width)), op.eval(a.into(), b.into(), width));
        }

        #[test]
        fn chained_containers_add_and_subtract_wide(a: u64, b: u64) {
            let (al, ah) = (u128::from(a as u32), u128::from(a >> 32));
            let (bl, bh) = (u128::from(b as u32), u128::from(b >> 32));
            let (low, carry) = add_with_carry(al, bl, false, 32);
            let (high, out) = add_with_carry(ah, bh, carry, 32);
            let (sum, over) = a.overflowing_add(b);
            prop_assert_eq!((high << 32 | low, out), (u128::from(sum), over));
            let (low, carry) = sub_with_carry(al, bl, true, 32);
            let (high, no_borrow) = sub_with_carry(ah, bh, carry, 32);
            let (difference, borrow) = a.overflowing_sub(b);
            prop_assert_eq!((high << 32 | low, no_borrow), (u128::from(difference), !borrow));
        }

        #[test]
        fn carry_out_of_the_widest_field(a: u128, b: u128, carry: bool) {
            let (half, low_carry) = add_with_carry(a, b, carry, 64);
            let (top, out) = add_with_carry(a >> 64, b >> 64, low_carry, 64);
            prop_assert_eq!(add_with_carry(a, b, carry, 128), (top << 64 | half, out));
        }

        #[test]
        fn funnel_shift_slides_a_window(high: u32, low: u32, amount in 0u32..=31) {
            let joined = u64::from(high) << 32 | u64::from(low);
            let window = joined >> amount & 0xffff_ffff;
            prop_assert_eq!(funnel_shift(high.into(), low.into(), amount, 32), window);
        }
    }
}
