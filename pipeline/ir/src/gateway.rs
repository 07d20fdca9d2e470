//! Conditions in the form that a gateway tests: tests of bits, and the rows that decide by them (model: chip §3.6).
//!
//! A row is a pattern of bits with an outcome. The first row that matches decides; if none matches, the outcome is the
//! default. So `a == 1 && b != 2` takes two rows: `b == 2` with the outcome false, then `a == 1` with the outcome true.
//! Which bytes and hash bits the tests take depends on the PHV: [`estimate`] assumes that every field has containers of its own.

use crate::cfg::Var;
use crate::{CmpOp, Cond, Expr, Field, Program};
use sluice_asic::chip::MauSpec;
use std::collections::BTreeSet;

/// Bits of a variable that a test reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operand {
    /// The variable.
    pub var: Var,
    /// Its lowest bit that is read.
    pub lo: u16,
    /// Number of bits.
    pub width: u16,
}

/// One test of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
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

/// The tests of a condition, and the rows that they take.
#[derive(Clone, Debug)]
pub struct Tests {
    /// The tests, in the order of the condition.
    pub tests: Vec<Test>,
    /// Number of rows.
    pub rows: u32,
}

/// Returns what a gateway tests for a condition.
///
/// # Errors
/// If no gateway can test a part of it: the reason.
pub fn tests(program: &Program, mau: &MauSpec, cond: &Cond) -> Result<Tests, String> {
    let mut tests = Vec::new();
    let [no, yes] = lists(program, mau.gateway_hash_bits as u16, cond, &mut tests)?;
    let rows = no.len().min(yes.len()).max(1) as u32;
    Ok(Tests { tests, rows })
}

/// Returns true if one gateway can test a condition whose operands are in containers of their own.
#[must_use]
pub fn estimate(program: &Program, mau: &MauSpec, cond: &Cond) -> bool {
    let Ok(Tests { tests, rows }) = tests(program, mau, cond) else { return true };
    let lanes = mau.gateway_bytes;
    let (mut ranges, mut equal): (BTreeSet<Operand>, BTreeSet<Operand>) = Default::default();
    let (mut same, mut bytes, mut by_hash) = (0, 0, 0);
    for test in tests {
        match test {
            Test::Constant => {}
            Test::Equals(x) | Test::Under(x, _) => _ = equal.insert(x),
            Test::Below(x, _) => _ = ranges.insert(x),
            Test::Split(x, _, codes) => {
                ranges.insert(Operand { width: codes, ..x });
                equal.insert(Operand { lo: x.lo + codes, width: x.width - codes, ..x });
            }
            Test::Same(x, _) => {
                let pairs = u32::from(x.width.div_ceil(8));
                bytes += 2 * pairs;
                if same + pairs <= lanes {
                    same += pairs;
                } else {
                    by_hash += u32::from(x.width);
                }
            }
        }
    }
    by_hash += ranges.iter().map(|x| u32::from(x.width.next_multiple_of(4))).sum::<u32>();
    let at = |x: &Operand| (0..x.width).map(|bit| (x.var, (x.lo + bit) / 8)).collect::<BTreeSet<_>>();
    let loose: BTreeSet<_> = equal.iter().flat_map(at).collect();
    let all: BTreeSet<_> = equal.iter().chain(&ranges).flat_map(at).collect();
    // What finds no lane goes to hash bits. The bytes of larger containers, which have fewer possible lanes, come first.
    let bits = |(var, byte): &(Var, u16)| {
        let bits = equal.iter().filter(|x| x.var == *var).flat_map(|x| x.lo..x.lo + x.width);
        bits.filter(|bit| bit / 8 == *byte).collect::<BTreeSet<_>>().len() as u32
    };
    let mut loose: Vec<(u16, u32, u16)> =
        loose.iter().map(|at| (container_bytes(program, at.0), bits(at), at.1)).collect();
    loose.sort_unstable_by(|a, b| b.cmp(a));
    let mut free: Vec<u16> = (same.min(lanes) as u16..lanes as u16).collect();
    for (of, bits, byte) in loose {
        match free.iter().position(|lane| lane % of == byte % of) {
            Some(at) => _ = free.remove(at),
            None => by_hash += bits,
        }
    }
    bytes += all.len() as u32;
    rows <= mau.gateway_compare_rows
        && by_hash <= mau.gateway_hash_bits
        && bytes <= mau.exact_xbar_group_bytes
}

/// Returns the bytes of the smallest container that holds a variable: 1, 2 or 4.
fn container_bytes(program: &Program, var: Var) -> u16 {
    match var {
        Var::Field(field) => match width_of(program, field) {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        },
        Var::Valid(_) => 1,
    }
}

/// Outcomes of rows.
type Rows = Vec<bool>;

/// The most rows that are told apart; longer lists are cut there.
const MOST: usize = 256;

/// Returns the outcomes of the fewest rows for a condition if the default outcome is false, and if it is true, and appends
/// the tests to `tests`.
fn lists(program: &Program, codes: u16, cond: &Cond, tests: &mut Vec<Test>) -> Result<[Rows; 2], String> {
    let lists = match cond {
        Cond::Valid(h) => {
            tests.push(Test::Equals(Operand { var: Var::Valid(*h), lo: 0, width: 1 }));
            literal(1, 1)
        }
        Cond::Not(inner) => negated(lists(program, codes, inner, tests)?),
        Cond::And(a, b) => both(&lists(program, codes, a, tests)?, &lists(program, codes, b, tests)?),
        Cond::Or(a, b) => {
            let a = negated(lists(program, codes, a, tests)?);
            let b = negated(lists(program, codes, b, tests)?);
            negated(both(&a, &b))
        }
        Cond::Cmp(op, a, b) => {
            let (test, opposite) = comparison(program, codes, *op, a, b)?;
            tests.push(test);
            let (yes, no) = match test {
                Test::Constant => (1, 1),
                Test::Equals(o) | Test::Same(o, _) => (1, u32::from(o.width).max(1)),
                Test::Below(o, c) => below_rows(o.width, c),
                Test::Under(o, c) => under_rows(o.width, c),
                Test::Split(o, c, codes) => split_rows(o.width, c, codes),
            };
            if opposite { negated(literal(yes, no)) } else { literal(yes, no) }
        }
    };
    Ok(closed(lists))
}

/// Returns the lists of a test that takes this many rows for its truth and for its falsehood.
fn literal(yes: u32, no: u32) -> [Rows; 2] {
    closed([vec![true; (yes as usize).min(MOST)], vec![false; (no as usize).min(MOST)]])
}

/// A last row that matches all packets makes another default of one.
fn closed(mut lists: [Rows; 2]) -> [Rows; 2] {
    for (to, from) in [(0, 1), (1, 0)] {
        if lists[from].len() + 1 < lists[to].len() {
            lists[to] = lists[from].clone();
            lists[to].push(from == 1);
        }
    }
    lists
}

fn negated([no, yes]: [Rows; 2]) -> [Rows; 2] {
    let flipped = |rows: Rows| rows.into_iter().map(|outcome| !outcome).collect();
    [flipped(yes), flipped(no)]
}

/// Returns the lists of a conjunction.
fn both(a: &[Rows; 2], b: &[Rows; 2]) -> [Rows; 2] {
    let mut best: [Option<Rows>; 2] = [None, None];
    for (x, y) in [(a, b), (b, a)] {
        for (default_x, default_y) in [(false, false), (false, true), (true, false), (true, true)] {
            let rows =
                product((&x[usize::from(default_x)], default_x), (&y[usize::from(default_y)], default_y));
            let best = &mut best[usize::from(default_x && default_y)];
            if best.as_ref().is_none_or(|best| rows.len() < best.len()) {
                *best = Some(rows);
            }
        }
    }
    best.map(Option::unwrap_or_default)
}

/// Returns the rows of a conjunction: each row of `a` that is true is split by the rows of `b`.
fn product((a, default_a): (&Rows, bool), (b, default_b): (&Rows, bool)) -> Rows {
    let mut rows = Rows::new();
    for (n, outcome) in a.iter().enumerate() {
        if *outcome {
            rows.extend(b);
            // A packet that matches no row of `b` is decided by the default if no later row takes it.
            if default_b && !(default_a && a[n + 1..].iter().all(|later| *later)) {
                rows.push(true);
            }
        } else {
            rows.push(false);
        }
        rows.truncate(MOST);
    }
    if default_a {
        rows.extend(b);
    }
    let default = default_a && default_b;
    while rows.last() == Some(&default) {
        rows.pop();
    }
    rows.truncate(MOST);
    rows
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

    /// Returns the rows of a condition over fields `f0`, `f1`, .. of 8 bits.
    fn rows_of(cond: &Cond) -> u32 {
        let mut program = Program::default();
        for n in 0..4 {
            program.fields.push(crate::FieldData {
                name: format!("m.f{n}"),
                gress: sluice_asic::gress::Gress::Ingress,
                width: 8,
                home: crate::Home::Metadata,
                doc: String::new(),
                loc: crate::Loc::default(),
            });
        }
        let mau = sluice_asic::chip::ChipSpec::tofino().mau;
        tests(&program, &mau, cond).map_or(0, |tests| tests.rows)
    }

    fn eq(n: usize) -> Cond {
        Cond::Cmp(CmpOp::Eq, Expr::Field(crate::entity::Entity::new(n)), Expr::Const(1, 8))
    }

    fn not(a: Cond) -> Cond {
        Cond::Not(Box::new(a))
    }

    fn and(a: Cond, b: Cond) -> Cond {
        Cond::And(Box::new(a), Box::new(b))
    }

    fn or(a: Cond, b: Cond) -> Cond {
        Cond::Or(Box::new(a), Box::new(b))
    }

    #[test]
    fn the_first_row_that_matches_decides() {
        assert_eq!(rows_of(&eq(0)), 1);
        assert_eq!(rows_of(&not(eq(0))), 1, "the outcome of the row is false");
        assert_eq!(rows_of(&and(eq(0), eq(1))), 1);
        assert_eq!(rows_of(&or(eq(0), eq(1))), 2);
        assert_eq!(rows_of(&and(eq(0), not(eq(1)))), 2, "f1 == 1: false; f0 == 1: true");
        assert_eq!(rows_of(&and(not(eq(0)), not(eq(1)))), 2);
        assert_eq!(rows_of(&and(or(eq(0), eq(1)), or(eq(2), eq(3)))), 4);
        assert_eq!(rows_of(&and(or(eq(0), eq(1)), not(or(eq(2), eq(3))))), 4);
        assert_eq!(rows_of(&or(and(eq(0), not(eq(1))), eq(2))), 3, "f2: true; f1: false; f0: true");
    }

    #[test]
    fn bytes_of_large_containers_have_few_lanes() {
        let mut program = Program::default();
        for n in 0..2 {
            program.fields.push(crate::FieldData {
                name: format!("m.f{n}"),
                gress: sluice_asic::gress::Gress::Ingress,
                width: 32,
                home: crate::Home::Metadata,
                doc: String::new(),
                loc: crate::Loc::default(),
            });
        }
        let mau = sluice_asic::chip::ChipSpec::tofino().mau;
        let part = |n: usize, hi: u16, lo: u16| {
            let field = Expr::Field(crate::entity::Entity::new(n));
            let slice = Expr::Slice(Box::new(field), hi, lo);
            Cond::Cmp(CmpOp::Eq, slice, Expr::Const(1, hi - lo + 1))
        };
        // Bytes 1 to 3 of both fields want the same three lanes: 17 bits would go to hash bits.
        assert!(!estimate(&program, &mau, &and(part(0, 31, 15), part(1, 31, 15))));
        assert!(estimate(&program, &mau, &and(part(0, 31, 16), part(1, 15, 0))));
    }

    #[test]
    fn split_rows_add_up() {
        // 1000 of 32 bits: upper bits zero, and three digits of codes; for the negation each upper bit too.
        assert_eq!(split_rows(32, 1000, 12), (3, 20 + below_rows(12, 1000).1));
        assert_eq!(split_rows(16, 0x3000 + 5, 12), (2 + 1, 2 + below_rows(12, 5).1));
    }
}
