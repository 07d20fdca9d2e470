//! Normal form of comparisons: a sum of one memory half, one packet value and a constant, compared with zero.

use super::paths::{Fault, Sym};
use crate::CmpOp;
use sluice_asic::salu::{Comparator, Compare, Constant, Format, Half, Relation, SaluOp, Sense, Term};

/// A comparison on a comparator, or a decided one.
pub(super) enum Test {
    /// Decided.
    Known(bool),
    /// The comparator; true if its result is used as it is, false if negated.
    Asked(Comparator, bool),
}

/// `left - right` as a sum: factors of halves and operands, and the constant.
#[derive(Clone, Default)]
struct Sum {
    memory: [i32; 2],
    phv: Vec<i32>,
    constant: i64,
    /// A parameter of the register, and its factor.
    param: Option<(u8, i32)>,
    /// Compared bits of memory and of packet values; the outer `None`: not part of the sum yet.
    masks: [Option<Option<u32>>; 2],
}

impl Sum {
    /// Adds memory (0) or a packet value (1) to the sum, in these bits or in all (`None`).
    fn takes(&mut self, of: usize, mask: Option<u32>) -> Result<(), Fault> {
        if self.masks[of].is_some_and(|m| m != mask) {
            let text = "compares one value under two masks";
            return Err(Fault::new(text, "compute one of the values in an earlier stage"));
        }
        self.masks[of] = Some(mask);
        Ok(())
    }
}

/// Brings a comparison to normal form.
pub(super) fn test(
    op: CmpOp,
    sense: Sense,
    (left, right): (&Sym, &Sym),
    format: Format,
    masks: bool,
) -> Result<Test, Fault> {
    let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
    // Equality of sums does not depend on wrapping, so all equalities use the wrapping sense.
    let sense = if equality { Sense::Serial } else { sense };
    let mut sum = Sum { phv: vec![0; 8], ..Sum::default() };
    add(&mut sum, left, 1, (sense, format, masks))?;
    add(&mut sum, right, -1, (sense, format, masks))?;
    let relation = match op {
        CmpOp::Eq => Relation::Equ,
        CmpOp::Ne => Relation::Neq,
        CmpOp::Lt => Relation::Lss,
        CmpOp::Le => Relation::Leq,
        CmpOp::Gt => Relation::Grt,
        CmpOp::Ge => Relation::Geq,
    };
    compare(relation, sense, sum, format)
}

/// Returns the masked half or packet value, if the chip compares under masks.
pub(super) fn mask_of(sym: &Sym) -> Option<(&Sym, u32)> {
    let Sym::Op(SaluOp::And, a, b) = sym else { return None };
    match (&**a, &**b) {
        (value @ (Sym::Memory(_) | Sym::Phv(_)), Sym::Const(mask))
        | (Sym::Const(mask), value @ (Sym::Memory(_) | Sym::Phv(_))) => Some((value, *mask as u32)),
        _ => None,
    }
}

fn add(sum: &mut Sum, sym: &Sym, sign: i32, how: (Sense, Format, bool)) -> Result<(), Fault> {
    let (sense, format, masks) = how;
    if masks && let Some((value, mask)) = mask_of(sym) {
        return take(sum, value, sign, Some(mask));
    }
    match sym {
        Sym::Const(value) => {
            let value = if sense == Sense::Signed { signed(*value, format) } else { *value as i64 };
            let sum_of = i64::from(sign).checked_mul(value).and_then(|v| sum.constant.checked_add(v));
            let Some(constant) = sum_of else {
                return Err(Fault::new("adds up constants of more than 63 bits", "use smaller constants"));
            };
            sum.constant = constant;
        }
        Sym::Memory(_) | Sym::Phv(_) => take(sum, sym, sign, None)?,
        Sym::Param(n) => {
            if sum.param.is_some() {
                let text = "adds up two parameters; a comparator takes one number";
                return Err(Fault::new(text, "give the register their sum as a parameter"));
            }
            sum.param = Some((*n, sign));
        }
        Sym::Op(SaluOp::Add, a, b) => {
            add(sum, a, sign, how)?;
            add(sum, b, sign, how)?;
        }
        Sym::Op(SaluOp::Sub, a, b) => {
            add(sum, a, sign, how)?;
            add(sum, b, -sign, how)?;
        }
        _ if mask_of(sym).is_some() => {
            let text = "compares under a mask; this chip's comparators have none";
            let help = "mask the value in a stage before, or keep the bits in a separate register";
            return Err(Fault::new(text, help));
        }
        Sym::Op(op, ..) => {
            return Err(Fault::new(
                format!("compares the result of `{op}`; a comparator adds and subtracts only"),
                "compute that value in an earlier stage and pass it as a packet value",
            ));
        }
        _ => {
            let text = "compares what the math unit computes; a comparator takes halves, packet values and constants";
            return Err(Fault::new(text, "return the value and compare it in the next stage"));
        }
    }
    Ok(())
}

/// Adds a half or packet value to the sum.
fn take(sum: &mut Sum, value: &Sym, sign: i32, mask: Option<u32>) -> Result<(), Fault> {
    match value {
        Sym::Memory(half) => {
            sum.takes(0, mask)?;
            sum.memory[*half as usize] += sign;
        }
        Sym::Phv(n) => {
            sum.takes(1, mask)?;
            let Some(slot) = sum.phv.get_mut(*n) else {
                return Err(Fault::new("takes too many values from the packet", "share metadata fields"));
            };
            *slot += sign;
        }
        _ => {}
    }
    Ok(())
}

/// Returns a constant of a half's width in two's complement.
fn signed(value: u64, format: Format) -> i64 {
    let spare = 64 - format.math_bits();
    ((value << spare) as i64) >> spare
}

fn compare(relation: Relation, sense: Sense, sum: Sum, format: Format) -> Result<Test, Fault> {
    let memory: Vec<usize> = (0..2).filter(|&h| sum.memory[h] != 0).collect();
    let phv: Vec<usize> = (0..sum.phv.len()).filter(|&n| sum.phv[n] != 0).collect();
    let twice = sum.memory.iter().chain(&sum.phv).any(|c| c.abs() > 1);
    let help = "compute the sum in an earlier stage and pass it as a packet value";
    if memory.len() > 1 {
        return Err(Fault::new("compares both halves of the element; a comparator reads one", help));
    }
    if phv.len() > 1 {
        return Err(Fault::new("compares two values from the packet; a comparator reads one", help));
    }
    if twice {
        return Err(Fault::new("compares a multiple; a comparator adds each operand once", help));
    }
    if sum.param.is_some() && sum.constant != 0 {
        let text = "adds a constant to a parameter; a comparator takes one number";
        return Err(Fault::new(text, "let the control plane set the parameter to the sum"));
    }
    let mut constant = sum.constant;
    if sense == Sense::Serial {
        constant = signed(constant as u64, format);
    }
    let (mut relation, mut flip) = (relation, false);
    // The first operand has a positive sign, so that `a > b` and `b < a` share a comparator. Serial order is
    // not symmetrical: two numbers half of the range apart are each less than the other.
    let first = memory.first().map(|&h| sum.memory[h]).or_else(|| phv.first().map(|&n| sum.phv[n]));
    if first == Some(-1) && (sense != Sense::Serial || matches!(relation, Relation::Equ | Relation::Neq)) {
        flip = true;
        constant = if sense == Sense::Serial {
            signed(constant.wrapping_neg() as u64, format)
        } else {
            constant.wrapping_neg()
        };
        relation = match relation {
            Relation::Grt => Relation::Lss,
            Relation::Lss => Relation::Grt,
            Relation::Geq => Relation::Leq,
            Relation::Leq => Relation::Geq,
            same => same,
        };
    }
    let (relation, holds) = match relation {
        Relation::Neq | Relation::Leq | Relation::Geq => (relation.negated(), false),
        Relation::Equ | Relation::Grt | Relation::Lss => (relation, true),
    };
    let term = |n: usize, coefficient: i32| {
        let half = if n == 0 { Half::Lo } else { Half::Hi };
        let negate = (coefficient < 0) != flip;
        if negate { Term::minus(half) } else { Term::plus(half) }
    };
    let masked = |term: Term, of: usize| Term { mask: sum.masks[of].flatten(), ..term };
    let comparator = Compare {
        relation,
        sense,
        memory: memory.first().map(|&h| masked(term(h, sum.memory[h]), 0)),
        phv: phv.first().map(|&n| masked(term(n, sum.phv[n]), 1)),
        constant: match sum.param {
            Some((n, sign)) => super::params::row(n, (sign < 0) != flip),
            None => Constant::Value(constant),
        },
    };
    if comparator.memory.is_none() && comparator.phv.is_none() && sum.param.is_none() {
        let met = match relation {
            Relation::Equ => constant == 0,
            Relation::Grt => constant > 0,
            _ => constant < 0,
        };
        return Ok(Test::Known(met == holds));
    }
    Ok(Test::Asked(Comparator::Compare(comparator), holds))
}
