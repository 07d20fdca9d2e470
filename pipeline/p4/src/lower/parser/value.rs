//! Expressions of a parser as values.

use super::super::Res;
use super::bits::{Bits, Lost, Source};
use super::layout::Member;
use super::walk::{State, Walk};
use crate::check::{Builtin, Callee, Resolution, TyKind, Value};
use crate::elaborate::{Binding, ObjectId};
use crate::names::Symbol;
use crate::syntax::ast::{BinaryOp, DeclKind, ExprId, ExprKind, UnaryOp};
use sluice_asic::alu::width_mask;

impl Walk<'_, '_> {
    /// Returns the value of an expression; bits that a parser cannot look at are lost.
    pub(super) fn value(&mut self, state: &mut State, expr: ExprId) -> Res<Bits> {
        if let Some(value) = self.constant(state, expr) {
            return Ok(value);
        }
        let width = self.width_of(state, expr)?;
        let ast = self.cx.ast;
        let computed = Ok(Bits::lost(Lost::Computed, width));
        match &ast.exprs[expr].kind {
            ExprKind::Name { .. } | ExprKind::Member { .. } | ExprKind::Index { .. } => {
                match self.target(state, expr)? {
                    Some(target) => {
                        let found = self.read(state, &target, width);
                        Ok(if found.width() == width { found } else { self.padded(state, expr, &found) })
                    }
                    None => {
                        Ok(self.member_of_value(state, expr)?.unwrap_or(Bits::lost(Lost::Computed, width)))
                    }
                }
            }
            ExprKind::Slice { base, hi, lo } => {
                let value = self.value(state, *base)?;
                match (self.number(state, *hi), self.number(state, *lo)) {
                    (Some(hi), Some(lo)) if lo <= hi && (hi as u32) < value.width() => {
                        Ok(value.slice(hi as u32, lo as u32))
                    }
                    _ => computed,
                }
            }
            ExprKind::Cast { operand, .. } => {
                let value = self.value(state, *operand)?;
                let ty = self.ty(state, *operand);
                let signed = self.cx.scalar(ty).is_some_and(|scalar| scalar.signed);
                if signed && width > value.width() { computed } else { Ok(value.resized(width)) }
            }
            ExprKind::Binary { op, left, right } => self.binary(state, *op, *left, *right, width),
            ExprKind::Unary { op: UnaryOp::Plus, operand } => self.value(state, *operand),
            ExprKind::List(elements) => self.list(state, expr, &elements.clone()),
            ExprKind::Record(entries) => self.record(state, expr, &entries.clone()),
            ExprKind::Call { .. } => self.called(state, expr, width),
            _ => computed,
        }
    }

    /// Returns the value of a structure in storage, which has no padding, with the padding of its type.
    fn padded(&mut self, state: &State, expr: ExprId, value: &Bits) -> Bits {
        let (mut all, mut left) = (Bits::default(), value.width());
        for (at, width) in self.scalars(state, expr) {
            if all.width() < at {
                let padding = at - all.width();
                all = all.then(Bits::constant(0, padding));
            }
            if width > 0 && left >= width {
                all = all.then(value.slice(left - 1, left - width));
                left -= width;
            }
        }
        all
    }

    /// Returns the value of a structure without the padding of its type.
    pub(super) fn unpadded(&mut self, state: &State, expr: ExprId, value: &Bits) -> Bits {
        let end = value.width();
        self.scalars(state, expr)
            .into_iter()
            .filter(|&(at, width)| width > 0 && at + width <= end)
            .fold(Bits::default(), |all, (at, width)| all.then(value.slice(end - at - 1, end - at - width)))
    }

    /// Returns the scalars of the structure that an expression is, each by its first bit and its number of bits.
    fn scalars(&mut self, state: &State, expr: ExprId) -> Vec<(u32, u32)> {
        let ty = self.ty(state, expr);
        match self.cx.checked.types.kind(ty).clone() {
            TyKind::Header(decl, args) | TyKind::Struct(decl, args) => {
                self.cx.scalars_of(decl, &args).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the value of a member of something that has no storage, such as a look-ahead.
    fn member_of_value(&mut self, state: &mut State, expr: ExprId) -> Res<Option<Bits>> {
        let ExprKind::Member { base, .. } = self.cx.ast.exprs[expr].kind else { return Ok(None) };
        let Some(Resolution::Field(_, position)) = self.cx.checked.resolutions[expr] else { return Ok(None) };
        let ty = self.ty(state, base);
        let member = self.members(ty).and_then(|members| members.get(position as usize).copied());
        let Some(member) = member.filter(|member| member.width > 0) else { return Ok(None) };
        let whole = self.value(state, base)?;
        let end = whole.width().saturating_sub(member.at + member.width);
        Ok((whole.width() >= member.at + member.width).then(|| whole.slice(end + member.width - 1, end)))
    }

    fn binary(
        &mut self,
        state: &mut State,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        width: u32,
    ) -> Res<Bits> {
        if let BinaryOp::Shl | BinaryOp::Shr = op {
            return self.shifted(state, op, left, right);
        }
        let (a, b) = (self.value(state, left)?, self.value(state, right)?);
        let found = match op {
            BinaryOp::Concat => Some(a.then(b)),
            BinaryOp::BitAnd => match (a.as_const(), b.as_const()) {
                (Some(mask), _) => b.masked(mask),
                (_, Some(mask)) => a.masked(mask),
                _ => None,
            },
            BinaryOp::BitOr => match (a.as_const(), b.as_const()) {
                (Some(ones), _) => b.with_ones(ones),
                (_, Some(ones)) => a.with_ones(ones),
                _ => None,
            },
            BinaryOp::Eq | BinaryOp::Ne if width == 1 && a.width() == 1 => match (a.as_const(), b.as_const())
            {
                // `flag == true` is the flag.
                (_, Some(value)) if (value == 1) == (op == BinaryOp::Eq) => Some(a),
                (Some(value), _) if (value == 1) == (op == BinaryOp::Eq) => Some(b),
                _ => None,
            },
            _ => None,
        };
        Ok(found.unwrap_or_else(|| {
            self.arithmetic(state, op, left, right).unwrap_or(Bits::lost(Lost::Computed, width))
        }))
    }

    /// Returns a value shifted by a number, which may have no width.
    fn shifted(&mut self, state: &mut State, op: BinaryOp, value: ExprId, by: ExprId) -> Res<Bits> {
        let bits = self.value(state, value)?;
        let ty = self.ty(state, value);
        let signed = self.cx.scalar(ty).is_some_and(|scalar| scalar.signed);
        Ok(match (self.number(state, by), op) {
            (Some(by), BinaryOp::Shl) => bits.shl(by.min(4096) as u32),
            (Some(by), _) if !signed => bits.shr(by.min(4096) as u32),
            _ => Bits::lost(Lost::Computed, bits.width()),
        })
    }

    /// Returns the result of an operator on values that are known on this path.
    fn arithmetic(&mut self, state: &mut State, op: BinaryOp, left: ExprId, right: ExprId) -> Option<Bits> {
        let (a, b) = (self.value(state, left).ok()?.as_const()?, self.value(state, right).ok()?.as_const()?);
        let ty = self.ty(state, left);
        let width = self.cx.scalar(ty).filter(|scalar| !scalar.signed)?.width;
        let kind = TyKind::Bits(width);
        match crate::check::binary(op, &kind, &Value::Int(a.into()), &Value::Int(b.into())).ok()? {
            Value::Int(value) => Some(Bits::constant(u128::try_from(value).ok()?, width)),
            Value::Bool(value) => Some(Bits::constant(value.into(), 1)),
            _ => None,
        }
    }

    fn list(&mut self, state: &mut State, expr: ExprId, elements: &[ExprId]) -> Res<Bits> {
        let ty = self.ty(state, expr);
        let members = self.members(ty);
        let mut all = Bits::default();
        for (n, &element) in elements.iter().enumerate() {
            let value = self.value(state, element)?;
            all = match members.as_ref().and_then(|members| members.get(n)) {
                Some(member) => up_to(all, member).then(value.resized(member.width)),
                None => all.then(value),
            };
        }
        Ok(all)
    }

    fn record(
        &mut self,
        state: &mut State,
        expr: ExprId,
        entries: &[(crate::syntax::ast::Name, ExprId)],
    ) -> Res<Bits> {
        let ty = self.ty(state, expr);
        let mut all = Bits::default();
        for member in self.members(ty).unwrap_or_default() {
            let symbol: Symbol = self.cx.ast.decls[member.decl].name.symbol;
            let entry = entries.iter().find(|(name, _)| name.symbol == symbol);
            let value = match entry {
                Some((_, value)) => self.value(state, *value)?.resized(member.width),
                None => Bits::lost(Lost::Unknown, member.width),
            };
            all = up_to(all, &member).then(value);
        }
        Ok(all)
    }

    /// Returns the value of a call that a parser can make inside of an expression.
    fn called(&mut self, state: &mut State, expr: ExprId, width: u32) -> Res<Bits> {
        let Some(call) = self.cx.checked.calls.get(&expr).cloned() else {
            return Ok(Bits::lost(Lost::Computed, width));
        };
        let method = match call.callee {
            Callee::Method(decl) | Callee::Function(decl) => self.cx.ast.text(self.cx.ast.decls[decl].name),
            Callee::Builtin(Builtin::IsValid) => {
                return Err(self.refuse(
                    self.span(expr),
                    "a parser cannot ask whether a header is valid",
                    "select on the fields that decided whether the header was extracted",
                ));
            }
            _ => return Ok(Bits::lost(Lost::Computed, width)),
        };
        match method {
            "lookahead" => {
                self.skip_padding(state);
                Ok(self.ahead(state, width))
            }
            "is_zero" | "is_negative" => {
                let object = self.object(state, expr);
                if state.env.counter.is_some_and(|set| Some(set) != object) {
                    return Err(self.refuse(
                        self.span(expr),
                        "the parser asks a counter that is not the one it set last; the chip has one",
                        "set this counter on every path to here, and use one `ParserCounter`",
                    ));
                }
                let source =
                    if method == "is_zero" { Source::CounterIsZero } else { Source::CounterIsNegative };
                Ok(Bits::one(source, 1))
            }
            _ => Ok(Bits::lost(Lost::Computed, width)),
        }
    }

    /// Returns the object whose method a call calls.
    pub(super) fn object(&self, state: &State, call: ExprId) -> Option<ObjectId> {
        let ExprKind::Call { callee, .. } = &self.cx.ast.exprs[call].kind else { return None };
        let ExprKind::Member { base, .. } = &self.cx.ast.exprs[*callee].kind else { return None };
        let block = self.frames[state.frame.0].block;
        match self.cx.pipe.instance(self.cx.checked, block, *base) {
            Some(Binding::Object(object)) => Some(*object),
            _ => None,
        }
    }

    /// Returns the value of an expression that is known when the program is compiled.
    fn constant(&mut self, state: &State, expr: ExprId) -> Option<Bits> {
        let block = self.frames[state.frame.0].block;
        let value = self.cx.pipe.value(self.cx.ast, self.cx.checked, block, expr)?;
        let width = self.width_of(state, expr).ok()?;
        self.constant_bits(&value, width, expr, state)
    }

    fn constant_bits(&mut self, value: &Value, width: u32, expr: ExprId, state: &State) -> Option<Bits> {
        Some(match value {
            Value::Bool(value) => Bits::constant((*value).into(), width),
            Value::Member(member) => Bits::constant(self.cx.code(*member), width),
            Value::Int(value) => {
                let mut all = Bits::default();
                let mut left = width;
                while left > 0 {
                    let part = (left - 1) % 128 + 1;
                    let piece = crate::check::slice(value, left - 1, left - part);
                    all = all.then(Bits::constant(u128::try_from(piece).ok()? & width_mask(part), part));
                    left -= part;
                }
                all
            }
            Value::List(values) => {
                let ty = self.ty(state, expr);
                let members = self.members(ty)?;
                let mut all = Bits::default();
                for (member, value) in members.iter().zip(values) {
                    all = up_to(all, member).then(self.constant_bits(value, member.width, expr, state)?);
                }
                all
            }
            Value::Text(_) => return None,
        })
    }

    /// Returns a number that is known when the program is compiled.
    pub(super) fn number(&mut self, state: &mut State, expr: ExprId) -> Option<u128> {
        let block = self.frames[state.frame.0].block;
        let value = self.cx.pipe.value(self.cx.ast, self.cx.checked, block, expr);
        match value {
            Some(Value::Int(value)) => u128::try_from(value).ok(),
            Some(_) => None,
            None => self.value(state, expr).ok()?.as_const(),
        }
    }

    /// Returns the type of an expression.
    pub(super) fn ty(&mut self, state: &State, expr: ExprId) -> crate::check::Ty {
        let block = self.frames[state.frame.0].block;
        self.cx.pipe.ty(self.cx.ast, self.cx.checked, block, expr)
    }

    /// Returns the number of bits of an expression.
    pub(super) fn width_of(&mut self, state: &State, expr: ExprId) -> Res<u32> {
        let ty = self.ty(state, expr);
        match self.bits(ty) {
            Some(width) => Ok(width),
            None => {
                let found = self.cx.checked.types.describe(self.cx.ast, ty);
                Err(self.refuse(
                    self.span(expr),
                    format!("{found} has no bits that a parser can copy or compare"),
                    "use values of `bit<W>`, `bool`, and headers and structs of these",
                ))
            }
        }
    }

    /// Returns true if the declaration is a variable or a parameter.
    pub(super) fn is_variable(&self, decl: crate::syntax::ast::DeclId) -> bool {
        matches!(self.cx.ast.decls[decl].kind, DeclKind::Variable { .. } | DeclKind::Param(_))
    }
}

/// Returns bits with the padding in front of the next member.
fn up_to(all: Bits, next: &Member) -> Bits {
    let padding = next.at.saturating_sub(all.width());
    if padding == 0 { all } else { all.then(Bits::constant(0, padding)) }
}
