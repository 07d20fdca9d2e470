//! Expressions, actions and control blocks with every operation.

use super::Writer;
use sluice_asic::alu::AluOp;
use sluice_ir::{
    ActionData, ApplyArms, Block, CmpOp, Cond, Expr, Index, Loc, MeterAccess, ParamData, Primitive,
    PrimitiveKind, RegisterAccess, Stmt, StmtKind,
};

impl Writer<'_, '_> {
    pub(super) fn expr(&mut self, depth: usize) -> Expr {
        let nested = |w: &mut Self| Box::new(w.expr(depth - 1));
        match self.below(if depth == 0 { 3 } else { 7 }) {
            0 => Expr::Const(self.value(), self.below(129) as u16),
            1 => Expr::Field(self.field()),
            2 => Expr::Param(self.below(3) as u16, 1 + self.below(20) as u16),
            3 => Expr::Slice(nested(self), self.below(99) as u16, self.below(50) as u16),
            4 => Expr::Cast(nested(self), self.below(128) as u16),
            5 => Expr::Funnel(nested(self), nested(self), self.below(40) as u16),
            _ => Expr::Alu(self.of(AluOp::ALL), nested(self), nested(self)),
        }
    }

    /// Adds primitives to actions, and adds actions.
    pub(super) fn actions(&mut self) {
        for action in self.p.actions.keys() {
            let more = self.list(2, Self::primitive);
            self.p.actions[action].body.extend(more);
        }
        for _ in 0..1 + self.below(3) {
            // Some parameters hide a field.
            let params = self.list(3, |w| {
                let at = sluice_ir::entity::Entity::new(w.below(w.p.fields.len()));
                let name = if w.d.chance(1, 3) { w.p.fields[at].name.clone() } else { w.name() };
                ParamData { name, width: 1 + w.below(20) as u16 }
            });
            let (name, gress, doc) = (self.name(), self.gress(), self.doc());
            let body = self.list(5, Self::primitive);
            self.p.actions.push(ActionData { name, gress, params, body, doc, loc: Loc::default() });
        }
    }

    fn primitive(&mut self) -> Primitive {
        let kind = match self.below(15) {
            0 => PrimitiveKind::Set(self.field(), self.expr(3)),
            1 => PrimitiveKind::SetMasked(self.field(), self.expr(1), self.expr(1)),
            2 => PrimitiveKind::SetValid(self.any(|p| &p.headers), self.flip()),
            3 => PrimitiveKind::CopyValid(self.any(|p| &p.headers), self.any(|p| &p.headers)),
            4 => PrimitiveKind::Hash(self.field(), self.any(|p| &p.hashes)),
            5 => PrimitiveKind::HashSlice(self.field(), self.any(|p| &p.hashes), self.below(60) as u16),
            6 => PrimitiveKind::Count(self.any(|p| &p.counters), self.expr(1)),
            7 => PrimitiveKind::CountDirect(self.any(|p| &p.counters)),
            8 => PrimitiveKind::Drop(self.any(|p| &p.labels)),
            9 => PrimitiveKind::Register(RegisterAccess {
                action: self.any(|p| &p.register_actions),
                index: self.index(),
                outputs: self.list(2, |w| (w.below(4) as u8, w.field())),
            }),
            10 => PrimitiveKind::Meter(MeterAccess {
                meter: self.any(|p| &p.meters),
                index: self.index(),
                input: self.flip().then(|| self.expr(1)),
                to: self.field(),
            }),
            13 => {
                let (hi, lo, from) = (self.below(40) as u16, self.below(40) as u16, self.below(60) as u16);
                PrimitiveKind::HashInto(self.field(), hi, lo, self.any(|p| &p.hashes), from)
            }
            12 => PrimitiveKind::DropCtl(self.field(), self.expr(1), self.any(|p| &p.labels)),
            11 => {
                let (hi, lo) = (self.below(40) as u16, self.below(40) as u16);
                PrimitiveKind::SetSlice(self.field(), hi, lo, self.expr(1))
            }
            _ => PrimitiveKind::Random(self.field(), self.any(|p| &p.randoms)),
        };
        Primitive { kind, loc: Loc::default() }
    }

    fn index(&mut self) -> Index {
        match self.below(3) {
            0 => Index::At(self.expr(1)),
            1 => Index::Entry,
            _ => Index::Hash(self.any(|p| &p.hashes)),
        }
    }

    pub(super) fn block(&mut self, depth: usize) -> Block {
        self.list(3, |w| {
            let kind = match w.below(if depth == 0 { 2 } else { 4 }) {
                0 => StmtKind::Call(w.any(|p| &p.actions)),
                1 => StmtKind::Apply(w.any(|p| &p.tables), ApplyArms::default()),
                2 => {
                    let (hit, miss) = (w.block(depth - 1), w.block(depth - 1));
                    let run = w.list(2, |w| (w.any(|p| &p.actions), w.block(depth - 1)));
                    StmtKind::Apply(w.any(|p| &p.tables), ApplyArms { hit, miss, run })
                }
                _ => StmtKind::If(w.cond(3), w.block(depth - 1), w.block(depth - 1)),
            };
            Stmt { kind, loc: Loc::default() }
        })
    }

    fn cond(&mut self, depth: usize) -> Cond {
        let nested = |w: &mut Self| Box::new(w.cond(depth - 1));
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => Cond::Cmp(self.of(&CmpOp::ALL), self.expr(1), self.expr(1)),
            1 => Cond::Valid(self.any(|p| &p.headers)),
            2 => Cond::Not(nested(self)),
            3 => Cond::And(nested(self), nested(self)),
            _ => Cond::Or(nested(self), nested(self)),
        }
    }
}
