//! Implicit conversions: from the type that an expression has to the type that its place wants.

use super::Checker;
use super::ty::{Ty, TyKind};
use super::type_use::counted;
use super::value::{Value, fits, wrap};
use crate::diagnostic::{Class, Diagnostic};
use crate::names::Symbol;
use crate::source::Span;
use crate::syntax::ast::{DeclId, Direction, ExprId, ExprKind, Name};
use sluice_asic::limits;

/// The place that wants a type, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// The value of a declaration with this name.
    Initial(Name),
    /// The initial value of a variable, whose type is at this place.
    Variable(Span),
    /// The right side of an assignment to this expression.
    Assigned(ExprId),
    /// An element of a list that becomes this field.
    Field(DeclId),
    /// The argument of this parameter.
    Argument(DeclId),
    /// An operand beside this one.
    Operand(ExprId),
    /// A condition.
    Condition,
    /// An index of a stack.
    Index,
    /// A value that this key is compared with.
    KeyOf(ExprId),
    /// The value of a method.
    Returned,
}

impl<'a> Checker<'a> {
    /// Converts an expression, whose type is known already, to a type; reports an expression that cannot be converted. `to` may
    /// have types to infer.
    pub(super) fn require(&mut self, expr: ExprId, to: Ty, role: Role) -> bool {
        let from = self.out.expr_types[expr];
        let mark = self.mark();
        if self.converts(expr, from, to) {
            self.convert(expr, to);
            return true;
        }
        self.undo(mark);
        self.mismatch(expr, to, role);
        false
    }

    /// Returns true if an expression of type `from` can be converted to `to`; binds types to infer.
    pub(super) fn converts(&mut self, expr: ExprId, from: Ty, to: Ty) -> bool {
        let (from, to) = (self.shallow(from), self.shallow(to));
        if from == to || self.out.types.is_loose(from) || self.out.types.is_loose(to) {
            return true;
        }
        match (self.out.types.kind(from).clone(), self.out.types.kind(to).clone()) {
            (TyKind::Integer, TyKind::Bits(_) | TyKind::Signed(_)) => true,
            (TyKind::Enum(decl), TyKind::Bits(_) | TyKind::Signed(_)) => {
                self.representation(decl) == Some(to)
            }
            (TyKind::Tuple(parts), TyKind::Struct(..) | TyKind::Header(..)) => {
                let fields: Vec<Ty> = self.field_types(to).into_iter().map(|(_, of)| of).collect();
                self.list_converts(expr, &parts, &fields)
            }
            (TyKind::Tuple(parts), TyKind::Tuple(wanted)) => self.list_converts(expr, &parts, &wanted),
            (TyKind::Tuple(parts), TyKind::Stack(element, number)) => {
                parts.len() <= number as usize && {
                    let wanted = vec![element; parts.len()];
                    self.list_converts(expr, &parts, &wanted)
                }
            }
            (TyKind::Record(have), TyKind::Struct(..) | TyKind::Header(..)) => {
                let fields = self.field_types(to);
                self.record_converts(expr, &have, &fields)
            }
            (TyKind::Set(element), TyKind::Set(wanted)) => self.unify(element, wanted),
            _ => self.unify(to, from),
        }
    }

    fn list_converts(&mut self, expr: ExprId, parts: &[Ty], wanted: &[Ty]) -> bool {
        let elements = self.elements(expr);
        parts.len() == wanted.len()
            && (0..parts.len()).all(|at| {
                let part = elements.get(at).copied().unwrap_or(expr);
                self.converts(part, parts[at], wanted[at])
            })
    }

    fn record_converts(&mut self, expr: ExprId, have: &[(Symbol, Ty)], fields: &[(DeclId, Ty)]) -> bool {
        let entries = self.entries(expr);
        have.len() == fields.len()
            && fields.iter().all(|&(field, wanted)| {
                let symbol = self.ast.decls[field].name.symbol;
                let Some(at) = have.iter().position(|(name, _)| *name == symbol) else { return false };
                let part = entries.get(at).map_or(expr, |(_, value)| *value);
                self.converts(part, have[at].1, wanted)
            })
    }

    /// Returns the elements of a list expression.
    fn elements(&self, expr: ExprId) -> &'a [ExprId] {
        match &self.ast.exprs[expr].kind {
            ExprKind::List(elements) => elements,
            _ => &[],
        }
    }

    fn entries(&self, expr: ExprId) -> &'a [(Name, ExprId)] {
        match &self.ast.exprs[expr].kind {
            ExprKind::Record(entries) => entries,
            _ => &[],
        }
    }

    /// Gives an expression, for which `converts` is true, the type `to`, and its parts the types that follow.
    pub(super) fn convert(&mut self, expr: ExprId, to: Ty) {
        let from = self.out.expr_types[expr];
        let to = self.resolved(to);
        if from == to || self.out.types.is_loose(from) || self.out.types.is_loose(to) {
            return;
        }
        let ast = self.ast;
        match (&ast.exprs[expr].kind, self.out.types.kind(to).clone()) {
            (ExprKind::List(elements), kind) => {
                let wanted: Vec<Ty> = match kind {
                    TyKind::Tuple(parts) => parts.to_vec(),
                    TyKind::Stack(element, _) => vec![element; elements.len()],
                    _ => self.field_types(to).into_iter().map(|(_, of)| of).collect(),
                };
                for (&element, wanted) in elements.iter().zip(wanted) {
                    self.convert(element, wanted);
                }
                self.out.expr_types[expr] = to;
                self.collect(expr, elements);
            }
            (ExprKind::Record(entries), _) => {
                let mut values = Vec::new();
                for (field, wanted) in self.field_types(to) {
                    let symbol = ast.decls[field].name.symbol;
                    let Some((_, value)) = entries.iter().find(|(name, _)| name.symbol == symbol) else {
                        continue;
                    };
                    self.convert(*value, wanted);
                    values.push(*value);
                }
                self.out.expr_types[expr] = to;
                self.collect(expr, &values);
            }
            (ExprKind::Ternary { then, otherwise, .. }, _) => {
                self.convert(*then, to);
                self.convert(*otherwise, to);
                self.out.expr_types[expr] = to;
                self.convert_value(expr, to);
            }
            _ => {
                self.out.expr_types[expr] = to;
                self.convert_value(expr, to);
            }
        }
    }

    /// Wraps the value of an expression to the range of its type, with a warning if the value changes.
    fn convert_value(&mut self, expr: ExprId, to: Ty) {
        let kind = self.out.types.kind(to).clone();
        let Some(Value::Int(value)) = self.out.values.get(&expr) else { return };
        if fits(value, &kind) {
            return;
        }
        let wrapped = wrap(value, &kind);
        // A negative number that is the two's complement of the width is usual: `-1` for all ones.
        let usual = matches!(kind, TyKind::Bits(width) if *value >= -(num_bigint::BigInt::from(1) << width.saturating_sub(1)) && *value < 0.into());
        if !usual {
            let at = self.ast.exprs[expr].span;
            let message = format!("the number {value} does not fit `{}`", self.show(to));
            self.report(
                Diagnostic::warning(Class::Constant, at, message)
                    .note(format!("its low bits are {wrapped}"))
                    .help("write a number in the range of the type, or a wider type"),
            );
        }
        self.out.values.insert(expr, Value::Int(wrapped));
    }

    /// Makes the value of a list from the values of its elements, if all are known.
    pub(super) fn collect(&mut self, expr: ExprId, elements: &[ExprId]) {
        let values = || elements.iter().map(|element| self.out.values.get(element));
        let numbers = values().map(|value| value.map_or(0, Value::numbers));
        let limit = &limits::P4_CONSTANT_NUMBERS;
        if limit.is_below(numbers.fold(0, usize::saturating_add)) {
            let at = self.ast.exprs[expr].span;
            let message = format!("the constant has more than {} numbers; {}", limit.get(), limit.advice());
            self.error(Class::Limit, at, message);
            self.out.values.remove(&expr);
            self.out.expr_types[expr] = Ty::UNKNOWN;
            return;
        }
        let values: Option<Vec<Value>> = values().map(|value| value.cloned()).collect();
        if let Some(values) = values {
            self.out.values.insert(expr, Value::List(values));
        }
    }

    /// Reports that an expression cannot be converted to a type, at the innermost part that differs.
    fn mismatch(&mut self, expr: ExprId, to: Ty, role: Role) {
        let from = self.out.expr_types[expr];
        let to = self.shallow(to);
        if let Some(wanted) = self.list_of(expr, from, to) {
            for (element, field, wanted) in wanted {
                let role = field.map_or(role, Role::Field);
                let mark = self.mark();
                if !self.converts(element, self.out.expr_types[element], wanted) {
                    self.undo(mark);
                    self.mismatch(element, wanted, role);
                    return;
                }
            }
        }
        if let Some(name) = self.foreign_name(expr, to) {
            self.no_member(to, name, &[]);
            return;
        }
        let at = self.ast.exprs[expr].span;
        let (found, expected) = (self.describe(from), self.describe(to));
        let message = format!("expected {expected}, found {found}");
        let diagnostic = Diagnostic::error(Class::Type, at, message);
        let diagnostic = self.with_role(diagnostic, role);
        let diagnostic = self.with_parameter(diagnostic, from, to);
        let help = self.help_for(expr, from, to);
        self.report(diagnostic.help(help));
    }

    /// Adds the parameter in which a parser or control differs from the type that its place wants.
    fn with_parameter(&mut self, diagnostic: Diagnostic, from: Ty, to: Ty) -> Diagnostic {
        let ((TyKind::Parser(actual, args), TyKind::Parser(wanted, wanted_args))
        | (TyKind::Control(actual, args), TyKind::Control(wanted, wanted_args))) =
            (self.out.types.kind(from).clone(), self.out.types.kind(to).clone())
        else {
            return diagnostic;
        };
        let mark = self.mark();
        let misfit = self.match_blocks((actual, &args), (wanted, &wanted_args));
        let misfit = misfit.map(|misfit| (misfit.own, misfit.wanted));
        let diagnostic = match misfit {
            Some((Some(own), Some((param, ty)))) => {
                let (name, ty) = (self.name(param), self.show(ty));
                let note = format!("expected `{}{ty}` for `{name}`", word(self.ast.direction(param)));
                diagnostic.also(self.ast.decls[own].span, note)
            }
            Some((None, Some((param, ty)))) => {
                let (name, ty) = (self.name(param), self.show(ty));
                let note =
                    format!("a parameter `{}{ty}` for `{name}` is missing", word(self.ast.direction(param)));
                diagnostic.also(self.ast.decls[actual].name.span, note)
            }
            Some((Some(own), None)) => {
                diagnostic.also(self.ast.decls[own].span, "no parameter is expected here")
            }
            _ => diagnostic,
        };
        self.undo(mark);
        diagnostic
    }

    /// Returns the elements of a list with the fields and types that they must have, if the list has as many elements as the type,
    /// or with those of the names that a record has.
    fn list_of(&mut self, expr: ExprId, from: Ty, to: Ty) -> Option<Vec<(ExprId, Option<DeclId>, Ty)>> {
        let fields: Vec<(Option<DeclId>, Ty)> = match self.out.types.kind(to).clone() {
            TyKind::Tuple(parts) => parts.iter().map(|&part| (None, part)).collect(),
            _ => self.field_types(to).into_iter().map(|(field, of)| (Some(field), of)).collect(),
        };
        match self.out.types.kind(from) {
            TyKind::Tuple(_) => {
                let elements = self.elements(expr);
                let pairs = elements.iter().zip(&fields).map(|(&element, &(field, of))| (element, field, of));
                (fields.len() == elements.len()).then(|| pairs.collect())
            }
            TyKind::Record(_) => {
                let pair = |(name, value): &(Name, ExprId)| {
                    let same = |field: DeclId| self.ast.decls[field].name.symbol == name.symbol;
                    let &(field, of) = fields.iter().find(|(field, _)| field.is_some_and(same))?;
                    Some((*value, field, of))
                };
                self.entries(expr).iter().map(pair).collect()
            }
            _ => None,
        }
    }

    /// Returns a name of a record that the type has no field for.
    fn foreign_name(&self, expr: ExprId, to: Ty) -> Option<Name> {
        let (TyKind::Header(decl, _) | TyKind::Struct(decl, _)) = *self.out.types.kind(to) else {
            return None;
        };
        let has = |name: &Name| {
            self.fields(decl).iter().any(|&field| self.ast.decls[field].name.symbol == name.symbol)
        };
        self.entries(expr).iter().map(|(name, _)| *name).find(|name| !has(name))
    }

    fn with_role(&self, diagnostic: Diagnostic, role: Role) -> Diagnostic {
        let ast = self.ast;
        match role {
            Role::Initial(name) => diagnostic.also(name.span, format!("`{}` has the type", ast.text(name))),
            Role::Variable(at) => diagnostic.also(at, "the type of the variable"),
            Role::Assigned(target) => diagnostic.also(ast.exprs[target].span, "the target has the type"),
            Role::Field(field) => {
                let name = ast.decls[field].name;
                diagnostic.note(format!("value of field `{}`", ast.text(name)))
            }
            Role::Argument(param) => {
                let name = ast.decls[param].name;
                diagnostic.note(format!("argument for parameter `{}`", ast.text(name)))
            }
            Role::Operand(other) => diagnostic.also(ast.exprs[other].span, "the other operand has the type"),
            Role::Condition => diagnostic.note("a condition"),
            Role::Index => diagnostic.note("an index"),
            Role::KeyOf(key) => diagnostic.also(ast.exprs[key].span, "the key has the type"),
            Role::Returned => diagnostic.note("the value that is returned"),
        }
    }

    /// Returns advice on a difference of types.
    fn help_for(&mut self, expr: ExprId, from: Ty, to: Ty) -> String {
        let text = self.show(to);
        match (self.out.types.kind(from).clone(), self.out.types.kind(to).clone()) {
            (TyKind::Bits(1), TyKind::Bool) => "compare the bit: `x == 1`".into(),
            (TyKind::Bits(_) | TyKind::Signed(_) | TyKind::Integer, TyKind::Bool) => {
                "compare the number: `x != 0`".into()
            }
            (TyKind::Bool, TyKind::Bits(1)) => "convert the truth value: `(bit<1>) x`".into(),
            (TyKind::Bool, TyKind::Bits(_)) => format!("convert the truth value: `({text})(bit<1>) x`"),
            (TyKind::Bits(have), TyKind::Bits(want)) if have < want => {
                format!("convert the value with zeros in front: `({text}) x`")
            }
            (TyKind::Bits(_), TyKind::Bits(want)) => {
                format!("take the low bits: `x[{}:0]`", want.saturating_sub(1))
            }
            (TyKind::Bits(have), TyKind::Signed(want)) | (TyKind::Signed(have), TyKind::Bits(want))
                if have == want =>
            {
                format!("convert the value: `({text}) x`")
            }
            (TyKind::Newtype(_), TyKind::Bits(_))
            | (TyKind::Bits(_) | TyKind::Integer, TyKind::Newtype(_)) => {
                format!("convert the value: `({text}) x`")
            }
            (TyKind::Bits(_) | TyKind::Integer, TyKind::Enum(decl))
                if self.representation(decl).is_some() =>
            {
                format!("name a member of `{text}`, or convert the value: `({text}) x`")
            }
            (TyKind::Tuple(parts), TyKind::Struct(..) | TyKind::Header(..)) => {
                let fields = self.field_types(to).len();
                let (list, fields) = (counted(parts.len(), "element"), counted(fields, "field"));
                format!("the list has {list} and `{text}` has {fields}; give one element per field")
            }
            (TyKind::Record(_), TyKind::Struct(..) | TyKind::Header(..)) => {
                format!("give every field of `{text}` once, as `name = value`")
            }
            (TyKind::TableResult(_), TyKind::Bool) => "ask for `.hit` or `.miss`".into(),
            _ if matches!(self.ast.exprs[expr].kind, ExprKind::Any) => "give a value here".into(),
            _ => String::new(),
        }
    }
}

/// Returns a direction as a program writes it, with a blank behind.
fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "",
        Direction::In => "in ",
        Direction::Out => "out ",
        Direction::InOut => "inout ",
    }
}
