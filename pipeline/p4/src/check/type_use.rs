//! The types that uses of types mean.

use super::Checker;
use super::ty::{Ty, TyKind, type_params};
use super::value::MAX_WIDTH;
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, Name, TypeId, TypeKind};
use std::ops::RangeInclusive;

impl Checker<'_> {
    /// Returns the type that a use of a type means, and enters it into the tables.
    pub(super) fn type_use(&mut self, id: TypeId) -> Ty {
        let ast = self.ast;
        let node = &ast.types[id];
        let ty = match &node.kind {
            TypeKind::Invalid => Ty::UNKNOWN,
            TypeKind::Bool => Ty::BOOL,
            TypeKind::String => Ty::TEXT,
            TypeKind::Error => Ty::ERROR,
            TypeKind::MatchKind => Ty::MATCH_KIND,
            TypeKind::Void => Ty::VOID,
            TypeKind::Integer => Ty::INTEGER,
            TypeKind::Bits { width: None } => self.out.types.bits(1),
            // The index of an array of one element has no bits.
            TypeKind::Bits { width: Some(width) } => self.sized(*width, "bit", 0, TyKind::Bits),
            TypeKind::SignedBits { width } => self.sized(*width, "int", 1, TyKind::Signed),
            TypeKind::Varbit { width } => self.sized(*width, "varbit", 1, TyKind::Varbit),
            TypeKind::Any if self.any_is_inferred => self.fresh(),
            TypeKind::Any => Ty::ANY,
            TypeKind::Named { name, global, args } => self.named(*name, *global, args),
            TypeKind::Tuple { elements } => {
                let parts = elements.iter().map(|&element| self.type_use(element)).collect();
                self.out.types.make(TyKind::Tuple(parts))
            }
            TypeKind::Stack { element, size } => self.stack(*element, *size),
        };
        self.out.type_uses[id] = ty;
        ty
    }

    fn sized(&mut self, width: ExprId, word: &str, least: u32, make: fn(u32) -> TyKind) -> Ty {
        match self.count(width, &format!("the width of `{word}<W>`"), least..=MAX_WIDTH) {
            Some(width) => self.out.types.make(make(width)),
            None => Ty::UNKNOWN,
        }
    }

    fn stack(&mut self, element: TypeId, size: ExprId) -> Ty {
        let of = self.type_use(element);
        let Some(size) = self.count(size, "the number of elements of a stack", 1..=255) else {
            return Ty::UNKNOWN;
        };
        if !matches!(self.out.types.kind(of), TyKind::Header(..) | TyKind::Unknown | TyKind::Param(_)) {
            let found = self.describe(of);
            let at = self.ast.types[element].span;
            let message = format!("a stack has headers as elements, not {found}");
            self.report(
                Diagnostic::error(Class::Type, at, message).help("declare the element as a `header`"),
            );
            return Ty::UNKNOWN;
        }
        self.out.types.make(TyKind::Stack(of, size))
    }

    /// Returns the value of an expression that is a number of a range, and reports any other.
    pub(super) fn count(&mut self, expr: ExprId, role: &str, range: RangeInclusive<u32>) -> Option<u32> {
        let ty = self.expr(expr);
        if self.out.types.is_loose(ty) {
            return None;
        }
        let at = self.ast.exprs[expr].span;
        let Some(value) = self.out.values.get(&expr).and_then(|value| value.as_int().cloned()) else {
            let message = format!("{role} is not a number that is known at compile time");
            self.report(
                Diagnostic::error(Class::Constant, at, message).help("use a number or the name of a `const`"),
            );
            return None;
        };
        match u32::try_from(&value) {
            Ok(count) if range.contains(&count) => Some(count),
            _ => {
                let (least, most) = range.into_inner();
                self.error(
                    Class::Constant,
                    at,
                    format!("{role} is {value}; it must be from {least} to {most}"),
                );
                None
            }
        }
    }

    fn named(&mut self, name: Name, global: bool, args: &[TypeId]) -> Ty {
        let found = self.scopes.find(name.symbol, global);
        let Some(&decl) = found.last() else {
            for &arg in args {
                self.type_use(arg);
            }
            self.unknown_name(name, "type");
            return Ty::UNKNOWN;
        };
        let params = type_params(self.ast, decl);
        let args: Vec<Ty> = args.iter().map(|&arg| self.type_use(arg)).collect();
        let Some(args) = self.type_arguments(decl, params, args, name.span) else { return Ty::UNKNOWN };
        match &self.ast.decls[decl].kind {
            DeclKind::Typedef { .. } | DeclKind::Newtype { .. } | DeclKind::Enum(_) | DeclKind::Invalid => {
                self.out.decl_types[decl]
            }
            DeclKind::TypeParam => self.out.types.make(TyKind::Param(decl)),
            DeclKind::Header(_) => self.out.types.make(TyKind::Header(decl, args)),
            DeclKind::Struct(_) => self.out.types.make(TyKind::Struct(decl, args)),
            DeclKind::Extern(_) => self.out.types.make(TyKind::Extern(decl, args)),
            DeclKind::Parser(_) => self.out.types.make(TyKind::Parser(decl, args)),
            DeclKind::Control(_) => self.out.types.make(TyKind::Control(decl, args)),
            DeclKind::Package(_) => self.out.types.make(TyKind::Package(decl, args)),
            other => {
                let message = format!("`{}` is {}, not a type", self.ast.text(name), word(other));
                let declared = self.ast.decls[decl].name.span;
                self.report(
                    Diagnostic::error(Class::Name, name.span, message).also(declared, "declared here"),
                );
                Ty::UNKNOWN
            }
        }
    }

    /// Returns the type arguments of a use. Where `_` is inferred, absent arguments are inferred as well.
    fn type_arguments(
        &mut self,
        decl: DeclId,
        params: &[DeclId],
        args: Vec<Ty>,
        at: Span,
    ) -> Option<Box<[Ty]>> {
        if args.len() == params.len() {
            return Some(args.into());
        }
        if args.is_empty() {
            let inferred = self.any_is_inferred;
            return Some(params.iter().map(|_| if inferred { self.fresh() } else { Ty::ANY }).collect());
        }
        let message = format!(
            "`{}` has {}, and {} given",
            self.name(decl),
            counted(params.len(), "type parameter"),
            are(args.len(), "type argument"),
        );
        let names: Vec<&str> = params.iter().map(|&param| self.name(param)).collect();
        let diagnostic = Diagnostic::error(Class::Type, at, message);
        self.report(match names.is_empty() {
            true => diagnostic.help("leave `<...>` out"),
            false => diagnostic.help(format!("write `{}<{}>`", self.name(decl), names.join(", "))),
        });
        None
    }
}

/// Returns a number with a noun: 1 field, 2 fields.
pub(super) fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns a number with a noun and a verb: 1 field is, 2 fields are.
pub(super) fn are(number: usize, noun: &str) -> String {
    format!("{} {}", counted(number, noun), if number == 1 { "is" } else { "are" })
}

/// Returns the words for a declaration: a variable, an action.
pub(super) fn word(kind: &DeclKind) -> &'static str {
    match kind {
        DeclKind::Invalid => "a declaration with an error",
        DeclKind::Const { .. } => "a constant",
        DeclKind::Typedef { .. } | DeclKind::Newtype { .. } => "a type",
        DeclKind::Enum(_) => "an enumeration",
        DeclKind::Error { .. } | DeclKind::MatchKind { .. } | DeclKind::Member { .. } => {
            "a member of an enumeration"
        }
        DeclKind::Header(_) => "a header type",
        DeclKind::Struct(_) => "a struct type",
        DeclKind::Field { .. } => "a field",
        DeclKind::Extern(_) => "an extern type",
        DeclKind::Function(_) | DeclKind::Constructor { .. } => "a function",
        DeclKind::Parser(_) => "a parser type",
        DeclKind::Control(_) => "a control type",
        DeclKind::Package(_) => "a package type",
        DeclKind::Instance(_) => "an instance",
        DeclKind::Variable { .. } => "a variable",
        DeclKind::ValueSet { .. } => "a value set",
        DeclKind::Action(_) => "an action",
        DeclKind::Table(_) => "a table",
        DeclKind::State(_) => "a parser state",
        DeclKind::Param(_) => "a parameter",
        DeclKind::TypeParam => "a type parameter",
    }
}
