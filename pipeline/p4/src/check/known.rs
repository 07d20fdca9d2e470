//! Functions and methods of which the compiler knows more than their signatures.

use super::Checker;
use super::call::Chosen;
use super::ty::TyKind;
use super::value::Value;
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{DeclId, ExprId, Name};

impl Checker<'_> {
    /// Checks what the signatures of `packet_in` cannot say: only headers are extracted.
    pub(super) fn check_method(&mut self, object: DeclId, member: Name, chosen: &Chosen) {
        if self.name(object) != "packet_in" || self.ast.text(member) != "extract" {
            return;
        }
        let Some(&Some(arg)) = chosen.args.first() else { return };
        let ty = self.out.expr_types[arg];
        if !matches!(
            self.out.types.kind(ty),
            TyKind::Header(..) | TyKind::Unknown | TyKind::Any | TyKind::Param(_)
        ) {
            let message = format!("{} cannot be extracted", self.describe(ty));
            let at = self.ast.exprs[arg].span;
            let diagnostic = Diagnostic::error(Class::Type, at, message);
            self.report(match self.out.types.kind(ty) {
                TyKind::Stack(..) => diagnostic.help("extract one element: `stack.next`"),
                _ => diagnostic.help("only headers are extracted; extract each header of a struct by itself"),
            });
        }
    }

    /// Computes functions that the compiler knows: sizes of types, and assertions.
    pub(super) fn known_function(&mut self, id: ExprId, name: &str, chosen: &Chosen) {
        let Some(&Some(arg)) = chosen.args.first() else { return };
        match name {
            "sizeInBits" | "sizeInBytes" => {
                let ty = self.out.expr_types[arg];
                let Some((_, bits)) = self.size(ty) else { return };
                let size = if name == "sizeInBits" { bits } else { bits.div_ceil(8) };
                self.out.values.insert(id, Value::Int(size.into()));
            }
            "static_assert" => {
                self.out.values.insert(id, Value::Bool(true));
                if self.out.values.get(&arg).and_then(Value::as_bool) == Some(false) {
                    let text = chosen.args.get(1).copied().flatten();
                    let reason = text.and_then(|text| match self.out.values.get(&text) {
                        Some(Value::Text(text)) => Some(self.ast.names.text(*text).to_owned()),
                        _ => None,
                    });
                    let at = self.ast.exprs[arg].span;
                    let message = reason.map_or_else(
                        || "the assertion does not hold".to_owned(),
                        |reason| format!("the assertion does not hold: {reason}"),
                    );
                    self.error(Class::Constant, at, message);
                }
            }
            _ => {}
        }
    }
}
