//! Gateway conditions over lanes.

use super::batch::{Phv, Slot, lanes_where};
use super::field::{FieldAt, Piece, SlotMap};
use sluice_ir::{CmpOp, Cond, Expr, Program};

/// A condition over columns.
#[derive(Clone, Debug)]
pub(super) enum Gate {
    /// Bits of one column have these values: any number of validity bits and fields.
    Masked {
        slot: Slot,
        mask: u32,
        value: u32,
    },
    /// Negation.
    Unlike {
        slot: Slot,
        mask: u32,
        value: u32,
    },
    /// Comparison of a field in one column with a constant.
    Const {
        slot: Slot,
        shift: u8,
        mask: u32,
        op: CmpOp,
        value: u32,
    },
    /// Any other comparison.
    Wide(Box<Wide>),
    Never,
    Not(Box<Gate>),
    /// Conjunction of conditions on different columns.
    All(Box<[Gate]>),
    Or(Box<[Gate; 2]>),
}

/// Comparison of any two values.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    pub(super) op: CmpOp,
    pub(super) a: Side,
    pub(super) b: Side,
}

/// Operand of a comparison.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) at: FieldAt,
    pub(super) constant: u128,
    pub(super) lo: u16,
    pub(super) width: u16,
}

impl Gate {
    pub(super) fn new(program: &Program, cond: &Cond, slots: &mut SlotMap<'_>) -> Gate {
        match cond {
            Cond::Valid(h) => slots.valid_source(*h).map_or(Gate::Never, |(slot, bit)| Gate::Masked {
                slot,
                mask: 1 << bit,
                value: 1 << bit,
            }),
            Cond::Not(a) => Gate::new(program, a, slots).opposite(),
            Cond::And(a, b) => Gate::new(program, a, slots).and(Gate::new(program, b, slots)),
            Cond::Or(a, b) => {
                Gate::Or(Box::new([Gate::new(program, a, slots), Gate::new(program, b, slots)]))
            }
            Cond::Cmp(op, a, b) => {
                let (a, b) = (side(program, a, slots), side(program, b, slots));
                match (a.at.single(), b.at.pieces.is_empty()) {
                    (Some(p), true)
                        if a.lo == 0
                            && u16::from(p.width) <= a.width
                            && b.constant <= u128::from(u32::MAX) =>
                    {
                        Gate::compare(p, *op, b.constant as u32)
                    }
                    _ => Gate::Wide(Box::new(Wide { op: *op, a, b })),
                }
            }
        }
    }

    /// Returns the comparison of a field in one column with a constant; `None` for other comparisons.
    fn compare(p: Piece, op: CmpOp, value: u32) -> Gate {
        let mask = p.mask() << p.at;
        match op {
            CmpOp::Eq if value > p.mask() => Gate::Never,
            CmpOp::Eq => Gate::Masked { slot: p.slot, mask, value: value << p.at },
            CmpOp::Ne if value <= p.mask() => Gate::Unlike { slot: p.slot, mask, value: value << p.at },
            op => Gate::Const { slot: p.slot, shift: p.at, mask: p.mask(), op, value },
        }
    }

    fn opposite(self) -> Gate {
        match self {
            // The negation of a test of one bit is a test for the other value, which can be merged with other tests.
            Gate::Masked { slot, mask, value } if mask.is_power_of_two() => {
                Gate::Masked { slot, mask, value: value ^ mask }
            }
            Gate::Masked { slot, mask, value } => Gate::Unlike { slot, mask, value },
            Gate::Unlike { slot, mask, value } => Gate::Masked { slot, mask, value },
            Gate::Not(gate) => *gate,
            gate => Gate::Not(Box::new(gate)),
        }
    }

    /// Returns the conjunction of two conditions; conditions on bits of one column are merged.
    fn and(self, other: Gate) -> Gate {
        let mut all: Vec<Gate> = Vec::new();
        let parts = |gate: Gate| match gate {
            Gate::All(list) => list.into_vec(),
            gate => vec![gate],
        };
        for part in parts(self).into_iter().chain(parts(other)) {
            match part {
                Gate::Never => return Gate::Never,
                Gate::Masked { slot, mask, value } => {
                    let same = all.iter_mut().find_map(|g| match g {
                        Gate::Masked { slot: s, mask, value } if *s == slot => Some((mask, value)),
                        _ => None,
                    });
                    match same {
                        Some((m, v)) if (*v ^ value) & *m & mask != 0 => return Gate::Never,
                        Some((m, v)) => (*m, *v) = (*m | mask, *v | value),
                        None => all.push(Gate::Masked { slot, mask, value }),
                    }
                }
                part => all.push(part),
            }
        }
        match all.pop() {
            Some(only) if all.is_empty() => only,
            last => Gate::All(all.into_iter().chain(last).collect()),
        }
    }

    /// Returns the lanes of `mask` for which the condition holds.
    #[inline(always)]
    pub(super) fn eval<const N: usize>(&self, mask: u64, phv: &Phv<N>) -> u64 {
        match self {
            Gate::Masked { slot, mask: bits, value } => {
                let column = phv.column(*slot);
                lanes_where::<N>(mask, |l| column[l % N].get() & bits == *value)
            }
            _ => self.eval_any::<N>(mask, phv),
        }
    }

    #[inline(never)]
    fn eval_any<const N: usize>(&self, mask: u64, phv: &Phv<N>) -> u64 {
        match self {
            Gate::Never => 0,
            Gate::Masked { .. } => self.eval::<N>(mask, phv),
            Gate::Unlike { slot, mask: bits, value } => {
                let column = phv.column(*slot);
                lanes_where::<N>(mask, |l| column[l % N].get() & bits != *value)
            }
            Gate::Const { slot, shift, mask: bits, op, value } => {
                let column = phv.column(*slot);
                let read = |l: usize| column[l % N].get() >> shift & bits;
                match op {
                    CmpOp::Eq => lanes_where::<N>(mask, |l| read(l) == *value),
                    CmpOp::Ne => lanes_where::<N>(mask, |l| read(l) != *value),
                    CmpOp::Lt => lanes_where::<N>(mask, |l| read(l) < *value),
                    CmpOp::Le => lanes_where::<N>(mask, |l| read(l) <= *value),
                    CmpOp::Gt => lanes_where::<N>(mask, |l| read(l) > *value),
                    CmpOp::Ge => lanes_where::<N>(mask, |l| read(l) >= *value),
                }
            }
            Gate::Wide(wide) => {
                let Wide { op, a, b } = wide.as_ref();
                lanes_where::<N>(mask, |l| op.holds(a.read(phv, l), b.read(phv, l)))
            }
            Gate::Not(a) => mask & !a.eval::<N>(mask, phv),
            Gate::All(list) => {
                let mut left = mask;
                for gate in list {
                    if left != 0 {
                        left = gate.eval::<N>(left, phv);
                    }
                }
                left
            }
            Gate::Or(either) => {
                let [a, b] = either.as_ref();
                let first = a.eval::<N>(mask, phv);
                first | b.eval::<N>(mask & !first, phv)
            }
        }
    }
}

impl Side {
    fn read<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u128 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(slot: Slot, bit: u8) -> Gate {
        Gate::Masked { slot, mask: 1 << bit, value: 1 << bit }
    }

    #[test]
    fn bits_of_one_column_become_one_comparison() {
        let gate = bit(0, 0).and(bit(1, 2)).and(bit(0, 3).opposite());
        let Gate::All(parts) = &gate else { unreachable!("two columns: {gate:?}") };
        assert_eq!(parts.len(), 2, "{gate:?}");
        let phv = Phv::<1>::new(2);
        for word in 0..256u32 {
            phv.column(0)[0].set(word & 15);
            phv.column(1)[0].set(word >> 4);
            let holds = word & 1 == 1 && word >> 6 & 1 == 1 && word >> 3 & 1 == 0;
            assert_eq!(gate.eval::<1>(1, &phv), u64::from(holds), "{word:#x}");
            assert_eq!(gate.clone().opposite().eval::<1>(1, &phv), u64::from(!holds), "{word:#x}");
        }
    }

    #[test]
    fn what_contradicts_itself_never_holds() {
        assert!(matches!(bit(0, 5).and(bit(0, 5).opposite()), Gate::Never));
        let wide = Gate::Masked { slot: 0, mask: 0xff, value: 7 };
        assert!(matches!(wide.clone().and(bit(0, 3)), Gate::Never));
        assert!(matches!(wide.and(bit(0, 2)), Gate::Masked { slot: 0, mask: 0xff, value: 7 }));
    }
}
