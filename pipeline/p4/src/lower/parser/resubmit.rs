//! The data that resubmits leave in front of the packet.

use super::super::{Lower, Res};
use crate::check::{Callee, TyKind};
use crate::elaborate::BlockId;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, Stmt, StmtKind};
use sluice_asic::intrinsic::Architecture;

impl Lower<'_> {
    /// Returns the number of bits that the program's resubmits leave in front of the packet, which is 0 if none carries
    /// data; `None` if it has no resubmits.
    pub(in crate::lower) fn resubmit_data(&mut self) -> Res<Option<u32>> {
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
        let bits: Vec<u32> = calls.iter().map(|&call| self.resubmit_bits(block, call)).collect();
        let Some(&longest) = bits.iter().max() else { return Ok(None) };
        // On the chip data are as long as their slot. If the parser extracts the header that they are, no bytes after it matter.
        let slot = if self.chip == Architecture::Tna { 64 } else { 128 };
        let same = bits.iter().all(|bits| *bits == longest);
        let types: Vec<Option<DeclId>> =
            calls.iter().map(|&call| self.resubmit_header(block, call)).collect();
        let exact = longest == 0 || same && types.into_iter().all(|of| self.extracts(longest, of));
        Ok(Some(if exact { longest } else { longest.max(slot) }))
    }

    /// Returns true if the program extracts this header, or if data have no header's type, a header of this many bits.
    fn extracts(&mut self, bits: u32, header: Option<DeclId>) -> bool {
        let block = self.pipe.ingress.parser;
        let extracts = |callee: &Callee| match callee {
            Callee::Method(decl) => self.ast.text(self.ast.decls[*decl].name) == "extract",
            _ => false,
        };
        let calls = self.checked.calls.values().filter(|call| extracts(&call.callee));
        let headers: Vec<ExprId> = calls.filter_map(|call| call.args.first().copied().flatten()).collect();
        headers.into_iter().any(|extracted| {
            let ty = self.pipe.ty(self.ast, self.checked, block, extracted);
            if let (Some(header), &TyKind::Header(of, _)) = (header, self.checked.types.kind(ty)) {
                return header == of;
            }
            self.type_bits(ty).map(|bits| bits.next_multiple_of(8)) == Some(bits)
        })
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

    /// Returns the type of the data of a resubmit, if that is a header.
    fn resubmit_header(&mut self, block: BlockId, call: ExprId) -> Option<DeclId> {
        let data = self.checked.calls.get(&call).and_then(|call| call.args.first().copied().flatten())?;
        let ty = self.pipe.ty(self.ast, self.checked, block, data);
        match *self.checked.types.kind(ty) {
            TyKind::Header(decl, _) => Some(decl),
            _ => None,
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
