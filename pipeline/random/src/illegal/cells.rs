//! Register actions of every form.

use super::Writer;
use sluice_asic::salu::{Half, LaneMask, LaneOp, LanePost, LaneSearch, MathUnit, PostAmount, SaluOp, Sense};
use sluice_ir::{
    CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, LanePart, Loc, RegisterActionData, Search,
};

const HALVES: [Half; 2] = [Half::Lo, Half::Hi];

impl Writer<'_, '_> {
    /// Adds to register actions, and adds register actions.
    pub(super) fn register_actions(&mut self) {
        for action in self.p.register_actions.keys() {
            let more = self.cell_block(1);
            self.p.register_actions[action].body.extend(more);
        }
        for _ in 0..1 + self.below(2) {
            let (name, register) = (self.name(), self.any(|p| &p.registers));
            let (body, doc) = (self.cell_block(2), self.doc());
            let data = RegisterActionData { name, register, body, doc, loc: Loc::default() };
            self.p.register_actions.push(data);
        }
    }

    fn cell_block(&mut self, depth: usize) -> Vec<CellStmt> {
        self.list(3, |w| {
            let kind = match w.below(if depth == 0 { 3 } else { 4 }) {
                0 => CellStmtKind::Write(w.of(&HALVES), w.cell_value(2)),
                1 => CellStmtKind::Output(w.below(4) as u8, w.cell_value(2)),
                2 => CellStmtKind::Search(w.search()),
                _ => CellStmtKind::If(w.cell_cond(2), w.cell_block(depth - 1), w.cell_block(depth - 1)),
            };
            CellStmt { kind, loc: Loc::default() }
        })
    }

    fn cell_value(&mut self, depth: usize) -> CellValue {
        let value = |w: &mut Self| Box::new(w.cell_value(depth - 1));
        match self.below(if depth == 0 { 7 } else { 12 }) {
            0 => CellValue::Const(self.word() >> self.of(&[60, 32, 0])),
            1 if self.flip() => CellValue::Old(self.of(&HALVES)),
            1 => CellValue::Half(self.of(&HALVES)),
            2 => CellValue::Phv(self.expr(2)),
            3 => CellValue::Param(self.below(5) as u8),
            4 => CellValue::Address,
            5 => CellValue::Hash(self.any(|p| &p.hashes)),
            6 => CellValue::Lane(self.of(&LanePart::ALL).1),
            7 => {
                let table = self.value().to_be_bytes();
                let (shift, scale) = (self.below(3) as i8 - 1, self.below(64) as i8 - 32);
                match MathUnit::new(self.flip(), shift, scale, table) {
                    Ok(unit) => CellValue::Math(unit, value(self)),
                    Err(_) => CellValue::Address,
                }
            }
            8 => CellValue::Predicate(self.list(3, |w| w.cell_cond(depth - 1))),
            9 => CellValue::Quotient(value(self), value(self)),
            10 => CellValue::Remainder(value(self), value(self)),
            _ => CellValue::Op(self.of(SaluOp::ALL), value(self), value(self)),
        }
    }

    fn search(&mut self) -> Search {
        let mask = self.d.word() as u16;
        let mask = self.of(&[LaneMask::Constant(mask), LaneMask::Phv]);
        let amount = PostAmount::Constant(self.d.word() as u8);
        let amount = self.of(&[amount, PostAmount::Phv]);
        let post = LanePost { subtract: self.flip(), amount };
        let what = LaneSearch {
            op: self.of(&LaneOp::ALL),
            from_phv: self.flip(),
            mask,
            post: self.d.chance(2, 3).then_some(post),
        };
        Search { what, operands: self.list(2, |w| w.expr(1)) }
    }

    fn cell_cond(&mut self, depth: usize) -> CellCond {
        let nested = |w: &mut Self| Box::new(w.cell_cond(depth - 1));
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => {
                let (op, sense) = (self.of(&CmpOp::ALL), self.of(&Sense::ALL));
                CellCond::Cmp(op, sense, self.cell_value(1), self.cell_value(1))
            }
            1 => CellCond::Match(self.of(&HALVES), self.cell_value(0), self.word()),
            2 => CellCond::Not(nested(self)),
            3 => CellCond::And(nested(self), nested(self)),
            _ => CellCond::Or(nested(self), nested(self)),
        }
    }
}
