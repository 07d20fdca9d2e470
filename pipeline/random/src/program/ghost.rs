//! Draws the ghost control: a register that queue-depth updates write and packets read.

use super::Writer;
use super::value::Draft;
use sluice_asic::salu::{Format, Half};
use sluice_ir::{
    CellStmt, CellStmtKind, CellValue, CmpOp, Cond, CounterHome, Expr, Home, Index, Intrinsic, Loc,
    PrimitiveKind, Register, RegisterAccess, RegisterAction, RegisterActionData, RegisterData, Stmt,
    StmtKind,
};

impl Writer<'_, '_> {
    /// Draws the ghost control; returns the statement by which ingress reads its register.
    pub(super) fn ghost(&mut self) -> Stmt {
        let [depth, qid, pipe] = [Intrinsic::GhostQlength, Intrinsic::GhostQid, Intrinsic::GhostPipeId]
            .map(|which| self.p.add_intrinsic(self.gress, which));
        let bits = self.d.of([16u16, 32, 8]);
        let format = Format::single(bits.into()).unwrap_or(Format::BIT);
        let value = match bits {
            32 => Expr::Cast(Box::new(Expr::Field(depth)), bits),
            _ => Expr::Slice(Box::new(Expr::Field(depth)), bits - 1, 0),
        };
        let (name, gress, doc, loc) = (self.name("depths"), self.gress, String::new(), Loc::default());
        let (home, init) = (CounterHome::Indirect(64), [0, 0]);
        let register = self.p.registers.push(RegisterData {
            name,
            gress,
            format,
            home,
            init,
            params: Vec::new(),
            doc,
            loc,
        });
        let mut keep = self.body(format, &[CellValue::Phv(value)]);
        keep.retain(|stmt| !matches!(stmt, CellStmtKind::Output(..)));
        if keep.is_empty() {
            keep.push(CellStmtKind::Write(Half::Lo, CellValue::Const(1)));
        }
        let keep = self.depth_action(register, keep);
        let read = vec![CellStmtKind::Output(0, CellValue::Half(Half::Lo))];
        let read = self.depth_action(register, read);
        let slice = |field| Expr::Slice(Box::new(Expr::Field(field)), 5, 0);
        let body = PrimitiveKind::Register(RegisterAccess {
            action: keep,
            index: Index::At(slice(qid)),
            outputs: Vec::new(),
        });
        let keep = self.push_action(vec![body], Draft::default());
        let call = Stmt { kind: StmtKind::Call(keep), loc: Loc::default() };
        let cond = Cond::Cmp(CmpOp::Ne, Expr::Field(pipe), Expr::Const(self.d.below(4) as u128, 2));
        self.p.ghost = vec![Stmt { kind: StmtKind::If(cond, vec![call], Vec::new()), loc: Loc::default() }];
        let to = self.p.add_field(self.gress, "m.depth", bits, Home::Metadata);
        let body = PrimitiveKind::Register(RegisterAccess {
            action: read,
            index: Index::At(Expr::Const(self.d.below(64) as u128, 6)),
            outputs: vec![(0, to)],
        });
        Stmt { kind: StmtKind::Call(self.push_action(vec![body], Draft::default())), loc: Loc::default() }
    }

    fn depth_action(&mut self, register: Register, body: Vec<CellStmtKind>) -> RegisterAction {
        let body = body.into_iter().map(|kind| CellStmt { kind, loc: Loc::default() }).collect();
        let (name, doc, loc) = (self.name("ra"), String::new(), Loc::default());
        self.p.register_actions.push(RegisterActionData { name, register, body, doc, loc })
    }
}
