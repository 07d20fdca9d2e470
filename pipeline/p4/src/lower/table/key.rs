//! Keys of tables.

use super::super::frame::Frame;
use super::super::{Lower, Res};
use crate::check::{Builtin, Callee};
use crate::syntax::ast::{ExprId, ExprKind, TableDecl};
use sluice_asic::alu::AluOp;
use sluice_ir::{self as ir, Expr, Key, KeySource, MatchKind};

impl Lower<'_> {
    pub(super) fn keys(&mut self, frame: &Frame, table: ir::Table, decl: &TableDecl) -> Res<()> {
        let mut refused = Ok(());
        let elements = || decl.key.iter().flat_map(|key| &key.elements);
        // Priorities of entries decide, not the lengths of prefixes.
        let prioritised = elements().find(|e| matches!(self.ast.text(e.match_kind), "ternary" | "range"));
        for element in elements() {
            let kind = match self.ast.text(element.match_kind) {
                "exact" | "atcam_partition_index" => MatchKind::Exact,
                "ternary" => MatchKind::Ternary,
                "lpm" if prioritised.is_some() => {
                    self.note(
                        element.match_kind.span,
                        "an lpm key beside a ternary or range key",
                        "it is a ternary key; entries need priorities, and longer prefixes do not win by themselves",
                    );
                    MatchKind::Ternary
                }
                "lpm" => MatchKind::Lpm,
                "range" => MatchKind::Range,
                // The selector's hash reads it.
                "selector" => continue,
                other => {
                    let text = format!("match kind `{other}`");
                    let help = "use `exact`, `ternary`, `lpm` or `range`";
                    refused = Err(self.refuse(element.match_kind.span, text, help));
                    continue;
                }
            };
            let split = decl.entries.is_none() && matches!(kind, MatchKind::Exact | MatchKind::Ternary);
            match self.key(frame, element.value, kind, split) {
                Ok(keys) => self.program.tables[table].keys.extend(keys),
                Err(error) => refused = Err(error),
            }
        }
        refused
    }

    /// Returns the values that a selector's hash reads.
    pub(super) fn selector_keys(&mut self, frame: &Frame, decl: &TableDecl) -> Res<Vec<Expr>> {
        let mut inputs = Vec::new();
        for element in decl.key.iter().flat_map(|key| &key.elements) {
            if self.ast.text(element.match_kind) == "selector" {
                inputs.extend(self.leaves(frame, element.value)?);
            }
        }
        Ok(inputs)
    }

    /// Returns the key of an expression: several keys for a concatenation or wide field, if it may be split.
    fn key(&mut self, frame: &Frame, id: ExprId, kind: MatchKind, split: bool) -> Res<Vec<Key>> {
        if let Some(header) = self.validity_of(frame, id) {
            return Ok(vec![Key { what: KeySource::Valid(header), mask: None, kind }]);
        }
        if !split {
            let value = self.value(frame, id)?;
            return Ok(vec![self.column(value, kind, self.ast.exprs[id].span)?]);
        }
        let pieces = self.pieces(frame, id)?;
        let pieces = super::super::simplify::joined(&self.program, &pieces);
        pieces.into_iter().map(|piece| self.column(piece, kind, self.ast.exprs[id].span)).collect()
    }

    fn column(&mut self, value: Expr, kind: MatchKind, at: crate::source::Span) -> Res<Key> {
        let (value, mask) = match value {
            Expr::Alu(AluOp::And, value, mask) => match (*value, *mask) {
                (value, Expr::Const(mask, _)) | (Expr::Const(mask, _), value) => (value, Some(mask)),
                (value, mask) => (Expr::Alu(AluOp::And, Box::new(value), Box::new(mask)), None),
            },
            value => (value, None),
        };
        let what = match &value {
            Expr::Field(field) => Some(KeySource::Field(*field)),
            Expr::Slice(inner, hi, lo) => match **inner {
                Expr::Field(field) => Some(KeySource::Slice(field, *hi, *lo)),
                _ => None,
            },
            _ => None,
        };
        match what {
            Some(what) => Ok(Key { what, mask, kind }),
            None => Err(self.refuse(
                at,
                "this key is computed, or a constant",
                "a table compares fields, slices of fields, and fields under a constant mask: write the value to a metadata field first",
            )),
        }
    }

    /// Returns the header whose validity an expression is.
    fn validity_of(&mut self, frame: &Frame, id: ExprId) -> Option<ir::Header> {
        let call = self.checked.calls.get(&id)?;
        if call.callee != Callee::Builtin(Builtin::IsValid) {
            return None;
        }
        let ExprKind::Call { callee, .. } = &self.ast.exprs[id].kind else { return None };
        let ExprKind::Member { base, .. } = &self.ast.exprs[*callee].kind else { return None };
        match self.place(frame, *base)? {
            super::super::places::Place::Header(instance) => Some(self.header(instance)),
            _ => None,
        }
    }
}
