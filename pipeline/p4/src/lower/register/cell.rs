//! Values and conditions of register actions.

use super::super::action::has_param;
use super::super::externs::Method;
use super::super::simplify::{is_leaf, joined, width};
use super::super::{Lower, Res};
use super::body::Cell;
use super::choice::{Choice, either};
use crate::check::{Callee, Value};
use crate::elaborate::{Binding, ObjectId};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, ExprId, ExprKind, UnaryOp};
use sluice_asic::salu::{MathOp, MathUnit, SaluOp, Sense};
use sluice_ir::{self as ir, CellCond, CellValue, CmpOp, RegisterParamData};

impl Lower<'_> {
    /// Returns a value of a register action, or the values of its cases. `output` is true if only low bits of the value are
    /// taken.
    pub(super) fn cell_choice(&mut self, cell: &Cell<'_>, id: ExprId, output: bool) -> Res<Choice> {
        let ast = self.ast;
        if self.constant(cell.frame, id).is_some() {
            return self.cell_value(cell, id, output).map(Choice::One);
        }
        match &ast.exprs[id].kind {
            ExprKind::Ternary { condition, then, otherwise } => {
                let condition = self.cell_condition(cell, *condition)?;
                let then = Box::new(self.cell_choice(cell, *then, output)?);
                Ok(Choice::By(condition, then, Box::new(self.cell_choice(cell, *otherwise, output)?)))
            }
            ExprKind::Cast { operand, .. } if output => self.cell_choice(cell, *operand, output),
            ExprKind::Name { .. } | ExprKind::Member { .. } => match self.local(cell, id) {
                Some(choice) => Ok(choice),
                None => self.cell_value(cell, id, output).map(Choice::One),
            },
            _ if self.cell_decides(id) => Ok(Choice::decision(self.cell_condition(cell, id)?)),
            _ => self.cell_value(cell, id, output).map(Choice::One),
        }
    }

    /// Returns a value of a register action. `output` is true if only low bits of the value are taken.
    pub(super) fn cell_value(&mut self, cell: &Cell<'_>, id: ExprId, output: bool) -> Res<CellValue> {
        let ast = self.ast;
        let at = ast.exprs[id].span;
        if let Some(value) = self.constant(cell.frame, id) {
            let bits = self.bits(&value, cell.format.half_bits());
            if let Some(bits) = bits.and_then(|bits| u64::try_from(bits).ok()) {
                return Ok(CellValue::Const(bits));
            }
        }
        if let Some(half) = self.half(cell, id) {
            return Ok(if output { CellValue::Half(half) } else { self.half_value(cell, half, at) });
        }
        match &ast.exprs[id].kind {
            ExprKind::Name { .. } | ExprKind::Member { .. } => match self.local(cell, id) {
                Some(Choice::One(value)) => Ok(value),
                Some(Choice::By(..)) => Err(self.refuse(
                    at,
                    "a stateful ALU computes with a variable that has different values in different cases",
                    "compute in the branches that set the variable",
                )),
                None => self.packet_value(cell, id),
            },
            ExprKind::Cast { operand, .. } => {
                if !self.has_cell(cell, id) {
                    return self.packet_value(cell, id);
                }
                let (from, to) = (self.scalar_of(cell.frame, *operand), self.scalar_of(cell.frame, id));
                let narrower = from.zip(to).is_some_and(|(from, to)| to.width < from.width);
                if narrower && !output {
                    return Err(self.refuse(
                        at,
                        "a register action cuts off bits of a computed value",
                        "compute with whole elements, or mask the value",
                    ));
                }
                self.cell_value(cell, *operand, output)
            }
            ExprKind::Slice { base, lo, .. } => {
                if !self.has_cell(cell, id) {
                    return self.packet_value(cell, id);
                }
                // Words 2 and 3 have the bits from 32 on.
                let first = if cell.word < 2 { 0 } else { 32 };
                if output && self.number(cell.frame, *lo) == Some(first) {
                    return self.cell_value(cell, *base, output);
                }
                Err(self.refuse(
                    at,
                    "a slice of the element",
                    "mask the element, and slice the result in a later action",
                ))
            }
            ExprKind::Unary { op, operand } => {
                let value = self.cell_value(cell, *operand, false)?;
                Ok(match op {
                    UnaryOp::Plus => value,
                    UnaryOp::Negate => op_of(SaluOp::Sub, CellValue::Const(0), value),
                    UnaryOp::Complement => op_of(SaluOp::Nota, value, CellValue::Const(0)),
                    UnaryOp::Not => op_of(SaluOp::Xor, value, CellValue::Const(1)),
                })
            }
            ExprKind::Binary { op, left, right } => self.cell_binary(cell, id, (*op, *left, *right)),
            ExprKind::Call { .. } => self.cell_call(cell, id, at),
            _ => Err(self.refuse(
                at,
                "this expression has no home in a register action",
                "a stateful ALU adds, subtracts, compares, and combines bits of two values",
            )),
        }
    }

    fn packet_value(&mut self, cell: &Cell<'_>, id: ExprId) -> Res<CellValue> {
        let at = self.ast.exprs[id].span;
        let pieces = self.pieces(cell.frame, id)?;
        let pieces = joined(&self.program, &pieces);
        let plain = |piece: &ir::Expr| is_leaf(piece) && !has_param(piece);
        if pieces.len() > 1 && width(&self.program, &pieces) <= 64 && pieces.iter().all(plain) {
            // The hash unit joins values on their way to the stateful ALU.
            return Ok(CellValue::Hash(self.identity(pieces, at)));
        }
        let value = self.one(pieces, at)?;
        if let ir::Expr::Const(value, _) = value {
            return Ok(CellValue::Const(value as u64));
        }
        let value = self.plain(value, at)?;
        let value = match value {
            ir::Expr::Cast(inner, to) if to > inner.width(&self.program) => *inner,
            value => value,
        };
        Ok(CellValue::Phv(value))
    }

    /// Returns true if a value depends on the element or on a local variable.
    fn has_cell(&self, cell: &Cell<'_>, id: ExprId) -> bool {
        let decl = match self.ast.exprs[id].kind {
            ExprKind::Name { .. } => self.checked.decl_of(id),
            _ => None,
        };
        let own = decl.is_some_and(|decl| decl == cell.element || !cell.frame.names.contains_key(&decl));
        let constant = self.constant(cell.frame, id).is_some();
        let call = matches!(self.ast.exprs[id].kind, ExprKind::Call { .. } | ExprKind::Binary { .. });
        !constant && (own || call || self.ast.exprs[id].kind.parts().any(|part| self.has_cell(cell, part)))
    }

    fn cell_binary(
        &mut self,
        cell: &Cell<'_>,
        id: ExprId,
        (op, left, right): (BinaryOp, ExprId, ExprId),
    ) -> Res<CellValue> {
        let at = self.ast.exprs[id].span;
        let signed = self.scalar_of(cell.frame, left).is_some_and(|scalar| scalar.signed);
        let found = match op {
            BinaryOp::Add => SaluOp::Add,
            BinaryOp::Sub => SaluOp::Sub,
            BinaryOp::AddSat if signed => SaluOp::Sadds,
            BinaryOp::AddSat => SaluOp::Saddu,
            BinaryOp::SubSat if signed => SaluOp::Ssubs,
            BinaryOp::SubSat => SaluOp::Ssubu,
            BinaryOp::BitAnd => SaluOp::And,
            BinaryOp::BitOr => SaluOp::Or,
            BinaryOp::BitXor => SaluOp::Xor,
            BinaryOp::Div | BinaryOp::Mod => {
                let (a, b) = (self.cell_value(cell, left, false)?, self.cell_value(cell, right, false)?);
                let (a, b) = (Box::new(a), Box::new(b));
                return Ok(if op == BinaryOp::Div {
                    CellValue::Quotient(a, b)
                } else {
                    CellValue::Remainder(a, b)
                });
            }
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Concat
                if !self.has_element(cell, left) && !self.has_element(cell, right) =>
            {
                return self.packet_value(cell, id);
            }
            _ => {
                return Err(self.refuse(
                    at,
                    "a stateful ALU has no such operation",
                    "it adds, subtracts, saturates, and combines bits; the math unit approximates the rest",
                ));
            }
        };
        let (a, b) = (self.cell_value(cell, left, false)?, self.cell_value(cell, right, false)?);
        Ok(match (found, a, b) {
            (SaluOp::And, CellValue::Op(SaluOp::Nota, a, _), b) => {
                CellValue::Op(SaluOp::Andca, a, Box::new(b))
            }
            (SaluOp::And, a, CellValue::Op(SaluOp::Nota, b, _)) => {
                CellValue::Op(SaluOp::Andcb, Box::new(a), b)
            }
            (SaluOp::Or, CellValue::Op(SaluOp::Nota, a, _), b) => CellValue::Op(SaluOp::Orca, a, Box::new(b)),
            (SaluOp::Or, a, CellValue::Op(SaluOp::Nota, b, _)) => CellValue::Op(SaluOp::Orcb, Box::new(a), b),
            (op, a, b) => op_of(op, a, b),
        })
    }

    /// Returns true if a value depends on the element, on a local variable, or on a call.
    fn has_element(&self, cell: &Cell<'_>, id: ExprId) -> bool {
        match self.ast.exprs[id].kind {
            ExprKind::Binary { left, right, .. } => {
                self.has_element(cell, left) || self.has_element(cell, right)
            }
            _ => self.has_cell(cell, id),
        }
    }

    fn cell_call(&mut self, cell: &Cell<'_>, id: ExprId, at: Span) -> Res<CellValue> {
        let Some(call) = self.checked.calls.get(&id).cloned() else { return Err(super::super::Refused) };
        let ExprKind::Call { callee, .. } = &self.ast.exprs[id].kind else {
            return Err(super::super::Refused);
        };
        let base = match &self.ast.exprs[*callee].kind {
            ExprKind::Member { base, .. } => Some(*base),
            _ => None,
        };
        match (call.callee, base) {
            (Callee::Function(decl), _) => {
                let name = self.ast.text(self.ast.decls[decl].name);
                let least = match name {
                    "min" => Some(true),
                    "max" => Some(false),
                    _ => None,
                };
                if let (Some(least), [Some(left), Some(right)]) = (least, call.args.as_slice()) {
                    let signed = self.scalar_of(cell.frame, *left).is_some_and(|scalar| scalar.signed);
                    let op = match (least, signed) {
                        (true, false) => SaluOp::Minu,
                        (true, true) => SaluOp::Mins,
                        (false, false) => SaluOp::Maxu,
                        (false, true) => SaluOp::Maxs,
                    };
                    let (a, b) =
                        (self.cell_value(cell, *left, false)?, self.cell_value(cell, *right, false)?);
                    return Ok(op_of(op, a, b));
                }
            }
            (Callee::Method(method), Some(base)) => {
                let name = self.ast.text(self.ast.decls[method].name);
                if matches!(self.ast.exprs[base].kind, ExprKind::This) {
                    return self.own_method(cell, name, &call.args, at);
                }
                if let Some(Binding::Object(object)) =
                    self.pipe.instance(self.checked, cell.frame.block, base)
                {
                    let object = *object;
                    match (self.object_kind(object), name) {
                        ("MathUnit", "execute") => {
                            let unit = self.math_unit(object)?;
                            let method = Method { object, decl: method, call: &call, at };
                            if let Some(x) = self.argument(method, "x") {
                                let value = self.cell_value(cell, x, false)?;
                                return Ok(CellValue::Math(unit, Box::new(value)));
                            }
                        }
                        ("RegisterParam", "read") => return self.parameter(cell, object),
                        ("Hash", "get") => {
                            if let Some(hash) = self.hash_value(cell.frame, id)? {
                                return Ok(CellValue::Hash(hash));
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Err(self.refuse(
            at,
            "this call has no home in a register action",
            "`min`, `max`, math units, register parameters, hashes, `predicate` and `address` have",
        ))
    }

    fn own_method(
        &mut self,
        cell: &Cell<'_>,
        name: &str,
        args: &[Option<ExprId>],
        at: Span,
    ) -> Res<CellValue> {
        match name {
            "address" => Ok(CellValue::Address),
            "predicate" => {
                let mut conditions = Vec::new();
                for arg in args.iter().flatten() {
                    conditions.push(self.cell_condition(cell, *arg)?);
                }
                Ok(CellValue::Predicate(conditions))
            }
            _ => Err(self.refuse(
                at,
                format!("`this.{name}` has no home in the program yet"),
                "compare the lanes in separate registers",
            )),
        }
    }

    fn parameter(&mut self, cell: &Cell<'_>, object: ObjectId) -> Res<CellValue> {
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let init = self.made_with_number(object, "initial_value").unwrap_or(0) as u32;
        let params = &mut self.program.registers[cell.register].params;
        let at = params.iter().position(|param| param.name == name).unwrap_or_else(|| {
            params.push(RegisterParamData { name, init });
            params.len() - 1
        });
        Ok(CellValue::Param(at as u8))
    }

    fn math_unit(&mut self, object: ObjectId) -> Res<MathUnit> {
        let at = self.object_at(object);
        let op = match self.made_with_member(object, "op") {
            Some("SQR") => Some(MathOp::Sqr),
            Some("SQRT") => Some(MathOp::Sqrt),
            Some("DIV") => Some(MathOp::Div),
            Some("RSQR") => Some(MathOp::Rsqr),
            Some("RSQRT") => Some(MathOp::Rsqrt),
            Some(_) => Some(MathOp::Mul),
            None => None,
        };
        let number = |name: &str| self.made_with_number(object, name);
        let made = match op {
            Some(op) => {
                let top = number("factor").or_else(|| number("A")).unwrap_or(1) as u32;
                MathUnit::approximate(op, top, number("B").unwrap_or(1) as u32)
            }
            None => {
                let signed = |name: &str, bits: u32| {
                    let value = number(name).unwrap_or(0) as u8 & ((1u16 << bits) - 1) as u8;
                    ((value << (8 - bits)) as i8) >> (8 - bits)
                };
                let invert =
                    matches!(self.made_with(object, "invert"), Some(Binding::Value(Value::Bool(true))));
                let mut table = [0; 16];
                if let Some(Binding::Value(Value::List(values))) = self.made_with(object, "data") {
                    // The list begins with the entry of the largest mantissa.
                    for (to, value) in table.iter_mut().rev().zip(values) {
                        let bits = self.bits(value, 8).and_then(|bits| u8::try_from(bits).ok());
                        *to = bits.unwrap_or(0);
                    }
                }
                MathUnit::new(invert, signed("shift", 2), signed("scale", 6), table)
            }
        };
        made.map_err(|error| self.refuse(at, error.to_string(), "correct the constructor's arguments"))
    }

    /// Returns true for an expression that is a decision.
    pub(super) fn cell_decides(&self, id: ExprId) -> bool {
        match &self.ast.exprs[id].kind {
            ExprKind::Binary { op, .. } => {
                super::super::condition::compares(*op).is_some() || matches!(op, BinaryOp::And | BinaryOp::Or)
            }
            ExprKind::Unary { op: UnaryOp::Not, .. } => true,
            ExprKind::Cast { operand, .. } => self.cell_decides(*operand),
            _ => false,
        }
    }

    /// Returns a condition of a register action.
    pub(super) fn cell_condition(&mut self, cell: &Cell<'_>, id: ExprId) -> Res<CellCond> {
        let ast = self.ast;
        let at = ast.exprs[id].span;
        let cond = match &ast.exprs[id].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                CellCond::Not(Box::new(self.cell_condition(cell, *operand)?))
            }
            ExprKind::Binary { op: BinaryOp::And, left, right } => {
                let left = self.cell_condition(cell, *left)?;
                CellCond::And(Box::new(left), Box::new(self.cell_condition(cell, *right)?))
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right } => {
                let left = self.cell_condition(cell, *left)?;
                CellCond::Or(Box::new(left), Box::new(self.cell_condition(cell, *right)?))
            }
            ExprKind::Binary { op, left, right } => {
                let Some(op) = super::super::condition::compares(*op) else {
                    return Err(self.refuse(
                        at,
                        "this is no condition of a stateful ALU",
                        "write a comparison",
                    ));
                };
                self.cell_comparison(cell, op, (*left, *right), at)?
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                let condition = self.cell_condition(cell, *condition)?;
                let then = self.cell_condition(cell, *then)?;
                either(condition, then, self.cell_condition(cell, *otherwise)?)
            }
            ExprKind::Name { .. } | ExprKind::Member { .. }
                if let Some(choice @ Choice::By(..)) = self.local(cell, id) =>
            {
                choice.holds()
            }
            ExprKind::Cast { operand, .. } if self.cell_decides(*operand) => {
                self.cell_condition(cell, *operand)?
            }
            _ => {
                let value = self.cell_value(cell, id, false)?;
                CellCond::Cmp(CmpOp::Ne, Sense::Unsigned, value, CellValue::Const(0))
            }
        };
        Ok(cond)
    }

    fn cell_comparison(
        &mut self,
        cell: &Cell<'_>,
        op: CmpOp,
        (left, right): (ExprId, ExprId),
        at: Span,
    ) -> Res<CellCond> {
        let signed = self.scalar_of(cell.frame, left).is_some_and(|scalar| scalar.signed);
        let (a, b) = (self.cell_value(cell, left, false)?, self.cell_value(cell, right, false)?);
        let computed = [&a, &b].into_iter().any(|value| matches!(value, CellValue::Op(..)));
        let zero = [&a, &b].into_iter().any(|value| *value == CellValue::Const(0));
        let serial = zero || [left, right].into_iter().any(|side| self.is_signed_sum(side));
        let sense = match (signed, computed && op.orders()) {
            // The sign of a sum that wraps: a comparator asks for it in serial order.
            (true, true) if serial => Sense::Serial,
            (signed, true) => {
                self.note(
                    at,
                    "an unsigned sum or difference is compared by size",
                    "approximated: the comparator's sums do not wrap where the values do",
                );
                if signed { Sense::Signed } else { Sense::Unsigned }
            }
            (true, false) => Sense::Signed,
            (false, false) => Sense::Unsigned,
        };
        Ok(match (a, b) {
            // The sign of a difference: the order of sequence numbers.
            (CellValue::Op(SaluOp::Sub, a, b), CellValue::Const(0)) if signed && op.orders() => {
                CellCond::Cmp(op, Sense::Serial, *a, *b)
            }
            (a, b) => CellCond::Cmp(op, sense, a, b),
        })
    }

    /// Returns true for a sum or difference of numbers in two's complement, or a variable that may be one. The cast of an unsigned
    /// sum is none.
    fn is_signed_sum(&self, id: ExprId) -> bool {
        match &self.ast.exprs[id].kind {
            ExprKind::Binary { op, .. } => matches!(op, BinaryOp::Add | BinaryOp::Sub),
            ExprKind::Name { .. } | ExprKind::Member { .. } => true,
            _ => false,
        }
    }
}

/// Returns an instruction.
fn op_of(op: SaluOp, a: CellValue, b: CellValue) -> CellValue {
    CellValue::Op(op, Box::new(a), Box::new(b))
}
