//! Values of expressions in an instance: constructor parameters have values there.

use super::Binding;
use crate::check::{self, Checked, Ty, TyKind, Value};
use crate::syntax::ast::{Ast, BinaryOp, DeclId, ExprId, ExprKind};

/// Returns the value of an expression; `binding` says what constructor parameters stand for.
pub(super) fn value(
    ast: &Ast,
    checked: &Checked,
    binding: &dyn Fn(DeclId) -> Option<Binding>,
    expr: ExprId,
) -> Option<Value> {
    if let Some(value) = checked.values.get(&expr) {
        return Some(value.clone());
    }
    let of = |part: ExprId| value(ast, checked, binding, part);
    let kind = |part: ExprId| checked.types.kind(checked.base(ast, checked.expr_types[part]));
    let found = match &ast.exprs[expr].kind {
        ExprKind::Name { .. } => match binding(checked.decl_of(expr)?)? {
            Binding::Value(value) => value,
            _ => return None,
        },
        ExprKind::Member { base, .. } => match (of(*base)?, checked.resolutions[expr]?) {
            (Value::List(values), check::Resolution::Field(_, at)) => values.get(at as usize)?.clone(),
            _ => return None,
        },
        ExprKind::Slice { base, hi, lo } => {
            let (hi, lo) = (of(*hi)?.as_u32()?, of(*lo)?.as_u32()?);
            Value::Int(check::slice(of(*base)?.as_int()?, hi, lo))
        }
        ExprKind::Unary { op, operand } => check::unary(*op, kind(*operand), &of(*operand)?).ok()?,
        ExprKind::Binary { op: BinaryOp::Concat, left, right } => {
            let low = match kind(*right) {
                TyKind::Bits(width) | TyKind::Signed(width) => *width,
                _ => return None,
            };
            Value::Int(check::concat(of(*left)?.as_int()?, of(*right)?.as_int()?, low))
        }
        ExprKind::Binary { op, left, right } => {
            let first = of(*left)?;
            match (op, &first) {
                (BinaryOp::And, Value::Bool(false)) | (BinaryOp::Or, Value::Bool(true)) => first,
                _ => check::binary(*op, kind(*left), &first, &of(*right)?).ok()?,
            }
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            of(if of(*condition)?.as_bool()? { *then } else { *otherwise })?
        }
        ExprKind::Cast { operand, .. } => of(*operand)?,
        ExprKind::List(elements) => {
            Value::List(elements.iter().map(|&part| of(part)).collect::<Option<_>>()?)
        }
        ExprKind::Record(entries) => {
            Value::List(entries.iter().map(|(_, part)| of(*part)).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(convert(ast, checked, found, checked.expr_types[expr]))
}

/// Returns a value in the range of a type.
pub(super) fn convert(ast: &Ast, checked: &Checked, value: Value, ty: Ty) -> Value {
    check::cast_value(&value, checked.types.kind(checked.base(ast, ty)))
}
