//! Instances of externs, parsers, controls and packages.

use super::Checker;
use super::call::Candidates;
use super::tables::Construction;
use super::ty::{Ty, TyKind, type_params};
use super::type_use::counted;
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    AnnotationBody, AnnotationTokenKind, Arg, Block, DeclId, DeclKind, ExprId, FunctionDecl, Instance, TypeId,
};

impl Checker<'_> {
    /// Checks `TYPE(args) name = { ... };` and returns the type of the instance.
    pub(super) fn instance(&mut self, id: DeclId, instance: &Instance) -> Ty {
        let Some(made) = self.make(instance.of, &instance.args, instance.initializer.as_deref()) else {
            return Ty::UNKNOWN;
        };
        let ty = made.ty;
        self.out.type_uses[instance.of] = ty;
        self.out.instances.insert(id, made);
        ty
    }

    /// Checks `TYPE(args)` and returns the type of the instance.
    pub(super) fn construct(&mut self, id: ExprId, of: TypeId, args: &[Arg]) -> Ty {
        let Some(made) = self.make(of, args, None) else { return Ty::UNKNOWN };
        let ty = made.ty;
        self.out.type_uses[of] = ty;
        self.out.constructs.insert(id, made);
        ty
    }

    fn make(&mut self, of: TypeId, args: &[Arg], initializer: Option<&[DeclId]>) -> Option<Construction> {
        let inferred = std::mem::replace(&mut self.any_is_inferred, true);
        let ty = self.type_use(of);
        self.any_is_inferred = inferred;
        self.arguments(args);
        let at = self.ast.types[of].span;
        let (decl, own) = match self.out.types.kind(ty).clone() {
            TyKind::Extern(decl, own)
            | TyKind::Parser(decl, own)
            | TyKind::Control(decl, own)
            | TyKind::Package(decl, own) => (decl, own),
            TyKind::Unknown | TyKind::Any => return None,
            _ => {
                let message = format!("{} has no instances", self.describe(ty));
                self.report(
                    Diagnostic::error(Class::Type, at, message)
                        .help("only externs, parsers, controls and packages have instances"),
                );
                return None;
            }
        };
        self.supported(decl, at);
        let known = (type_params(self.ast, decl), &*own);
        let what = self.describe(ty);
        let constructors = self.constructors(decl, at)?;
        let chosen = match constructors {
            Some(decls) => {
                let candidates = Candidates {
                    what: format!("the constructor of {what}"),
                    decls,
                    known,
                    constructs: true,
                    at,
                };
                self.choose(&candidates, &[], args)
            }
            None => None,
        };
        self.implement(decl, (ty, known), initializer, at);
        let ty = self.resolved(ty);
        let constructor = chosen.as_ref().map(|chosen| chosen.decl).filter(|&chosen| chosen != decl);
        let args = chosen.map_or_else(Vec::new, |chosen| chosen.args);
        Some(Construction { ty, constructor, args })
    }

    /// Returns the constructors of a type, or that there is none to choose from; `None` after an error.
    fn constructors(&mut self, decl: DeclId, at: Span) -> Option<Option<Vec<DeclId>>> {
        let has_body = match &self.ast.decls[decl].kind {
            DeclKind::Extern(object) if object.constructors.is_empty() => false,
            DeclKind::Extern(object) => return Some(Some(object.constructors.clone())),
            DeclKind::Parser(parser) => parser.has_body,
            DeclKind::Control(control) => control.apply.is_some(),
            DeclKind::Package(_) => true,
            _ => return Some(None),
        };
        if !has_body {
            let message = format!("`{}` has no constructor", self.name(decl));
            let declared = self.ast.decls[decl].name.span;
            self.report(
                Diagnostic::error(Class::Type, at, message)
                    .also(declared, "declared here")
                    .help("only declarations with a body, and externs with constructors, have instances"),
            );
            return None;
        }
        Some(Some(vec![decl]))
    }

    /// Reports declarations of the prelude that Sluice does not implement.
    pub(super) fn supported(&mut self, decl: DeclId, at: Span) {
        let Some(annotation) = self.annotation(decl, "unsupported") else { return };
        let reason = match &annotation.body {
            AnnotationBody::Args(args) => {
                args.iter().flat_map(|arg| &arg.tokens).find_map(|token| match token.kind {
                    AnnotationTokenKind::Text(text) => Some(self.ast.names.text(text)),
                    _ => None,
                })
            }
            _ => None,
        };
        let message = format!("Sluice does not have `{}`", self.name(decl));
        let diagnostic = Diagnostic::error(Class::Unsupported, at, message);
        self.report(match reason {
            Some(reason) => diagnostic.help(reason),
            None => diagnostic,
        });
    }

    /// Checks the implementations of abstract methods.
    fn implement(
        &mut self,
        decl: DeclId,
        (ty, known): (Ty, (&[DeclId], &[Ty])),
        initializer: Option<&[DeclId]>,
        at: Span,
    ) {
        let abstracts: Vec<DeclId> = match &self.ast.decls[decl].kind {
            DeclKind::Extern(object) => {
                object.methods.iter().copied().filter(|&method| self.is_abstract(method)).collect()
            }
            _ => Vec::new(),
        };
        self.scopes.enter();
        let mut done = Vec::new();
        for &given in initializer.unwrap_or_default() {
            let DeclKind::Function(function) = &self.ast.decls[given].kind else {
                self.declare(given);
                continue;
            };
            let name = self.ast.decls[given].name;
            let wanted = abstracts.iter().copied().find(|&id| self.ast.decls[id].name.symbol == name.symbol);
            let Some(wanted) = wanted else {
                let names: Vec<&str> = abstracts.iter().map(|&id| self.name(id)).collect();
                let owner = self.describe(ty);
                let message = format!("there is no abstract method `{}` in {owner}", self.ast.text(name));
                self.report(Diagnostic::error(Class::Name, name.span, message).help(
                    match names.is_empty() {
                        true => "it takes no methods".to_owned(),
                        false => format!("it takes {}", names.join(", ")),
                    },
                ));
                continue;
            };
            done.push(wanted);
            self.implementation(given, function, wanted, (ty, known));
        }
        self.scopes.leave();
        let missing =
            abstracts.iter().find(|id| !done.contains(id) && self.annotation(**id, "optional").is_none());
        if let Some(&missing) = missing {
            let message = format!("{} needs a method `{}`", self.describe(ty), self.name(missing));
            self.report(
                Diagnostic::error(Class::Type, at, message).help(format!(
                    "write `= {{ void {}(...) {{ ... }} }};` after the name",
                    self.name(missing)
                )),
            );
        }
    }

    fn is_abstract(&self, method: DeclId) -> bool {
        matches!(&self.ast.decls[method].kind, DeclKind::Function(function) if function.is_abstract)
    }

    /// Checks the implementation of a method against its declaration.
    fn implementation(
        &mut self,
        id: DeclId,
        function: &FunctionDecl,
        wanted: DeclId,
        (this, (params, args)): (Ty, (&[DeclId], &[Ty])),
    ) {
        self.scopes.enter();
        self.type_params(&function.type_params);
        self.params(&function.params);
        let result = self.type_use(function.result);
        self.out.decl_types[id] = result;
        let declared = self.ast.params(wanted);
        for (index, &param) in function.params.iter().enumerate() {
            let Some(&other) = declared.get(index) else {
                let span = self.ast.decls[param].span;
                let message = format!(
                    "method `{}` has {}, and this is one more",
                    self.name(wanted),
                    counted(declared.len(), "parameter")
                );
                self.error(Class::Type, span, message);
                break;
            };
            let ty = self.out.types.substitute(self.out.decl_types[other], params, args);
            self.same_param(param, other, ty);
        }
        let missing = declared.iter().skip(function.params.len()).find(|&&param| !self.is_optional(param));
        if let Some(&missing) = missing {
            let name = self.ast.decls[id].name;
            let message = format!("method `{}` lacks the parameter `{}`", self.name(id), self.name(missing));
            self.error(Class::Type, name.span, message);
        }
        if let Some(body) = &function.body {
            self.method_body(body, result, this);
        }
        self.scopes.leave();
    }

    fn same_param(&mut self, param: DeclId, wanted: DeclId, ty: Ty) {
        let have = self.out.decl_types[param];
        let span = self.ast.decls[param].span;
        if !self.unify(ty, have) {
            let (found, expected) = (self.describe(have), self.describe(ty));
            let message =
                format!("parameter `{}` has the type {found}; expected {expected}", self.name(param));
            let declared = self.ast.decls[wanted].span;
            self.report(
                Diagnostic::error(Class::Type, span, message)
                    .also(declared, "the declaration of the method")
                    .help("use the type that the type arguments of the instance give"),
            );
        }
        if self.ast.direction(param) != self.ast.direction(wanted) {
            let message = format!("parameter `{}` has the wrong direction", self.name(param));
            let declared = self.ast.decls[wanted].span;
            self.report(
                Diagnostic::error(Class::Type, span, message).also(declared, "the declaration of the method"),
            );
        }
    }

    fn method_body(&mut self, body: &Block, result: Ty, this: Ty) {
        let result = self.result.replace(result);
        let this = self.this.replace(this);
        let context = std::mem::replace(&mut self.context, super::Context::Method);
        self.statements(body);
        self.result = result;
        self.this = this;
        self.context = context;
    }
}
