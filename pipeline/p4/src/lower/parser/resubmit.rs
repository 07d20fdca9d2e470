//! The data that resubmits leave in front of the packet.

use super::super::{Lower, Res};
use crate::check::Callee;
use crate::elaborate::BlockId;
use crate::syntax::ast::{DeclKind, ExprId, Stmt, StmtKind};

impl Lower<'_> {
    /// Returns the number of bits that the program's resubmits leave in front of the packet; `None` if it has no resubmits.
    pub(super) fn resubmit_data(&mut self) -> Res<Option<u32>> {
        let block = self.pipe.ingress.deparser;
        let ast = self.ast;
        let DeclKind::Control(control) = &ast.decls[self.pipe.blocks[block].decl].kind else {
            return Ok(None);
        };
        let mut calls = Vec::new();
        control
            .apply
            .iter()
            .flat_map(|apply| &apply.statements)
            .for_each(|inner| self.resubmits(inner, &mut calls));
        let mut found: Option<(u32, ExprId)> = None;
        for call in calls {
            let bits = self.resubmit_bits(block, call);
            match found {
                Some((other, _)) if other != bits => {
                    let at = ast.exprs[call].span;
                    let text = format!("a resubmit carries {bits} bits and another one {other}");
                    return Err(self.refuse(at, text, "pad their data to one length"));
                }
                _ => found = Some((bits, call)),
            }
        }
        Ok(found.map(|(bits, _)| bits))
    }

    fn resubmits(&self, statement: &Stmt, calls: &mut Vec<ExprId>) {
        match &statement.kind {
            StmtKind::Block(block) => block.statements.iter().for_each(|inner| self.resubmits(inner, calls)),
            StmtKind::If { then, otherwise, .. } => {
                self.resubmits(then, calls);
                otherwise.iter().for_each(|otherwise| self.resubmits(otherwise, calls));
            }
            StmtKind::Call(call) => {
                if let Some(Callee::Method(decl)) = self.checked.calls.get(call).map(|call| call.callee) {
                    let unit =
                        self.ast.decls[decl].parent.map(|unit| self.ast.text(self.ast.decls[unit].name));
                    if unit == Some("Resubmit") {
                        calls.push(*call);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the number of bits of the data of a resubmit.
    fn resubmit_bits(&mut self, block: BlockId, call: ExprId) -> u32 {
        let data = self.checked.calls.get(&call).and_then(|call| call.args.first().copied().flatten());
        let Some(data) = data else { return 0 };
        let ty = self.pipe.ty(self.ast, self.checked, block, data);
        self.type_bits(ty).unwrap_or(0).next_multiple_of(8)
    }
}
