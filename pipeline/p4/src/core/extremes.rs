//! The larger or smaller of two values, chosen by a comparison: `a > b ? a : b` is `max(a, b)`.
//!
//! No instruction chooses, and no gateway orders two fields; but an ALU has `max` and `min`.

use super::Core;
use crate::check::{Call, Callee, Resolution, TyKind};
use crate::elaborate::code_of;
use crate::syntax::ast::{Arg, BinaryOp, DeclId, DeclKind, ExprId, ExprKind, Name};
use rustc_hash::FxHashSet;

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    let functions = ["max", "min"].map(|name| core.function(name));
    // A stateful ALU chooses by itself.
    let methods =
        core.ast.decls.keys().filter(|decl| matches!(core.ast.decls[*decl].kind, DeclKind::Function(_)));
    let in_methods: FxHashSet<ExprId> = methods.flat_map(|method| code_of(core.ast, method)).collect();
    for expr in core.ast.exprs.keys().filter(|expr| !in_methods.contains(expr)) {
        let Some((larger, a, b)) = core.extreme(expr) else { continue };
        if let Some(function) = functions[usize::from(!larger)] {
            core.call(expr, function, [a, b]);
        }
    }
}

impl Core<'_> {
    /// Returns the function of the architecture with this name and two parameters.
    fn function(&self, name: &str) -> Option<DeclId> {
        let decls = self.checked.top.get(&self.ast.names.find(name)?)?;
        let of_two = |decl: &DeclId| match &self.ast.decls[*decl].kind {
            DeclKind::Function(function) => function.params.len() == 2,
            _ => false,
        };
        decls.iter().copied().find(of_two)
    }

    /// Returns the two values if an expression chooses the larger (`true`) or smaller one.
    fn extreme(&self, expr: ExprId) -> Option<(bool, ExprId, ExprId)> {
        let ExprKind::Ternary { condition, then, otherwise } = self.ast.exprs[expr].kind else { return None };
        let ExprKind::Binary { op, left, right } = self.ast.exprs[condition].kind else { return None };
        let is_greater = match op {
            BinaryOp::Gt | BinaryOp::Ge => true,
            BinaryOp::Lt | BinaryOp::Le => false,
            _ => return None,
        };
        let ty = self.checked.expr_types[expr];
        if !matches!(self.checked.types.kind(ty), TyKind::Bits(_) | TyKind::Signed(_))
            || self.checked.expr_types[left] != ty
        {
            return None;
        }
        if self.same(left, then) && self.same(right, otherwise) {
            Some((is_greater, then, otherwise))
        } else if self.same(left, otherwise) && self.same(right, then) {
            Some((!is_greater, then, otherwise))
        } else {
            None
        }
    }

    /// Returns true if two expressions are the same constant, or name the same variable or field.
    fn same(&self, a: ExprId, b: ExprId) -> bool {
        if let (Some(a), Some(b)) = (self.checked.values.get(&a), self.checked.values.get(&b)) {
            return a == b;
        }
        let resolved = |expr: ExprId| self.checked.resolutions[expr];
        match (&self.ast.exprs[a].kind, &self.ast.exprs[b].kind) {
            (ExprKind::Name { .. }, ExprKind::Name { .. }) => {
                resolved(a).is_some() && resolved(a) == resolved(b)
            }
            (ExprKind::Member { base: x, .. }, ExprKind::Member { base: y, .. }) => {
                resolved(a).is_some() && resolved(a) == resolved(b) && self.same(*x, *y)
            }
            (ExprKind::Slice { base: x, hi, lo }, ExprKind::Slice { base: y, hi: high, lo: low }) => {
                self.same(*x, *y) && self.same(*hi, *high) && self.same(*lo, *low)
            }
            (ExprKind::Index { base: x, index }, ExprKind::Index { base: y, index: other }) => {
                self.same(*x, *y) && self.same(*index, *other)
            }
            _ => false,
        }
    }

    /// Makes an expression the call of a function of two values.
    fn call(&mut self, expr: ExprId, function: DeclId, args: [ExprId; 2]) {
        let (at, ty) = (self.ast.exprs[expr].span, self.checked.expr_types[expr]);
        let name = Name { symbol: self.ast.decls[function].name.symbol, span: at };
        let callee = self.expr(ExprKind::Name { name, global: false }, crate::check::Ty::UNKNOWN, at);
        self.checked.resolutions[callee] = Some(Resolution::Decl(function));
        let values = args.map(|value| Arg { span: self.ast.exprs[value].span, name: None, value });
        self.ast.exprs[expr].kind = ExprKind::Call { callee, type_args: Vec::new(), args: values.into() };
        let call =
            Call { callee: Callee::Function(function), type_args: vec![ty], args: args.map(Some).into() };
        self.checked.calls.insert(expr, call);
    }
}
