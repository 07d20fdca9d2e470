//! Maps a condition onto a gateway: compare rows, crossbar bytes and hash bits (model: chip §1.3, §3.6).
//!
//! A gateway sees the first four bytes of one exact crossbar group and twelve hash bits.
//!
//! - Tests against constants and of validity bits use these bytes, in any bit pattern. Bytes that find no place there
//!   go to hash bits.
//! - Equality of two fields uses the next four bytes, which the hardware XORs into the first four, or hash bits: a
//!   hash is linear, so a hash bit can be the XOR of two field bits.
//! - Magnitudes use hash bits, in codes of four bits. A magnitude that is wider than the hash bits uses the bytes, as
//!   values under masks, each of which takes a row; if these rows are more than `MASKED_ROWS`, its low bits use the
//!   codes.

use super::super::bits::{ByteRef, PhvView};
use sluice_asic::chip::MauSpec;
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{CmpOp, Cond, Expr, Field, Loc, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Needs of a condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GatewayDemand {
    /// Bytes with a fixed place in the crossbar group.
    pub(crate) fixed: Vec<(u16, ByteRef)>,
    /// Bytes from which hash bits are computed; anywhere in the same group.
    pub(crate) hashed: BTreeSet<ByteRef>,
    /// Hash bits used, counted from the first select bit.
    pub(crate) hash_bits: BTreeSet<u16>,
    /// Number of compare rows.
    pub(crate) rows: u32,
}

/// Bits of a variable that a test reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Operand {
    var: Var,
    lo: u16,
    width: u16,
}

/// One test of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    /// Always true or always false.
    Constant,
    /// All bits equal a constant.
    Equals(Operand),
    /// Two operands are equal.
    Same(Operand, Operand),
    /// Below a constant, by codes.
    Below(Operand, u128),
    /// Below a constant, by values under masks.
    Under(Operand, u128),
    /// Below a constant, this many low bits by codes and the rest by values under masks.
    Split(Operand, u128, u16),
}

/// Most rows for which a magnitude is tested by values under masks alone, so that hash bits stay free for other tests.
const MASKED_ROWS: u32 = 2;

/// Maps a condition onto a gateway.
///
/// # Errors
/// If the condition needs more than one gateway has.
pub(crate) fn demand(
    program: &Program,
    mau: &MauSpec,
    phv: &PhvView<'_>,
    cond: &Cond,
    at: Loc,
) -> Result<GatewayDemand, Diag> {
    let mut tests = Vec::new();
    let codes = mau.gateway_hash_bits as u16;
    let (yes, no) = rows(program, codes, cond, &mut tests).map_err(|why| {
        Diag::error(at, format!("no gateway can decide this condition: {why}")).help(
            "compute the difference or a flag in an action of an earlier stage and test that, or use a table",
        )
    })?;
    let limit = mau.gateway_compare_rows;
    let rows = yes.min(no).max(1);
    if rows > limit {
        let text = format!("the condition needs {rows} gateway rows; a gateway has {limit}");
        let diag =
            Diag::error(at, text).help("split it into nested conditions, or match the fields in a table");
        return Err(diag.limit("mau.gateway_compare_rows", limit, rows));
    }
    let mut layout =
        Layout { mau, phv, demand: GatewayDemand { rows, ..Default::default() }, ranges: BTreeMap::new() };
    layout.place(&tests).map_err(|found| {
        Diag::error(
            at,
            format!(
                "the condition needs {found}; a gateway sees {} bytes of one crossbar group and {} hash bits",
                mau.gateway_bytes, mau.gateway_hash_bits
            ),
        )
        .help("compare fewer or narrower fields at once, split it into nested conditions, or use a table")
    })?;
    Ok(layout.demand)
}

/// Returns the rows that the condition and its negation need if each is written as a disjunction of conjunctions of
/// tests, and appends the tests to `tests`.
fn rows(program: &Program, codes: u16, cond: &Cond, tests: &mut Vec<Test>) -> Result<(u32, u32), String> {
    Ok(match cond {
        Cond::Valid(h) => {
            tests.push(Test::Equals(Operand { var: Var::Valid(*h), lo: 0, width: 1 }));
            (1, 1)
        }
        Cond::Not(inner) => {
            let (yes, no) = rows(program, codes, inner, tests)?;
            (no, yes)
        }
        Cond::And(a, b) => {
            let ((ya, na), (yb, nb)) = (rows(program, codes, a, tests)?, rows(program, codes, b, tests)?);
            (ya.saturating_mul(yb), na.saturating_add(nb))
        }
        Cond::Or(a, b) => {
            let ((ya, na), (yb, nb)) = (rows(program, codes, a, tests)?, rows(program, codes, b, tests)?);
            (ya.saturating_add(yb), na.saturating_mul(nb))
        }
        Cond::Cmp(op, a, b) => {
            let (test, negated) = comparison(program, codes, *op, a, b)?;
            tests.push(test);
            let (yes, no) = match test {
                Test::Constant => (1, 1),
                Test::Equals(o) | Test::Same(o, _) => (1, u32::from(o.width).max(1)),
                Test::Below(o, c) => below_rows(o.width, c),
                Test::Under(o, c) => under_rows(o.width, c),
                Test::Split(o, c, codes) => split_rows(o.width, c, codes),
            };
            if negated { (no, yes) } else { (yes, no) }
        }
    })
}

/// Returns the test for a comparison, and true if the comparison holds when the test fails.
fn comparison(program: &Program, codes: u16, op: CmpOp, a: &Expr, b: &Expr) -> Result<(Test, bool), String> {
    let (a, b) = (operand(program, a)?, operand(program, b)?);
    let (x, c, op) = match (a, b) {
        (Side::Bits(x), Side::Bits(y)) => {
            return match op {
                CmpOp::Eq => Ok((Test::Same(x, y), false)),
                CmpOp::Ne => Ok((Test::Same(x, y), true)),
                _ => Err(format!("it compares the magnitude of two fields ({})", op.symbol())),
            };
        }
        (Side::Const(_), Side::Const(_)) => return Ok((Test::Constant, false)),
        (Side::Bits(x), Side::Const(c)) => (x, c, op),
        (Side::Const(c), Side::Bits(x)) => (x, c, mirrored(op)),
    };
    Ok(match op {
        CmpOp::Eq => (Test::Equals(x), false),
        CmpOp::Ne => (Test::Equals(x), true),
        CmpOp::Lt => (below(codes, x, c), false),
        CmpOp::Ge => (below(codes, x, c), true),
        CmpOp::Le => (below(codes, x, c.saturating_add(1)), false),
        CmpOp::Gt => (below(codes, x, c.saturating_add(1)), true),
    })
}

const fn mirrored(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Ge => CmpOp::Le,
        same => same,
    }
}

/// Returns the test for `x < c`. If `c` is a power of two, it is an equality of the upper bits with zero.
fn below(codes: u16, x: Operand, c: u128) -> Test {
    if c == 0 || (x.width < 128 && c >= 1 << x.width) {
        Test::Constant
    } else if c.is_power_of_two() {
        let k = c.trailing_zeros() as u16;
        Test::Equals(Operand { lo: x.lo + k, width: x.width - k, ..x })
    } else if x.width <= codes {
        Test::Below(x, c)
    } else {
        let (yes, no) = under_rows(x.width, c);
        if yes.min(no) <= MASKED_ROWS { Test::Under(x, c) } else { Test::Split(x, c, codes) }
    }
}

/// Returns the rows for `x < c` and for its negation, with the 4-bit codes.
fn below_rows(width: u16, c: u128) -> (u32, u32) {
    let nibble = |i: u16| (c >> (4 * i)) & 0xf;
    let digits = width.div_ceil(4);
    let full =
        |i: u16| if i + 1 == digits && !width.is_multiple_of(4) { (1 << (width % 4)) - 1 } else { 0xf };
    let yes = (0..digits).filter(|&i| nibble(i) > 0).count() as u32;
    let no = (1..digits).filter(|&i| nibble(i) < full(i)).count() as u32 + 1;
    (yes, no)
}

/// Returns the rows for `x < c` and for its negation, a row being a value and a mask. `x < c` needs a row for every 1
/// in `c`, the bit in which `x` first differs. The negation needs a row for every 0 above the last 1, and a row for
/// values that equal `c` down to its last 1.
fn under_rows(width: u16, c: u128) -> (u32, u32) {
    let ones = c.count_ones();
    (ones, u32::from(width).saturating_sub(c.trailing_zeros()) - ones + 1)
}

/// Returns the rows for `x < c` and for its negation, with the `codes` low bits in codes: a row for every upper bit
/// in which `x` can first differ, and every row of the codes together with the equal upper bits.
fn split_rows(width: u16, c: u128, codes: u16) -> (u32, u32) {
    let (upper, lower) = (c >> codes, c & ((1 << codes) - 1));
    let ones = upper.count_ones();
    let (yes, no) = below_rows(codes, lower);
    (ones + yes, u32::from(width - codes) - ones + no)
}

/// One side of a comparison.
#[derive(Clone, Copy)]
enum Side {
    Bits(Operand),
    Const(u128),
}

fn operand(program: &Program, expr: &Expr) -> Result<Side, String> {
    Ok(match expr {
        Expr::Const(v, _) => Side::Const(*v),
        Expr::Field(f) => Side::Bits(Operand { var: Var::Field(*f), lo: 0, width: width_of(program, *f) }),
        Expr::Slice(inner, hi, lo) => match operand(program, inner)? {
            Side::Const(v) => Side::Const(v.checked_shr(u32::from(*lo)).unwrap_or(0)),
            Side::Bits(x) => {
                let width = hi.saturating_add(1).saturating_sub(*lo).min(x.width.saturating_sub(*lo));
                Side::Bits(Operand { lo: x.lo + lo, width, ..x })
            }
        },
        Expr::Cast(inner, width) => match operand(program, inner)? {
            Side::Const(v) => Side::Const(v),
            Side::Bits(x) => Side::Bits(Operand { width: x.width.min(*width), ..x }),
        },
        Expr::Alu(op, ..) => return Err(format!("it computes (`{op}`)")),
        Expr::Funnel(..) => return Err("it computes (`funnel_shift`)".to_owned()),
        Expr::Param(..) => return Err("it reads an action parameter".to_owned()),
    })
}

fn width_of(program: &Program, field: Field) -> u16 {
    program.fields.get(field).map_or(0, |d| d.width)
}

/// Gateway that is being filled.
struct Layout<'a> {
    mau: &'a MauSpec,
    phv: &'a PhvView<'a>,
    demand: GatewayDemand,
    /// First hash bit of each magnitude test.
    ranges: BTreeMap<Operand, u16>,
}

impl Layout<'_> {
    /// Gives every test its bytes and hash bits; the error says what the tests need.
    fn place(&mut self, tests: &[Test]) -> Result<(), String> {
        for test in tests {
            match test {
                Test::Below(x, _) => self.range(*x),
                Test::Split(x, _, codes) => self.range(Operand { width: *codes, ..*x }),
                _ => {}
            }
        }
        for test in tests {
            if let Test::Same(x, y) = test {
                self.same(*x, *y);
            }
        }
        let mut loose: BTreeMap<ByteRef, u8> = BTreeMap::new();
        for test in tests {
            let x = match test {
                Test::Equals(x) | Test::Under(x, _) => *x,
                Test::Split(x, _, codes) => Operand { lo: x.lo + codes, width: x.width - codes, ..*x },
                _ => continue,
            };
            for (byte, mask) in self.phv.bytes_of_bits(x.var, x.lo, x.width) {
                *loose.entry(byte).or_insert(0) |= mask;
            }
        }
        self.equal(&loose);
        // Each magnitude begins at a whole code, so bits between two magnitudes may be unusable: the last bit counts.
        let used = self.demand.hash_bits.last().map_or(0, |last| u32::from(*last) + 1);
        if used > self.mau.gateway_hash_bits {
            return Err(format!("{} crossbar bytes and {used} hash bits", self.demand.fixed.len()));
        }
        let bytes: BTreeSet<ByteRef> =
            self.demand.fixed.iter().map(|(_, b)| *b).chain(self.demand.hashed.iter().copied()).collect();
        if bytes.len() as u32 > self.mau.exact_xbar_group_bytes {
            return Err(format!("{} bytes of one crossbar group", bytes.len()));
        }
        Ok(())
    }

    /// Gives a magnitude hash bits that begin at a whole 4-bit code.
    fn range(&mut self, x: Operand) {
        if self.ranges.contains_key(&x) {
            return;
        }
        let first = self.ranges.iter().map(|(o, at)| at + o.width.next_multiple_of(4)).max().unwrap_or(0);
        self.ranges.insert(x, first);
        self.demand.hash_bits.extend(first..first + x.width);
        self.demand.hashed.extend(self.phv.bytes_of_bits(x.var, x.lo, x.width).into_keys());
    }

    /// Gives the equality of two operands byte pairs if their bits are aligned and lanes are free, else hash bits.
    fn same(&mut self, x: Operand, y: Operand) {
        let Some(pairs) = aligned_pairs(self.phv, x, y) else { return self.same_by_hash(x, y) };
        let before = self.demand.fixed.len();
        for (a, b) in pairs {
            let span = self.mau.gateway_bytes as u16;
            let free = (0..span).find(|&p| {
                a.may_stand_at(p)
                    && b.may_stand_at(p + span)
                    && !self.demand.fixed.iter().any(|(q, _)| *q == p || *q == p + span)
            });
            let Some(p) = free else {
                self.demand.fixed.truncate(before);
                return self.same_by_hash(x, y);
            };
            self.demand.fixed.extend([(p, a), (p + span, b)]);
        }
    }

    fn same_by_hash(&mut self, x: Operand, y: Operand) {
        self.take_hash_bits(x.width.max(y.width));
        for o in [x, y] {
            self.demand.hashed.extend(self.phv.bytes_of_bits(o.var, o.lo, o.width).into_keys());
        }
    }

    /// Gives tests of equality with constants places in the first four bytes while they last, then hash bits. Bytes
    /// of larger containers, which have fewer possible places, come first, then bytes with more tested bits.
    fn equal(&mut self, bytes: &BTreeMap<ByteRef, u8>) {
        let mut order: Vec<(ByteRef, u8)> = bytes.iter().map(|(b, m)| (*b, *m)).collect();
        order.sort_by_key(|(b, m)| (std::cmp::Reverse((b.of, m.count_ones())), *b));
        for (byte, mask) in order {
            let free = (0..self.mau.gateway_bytes as u16)
                .filter(|&p| byte.may_stand_at(p))
                .find(|p| !self.demand.fixed.iter().any(|(q, _)| q == p));
            match free {
                Some(p) => self.demand.fixed.push((p, byte)),
                None => {
                    self.take_hash_bits(mask.count_ones() as u16);
                    self.demand.hashed.insert(byte);
                }
            }
        }
    }

    fn take_hash_bits(&mut self, count: u16) {
        let free: Vec<u16> =
            (0..u16::MAX).filter(|b| !self.demand.hash_bits.contains(b)).take(usize::from(count)).collect();
        self.demand.hash_bits.extend(free);
    }
}

/// Returns the byte pairs of two operands whose bits have equal positions in their bytes; `None` if some have not.
fn aligned_pairs(phv: &PhvView<'_>, x: Operand, y: Operand) -> Option<BTreeSet<(ByteRef, ByteRef)>> {
    let mut pairs = BTreeSet::new();
    for i in 0..x.width.min(y.width) {
        let bit = |o: Operand| phv.bytes_of_bits(o.var, o.lo + i, 1).into_iter().next();
        let ((a, ma), (b, mb)) = (bit(x)?, bit(y)?);
        if ma != mb {
            return None;
        }
        pairs.insert((a, b));
    }
    // A byte that pairs with two others cannot be opposite both.
    let firsts: BTreeSet<_> = pairs.iter().map(|(a, _)| a).collect();
    let seconds: BTreeSet<_> = pairs.iter().map(|(_, b)| b).collect();
    (firsts.len() == pairs.len() && seconds.len() == pairs.len()).then_some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the values under masks, none of them joined, that hold exactly the numbers for which `holds` is true.
    fn by_trying(width: u16, holds: impl Fn(u128) -> bool) -> u32 {
        // The fewest aligned blocks that cover a run from one end are those of a binary tree.
        fn blocks(lo: u128, bits: u16, holds: &impl Fn(u128) -> bool) -> u32 {
            let all = |v: bool| (lo..lo + (1 << bits)).all(|x| holds(x) == v);
            if all(true) {
                1
            } else if all(false) {
                0
            } else {
                blocks(lo, bits - 1, holds) + blocks(lo + (1 << (bits - 1)), bits - 1, holds)
            }
        }
        blocks(0, width, &holds)
    }

    #[test]
    fn masked_rows_are_as_many_as_the_blocks_of_a_binary_tree() {
        for width in 1..=7 {
            for c in 1..1 << width {
                let found = under_rows(width, c);
                assert_eq!(found, (by_trying(width, |x| x < c), by_trying(width, |x| x >= c)), "{width} {c}");
            }
        }
    }

    #[test]
    fn split_rows_add_up() {
        // 1000 of 32 bits: upper bits zero, and three digits of codes; for the negation each upper bit too.
        assert_eq!(split_rows(32, 1000, 12), (3, 20 + below_rows(12, 1000).1));
        assert_eq!(split_rows(16, 0x3000 + 5, 12), (2 + 1, 2 + below_rows(12, 5).1));
    }
}
