//! Declarations: each is checked and then becomes visible.

use super::Checker;
use super::conversion::Role;
use super::ty::{Ty, TyKind, type_params};
use super::value::Value;
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{DeclId, DeclKind, EnumDecl, ExprId, ExternDecl, FieldsDecl, TypeId};

impl Checker<'_> {
    /// Checks a declaration and makes its name visible in the current scope.
    pub(super) fn declare(&mut self, id: DeclId) {
        self.open.push(id);
        self.declaration(id);
        self.open.pop();
        self.annotations(id);
        if !matches!(self.ast.decls[id].kind, DeclKind::Error { .. } | DeclKind::MatchKind { .. }) {
            self.make_visible(id);
        }
    }

    fn declaration(&mut self, id: DeclId) {
        let ast = self.ast;
        let ty = match &ast.decls[id].kind {
            DeclKind::Invalid => Ty::UNKNOWN,
            DeclKind::Const { of, value } => self.constant(id, *of, *value),
            DeclKind::Typedef { of } => self.type_use(*of),
            DeclKind::Newtype { of } => self.newtype(id, *of),
            DeclKind::Enum(decl) => self.enumeration(id, decl),
            DeclKind::Error { members } => self.add_members(members, Ty::ERROR),
            DeclKind::MatchKind { members } => self.add_members(members, Ty::MATCH_KIND),
            DeclKind::Header(decl) | DeclKind::Struct(decl) => self.record_type(id, decl),
            DeclKind::Extern(decl) => self.extern_type(id, decl),
            DeclKind::Function(_) => self.signature(id),
            DeclKind::Parser(_) | DeclKind::Control(_) => self.block(id),
            DeclKind::Package(decl) => {
                self.scopes.enter();
                self.type_params(&decl.type_params);
                self.params(&decl.params);
                self.scopes.leave();
                Ty::UNKNOWN
            }
            DeclKind::Instance(instance) => self.instance(id, instance),
            DeclKind::Variable { of, value } => self.variable(*of, *value),
            DeclKind::ValueSet { of, size } => {
                let element = self.type_use(*of);
                self.count(*size, "the size of a value set", 1..=1 << 16);
                self.out.types.make(TyKind::Set(element))
            }
            DeclKind::Action(decl) => self.action(id, decl),
            DeclKind::Table(decl) => self.table(id, decl),
            // Members, fields, parameters, states, constructors and type parameters belong to the declarations above.
            DeclKind::Member { .. }
            | DeclKind::Field { .. }
            | DeclKind::Constructor { .. }
            | DeclKind::State(_)
            | DeclKind::Param(_)
            | DeclKind::TypeParam => Ty::UNKNOWN,
        };
        self.out.decl_types[id] = ty;
    }

    /// Makes a name visible, and reports a name that the same scope has already. Extern functions share a name if their
    /// numbers of parameters differ.
    pub(super) fn make_visible(&mut self, id: DeclId) {
        let name = self.ast.decls[id].name;
        if let Some(first) = self.scopes.here(name.symbol)
            && !self.overloads(name.symbol, id)
        {
            self.declared_twice(id, first);
            return;
        }
        self.scopes.declare(name.symbol, id);
    }

    fn overloads(&self, name: crate::names::Symbol, id: DeclId) -> bool {
        let number = |decl: DeclId| match &self.ast.decls[decl].kind {
            DeclKind::Function(function) => Some(function.params.len()),
            _ => None,
        };
        let Some(mine) = number(id) else { return false };
        self.scopes.find(name, false).into_iter().all(|other| number(other).is_some_and(|n| n != mine))
    }

    pub(super) fn declared_twice(&mut self, id: DeclId, first: DeclId) {
        let name = self.ast.decls[id].name;
        let message = format!("`{}` is declared twice", self.ast.text(name));
        let place = self.ast.decls[first].name.span;
        self.report(
            Diagnostic::error(Class::Name, name.span, message)
                .note("declared again here")
                .also(place, "declared first here")
                .help("remove or rename one of the two declarations"),
        );
    }

    fn constant(&mut self, id: DeclId, of: TypeId, value: ExprId) -> Ty {
        let ty = self.type_use(of);
        self.expr(value);
        // p4c takes `const int N = 16w1;` too, and the constant has no width.
        let sized = matches!(self.out.kind_of(value), TyKind::Bits(_) | TyKind::Signed(_));
        let widens = ty == Ty::INTEGER && sized;
        if !widens && !self.require(value, ty, Role::Initial(self.ast.decls[id].name)) {
            return ty;
        }
        if let Some(value) = self.out.values.get(&value) {
            self.out.constants.insert(id, value.clone());
            return ty;
        }
        if !self.has_error(value) {
            self.not_constant(value, &format!("the value of constant `{}`", self.name(id)));
        }
        // Uses of the constant are no further errors.
        Ty::UNKNOWN
    }

    /// Returns true if a part of an expression has an error that has been reported.
    fn has_error(&self, expr: ExprId) -> bool {
        self.out.types.is_loose(self.out.expr_types[expr])
            || self.ast.exprs[expr].kind.parts().any(|part| self.has_error(part))
    }

    /// Reports an expression that is not known at compile time.
    pub(super) fn not_constant(&mut self, expr: ExprId, role: &str) {
        let at = self.ast.exprs[expr].span;
        let message = format!("{role} is not known at compile time");
        self.report(
            Diagnostic::error(Class::Constant, at, message)
                .help("use numbers, constants and operators on them only"),
        );
    }

    fn variable(&mut self, of: TypeId, value: Option<ExprId>) -> Ty {
        let ty = self.type_use(of);
        if let Some(value) = value {
            self.expr(value);
            let at = self.ast.types[of].span;
            self.require(value, ty, Role::Variable(at));
        }
        ty
    }

    fn newtype(&mut self, id: DeclId, of: TypeId) -> Ty {
        let ty = self.type_use(of);
        if !matches!(
            self.out.types.kind(ty),
            TyKind::Unknown
                | TyKind::Bool
                | TyKind::Bits(_)
                | TyKind::Signed(_)
                | TyKind::Enum(_)
                | TyKind::Newtype(_)
        ) {
            let found = self.describe(ty);
            let at = self.ast.types[of].span;
            self.report(
                Diagnostic::error(
                    Class::Type,
                    at,
                    format!("a new type is represented by `bit<W>`, `int<W>` or `bool`, not by {found}"),
                )
                .help("use `typedef` to give another type a second name"),
            );
        }
        self.out.types.make(TyKind::Newtype(id))
    }

    fn enumeration(&mut self, id: DeclId, decl: &EnumDecl) -> Ty {
        let ty = self.out.types.make(TyKind::Enum(id));
        let of = decl.of.map(|of| self.type_use(of));
        self.unique(&decl.members);
        for &member in &decl.members {
            self.out.decl_types[member] = ty;
            let DeclKind::Member { value } = self.ast.decls[member].kind else { continue };
            let value = match (of, value) {
                (Some(of), Some(value)) => {
                    self.expr(value);
                    let name = self.ast.decls[member].name;
                    if !self.require(value, of, Role::Initial(name)) {
                        continue;
                    }
                    match self.out.values.get(&value) {
                        Some(value) => value.clone(),
                        None => {
                            self.not_constant(value, &format!("the value of `{}`", self.name(member)));
                            continue;
                        }
                    }
                }
                (Some(_), None) => {
                    let name = self.ast.decls[member].name;
                    let message = format!("member `{}` has no value", self.ast.text(name));
                    self.report(
                        Diagnostic::error(Class::Constant, name.span, message)
                            .help("every member of an `enum` with a type needs one: `NAME = 1`"),
                    );
                    continue;
                }
                (None, Some(value)) => {
                    let at = self.ast.exprs[value].span;
                    self.report(
                        Diagnostic::error(
                            Class::Type,
                            at,
                            "a member has a value, and its enumeration has no type",
                        )
                        .help(format!("write `enum bit<8> {}` with the width that you need", self.name(id))),
                    );
                    continue;
                }
                (None, None) => Value::Member(member),
            };
            self.out.constants.insert(member, value);
        }
        ty
    }

    fn add_members(&mut self, members: &[DeclId], ty: Ty) -> Ty {
        for &member in members {
            self.out.decl_types[member] = ty;
            self.out.constants.insert(member, Value::Member(member));
            let name = self.ast.decls[member].name;
            let names = if ty == Ty::ERROR { &mut self.errors } else { &mut self.match_kinds };
            if let Some(first) = names.insert(name.symbol, member) {
                self.declared_twice(member, first);
            }
        }
        Ty::UNKNOWN
    }

    /// Reports names that a list of members or fields has twice.
    fn unique(&mut self, decls: &[DeclId]) {
        let mut first = rustc_hash::FxHashMap::default();
        for &decl in decls {
            if let Some(&before) = first.get(&self.ast.decls[decl].name.symbol) {
                self.declared_twice(decl, before);
            } else {
                first.insert(self.ast.decls[decl].name.symbol, decl);
            }
        }
    }

    fn record_type(&mut self, id: DeclId, decl: &FieldsDecl) -> Ty {
        let header = matches!(self.ast.decls[id].kind, DeclKind::Header(_));
        self.scopes.enter();
        self.type_params(&decl.type_params);
        self.unique(&decl.fields);
        for &field in &decl.fields {
            self.annotations(field);
            let DeclKind::Field { of } = self.ast.decls[field].kind else { continue };
            let ty = self.type_use(of);
            self.out.decl_types[field] = ty;
            self.check_field(field, of, ty, header);
        }
        self.scopes.leave();
        let args = self.own_args(id);
        self.out.types.make(if header { TyKind::Header(id, args) } else { TyKind::Struct(id, args) })
    }

    fn check_field(&mut self, field: DeclId, of: TypeId, ty: Ty, header: bool) {
        let good = match self.out.types.kind(ty) {
            TyKind::Bits(_)
            | TyKind::Signed(_)
            | TyKind::Varbit(_)
            | TyKind::Bool
            | TyKind::Newtype(_)
            | TyKind::Struct(..)
            | TyKind::Param(_)
            | TyKind::Any
            | TyKind::Unknown => true,
            TyKind::Enum(decl) => !header || self.representation(*decl).is_some(),
            TyKind::Header(..) | TyKind::Stack(..) | TyKind::Error => !header,
            _ => false,
        };
        if good {
            return;
        }
        let found = self.describe(ty);
        let place = if header { "header" } else { "struct" };
        let message = format!("field `{}` of a {place} has the type {found}", self.name(field));
        let at = self.ast.types[of].span;
        self.report(Diagnostic::error(Class::Type, at, message).help(if header {
            "fields of a header are `bit<W>`, `int<W>`, `bool`, `varbit<W>`, enumerations with a type, and structs of these"
        } else {
            "fields of a struct are numbers, `bool`, `error`, enumerations, headers, stacks and structs"
        }));
    }

    /// Returns the type parameters of a declaration as types, which are its type arguments inside of it.
    pub(super) fn own_args(&mut self, id: DeclId) -> Box<[Ty]> {
        type_params(self.ast, id).iter().map(|&param| self.out.types.make(TyKind::Param(param))).collect()
    }

    pub(super) fn type_params(&mut self, params: &[DeclId]) {
        for &param in params {
            self.out.decl_types[param] = self.out.types.make(TyKind::Param(param));
            self.make_visible(param);
        }
    }

    /// Checks parameters and makes their names visible.
    pub(super) fn params(&mut self, params: &[DeclId]) {
        for &param in params {
            let DeclKind::Param(decl) = &self.ast.decls[param].kind else { continue };
            let ty = self.type_use(decl.of);
            self.out.decl_types[param] = ty;
            self.annotations(param);
            if let Some(default) = decl.default {
                self.expr(default);
                self.require(default, ty, Role::Initial(self.ast.decls[param].name));
            }
            self.make_visible(param);
        }
    }

    fn extern_type(&mut self, id: DeclId, decl: &ExternDecl) -> Ty {
        self.scopes.enter();
        self.type_params(&decl.type_params);
        for &constructor in &decl.constructors {
            if let DeclKind::Constructor { params } = &self.ast.decls[constructor].kind {
                self.scopes.enter();
                self.params(params);
                self.scopes.leave();
            }
        }
        for &method in &decl.methods {
            let ty = self.signature(method);
            self.out.decl_types[method] = ty;
        }
        self.scopes.leave();
        let args = self.own_args(id);
        self.out.types.make(TyKind::Extern(id, args))
    }

    /// Checks the parameters of a function and returns the type of its result.
    fn signature(&mut self, id: DeclId) -> Ty {
        let DeclKind::Function(function) = &self.ast.decls[id].kind else { return Ty::UNKNOWN };
        self.scopes.enter();
        self.type_params(&function.type_params);
        self.params(&function.params);
        let result = self.type_use(function.result);
        self.scopes.leave();
        result
    }
}
