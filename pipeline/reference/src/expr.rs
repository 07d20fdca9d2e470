//! Values of expressions.

use crate::number::{self, Range, compare};
use crate::place::slice;
use crate::program::Shape;
use crate::run::Run;
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::{Builtin, Resolution, Ty};
use sluice_p4::elaborate::Binding;
use sluice_p4::syntax::ast::{BinaryOp, DeclId, DeclKind, ExprId, ExprKind, Name, UnaryOp};

impl Run<'_, '_> {
    /// Returns the value of an expression, of the expression's type.
    ///
    /// Constants are computed here from their text, not taken from the front end's tables.
    pub(crate) fn value(&mut self, expr: ExprId) -> Res<Value> {
        let ast = self.ast;
        let value = match &ast.exprs[expr].kind {
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Int(literal) => {
                let value = BigInt::from(literal.value.clone());
                Value::Number(match literal.width {
                    Some(width) if width.signed => Range::Signed(width.bits).wrap(&value),
                    Some(width) => Range::Unsigned(width.bits).wrap(&value),
                    None => value,
                })
            }
            ExprKind::Name { .. } => self.named(expr)?,
            ExprKind::Member { base, .. } => self.member(expr, *base)?,
            ExprKind::Index { base, index } => match self.place(expr)? {
                Some(place) => self.get(&place),
                None => {
                    let list = self.value(*base)?;
                    let at = self.value(*index)?.as_u64().unwrap_or(u64::MAX);
                    list.parts().get(at as usize).cloned().unwrap_or(Value::Nothing)
                }
            },
            ExprKind::Slice { base, hi, lo } => {
                let (hi, lo) = self.slice_bounds(*hi, *lo)?;
                slice(&self.value(*base)?, hi, lo)
            }
            ExprKind::Unary { op, operand } => self.unary(expr, *op, *operand)?,
            ExprKind::Binary { op, left, right } => self.binary(expr, *op, *left, *right)?,
            ExprKind::Ternary { condition, then, otherwise } => {
                let taken = if self.condition(*condition)? { *then } else { *otherwise };
                self.value(taken)?
            }
            ExprKind::Cast { operand, .. } => self.value(*operand)?,
            ExprKind::Call { .. } => self.call(expr)?,
            ExprKind::List(elements) => {
                Value::Struct(elements.iter().map(|&element| self.value(element)).collect::<Res<_>>()?)
            }
            ExprKind::Record(entries) => return self.record(expr, entries),
            ExprKind::Text(_) | ExprKind::This | ExprKind::Default | ExprKind::Any => Value::Nothing,
            ExprKind::Error
            | ExprKind::Type(_)
            | ExprKind::Construct { .. }
            | ExprKind::Mask { .. }
            | ExprKind::Range { .. } => {
                return Err(unsupported(self.span(expr), "this expression as a value"));
            }
        };
        let ty = self.ty(expr);
        Ok(self.converted(value, ty))
    }

    /// Returns a truth value.
    pub(crate) fn condition(&mut self, expr: ExprId) -> Res<bool> {
        let value = self.value(expr)?;
        value.as_bool().ok_or_else(|| unsupported(self.span(expr), "this condition"))
    }

    /// Returns a number that is not below 0.
    pub(crate) fn unsigned(&mut self, expr: ExprId) -> Res<u64> {
        let value = self.value(expr)?;
        value.as_u64().ok_or_else(|| unsupported(self.span(expr), "this number"))
    }

    /// Returns a value as one of a type: numbers wrap, and lists become structs and headers.
    pub(crate) fn converted(&mut self, value: Value, ty: Ty) -> Value {
        match (self.core.program.shape(ty), value) {
            (Shape::Number(range), Value::Number(value)) => Value::Number(range.wrap(&value)),
            (Shape::Number(_), Value::Bool(value)) => Value::number(u8::from(value)),
            (Shape::Bool, Value::Number(value)) => Value::Bool(value != BigInt::from(0)),
            (Shape::Header(fields), Value::Struct(parts)) => {
                let parts = parts.into_iter().zip(&fields.list);
                let fields = parts.map(|(part, &(_, ty))| self.converted(part, ty)).collect();
                Value::Header { valid: true, fields }
            }
            (Shape::Struct(fields), Value::Struct(parts)) if parts.len() == fields.list.len() => {
                let parts = parts.into_iter().zip(&fields.list);
                Value::Struct(parts.map(|(part, &(_, ty))| self.converted(part, ty)).collect())
            }
            (_, value) => value,
        }
    }

    fn named(&mut self, expr: ExprId) -> Res<Value> {
        if let Some(place) = self.place(expr)? {
            return Ok(self.get(&place));
        }
        let Some(decl) = self.core.program.checked.decl_of(expr) else {
            return Err(unsupported(self.span(expr), "this name"));
        };
        self.declared(decl)
    }

    /// Returns the value of a constant, or of a constructor's parameter; instances have none.
    pub(crate) fn declared(&mut self, decl: DeclId) -> Res<Value> {
        if let Some(Binding::Value(value)) = self.core.program.pipe.binding(self.block(), decl) {
            let value = self.core.program.constant(value);
            let ty = self.decl_ty(decl);
            return Ok(self.converted(value, ty));
        }
        match self.ast.decls[decl].kind {
            DeclKind::Const { value, .. } => {
                let value = self.value(value)?;
                let ty = self.decl_ty(decl);
                Ok(self.converted(value, ty))
            }
            _ => Ok(Value::Nothing),
        }
    }

    fn member(&mut self, expr: ExprId, base: ExprId) -> Res<Value> {
        if matches!(self.ast.exprs[base].kind, ExprKind::Type(_)) {
            return self.type_member(expr);
        }
        if let Some(place) = self.place(expr)? {
            return Ok(self.get(&place));
        }
        let inner = self.value(base)?;
        match (self.core.program.checked.resolutions[expr], &inner) {
            (Some(Resolution::Field(_, at)), _) => {
                Ok(inner.parts().get(at as usize).cloned().unwrap_or(Value::Nothing))
            }
            (Some(Resolution::Builtin(Builtin::Hit)), Value::Applied { hit, .. }) => Ok(Value::Bool(*hit)),
            (Some(Resolution::Builtin(Builtin::Miss)), Value::Applied { hit, .. }) => Ok(Value::Bool(!hit)),
            (Some(Resolution::Builtin(Builtin::ActionRun)), _) => Ok(inner),
            (Some(Resolution::Builtin(Builtin::LastIndex)), Value::Stack { next, .. }) => {
                Ok(Value::number(BigInt::from(*next) - 1))
            }
            (Some(Resolution::Builtin(Builtin::Size)), Value::Stack { elements, .. }) => {
                Ok(Value::number(elements.len()))
            }
            _ => Err(unsupported(self.span(expr), "this member")),
        }
    }

    /// Returns a member of an enumeration.
    fn type_member(&mut self, expr: ExprId) -> Res<Value> {
        let Some(decl) = self.core.program.checked.decl_of(expr) else {
            return Err(unsupported(self.span(expr), "this member of a type"));
        };
        match self.ast.decls[decl].kind {
            DeclKind::Member { value: Some(value) } => self.value(value),
            _ => Ok(Value::Member(decl)),
        }
    }

    fn record(&mut self, expr: ExprId, entries: &[(Name, ExprId)]) -> Res<Value> {
        let mut values = Vec::new();
        for &(name, value) in entries {
            values.push((name.symbol, self.value(value)?));
        }
        let ty = self.ty(expr);
        let (fields, is_header) = match self.core.program.shape(ty) {
            Shape::Header(fields) => (fields, true),
            Shape::Struct(fields) => (fields, false),
            _ => return Err(unsupported(self.span(expr), "this list of named values")),
        };
        let mut parts = Vec::new();
        for &(name, ty) in &fields.list {
            let given = values.iter().find(|(symbol, _)| Some(*symbol) == name);
            parts.push(match given {
                Some((_, value)) => self.converted(value.clone(), ty),
                None => return Err(unsupported(self.span(expr), "a list without a value for each field")),
            });
        }
        Ok(if is_header { Value::Header { valid: true, fields: parts } } else { Value::Struct(parts) })
    }

    fn unary(&mut self, expr: ExprId, op: UnaryOp, operand: ExprId) -> Res<Value> {
        let value = self.value(operand)?;
        if let (UnaryOp::Not, Value::Bool(value)) = (op, &value) {
            return Ok(Value::Bool(!value));
        }
        let ty = self.ty(operand);
        let range = self.core.program.range(ty);
        let found = value.as_number().zip(range).and_then(|(value, range)| number::unary(op, range, &value));
        found.map(Value::Number).ok_or_else(|| unsupported(self.span(expr), "this operator on this value"))
    }

    fn binary(&mut self, expr: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Res<Value> {
        match op {
            BinaryOp::And => return Ok(Value::Bool(self.condition(left)? && self.condition(right)?)),
            BinaryOp::Or => return Ok(Value::Bool(self.condition(left)? || self.condition(right)?)),
            BinaryOp::Concat => return self.concat(left, right),
            // With zero, a sum of a signed type is in the order of sequence numbers, as its bits say.
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
                if self.access.is_some() && !self.is_signed_with_zero(left, right)? =>
            {
                let (left, right) = (self.exact(left)?, self.exact(right)?);
                return Ok(Value::Bool(compare(op, &left, &right).unwrap_or_default()));
            }
            _ => {}
        }
        let (first, second) = (self.value(left)?, self.value(right)?);
        if let BinaryOp::Eq | BinaryOp::Ne = op {
            return Ok(Value::Bool(equal(&first, &second) == (op == BinaryOp::Eq)));
        }
        let ty = self.ty(left);
        let range = self.core.program.range(ty);
        let (Some(first), Some(second), Some(range)) = (first.as_number(), second.as_number(), range) else {
            return Err(unsupported(self.span(expr), "this operator on these values"));
        };
        if let Some(truth) = compare(op, &first, &second) {
            return Ok(Value::Bool(truth));
        }
        let found = number::binary(op, range, &first, &second);
        found
            .map(Value::Number)
            .ok_or_else(|| unsupported(self.span(expr), "this operation on these numbers"))
    }

    fn concat(&mut self, left: ExprId, right: ExprId) -> Res<Value> {
        let (high, low) = (self.value(left)?, self.value(right)?);
        let ty = self.ty(right);
        let at = self.span(right);
        let width = self.core.program.width(ty, at)?;
        match (high.as_number(), low.as_number()) {
            (Some(high), Some(low)) => {
                Ok(Value::Number((high << width) + crate::bits::low_bits(&low, width)))
            }
            _ => Err(unsupported(at, "a concatenation of these values")),
        }
    }

    /// Returns a side of an order in a register action. The comparison units of a stateful ALU are wide enough for unsigned sums
    /// and differences, which do not wrap there.
    fn exact(&mut self, expr: ExprId) -> Res<BigInt> {
        let ty = self.ty(expr);
        let unsigned = matches!(self.core.program.range(ty), Some(Range::Unsigned(_)));
        match self.ast.exprs[expr].kind {
            ExprKind::Binary { op: BinaryOp::Add, left, right } if unsigned => {
                Ok(self.exact(left)? + self.exact(right)?)
            }
            ExprKind::Binary { op: BinaryOp::Sub, left, right } if unsigned => {
                Ok(self.exact(left)? - self.exact(right)?)
            }
            ExprKind::Cast { operand, .. } if !unsigned => self.exact_signed(operand, ty),
            _ => self.ordered(expr),
        }
    }

    fn is_signed_with_zero(&mut self, left: ExprId, right: ExprId) -> Res<bool> {
        let ty = self.ty(left);
        if !matches!(self.core.program.range(ty), Some(Range::Signed(_))) {
            return Ok(false);
        }
        let checked = &self.core.program.checked;
        let known: Vec<ExprId> =
            [left, right].into_iter().filter(|side| checked.values.contains_key(side)).collect();
        let mut values = known.into_iter().map(|side| self.value(side));
        values.try_fold(false, |found, value| Ok(found || value?.as_number() == Some(BigInt::from(0))))
    }

    /// Returns the cast of an unsigned value to a signed type, whose sums do not wrap.
    fn exact_signed(&mut self, operand: ExprId, ty: Ty) -> Res<BigInt> {
        let (op, left, right) = match self.ast.exprs[operand].kind {
            ExprKind::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), left, right } => (op, left, right),
            _ => {
                let value = self.value(operand)?;
                let value = self.converted(value, ty).as_number();
                return value.ok_or_else(|| unsupported(self.span(operand), "an order of these values"));
            }
        };
        let (left, right) = (self.exact_signed(left, ty)?, self.exact_signed(right, ty)?);
        Ok(if op == BinaryOp::Add { left + right } else { left - right })
    }

    fn ordered(&mut self, expr: ExprId) -> Res<BigInt> {
        let value = self.value(expr)?;
        value.as_number().ok_or_else(|| unsupported(self.span(expr), "an order of these values"))
    }
}

/// Returns true if values are equal; fields of invalid headers do not matter.
pub(crate) fn equal(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Header { valid: one, fields: left }, Value::Header { valid: other, fields: right }) => {
            one == other && (!one || all_equal(left, right))
        }
        (Value::Struct(left), Value::Struct(right))
        | (Value::Stack { elements: left, .. }, Value::Stack { elements: right, .. }) => {
            all_equal(left, right)
        }
        _ => first == second,
    }
}

fn all_equal(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
}
