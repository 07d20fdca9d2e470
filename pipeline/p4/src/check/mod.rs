//! Names, types and constants of a parsed program.
//!
//! [`check`] walks the syntax tree once, in source order, because a P4 name is declared before its use (states of a parser are the
//! exception). Types are found bottom up: an expression has a type of its own, and the place that uses it asks for a
//! conversion. Only three conversions are implicit: a number without a width becomes one with a width, a serialisable
//! enumeration becomes its representation, and a list becomes a struct or header with these fields. Type arguments of calls and
//! instances are inferred by unification (`infer`). A part with an error gets the type `Unknown`, which fits everywhere, so that
//! one mistake is one message and later mistakes are found in the same run.
//!
//! Results are in the tables of [`Checked`].

mod action;
mod annotation;
mod arguments;
mod block;
mod builtin;
mod call;
mod conversion;
mod declaration;
mod expression;
mod infer;
mod instance;
mod keyset;
mod known;
mod layout;
mod member;
mod operator;
mod place;
mod property;
mod scope;
mod statement;
mod suggestion;
mod table;
mod tables;
mod ty;
mod type_use;
mod v1model;
mod value;

pub use expression::cast_value;
pub(crate) use layout::padding_before;
pub use tables::{Builtin, Call, Callee, Checked, Construction, Resolution};
pub use ty::{Ty, TyKind, Types, type_params};
pub use value::{MAX_WIDTH, Value, binary, concat, fits, slice, unary, wrap};

use crate::diagnostic::{Class, Diagnostic, Diagnostics};
use crate::names::Symbol;
use crate::source::Span;
use crate::syntax::ast::{Annotation, Ast, DeclId};
use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scopes;

/// Checks a program. Errors and warnings go to `diagnostics`; the tables of a program with errors are incomplete.
#[must_use]
pub fn check(ast: &Ast, diagnostics: &mut Diagnostics) -> Checked {
    let mut checker = Checker {
        ast,
        out: Checked::new(ast),
        diagnostics,
        scopes: Scopes::default(),
        errors: FxHashMap::default(),
        match_kinds: FxHashMap::default(),
        sizes: FxHashMap::default(),
        variables: Vec::new(),
        trail: Vec::new(),
        open: Vec::new(),
        blocks: Vec::new(),
        result: None,
        this: None,
        any_is_inferred: false,
        static_params: FxHashSet::default(),
        context: Context::Top,
    };
    for &decl in &ast.top {
        checker.declare(decl);
    }
    let Checker { mut out, scopes, .. } = checker;
    out.top = scopes.into_top();
    out
}

/// The state of a check.
struct Checker<'a> {
    ast: &'a Ast,
    out: Checked,
    diagnostics: &'a mut Diagnostics,
    scopes: Scopes,
    /// The members of `error`.
    errors: FxHashMap<Symbol, DeclId>,
    /// The members of `match_kind`.
    match_kinds: FxHashMap<Symbol, DeclId>,
    /// Sizes in bits that were asked for, so that deeply nested structs are measured once.
    sizes: FxHashMap<Ty, Option<(u64, u64)>>,
    /// What the variables of inference stand for.
    variables: Vec<Option<Ty>>,
    /// The variables in the order in which they were bound, so that a failed attempt can be undone.
    trail: Vec<u32>,
    /// Declarations whose parts are being checked, so that a type inside itself gets a message of its own.
    open: Vec<DeclId>,
    /// The parsers and controls around the current place.
    blocks: Vec<DeclId>,
    /// The type that `return` returns, inside the implementation of a method.
    result: Option<Ty>,
    /// The type of `this`, inside the implementation of a method.
    this: Option<Ty>,
    /// True where `_` is a type to infer, false where it is any type.
    any_is_inferred: bool,
    /// Parameters of constructors, whose arguments are known when the program is compiled.
    static_params: FxHashSet<DeclId>,
    /// The kind of code around the current place.
    context: Context,
}

/// Kinds of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// Outside of parsers, controls and actions.
    Top,
    /// States of a parser.
    Parser,
    /// The `apply` block of a control.
    Control,
    /// An action.
    Action,
    /// The implementation of a method.
    Method,
}

impl<'a> Checker<'a> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, class: Class, at: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(class, at, message));
    }

    /// Returns the text of a declaration's name.
    fn name(&self, decl: DeclId) -> &'a str {
        self.ast.text(self.ast.decls[decl].name)
    }

    /// Returns the annotation of this name, if the declaration has it.
    fn annotation(&self, decl: DeclId, name: &str) -> Option<&'a Annotation> {
        self.ast.decls[decl].annotations.iter().find(|annotation| self.ast.text(annotation.name) == name)
    }

    fn show(&self, ty: Ty) -> String {
        let ty = self.shallow(ty);
        self.out.types.show(self.ast, ty)
    }

    fn describe(&self, ty: Ty) -> String {
        let ty = self.shallow(ty);
        self.out.types.describe(self.ast, ty)
    }
}
