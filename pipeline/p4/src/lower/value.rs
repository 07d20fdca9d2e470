//! Values: expressions of the program as concatenations of values of the chip.
//!
//! A value is a list of *pieces*, the most significant first. Concatenations, casts, slices and wide values need several; an
//! operation takes and gives one.

mod operator;

use super::frame::{Bound, Frame};
use super::places::Place;
use super::simplify::{self, cast_pieces, joined, slice_pieces};
use super::{Lower, Res};
use crate::check::{Callee, Resolution, TyKind, Value, wrap};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, DeclId, ExprId, ExprKind};
use num_bigint::{BigInt, BigUint};
use sluice_ir::Expr;

/// The width of a number whose type has none.
const INTEGER_BITS: u32 = 32;

impl Lower<'_> {
    /// Returns the place of an expression; `None` if it is no name, member or element with a constant index, or if the name stands
    /// for a value.
    pub(super) fn place(&mut self, frame: &Frame, id: ExprId) -> Option<Place> {
        let ast = self.ast;
        match &ast.exprs[id].kind {
            ExprKind::Name { .. } => frame.place(self.checked.decl_of(id)?).cloned(),
            ExprKind::Member { base, .. } => {
                let Some(Resolution::Field(_, position)) = self.checked.resolutions[id] else { return None };
                let base = self.place(frame, *base)?;
                self.storage.member(&base, position)
            }
            ExprKind::Index { base, index } => {
                let Some(Place::Stack(stack)) = self.place(frame, *base) else { return None };
                let index = self.constant(frame, *index)?.as_u32()?;
                self.storage.stacks[stack].elements.get(index as usize).copied().map(Place::Header)
            }
            ExprKind::Cast { operand, .. } => {
                let same = self.ty(frame, id) == self.ty(frame, *operand);
                if same { self.place(frame, *operand) } else { None }
            }
            _ => None,
        }
    }

    /// Returns the value of an expression that is known when the program is compiled.
    pub(super) fn constant(&self, frame: &Frame, id: ExprId) -> Option<Value> {
        let known = |decl| self.argument_value(frame, decl);
        self.pipe.value_where((self.ast, self.checked), frame.block, &known, id)
    }

    /// Returns the value of a parameter whose argument is known when the program is compiled.
    fn argument_value(&self, frame: &Frame, param: DeclId) -> Option<Value> {
        let Bound::Pieces(pieces) = frame.names.get(&param)? else { return None };
        let [Expr::Const(value, _)] = pieces.as_slice() else { return None };
        let kind = self.checked.types.kind(self.checked.base(self.ast, self.checked.decl_types[param]));
        match kind {
            TyKind::Bool => Some(Value::Bool(*value != 0)),
            TyKind::Bits(_) | TyKind::Signed(_) => Some(Value::Int(wrap(&BigInt::from(*value), kind))),
            _ => None,
        }
    }

    /// Returns a number that is known when the program is compiled: the bits of the value at the width of its type, for `int` its
    /// two's complement in 128 bits. `None` for wider values.
    pub(super) fn number(&mut self, frame: &Frame, id: ExprId) -> Option<u128> {
        let value = self.constant(frame, id)?;
        let width = self.scalar_of(frame, id).map_or(128, |scalar| scalar.width);
        self.bits(&value, width).and_then(|bits| u128::try_from(bits).ok())
    }

    /// Returns the bits of a constant at a width.
    pub(super) fn bits(&self, value: &Value, width: u32) -> Option<BigUint> {
        let number = match value {
            Value::Bool(value) => BigInt::from(u8::from(*value)),
            Value::Int(value) => value.clone(),
            Value::Member(decl) => BigInt::from(self.code(*decl)),
            Value::Text(_) | Value::List(_) => return None,
        };
        let mask: BigInt = (BigInt::from(1) << width) - 1;
        BigInt::to_biguint(&(number & mask))
    }

    /// Returns the value of an expression as one value without concatenation.
    pub(super) fn value(&mut self, frame: &Frame, id: ExprId) -> Res<Expr> {
        let pieces = self.pieces(frame, id)?;
        self.one(pieces, self.ast.exprs[id].span)
    }

    /// Returns a concatenation as one value.
    pub(super) fn one(&mut self, pieces: Vec<Expr>, at: Span) -> Res<Expr> {
        let mut pieces = joined(&self.program, &pieces);
        match (pieces.pop(), pieces.is_empty()) {
            (Some(value), true) => Ok(value),
            (None, _) => Err(self.refuse(at, "this value has no bits", "use a type of at least one bit")),
            (Some(last), _) => {
                pieces.push(last);
                self.gathered(pieces, at)
            }
        }
    }

    /// Returns a field in which an earlier action gathers the pieces of a concatenation.
    fn gathered(&mut self, pieces: Vec<Expr>, at: Span) -> Res<Expr> {
        let width = simplify::width(&self.program, &pieces);
        if width > 128 || pieces.iter().any(super::action::has_param) {
            let text = "this value is a concatenation with parameters of the action, or wider than 128 bits";
            let help = "an operation takes whole values: write the concatenation to a metadata field in an earlier action";
            return Err(self.refuse(at, text, help));
        }
        Ok(self.gather_before(pieces, width as u16, at))
    }

    /// Returns the value of a scalar expression, the most significant piece first.
    pub(super) fn pieces(&mut self, frame: &Frame, id: ExprId) -> Res<Vec<Expr>> {
        let ast = self.ast;
        let at = ast.exprs[id].span;
        if let Some(value) = self.constant(frame, id) {
            // A number without a width is an index or an amount.
            let width = match self.scalar_of(frame, id) {
                Some(scalar) => Some(scalar.width),
                None => value.as_int().map(|_| INTEGER_BITS),
            };
            if let Some((bits, width)) = width.and_then(|width| Some((self.bits(&value, width)?, width))) {
                return Ok(constant(&bits, width));
            }
        }
        if let Some(pieces) = self.computed(id) {
            return Ok(pieces.clone());
        }
        if let Some(place) = self.place(frame, id) {
            return self.read_place(&place, at);
        }
        match &ast.exprs[id].kind {
            ExprKind::Name { .. } => {
                let bound = self.checked.decl_of(id).and_then(|decl| frame.names.get(&decl));
                match bound {
                    Some(Bound::Pieces(pieces)) => Ok(pieces.clone()),
                    _ => Err(self.no_value(at)),
                }
            }
            ExprKind::Slice { base, hi, lo } => {
                let pieces = self.pieces(frame, *base)?;
                let (hi, lo) = (self.number(frame, *hi), self.number(frame, *lo));
                match (hi, lo) {
                    (Some(hi), Some(lo)) => {
                        Ok(slice_pieces(&self.program, &pieces, hi as u32, lo as u32))
                    }
                    _ => Err(self.no_value(at)),
                }
            }
            ExprKind::Binary { op: BinaryOp::Concat, left, right } => {
                let mut pieces = self.pieces(frame, *left)?;
                pieces.extend(self.pieces(frame, *right)?);
                Ok(pieces)
            }
            ExprKind::Cast { operand, .. } => self.cast(frame, id, *operand),
            ExprKind::Binary { op: BinaryOp::Shr, left, right } if !self.is_signed(frame, *left) => {
                self.shifted_right(frame, *left, *right, at)
            }
            ExprKind::Unary { op, operand } => Ok(vec![self.unary(frame, *op, *operand)?]),
            ExprKind::Binary { op: BinaryOp::Shl, left, right } => self.shifted_left(frame, *left, *right, at),
            ExprKind::Binary { op, left, right } if operator::by_bits(*op).is_some() => {
                self.by_pieces(frame, *op, *left, *right, at)
            }
            ExprKind::Binary { op, left, right } => {
                let value = self.binary(frame, *op, *left, *right, at)?;
                Ok(vec![value])
            }
            ExprKind::Call { .. } => self.call_value(frame, id).map(|value| vec![value]),
            ExprKind::Ternary { .. } => Err(self.refuse(
                at,
                "`?:` is a decision, and one instruction does not decide",
                "write it as the whole right side of an assignment in an `apply` block, or as `if` and `else` there",
            )),
            _ => Err(self.no_value(at)),
        }
    }

    /// Returns the value of a call that an earlier statement computes.
    pub(super) fn computed(&self, id: ExprId) -> Option<&Vec<Expr>> {
        self.hoisted.get(&id).or_else(|| self.results.get(&id))
    }

    fn is_signed(&mut self, frame: &Frame, id: ExprId) -> bool {
        self.scalar_of(frame, id).is_some_and(|scalar| scalar.signed)
    }

    /// Returns a value shifted right: of values without operation, that is a slice.
    fn shifted_right(&mut self, frame: &Frame, left: ExprId, right: ExprId, at: Span) -> Res<Vec<Expr>> {
        let pieces = self.pieces(frame, left)?;
        let by = self.number(frame, right).and_then(|by| u32::try_from(by).ok());
        let total = simplify::width(&self.program, &pieces);
        match by {
            Some(by) if by < total && pieces.iter().all(simplify::is_leaf) => {
                let high = slice_pieces(&self.program, &pieces, total - 1, by);
                Ok(joined(&self.program, &cast_pieces(&self.program, &high, total)))
            }
            _ => Ok(vec![self.binary(frame, BinaryOp::Shr, left, right, at)?]),
        }
    }

    /// Returns a value shifted left: of a concatenation, that is a slice with zeros behind it.
    fn shifted_left(&mut self, frame: &Frame, left: ExprId, right: ExprId, at: Span) -> Res<Vec<Expr>> {
        let pieces = self.pieces(frame, left)?;
        let by = self.number(frame, right).and_then(|by| u32::try_from(by).ok());
        let total = simplify::width(&self.program, &pieces);
        match by {
            Some(by) if by > 0 && by < total && self.stays_apart(&pieces) => {
                let mut low = slice_pieces(&self.program, &pieces, total - 1 - by, 0);
                low.extend(simplify::zeros(by));
                Ok(joined(&self.program, &low))
            }
            _ => Ok(vec![self.binary(frame, BinaryOp::Shl, left, right, at)?]),
        }
    }

    /// Returns the result of an operation that computes each bit by itself: of concatenations piece by piece.
    fn by_pieces(
        &mut self,
        frame: &Frame,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        at: Span,
    ) -> Res<Vec<Expr>> {
        let (a, b) = (self.pieces(frame, left)?, self.pieces(frame, right)?);
        let Some(alu) = operator::by_bits(op).filter(|_| self.stays_apart(&a) || self.stays_apart(&b)) else {
            return Ok(vec![self.binary(frame, op, left, right, at)?]);
        };
        let (a, b) = self.aligned(&a, &b);
        Ok(a.into_iter().zip(b).map(|(a, b)| operator::combined(alu, a, b)).collect())
    }

    /// Returns true for a concatenation that no earlier action can gather in one field.
    fn stays_apart(&self, pieces: &[Expr]) -> bool {
        let pieces = joined(&self.program, pieces);
        let wide = simplify::width(&self.program, &pieces) > 128;
        pieces.len() > 1 && (wide || pieces.iter().any(super::action::has_param))
    }

    fn no_value(&mut self, at: Span) -> super::Refused {
        self.refuse(
            at,
            "this expression has no value that an instruction can take",
            "use fields, variables, parameters and constants",
        )
    }

    /// Returns the value of a place.
    pub(super) fn read_place(&mut self, place: &Place, at: Span) -> Res<Vec<Expr>> {
        match place {
            Place::Slot(slot) => self.current(*slot, at),
            Place::Parts(parts) => {
                let mut pieces = Vec::new();
                for &part in parts.iter() {
                    pieces.extend(self.current(part, at)?);
                }
                Ok(pieces)
            }
            Place::Nothing => Ok(Vec::new()),
            Place::Header(_) | Place::Struct(_) | Place::Stack(_) => {
                let help = "write its members one by one";
                Err(self.refuse(at, "a header or struct is not a value of one instruction", help))
            }
        }
    }

    fn cast(&mut self, frame: &Frame, id: ExprId, operand: ExprId) -> Res<Vec<Expr>> {
        let at = self.ast.exprs[id].span;
        let pieces = self.pieces(frame, operand)?;
        let (Some(from), Some(to)) = (self.scalar_of(frame, operand), self.scalar_of(frame, id)) else {
            return Err(self.no_value(at));
        };
        if from.signed && to.width > from.width {
            return self.sign_extended(pieces, to.width, at);
        }
        Ok(joined(&self.program, &cast_pieces(&self.program, &pieces, to.width)))
    }

    /// Returns a value with copies of its sign in front. No instruction extends signs, but the hash unit repeats bits.
    fn sign_extended(&mut self, pieces: Vec<Expr>, to: u32, at: Span) -> Res<Vec<Expr>> {
        let value = self.one(pieces, at)?;
        let from = value.width(&self.program);
        if to > 64 || super::action::has_param(&value) {
            let text = format!("this cast extends a sign from {from} to {to} bits");
            let help = "signs of fields are extended to at most 64 bits: use a wider field from the start";
            return Err(self.refuse(at, text, help));
        }
        if let Expr::Const(value, _) = value {
            let sign = if value >> (from - 1) & 1 == 1 { u128::MAX << from } else { 0 };
            let all = sluice_asic::alu::width_mask(to);
            return Ok(vec![Expr::Const((value | sign) & all, to as u16)]);
        }
        let value = self.as_leaf(value, at);
        let sign = simplify::slice(&self.program, value.clone(), from - 1, from - 1);
        let mut inputs = vec![sign; (to - u32::from(from)) as usize];
        inputs.push(value);
        let hash = self.identity(inputs, at);
        Ok(vec![self.hash_before(hash, at)])
    }

    /// Returns the values of the scalars of a list, header, struct or scalar, in order.
    pub(super) fn leaves(&mut self, frame: &Frame, id: ExprId) -> Res<Vec<Expr>> {
        let ast = self.ast;
        if let Some(place) = self.place(frame, id) {
            let (slots, at) = (self.storage.members_of(&place), ast.exprs[id].span);
            let mut leaves = Vec::new();
            for slot in slots {
                leaves.extend(self.current(slot, at)?);
            }
            return Ok(leaves);
        }
        let parts: Vec<ExprId> = match &ast.exprs[id].kind {
            ExprKind::List(parts) => parts.clone(),
            ExprKind::Record(parts) => parts.iter().map(|(_, part)| *part).collect(),
            ExprKind::Cast { operand, .. } if self.scalar_of(frame, id).is_none() => vec![*operand],
            _ => return self.pieces(frame, id),
        };
        let mut leaves = Vec::new();
        for part in parts {
            leaves.extend(self.leaves(frame, part)?);
        }
        Ok(leaves)
    }

    /// Returns the value of a call that one instruction computes: `min` and `max`. An earlier action computes a hash.
    fn call_value(&mut self, frame: &Frame, id: ExprId) -> Res<Expr> {
        let at = self.ast.exprs[id].span;
        let Some(call) = self.checked.calls.get(&id).cloned() else { return Err(self.no_value(at)) };
        if matches!(call.callee, Callee::Method(_)) && self.is_hash(frame, id) {
            let Some(hash) = self.hash_value(frame, id)? else { return Err(self.no_value(at)) };
            return Ok(self.hash_before(hash, at));
        }
        if let (Callee::Function(decl), [Some(left), Some(right)]) = (call.callee, call.args.as_slice()) {
            let name = self.ast.text(self.ast.decls[decl].name);
            if matches!(name, "min" | "max") {
                return self.extreme(frame, name == "min", *left, *right);
            }
        }
        Err(self.refuse(
            at,
            "a call inside a value",
            "assign the call to a variable, and use the variable in a later statement",
        ))
    }
}

/// Returns a constant as pieces of at most 128 bits.
pub(super) fn constant(bits: &BigUint, width: u32) -> Vec<Expr> {
    let mut pieces = Vec::new();
    let mut left = width;
    while left > 0 {
        let take = if left.is_multiple_of(128) { 128 } else { left % 128 };
        left -= take;
        let part = (bits >> left) & ((BigUint::from(1u8) << take) - 1u8);
        pieces.push(Expr::Const(u128::try_from(part).unwrap_or(0), take as u16));
    }
    pieces
}
