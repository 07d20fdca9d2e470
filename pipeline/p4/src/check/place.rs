//! Places that can be written: variables, `out` and `inout` parameters, and parts of these.

use super::Checker;
use super::tables::{Builtin, Resolution};
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{DeclKind, Direction, ExprId, ExprKind};

impl Checker<'_> {
    /// Returns true if an expression, which has been checked, can be written, and reports one that cannot.
    pub(super) fn writable(&mut self, expr: ExprId, action: &str) -> bool {
        let ast = self.ast;
        match &ast.exprs[expr].kind {
            ExprKind::Error => true,
            ExprKind::Name { name, .. } => {
                let Some(Resolution::Decl(decl)) = self.out.resolutions[expr] else { return true };
                let reason = match &ast.decls[decl].kind {
                    DeclKind::Variable { .. } | DeclKind::Invalid => return true,
                    DeclKind::Param(param) => match param.direction {
                        Direction::Out | Direction::InOut => return true,
                        Direction::In => "it is an `in` parameter",
                        Direction::None => "it is a parameter without direction",
                    },
                    DeclKind::Const { .. } => "it is a constant",
                    _ => "it is not a variable",
                };
                let message = format!("`{}` cannot be {action}", ast.text(*name));
                let place = ast.decls[decl].name.span;
                let diagnostic = Diagnostic::error(Class::Type, name.span, message)
                    .note(reason)
                    .also(place, "declared here");
                let help = match &ast.decls[decl].kind {
                    DeclKind::Param(_) => "declare the parameter `inout`, or write to a local variable",
                    _ => "write to a local variable instead",
                };
                self.report(diagnostic.help(help));
                false
            }
            ExprKind::Member { base, .. } => match self.out.resolutions[expr] {
                Some(Resolution::Field(..) | Resolution::Builtin(Builtin::Next | Builtin::Last)) => {
                    self.writable(*base, action)
                }
                None => true,
                _ => self.not_a_place(expr, action),
            },
            ExprKind::Index { base, .. } | ExprKind::Slice { base, .. } => self.writable(*base, action),
            _ => self.not_a_place(expr, action),
        }
    }

    fn not_a_place(&mut self, expr: ExprId, action: &str) -> bool {
        let at = self.ast.exprs[expr].span;
        self.report(Diagnostic::error(Class::Type, at, format!("this value cannot be {action}")).help(
            "name a variable, a field of a header or struct, an element of a stack, or a slice of these",
        ));
        false
    }
}
