//! Gateway conditions over lanes. What may not live here: what follows from them.

use super::batch::{Phv, Slot, lanes_where};
use super::field::{FieldAt, SlotMap, ones};
use crate::ir::{CmpOp, Cond, Expr, Program};

/// A condition over columns.
#[derive(Clone, Debug)]
pub(super) enum Gate {
    Bit {
        slot: Slot,
        bit: u8,
    },
    /// A field in one column against a constant.
    Const {
        slot: Slot,
        shift: u8,
        mask: u32,
        op: CmpOp,
        value: u32,
    },
    /// Anything else.
    Wide {
        op: CmpOp,
        a: Side,
        b: Side,
    },
    Never,
    Not(Box<Gate>),
    And(Box<Gate>, Box<Gate>),
    Or(Box<Gate>, Box<Gate>),
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub(super) struct Side {
    at: FieldAt,
    constant: u128,
    lo: u16,
    width: u16,
}

impl Gate {
    pub(super) fn new(program: &Program, cond: &Cond, slots: &mut SlotMap<'_>) -> Gate {
        match cond {
            Cond::Valid(h) => {
                slots.valid_source(*h).map_or(Gate::Never, |(slot, bit)| Gate::Bit { slot, bit })
            }
            Cond::Not(a) => Gate::Not(Box::new(Gate::new(program, a, slots))),
            Cond::And(a, b) => {
                Gate::And(Box::new(Gate::new(program, a, slots)), Box::new(Gate::new(program, b, slots)))
            }
            Cond::Or(a, b) => {
                Gate::Or(Box::new(Gate::new(program, a, slots)), Box::new(Gate::new(program, b, slots)))
            }
            Cond::Cmp(op, a, b) => {
                let (a, b) = (side(program, a, slots), side(program, b, slots));
                match (a.at.single(), b.at.pieces.is_empty()) {
                    (Some(p), true)
                        if a.lo == 0
                            && u16::from(p.width) <= a.width
                            && b.constant <= u128::from(u32::MAX) =>
                    {
                        Gate::Const {
                            slot: p.slot,
                            shift: p.at,
                            mask: ones(p.width),
                            op: *op,
                            value: b.constant as u32,
                        }
                    }
                    _ => Gate::Wide { op: *op, a, b },
                }
            }
        }
    }

    /// The lanes of `mask` for which the condition holds.
    #[inline(always)]
    pub(super) fn eval<const N: usize>(&self, mask: u64, phv: &Phv) -> u64 {
        match self {
            Gate::Bit { slot, bit } => {
                let column = phv.column(*slot);
                lanes_where::<N>(mask, |l| column[l].get() >> bit & 1 == 1)
            }
            Gate::Const { slot, shift, mask: bits, op: CmpOp::Eq, value } => {
                let column = phv.column(*slot);
                lanes_where::<N>(mask, |l| column[l].get() >> shift & bits == *value)
            }
            _ => self.eval_any::<N>(mask, phv),
        }
    }

    fn eval_any<const N: usize>(&self, mask: u64, phv: &Phv) -> u64 {
        match self {
            Gate::Never => 0,
            Gate::Bit { .. } => self.eval::<N>(mask, phv),
            Gate::Const { slot, shift, mask: bits, op, value } => {
                let column = phv.column(*slot);
                let read = |l: usize| column[l].get() >> shift & bits;
                match op {
                    CmpOp::Eq => lanes_where::<N>(mask, |l| read(l) == *value),
                    CmpOp::Ne => lanes_where::<N>(mask, |l| read(l) != *value),
                    CmpOp::Lt => lanes_where::<N>(mask, |l| read(l) < *value),
                    CmpOp::Le => lanes_where::<N>(mask, |l| read(l) <= *value),
                    CmpOp::Gt => lanes_where::<N>(mask, |l| read(l) > *value),
                    CmpOp::Ge => lanes_where::<N>(mask, |l| read(l) >= *value),
                }
            }
            Gate::Wide { op, a, b } => lanes_where::<N>(mask, |l| op.holds(a.read(phv, l), b.read(phv, l))),
            Gate::Not(a) => mask & !a.eval::<N>(mask, phv),
            Gate::And(a, b) => b.eval::<N>(a.eval::<N>(mask, phv), phv),
            Gate::Or(a, b) => {
                let first = a.eval::<N>(mask, phv);
                first | b.eval::<N>(mask & !first, phv)
            }
        }
    }
}

impl Side {
    fn read(&self, phv: &Phv, lane: usize) -> u128 {
        let value = if self.at.pieces.is_empty() { self.constant } else { self.at.read(phv, lane) };
        value >> self.lo & sluice_asic::alu::width_mask(u32::from(self.width))
    }
}

fn side(program: &Program, e: &Expr, slots: &mut SlotMap<'_>) -> Side {
    match e {
        Expr::Const(v, w) => Side { at: FieldAt::default(), constant: *v, lo: 0, width: *w },
        Expr::Field(f) => Side { at: slots.source(*f), constant: 0, lo: 0, width: program.fields[*f].width },
        Expr::Slice(inner, hi, lo) => {
            let s = side(program, inner, slots);
            let width = s.width.saturating_sub(*lo).min(hi.saturating_add(1).saturating_sub(*lo));
            Side { lo: s.lo + lo, width, ..s }
        }
        Expr::Cast(inner, w) => {
            let s = side(program, inner, slots);
            Side { width: s.width.min(*w), ..s }
        }
        // The verifier keeps operations out of conditions; a parameter has no value here.
        Expr::Param(..) | Expr::Alu(..) | Expr::Funnel(..) => {
            Side { at: FieldAt::default(), constant: 0, lo: 0, width: 0 }
        }
    }
}
