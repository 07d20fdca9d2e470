//! Types and values of expressions, bottom up.

use super::Checker;
use super::conversion::Role;
use super::tables::Resolution;
use super::ty::{Ty, TyKind};
use super::type_use::word;
use super::value::{MAX_WIDTH, Value, fits, slice, wrap};
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind, IntLiteral, Name, TypeId};
use num_bigint::BigInt;

impl Checker<'_> {
    /// Checks an expression and returns its type; enters type, value and meaning into the tables.
    pub(super) fn expr(&mut self, id: ExprId) -> Ty {
        let ast = self.ast;
        let ty = match &ast.exprs[id].kind {
            ExprKind::Error => Ty::UNKNOWN,
            ExprKind::Bool(value) => {
                self.out.values.insert(id, Value::Bool(*value));
                Ty::BOOL
            }
            ExprKind::Int(literal) => self.literal(id, literal),
            ExprKind::Text(text) => {
                self.out.values.insert(id, Value::Text(*text));
                Ty::TEXT
            }
            ExprKind::Name { name, global } => self.name_value(id, *name, *global),
            ExprKind::This => self.this.unwrap_or_else(|| {
                let at = ast.exprs[id].span;
                self.error(Class::Name, at, "`this` is used outside the implementation of a method");
                Ty::UNKNOWN
            }),
            ExprKind::Type(of) => {
                self.type_use(*of);
                let at = ast.exprs[id].span;
                self.report(
                    Diagnostic::error(Class::Type, at, "a type is used as a value")
                        .help("name a member of the type: `TYPE.MEMBER`"),
                );
                Ty::UNKNOWN
            }
            ExprKind::Member { base, member } => self.member(id, *base, *member),
            ExprKind::Index { base, index } => self.index(id, *base, *index),
            ExprKind::Slice { base, hi, lo } => self.slice(id, *base, *hi, *lo),
            ExprKind::Unary { op, operand } => self.unary(id, *op, *operand),
            ExprKind::Binary { op, left, right } => self.binary(id, *op, *left, *right),
            ExprKind::Ternary { condition, then, otherwise } => {
                self.ternary(id, *condition, *then, *otherwise)
            }
            ExprKind::Cast { to, operand } => self.cast(id, *to, *operand),
            ExprKind::Call { callee, type_args, args } => self.call(id, *callee, type_args, args),
            ExprKind::Construct { of, args } => self.construct(id, *of, args),
            ExprKind::List(elements) => {
                let parts = elements.iter().map(|&element| self.value(element)).collect();
                self.collect(id, elements);
                self.out.types.make(TyKind::Tuple(parts))
            }
            ExprKind::Record(entries) => self.record(entries),
            ExprKind::Mask { .. } | ExprKind::Range { .. } => {
                let at = ast.exprs[id].span;
                self.report(
                    Diagnostic::error(Class::Type, at, "a mask or range is used as a value")
                        .help("masks and ranges are keys of `select` cases and of table entries"),
                );
                Ty::UNKNOWN
            }
            ExprKind::Default | ExprKind::Any => Ty::ANY,
        };
        self.out.expr_types[id] = ty;
        ty
    }

    /// Checks an expression whose value is used, and reports one without a value.
    pub(super) fn value(&mut self, id: ExprId) -> Ty {
        let ty = self.expr(id);
        let found = match self.out.types.kind(ty) {
            TyKind::Void => "a call that returns nothing",
            TyKind::Action(_) => "an action",
            TyKind::Table(_) => "a table",
            _ => return ty,
        };
        let at = self.ast.exprs[id].span;
        self.error(Class::Type, at, format!("{found} is used as a value"));
        self.out.expr_types[id] = Ty::UNKNOWN;
        Ty::UNKNOWN
    }

    fn literal(&mut self, id: ExprId, literal: &IntLiteral) -> Ty {
        let value = BigInt::from(literal.value.clone());
        let at = self.ast.exprs[id].span;
        let Some(width) = literal.width else {
            if value.bits() > u64::from(MAX_WIDTH) {
                self.error(Class::Constant, at, format!("the number has more than {MAX_WIDTH} bits"));
                return Ty::UNKNOWN;
            }
            self.out.values.insert(id, Value::Int(value));
            return Ty::INTEGER;
        };
        if !(1..=MAX_WIDTH).contains(&width.bits) {
            let message =
                format!("the number has a width of {}; it must be from 1 to {MAX_WIDTH}", width.bits);
            self.error(Class::Constant, at, message);
            return Ty::UNKNOWN;
        }
        let kind = if width.signed { TyKind::Signed(width.bits) } else { TyKind::Bits(width.bits) };
        if !fits(&value, &kind) {
            let message = format!("the number {value} does not fit its width of {} bits", width.bits);
            let low = wrap(&value, &kind);
            self.report(
                Diagnostic::warning(Class::Constant, at, message)
                    .note(format!("its low bits are {low}"))
                    .help("write a number in the range of the width, or a greater width"),
            );
        }
        self.out.values.insert(id, Value::Int(wrap(&value, &kind)));
        self.out.types.make(kind)
    }

    fn name_value(&mut self, id: ExprId, name: Name, global: bool) -> Ty {
        let found = self.scopes.find(name.symbol, global);
        let Some(&decl) = found.last() else {
            self.unknown_name(name, "value");
            return Ty::UNKNOWN;
        };
        self.out.resolutions[id] = Some(Resolution::Decl(decl));
        match &self.ast.decls[decl].kind {
            DeclKind::Const { .. } => {
                if let Some(value) = self.out.constants.get(&decl) {
                    self.out.values.insert(id, value.clone());
                }
                self.out.decl_types[decl]
            }
            DeclKind::Invalid
            | DeclKind::Variable { .. }
            | DeclKind::Param(_)
            | DeclKind::Instance(_)
            | DeclKind::ValueSet { .. }
            | DeclKind::Action(_)
            | DeclKind::Table(_) => self.out.decl_types[decl],
            DeclKind::Function(_) => {
                let message = format!("function `{}` is used as a value", self.ast.text(name));
                self.report(Diagnostic::error(Class::Type, name.span, message).help("call it: `NAME(...)`"));
                Ty::UNKNOWN
            }
            other => {
                let message = format!("`{}` is {}, not a value", self.ast.text(name), word(other));
                let place = self.ast.decls[decl].name.span;
                self.report(Diagnostic::error(Class::Name, name.span, message).also(place, "declared here"));
                Ty::UNKNOWN
            }
        }
    }

    fn record(&mut self, entries: &[(Name, ExprId)]) -> Ty {
        let mut fields = Vec::new();
        for &(name, value) in entries {
            let ty = self.value(value);
            if fields.iter().any(|(symbol, _)| *symbol == name.symbol) {
                let message = format!("`{}` has two values", self.ast.text(name));
                self.report(Diagnostic::error(Class::Name, name.span, message).help("remove one of the two"));
                continue;
            }
            fields.push((name.symbol, ty));
        }
        self.out.types.make(TyKind::Record(fields.into()))
    }

    fn index(&mut self, id: ExprId, base: ExprId, index: ExprId) -> Ty {
        let of = self.value(base);
        let at = self.value(index);
        match self.out.types.kind(of).clone() {
            TyKind::Unknown | TyKind::Any => Ty::UNKNOWN,
            TyKind::Stack(element, number) => {
                if !matches!(
                    self.out.types.kind(at),
                    TyKind::Integer | TyKind::Bits(_) | TyKind::Signed(_) | TyKind::Unknown
                ) {
                    let ty = self.out.types.bits(32);
                    self.require(index, ty, Role::Index);
                }
                if let Some(value) = self.out.values.get(&index).and_then(Value::as_int)
                    && (*value < 0.into() || *value >= number.into())
                {
                    let message = format!("index {value} is outside the stack, which has {number} elements");
                    let at = self.ast.exprs[index].span;
                    self.report(
                        Diagnostic::error(Class::Constant, at, message)
                            .help(format!("use an index from 0 to {}", number.saturating_sub(1))),
                    );
                }
                element
            }
            TyKind::Tuple(parts) => match self.out.values.get(&index).and_then(Value::as_u32) {
                Some(at) if (at as usize) < parts.len() => parts[at as usize],
                _ => {
                    let at = self.ast.exprs[index].span;
                    let message =
                        format!("the index of a list of {} values is a constant below that", parts.len());
                    self.error(Class::Constant, at, message);
                    Ty::UNKNOWN
                }
            },
            _ => {
                let message = format!("{} has no elements to index", self.describe(of));
                let at = self.ast.exprs[id].span;
                self.report(
                    Diagnostic::error(Class::Type, at, message)
                        .help("only header stacks have elements; bits are taken by `x[hi:lo]`"),
                );
                Ty::UNKNOWN
            }
        }
    }

    fn slice(&mut self, id: ExprId, base: ExprId, hi: ExprId, lo: ExprId) -> Ty {
        let of = self.value(base);
        let bounds = [hi, lo].map(|bound| {
            let ty = self.value(bound);
            (ty, self.out.values.get(&bound).and_then(Value::as_u32))
        });
        let width = match self.out.types.kind(of).clone() {
            TyKind::Unknown | TyKind::Any => return Ty::UNKNOWN,
            TyKind::Bits(width) | TyKind::Signed(width) => width,
            TyKind::Enum(decl) | TyKind::Newtype(decl) if self.representation(decl).is_some() => {
                self.size(of).map_or(0, |(_, most)| most as u32)
            }
            TyKind::Integer => MAX_WIDTH,
            _ => {
                let message = format!("bits are taken from {}, which is no number", self.describe(of));
                let at = self.ast.exprs[id].span;
                self.error(Class::Type, at, message);
                return Ty::UNKNOWN;
            }
        };
        let ((_, Some(high)), (_, Some(low))) = (bounds[0], bounds[1]) else {
            for ((ty, value), bound) in bounds.into_iter().zip([hi, lo]) {
                if value.is_none() && !self.out.types.is_loose(ty) {
                    self.not_constant(bound, "the bound of a slice");
                }
            }
            return Ty::UNKNOWN;
        };
        if low > high || high >= width {
            let at = self.ast.exprs[hi].span.to(self.ast.exprs[lo].span);
            let message = if low > high {
                format!("slice `[{high}:{low}]` has its bounds in the wrong order")
            } else {
                format!("slice `[{high}:{low}]` is outside {}", self.describe(of))
            };
            self.report(
                Diagnostic::error(Class::Constant, at, message)
                    .help(format!("a slice is `[hi:lo]` with {} >= hi >= lo >= 0", width.saturating_sub(1))),
            );
            return Ty::UNKNOWN;
        }
        if let Some(Value::Int(value)) = self.out.values.get(&base) {
            let value = slice(value, high, low);
            self.out.values.insert(id, Value::Int(value));
        }
        self.out.types.bits(high - low + 1)
    }

    fn ternary(&mut self, id: ExprId, condition: ExprId, then: ExprId, otherwise: ExprId) -> Ty {
        self.value(condition);
        self.require(condition, Ty::BOOL, Role::Condition);
        let (first, second) = (self.value(then), self.value(otherwise));
        let ty = if first == Ty::INTEGER {
            self.require(then, second, Role::Operand(otherwise));
            second
        } else {
            self.require(otherwise, first, Role::Operand(then));
            first
        };
        let taken = match self.out.values.get(&condition).and_then(Value::as_bool) {
            Some(true) => then,
            Some(false) => otherwise,
            None => return ty,
        };
        if let Some(value) = self.out.values.get(&taken).cloned() {
            self.out.values.insert(id, value);
        }
        ty
    }

    fn cast(&mut self, id: ExprId, to: TypeId, operand: ExprId) -> Ty {
        let ty = self.type_use(to);
        let from = self.value(operand);
        if self.out.types.is_loose(from) || self.out.types.is_loose(ty) {
            return ty;
        }
        let mark = self.mark();
        if self.out.types.kind(from) != &TyKind::Integer && self.converts(operand, from, ty) {
            self.convert(operand, ty);
            if let Some(value) = self.out.values.get(&operand).cloned() {
                self.out.values.insert(id, value);
            }
            return ty;
        }
        self.undo(mark);
        if !self.castable(from, ty) {
            let (found, wanted) = (self.describe(from), self.describe(ty));
            let at = self.ast.exprs[id].span;
            let diagnostic =
                Diagnostic::error(Class::Type, at, format!("{found} cannot be cast to {wanted}"));
            self.report(match (self.out.types.kind(from), self.out.types.kind(ty)) {
                (TyKind::Bits(_), TyKind::Bool) => diagnostic.help("compare the number: `x != 0`"),
                (TyKind::Bits(have), TyKind::Signed(_)) => {
                    diagnostic.help(format!("change one thing at a time: `(int<{have}>) x` first"))
                }
                (TyKind::Signed(have), TyKind::Bits(_)) => {
                    diagnostic.help(format!("change one thing at a time: `(bit<{have}>) x` first"))
                }
                _ => diagnostic,
            });
            return ty;
        }
        if let Some(value) = self.out.values.get(&operand) {
            let value = cast_value(value, self.out.types.kind(self.base_of(ty)));
            self.out.values.insert(id, value);
        }
        ty
    }

    /// Returns the type that represents a type: that of a new type or serialisable enumeration, or the type itself.
    pub(super) fn base_of(&self, ty: Ty) -> Ty {
        self.out.base(self.ast, ty)
    }

    fn castable(&self, from: Ty, to: Ty) -> bool {
        let named = |ty: Ty| matches!(self.out.types.kind(ty), TyKind::Enum(_) | TyKind::Newtype(_));
        let (base, wanted) = (self.base_of(from), self.base_of(to));
        if (named(from) || named(to)) && base == wanted {
            return true;
        }
        match (self.out.types.kind(base), self.out.types.kind(wanted)) {
            (TyKind::Integer, TyKind::Bits(_) | TyKind::Signed(_) | TyKind::Integer)
            | (TyKind::Bits(_), TyKind::Bits(_) | TyKind::Integer)
            | (TyKind::Signed(_), TyKind::Signed(_) | TyKind::Integer)
            | (TyKind::Bool, TyKind::Bits(1))
            | (TyKind::Bits(1) | TyKind::Integer, TyKind::Bool) => true,
            (TyKind::Bits(have), TyKind::Signed(want)) | (TyKind::Signed(have), TyKind::Bits(want)) => {
                have == want
            }
            _ => false,
        }
    }

    /// Returns true if an expression is known when the program is compiled: a value, an instance, or an expression of these and
    /// of parameters of constructors.
    pub(super) fn is_static(&self, id: ExprId) -> bool {
        if self.out.values.contains_key(&id) || self.out.types.is_loose(self.out.expr_types[id]) {
            return true;
        }
        match &self.ast.exprs[id].kind {
            ExprKind::Name { .. } => self.out.decl_of(id).is_some_and(|decl| self.is_static_decl(decl)),
            ExprKind::Construct { .. } => true,
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => self.is_static(*operand),
            ExprKind::Slice { base, .. } => self.is_static(*base),
            ExprKind::Binary { left, right, .. } => self.is_static(*left) && self.is_static(*right),
            ExprKind::Ternary { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().all(|&part| self.is_static(part))
            }
            ExprKind::List(elements) => elements.iter().all(|&element| self.is_static(element)),
            ExprKind::Record(entries) => entries.iter().all(|(_, value)| self.is_static(*value)),
            _ => false,
        }
    }

    fn is_static_decl(&self, decl: DeclId) -> bool {
        match &self.ast.decls[decl].kind {
            DeclKind::Const { .. } | DeclKind::Instance(_) | DeclKind::Invalid => true,
            DeclKind::Param(_) => self.static_params.contains(&decl),
            _ => false,
        }
    }
}

/// Returns a value cast to the type that represents the target.
#[must_use]
pub fn cast_value(value: &Value, to: &TyKind) -> Value {
    match (value, to) {
        (Value::Bool(value), TyKind::Bits(_)) => Value::Int(i32::from(*value).into()),
        (Value::Int(value), TyKind::Bool) => Value::Bool(*value != 0.into()),
        (Value::Int(value), kind) => Value::Int(wrap(value, kind)),
        _ => value.clone(),
    }
}
