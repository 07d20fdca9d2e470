//! Operators.

use super::Checker;
use super::conversion::Role;
use super::ty::{Ty, TyKind};
use super::value::{self, Value};
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{BinaryOp, ExprId, UnaryOp};

impl Checker<'_> {
    pub(super) fn unary(&mut self, id: ExprId, op: UnaryOp, operand: ExprId) -> Ty {
        let ty = self.value(operand);
        if self.out.types.is_loose(ty) {
            return ty;
        }
        if op == UnaryOp::Not {
            if !self.require(operand, Ty::BOOL, Role::Condition) {
                return Ty::BOOL;
            }
            self.fold_unary(id, op, Ty::BOOL, operand);
            return Ty::BOOL;
        }
        let base = self.number_type(ty);
        let good = match self.out.types.kind(base) {
            TyKind::Bits(_) | TyKind::Signed(_) => true,
            TyKind::Integer => op != UnaryOp::Complement,
            _ => false,
        };
        if !good {
            let found = self.describe(ty);
            let (sign, wanted) = match op {
                UnaryOp::Complement => ("~", "a number with a width"),
                UnaryOp::Negate => ("-", "a number"),
                _ => ("+", "a number"),
            };
            let at = self.ast.exprs[id].span;
            self.error(Class::Type, at, format!("operator `{sign}` expects {wanted}, found {found}"));
            return Ty::UNKNOWN;
        }
        self.fold_unary(id, op, base, operand);
        base
    }

    fn fold_unary(&mut self, id: ExprId, op: UnaryOp, ty: Ty, operand: ExprId) {
        let kind = self.out.types.kind(ty);
        if let Some(Ok(value)) = self.out.values.get(&operand).map(|value| value::unary(op, kind, value)) {
            self.out.values.insert(id, value);
        }
    }

    /// Returns the type in which a serialisable enumeration computes, or the type itself.
    fn number_type(&self, ty: Ty) -> Ty {
        match *self.out.types.kind(ty) {
            TyKind::Enum(decl) => self.representation(decl).unwrap_or(ty),
            _ => ty,
        }
    }

    pub(super) fn binary(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Ty {
        let (first, second) = (self.value(left), self.value(right));
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.require(left, Ty::BOOL, Role::Condition);
                self.require(right, Ty::BOOL, Role::Condition);
                if let Some(value) = self.out.values.get(&left).and_then(Value::as_bool) {
                    // The right operand does not matter.
                    if value == (op == BinaryOp::Or) {
                        self.out.values.insert(id, Value::Bool(value));
                        return Ty::BOOL;
                    }
                }
                self.fold(id, op, (Ty::BOOL, Ty::BOOL), left, right)
            }
            BinaryOp::Eq | BinaryOp::Ne => self.equality(id, op, left, right),
            BinaryOp::Concat => self.concat(id, left, right),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(id, op, left, right),
            _ if self.out.types.is_loose(first) || self.out.types.is_loose(second) => match op {
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Ty::BOOL,
                _ => Ty::UNKNOWN,
            },
            _ => self.arithmetic(id, op, left, right),
        }
    }

    /// Returns the common type of two operands after conversion, or reports why there is none.
    fn common(&mut self, left: ExprId, right: ExprId) -> Option<Ty> {
        let (first, second) = (self.out.expr_types[left], self.out.expr_types[right]);
        if first == second {
            return Some(first);
        }
        let enumerated = |ty: Ty| matches!(self.out.types.kind(ty), TyKind::Enum(_));
        let from_left = first == Ty::INTEGER || (enumerated(first) && second != Ty::INTEGER);
        let (from, to, other) = if from_left { (left, second, right) } else { (right, first, left) };
        self.require(from, to, Role::Operand(other)).then_some(to)
    }

    fn arithmetic(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Ty {
        for operand in [left, right] {
            let ty = self.number_type(self.out.expr_types[operand]);
            if ty != self.out.expr_types[operand] {
                self.convert(operand, ty);
            }
        }
        let compares = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
        let first = self.out.expr_types[left];
        for (operand, ty) in [(left, first), (right, self.out.expr_types[right])] {
            if !matches!(self.out.types.kind(ty), TyKind::Bits(_) | TyKind::Signed(_) | TyKind::Integer) {
                let found = self.describe(ty);
                let at = self.ast.exprs[operand].span;
                let message = format!("operator `{}` expects numbers, found {found}", sign(op));
                let diagnostic = Diagnostic::error(Class::Type, at, message);
                self.report(match self.out.types.kind(ty) {
                    TyKind::Bool if op == BinaryOp::BitAnd => diagnostic.help("use `&&` for truth values"),
                    TyKind::Bool if op == BinaryOp::BitOr => diagnostic.help("use `||` for truth values"),
                    TyKind::Newtype(_) => diagnostic.help("cast the value to a number first"),
                    _ => diagnostic,
                });
                return if compares { Ty::BOOL } else { Ty::UNKNOWN };
            }
        }
        let Some(ty) = self.common(left, right) else { return if compares { Ty::BOOL } else { Ty::UNKNOWN } };
        let saturates = matches!(op, BinaryOp::AddSat | BinaryOp::SubSat);
        if saturates && ty == Ty::INTEGER {
            let at = self.ast.exprs[id].span;
            self.report(
                Diagnostic::error(
                    Class::Type,
                    at,
                    format!("operator `{}` expects numbers with a width", sign(op)),
                )
                .help("write the width in front of the number: `8w255`"),
            );
            return Ty::UNKNOWN;
        }
        self.fold(id, op, (ty, if compares { Ty::BOOL } else { ty }), left, right)
    }

    fn equality(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Ty {
        let lists = |ty: Ty| matches!(self.out.types.kind(ty), TyKind::Tuple(_) | TyKind::Record(_));
        let (first, second) = (self.out.expr_types[left], self.out.expr_types[right]);
        let common = if lists(first) && !lists(second) {
            self.require(left, second, Role::Operand(right)).then_some(second)
        } else {
            self.common(left, right)
        };
        let Some(ty) = common else { return Ty::BOOL };
        if matches!(
            self.out.types.kind(ty),
            TyKind::Extern(..) | TyKind::Parser(..) | TyKind::Control(..) | TyKind::TableResult(_)
        ) {
            let message = format!("{} cannot be compared", self.describe(ty));
            let at = self.ast.exprs[id].span;
            self.error(Class::Type, at, message);
        }
        self.fold(id, op, (ty, Ty::BOOL), left, right)
    }

    fn concat(&mut self, id: ExprId, left: ExprId, right: ExprId) -> Ty {
        let mut widths = [0, 0];
        for (operand, width) in [left, right].into_iter().zip(&mut widths) {
            let ty = self.out.expr_types[operand];
            if self.out.types.is_loose(ty) {
                return Ty::UNKNOWN;
            }
            let number = self.number_type(ty);
            match *self.out.types.kind(number) {
                TyKind::Bits(bits) | TyKind::Signed(bits) => *width = bits,
                _ => {
                    let found = self.describe(ty);
                    let at = self.ast.exprs[operand].span;
                    let message = format!("operator `++` expects numbers with a width, found {found}");
                    self.report(
                        Diagnostic::error(Class::Type, at, message)
                            .help("write the width in front of a number, or cast the operand to `bit<W>`"),
                    );
                    return Ty::UNKNOWN;
                }
            }
        }
        let width = widths[0] + widths[1];
        if width > value::MAX_WIDTH {
            let at = self.ast.exprs[id].span;
            self.error(
                Class::Type,
                at,
                format!("the result of `++` has {width} bits; at most {} are possible", value::MAX_WIDTH),
            );
            return Ty::UNKNOWN;
        }
        let first = self.number_type(self.out.expr_types[left]);
        let kind = match self.out.types.kind(first) {
            TyKind::Signed(_) => TyKind::Signed(width),
            _ => TyKind::Bits(width),
        };
        if let (Some(Value::Int(high)), Some(Value::Int(low))) =
            (self.out.values.get(&left), self.out.values.get(&right))
        {
            let value = value::wrap(&value::concat(high, low, widths[1]), &kind);
            self.out.values.insert(id, Value::Int(value));
        }
        self.out.types.make(kind)
    }

    fn shift(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Ty {
        let ty = self.number_type(self.out.expr_types[left]);
        let by = self.number_type(self.out.expr_types[right]);
        if self.out.types.is_loose(ty) || self.out.types.is_loose(by) {
            return ty;
        }
        let number =
            |ty: Ty| matches!(self.out.types.kind(ty), TyKind::Bits(_) | TyKind::Signed(_) | TyKind::Integer);
        for (operand, good, ty) in [(left, number(ty), ty), (right, number(by), by)] {
            if !good {
                let found = self.describe(ty);
                let at = self.ast.exprs[operand].span;
                self.error(
                    Class::Type,
                    at,
                    format!("operator `{}` expects numbers, found {found}", sign(op)),
                );
                return Ty::UNKNOWN;
            }
        }
        if ty == Ty::INTEGER && !self.is_static(right) {
            let at = self.ast.exprs[left].span;
            let message = "a number without a width is shifted by a value that is not known at compile time";
            self.report(
                Diagnostic::error(Class::Type, at, message)
                    .help("write the width in front of the number: `32w1`"),
            );
            return Ty::UNKNOWN;
        }
        self.fold(id, op, (ty, ty), left, right)
    }

    /// Computes the value of an operation on known values. Returns `result`, or the type of an error if there is no value.
    fn fold(&mut self, id: ExprId, op: BinaryOp, (ty, result): (Ty, Ty), left: ExprId, right: ExprId) -> Ty {
        let (Some(first), Some(second)) = (self.out.values.get(&left), self.out.values.get(&right)) else {
            return result;
        };
        match value::binary(op, self.out.types.kind(ty), first, second) {
            Ok(value) => {
                self.out.values.insert(id, value);
                result
            }
            Err(reason) => {
                let at = self.ast.exprs[id].span;
                let message = format!("operator `{}` has no result: {reason}", sign(op));
                self.error(Class::Constant, at, message);
                Ty::UNKNOWN
            }
        }
    }
}

/// Returns an operator as a program writes it.
pub(super) fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::AddSat => "|+|",
        BinaryOp::SubSat => "|-|",
        BinaryOp::Concat => "++",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
