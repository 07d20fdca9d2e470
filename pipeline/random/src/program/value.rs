//! Draws values and conditions.

use super::Writer;
use super::scope::Scope;
use crate::Widths;
use sluice_asic::alu::{AluClass, AluOp};
use sluice_ir::{CmpOp, Cond, Expr, Field, Home, ParamData, ParserOpKind, Program};

/// State of an action that is being drawn: fields that it writes and its parameters so far.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) written: Vec<Field>,
    pub(super) params: Vec<ParamData>,
    /// True if the action may have parameters.
    pub(super) parametric: bool,
}

/// Operations that both chips have; the others are drawn rarely.
const COMMON: [AluOp; 10] = [
    AluOp::Add,
    AluOp::Sub,
    AluOp::Saddu,
    AluOp::Ssubu,
    AluOp::Minu,
    AluOp::Maxu,
    AluOp::And,
    AluOp::Or,
    AluOp::Xor,
    AluOp::Shl,
];

/// Returns true if the parser writes a field, which is then laid out as packet bytes are.
fn set_by_parser(p: &Program, field: Field) -> bool {
    let laid_out = |kind: &ParserOpKind| {
        matches!(kind, ParserOpKind::Set(..) | ParserOpKind::SetSlice(..) | ParserOpKind::Lookahead(..))
    };
    p.states.values().flat_map(|s| &s.ops).any(|op| laid_out(&op.kind) && op.kind.written() == Some(field))
}

impl Writer<'_, '_> {
    /// Draws a value of this width from the PHV; `None` if no field is in scope.
    pub(super) fn phv(&mut self, scope: &Scope, draft: &Draft, width: u16) -> Option<Expr> {
        let mut open = scope.readable(&self.p, self.gress);
        open.retain(|f| !draft.written.contains(f));
        let same: Vec<Field> = open.iter().copied().filter(|f| self.p.fields[*f].width == width).collect();
        if let Some(f) = self.d.pick(&same)
            && !self.d.chance(1, 6)
        {
            return Some(Expr::Field(f));
        }
        let f = self.d.pick(&open)?;
        let has = self.p.fields[f].width;
        Some(match has.cmp(&width) {
            std::cmp::Ordering::Equal => Expr::Field(f),
            std::cmp::Ordering::Less => Expr::Cast(Box::new(Expr::Field(f)), width),
            std::cmp::Ordering::Greater => {
                let lo = self.d.of([0, has - width, (has - width) / 2]);
                Expr::Slice(Box::new(Expr::Field(f)), lo + width - 1, lo)
            }
        })
    }

    /// Draws a header field or metadata of exactly this width, which an ALU can use without a shift.
    fn whole(&mut self, scope: &Scope, draft: &Draft, width: u16) -> Option<Expr> {
        let mut open = scope.writable(&self.p, self.gress);
        open.retain(|f| !draft.written.contains(f) && self.p.fields[*f].width == width);
        self.d.pick(&open).map(Expr::Field)
    }

    fn constant(&mut self, width: u16) -> Expr {
        Expr::Const(self.d.value(width), width)
    }

    fn param(&mut self, draft: &mut Draft, width: u16) -> Expr {
        let n = draft.params.len() as u16;
        if let Some(old) = draft.params.iter().position(|p| p.width == width)
            && self.d.chance(1, 3)
        {
            return Expr::Param(old as u16, width);
        }
        draft.params.push(ParamData { name: format!("p{n}"), width });
        Expr::Param(n, width)
    }

    /// Draws a constant or a parameter.
    pub(super) fn data(&mut self, draft: &mut Draft, width: u16) -> Expr {
        if self.d.chance(1, 2) { self.param(draft, width) } else { self.constant(width) }
    }

    /// Draws a constant, a parameter or a value from the PHV.
    pub(super) fn leaf(&mut self, scope: &Scope, draft: &mut Draft, width: u16) -> Expr {
        match self.d.below(4) {
            0 => self.constant(width),
            1 if draft.parametric => self.param(draft, width),
            _ => match self.phv(scope, draft, width) {
                Some(value) => value,
                None => self.constant(width),
            },
        }
    }

    /// Draws a value to which a field of this width is set.
    pub(super) fn value(&mut self, scope: &Scope, draft: &mut Draft, width: u16) -> Expr {
        let container = matches!(width, 8 | 16 | 32);
        if !(container || self.limits.widths == Widths::Any) || !self.d.chance(1, 2) {
            return self.leaf(scope, draft, width);
        }
        let Some(a) = self.whole(scope, draft, width) else { return self.constant(width) };
        if container && self.d.chance(1, 12) {
            let low = self.whole(scope, draft, width).unwrap_or_else(|| a.clone());
            return Expr::Funnel(Box::new(a), Box::new(low), self.d.below(32) as u16);
        }
        let rare = self.d.chance(1, 8);
        let op = self.d.pick(if rare { AluOp::ALL } else { &COMMON }).unwrap_or(AluOp::Add);
        let b = match op.class() {
            AluClass::Shift => Expr::Const(self.d.below(usize::from(width)) as u128, 8),
            _ if op.operands() < 2 => self.constant(width),
            _ => match self.d.below(3) {
                0 => self.constant(width),
                1 if draft.parametric => self.param(draft, width),
                _ => self.whole(scope, draft, width).unwrap_or(Expr::Const(1, width)),
            },
        };
        Expr::Alu(op, Box::new(a), Box::new(b))
    }

    /// Draws a value for a metadata field of more than 32 bits: a sum or difference with a carry, if another such field is
    /// in scope.
    pub(super) fn carried(&mut self, scope: &Scope, draft: &mut Draft, to: Field) -> Option<Expr> {
        let width = self.p.fields[to].width;
        let number = |p: &Program, f: Field| {
            let data = &p.fields[f];
            data.home == Home::Metadata && data.width == width && !set_by_parser(p, f)
        };
        if !(33..=64).contains(&width) || !number(&self.p, to) || !self.d.chance(1, 2) {
            return None;
        }
        let mut open = scope.writable(&self.p, self.gress);
        open.retain(|f| !draft.written.contains(f) && number(&self.p, *f));
        let a = Box::new(Expr::Field(self.d.pick(&open)?));
        let b = match self.d.below(3) {
            0 => self.constant(width),
            1 if draft.parametric => self.param(draft, width),
            _ => Expr::Field(self.d.pick(&open)?),
        };
        Some(Expr::Alu(self.d.of([AluOp::Add, AluOp::Sub]), a, Box::new(b)))
    }

    /// Draws a condition, mostly a small one.
    pub(super) fn condition(&mut self, scope: &Scope) -> Cond {
        let depth = self.d.of([0, 0, 1, 2]);
        self.cond(scope, depth)
    }

    /// Draws a condition of the forms that a gateway can test.
    fn cond(&mut self, scope: &Scope, depth: usize) -> Cond {
        match self.d.below(if depth == 0 { 3 } else { 6 }) {
            3 => Cond::Not(Box::new(self.cond(scope, depth - 1))),
            4 => Cond::And(Box::new(self.cond(scope, depth - 1)), Box::new(self.cond(scope, depth - 1))),
            5 => Cond::Or(Box::new(self.cond(scope, depth - 1)), Box::new(self.cond(scope, depth - 1))),
            _ => self.comparison(scope),
        }
    }

    fn comparison(&mut self, scope: &Scope) -> Cond {
        let mut fields = scope.readable(&self.p, self.gress);
        let most = self.d.of([16, 16, 8, 32]);
        fields.retain(|f| self.p.fields[*f].width <= most);
        let a = self.d.pick(&fields).unwrap_or(self.p.headers[scope.sure[0]].fields[0]);
        let width = self.p.fields[a].width;
        let same: Vec<Field> =
            fields.into_iter().filter(|f| *f != a && self.p.fields[*f].width == width).collect();
        if let Some(b) = self.d.pick(&same)
            && self.d.chance(1, 4)
        {
            return Cond::Cmp(self.d.of([CmpOp::Eq, CmpOp::Ne]), Expr::Field(a), Expr::Field(b));
        }
        let op = self.d.pick(&CmpOp::ALL).unwrap_or(CmpOp::Eq);
        Cond::Cmp(op, Expr::Field(a), self.constant(width))
    }
}
