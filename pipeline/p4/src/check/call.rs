//! Calls of functions, methods, actions and `apply`, with their type arguments.

use super::Checker;
use super::conversion::Role;
use super::tables::{Builtin, Call, Callee, Resolution};
use super::ty::{Ty, TyKind, type_params};
use super::type_use::{are, counted, word};
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Arg, DeclId, DeclKind, Direction, ExprId, ExprKind, Name, TypeId};

/// Functions, methods or constructors of one name, one of which is called.
pub(super) struct Candidates<'s> {
    /// The words for messages: method `execute` of extern `RegisterAction<..>`.
    pub(super) what: String,
    /// The declarations.
    pub(super) decls: Vec<DeclId>,
    /// Type parameters that have arguments already, such as those of the object's type.
    pub(super) known: (&'s [DeclId], &'s [Ty]),
    /// True if instances are made: the parameters are those of constructors.
    pub(super) constructs: bool,
    /// The call without its arguments.
    pub(super) at: Span,
}

/// A function that was chosen for a call.
pub(super) struct Chosen {
    pub(super) decl: DeclId,
    pub(super) type_args: Vec<Ty>,
    pub(super) args: Vec<Option<ExprId>>,
}

impl<'a> Checker<'a> {
    pub(super) fn call(&mut self, id: ExprId, callee: ExprId, type_args: &[TypeId], args: &[Arg]) -> Ty {
        match self.ast.exprs[callee].kind {
            ExprKind::Name { name, global } => self.call_name(id, callee, name, global, type_args, args),
            ExprKind::Member { base, member } => self.call_member(id, callee, base, member, type_args, args),
            ExprKind::Error => {
                self.arguments(args);
                Ty::UNKNOWN
            }
            _ => {
                self.arguments(args);
                let at = self.ast.exprs[callee].span;
                self.report(
                    Diagnostic::error(Class::Type, at, "this expression cannot be called")
                        .help("call a method `object.method(...)`, an action or an extern function"),
                );
                Ty::UNKNOWN
            }
        }
    }

    /// Checks arguments, each of which has a type of its own.
    pub(super) fn arguments(&mut self, args: &[Arg]) {
        for arg in args {
            self.value(arg.value);
        }
    }

    fn call_name(
        &mut self,
        id: ExprId,
        callee: ExprId,
        name: Name,
        global: bool,
        type_args: &[TypeId],
        args: &[Arg],
    ) -> Ty {
        let found = self.scopes.find(name.symbol, global);
        let Some(&decl) = found.last() else {
            self.unknown_name(name, "function");
            self.arguments(args);
            return Ty::UNKNOWN;
        };
        let text = self.ast.text(name);
        match &self.ast.decls[decl].kind {
            DeclKind::Invalid => {
                self.arguments(args);
                Ty::UNKNOWN
            }
            DeclKind::Action(_) => {
                let candidates = Candidates {
                    what: format!("action `{text}`"),
                    decls: vec![decl],
                    known: (&[], &[]),
                    constructs: false,
                    at: name.span,
                };
                self.arguments(args);
                let Some(chosen) = self.choose(&candidates, &[], args) else { return Ty::UNKNOWN };
                self.out.resolutions[callee] = Some(Resolution::Decl(decl));
                let call = Call { callee: Callee::Action(decl), type_args: Vec::new(), args: chosen.args };
                self.out.calls.insert(id, call);
                Ty::VOID
            }
            DeclKind::Function(_) => {
                let what = format!("function `{text}`");
                let candidates =
                    Candidates { what, decls: found, known: (&[], &[]), constructs: false, at: name.span };
                self.arguments(args);
                let Some(chosen) = self.choose(&candidates, type_args, args) else { return Ty::UNKNOWN };
                self.out.resolutions[callee] = Some(Resolution::Decl(chosen.decl));
                let result = self.result_type(&chosen, &candidates);
                self.known_function(id, text, &chosen);
                let Chosen { decl, type_args, args } = chosen;
                self.out.calls.insert(id, Call { callee: Callee::Function(decl), type_args, args });
                result
            }
            other => {
                let message = format!("`{text}` is {}, and cannot be called", word(other));
                let diagnostic = Diagnostic::error(Class::Type, name.span, message);
                self.report(match other {
                    DeclKind::Table(_) => diagnostic.help(format!("apply the table: `{text}.apply()`")),
                    DeclKind::Instance(_) => {
                        diagnostic.help(format!("call one of its methods: `{text}.apply(...)`"))
                    }
                    _ => diagnostic,
                });
                self.arguments(args);
                Ty::UNKNOWN
            }
        }
    }

    fn call_member(
        &mut self,
        id: ExprId,
        callee: ExprId,
        base: ExprId,
        member: Name,
        type_args: &[TypeId],
        args: &[Arg],
    ) -> Ty {
        let of = match self.ast.exprs[base].kind {
            ExprKind::Type(of) => {
                let ty = self.type_use(of);
                self.out.expr_types[base] = ty;
                ty
            }
            _ => self.expr(base),
        };
        let text = self.ast.text(member);
        self.arguments(args);
        match self.out.types.kind(of).clone() {
            TyKind::Unknown | TyKind::Any => Ty::UNKNOWN,
            TyKind::Extern(decl, own) => {
                self.call_method(id, callee, (of, decl, &own), member, type_args, args)
            }
            TyKind::Table(table) if text == "apply" => {
                if let Some(arg) = args.first() {
                    let message = format!("{} is applied with arguments", self.describe(of));
                    self.report(
                        Diagnostic::error(Class::Type, arg.span, message)
                            .help("its key and actions name their values; write `apply()`"),
                    );
                }
                self.table_applied(member.span);
                self.out.resolutions[callee] = Some(Resolution::Builtin(Builtin::Apply));
                self.out.calls.insert(
                    id,
                    Call { callee: Callee::Table(table), type_args: Vec::new(), args: Vec::new() },
                );
                self.out.types.make(TyKind::TableResult(table))
            }
            TyKind::Parser(decl, own) | TyKind::Control(decl, own) if text == "apply" => {
                self.call_block(id, callee, (of, decl, &own), member, args)
            }
            _ => self.call_builtin(id, callee, (base, of), member, args),
        }
    }

    fn call_method(
        &mut self,
        id: ExprId,
        callee: ExprId,
        (of, decl, own): (Ty, DeclId, &[Ty]),
        member: Name,
        type_args: &[TypeId],
        args: &[Arg],
    ) -> Ty {
        let DeclKind::Extern(object) = &self.ast.decls[decl].kind else { return Ty::UNKNOWN };
        let decls: Vec<DeclId> = object
            .methods
            .iter()
            .copied()
            .filter(|&method| self.ast.decls[method].name.symbol == member.symbol)
            .collect();
        if decls.is_empty() {
            return self.no_member(of, member, &[]);
        }
        let what = format!("method `{}` of {}", self.ast.text(member), self.describe(of));
        let known = (object.type_params.as_slice(), own);
        let candidates = Candidates { what, decls, known, constructs: false, at: member.span };
        let Some(chosen) = self.choose(&candidates, type_args, args) else { return Ty::UNKNOWN };
        let result = self.result_type(&chosen, &candidates);
        self.out.resolutions[callee] = Some(Resolution::Method(chosen.decl));
        self.check_method(decl, member, &chosen);
        let Chosen { decl, type_args, args } = chosen;
        self.out.calls.insert(id, Call { callee: Callee::Method(decl), type_args, args });
        result
    }

    fn call_block(
        &mut self,
        id: ExprId,
        callee: ExprId,
        (of, decl, own): (Ty, DeclId, &[Ty]),
        member: Name,
        args: &[Arg],
    ) -> Ty {
        let ast = self.ast;
        let what = self.describe(of);
        let known = (type_params(ast, decl), own);
        let candidates = Candidates { what, decls: vec![decl], known, constructs: false, at: member.span };
        let Some(chosen) = self.choose(&candidates, &[], args) else { return Ty::VOID };
        self.out.resolutions[callee] = Some(Resolution::Builtin(Builtin::Apply));
        self.out
            .calls
            .insert(id, Call { callee: Callee::Block(decl), type_args: own.to_vec(), args: chosen.args });
        Ty::VOID
    }

    /// Returns the parameters of one of several candidates.
    fn candidate(&self, candidates: &Candidates<'_>, decl: DeclId) -> &'a [DeclId] {
        match &self.ast.decls[decl].kind {
            DeclKind::Parser(parser) if candidates.constructs => &parser.constructor_params,
            DeclKind::Control(control) if candidates.constructs => &control.constructor_params,
            DeclKind::Package(package) => &package.params,
            _ => self.ast.params(decl),
        }
    }

    /// Chooses the function that takes the arguments, which have been checked, and converts the arguments.
    pub(super) fn choose(
        &mut self,
        candidates: &Candidates<'_>,
        type_args: &[TypeId],
        args: &[Arg],
    ) -> Option<Chosen> {
        let given: Vec<Ty> = type_args.iter().map(|&arg| self.type_use(arg)).collect();
        let mut fitting = Vec::new();
        let mut misfits = Vec::new();
        for &decl in &candidates.decls {
            match self.arrange(self.candidate(candidates, decl), args) {
                Ok(order) => fitting.push((decl, order)),
                Err(misfit) => misfits.push((decl, misfit)),
            }
        }
        if fitting.is_empty() {
            self.no_candidate(candidates, &misfits, args);
            return None;
        }
        let mut at = 0;
        if fitting.len() > 1 {
            at =
                (0..fitting.len()).find(|&at| self.fits(candidates, &given, &fitting[at], args)).unwrap_or(0);
        }
        let (decl, order) = fitting.swap_remove(at);
        if !given.is_empty() && given.len() != type_params(self.ast, decl).len() {
            let number = type_params(self.ast, decl).len();
            let message = format!(
                "{} has {}, and {} given",
                candidates.what,
                counted(number, "type parameter"),
                are(given.len(), "type argument")
            );
            self.error(Class::Type, candidates.at, message);
            return None;
        }
        Some(self.take(candidates, &given, (decl, &order), args))
    }

    fn no_candidate(
        &mut self,
        candidates: &Candidates<'_>,
        misfits: &[(DeclId, super::arguments::Misfit)],
        args: &[Arg],
    ) {
        if let [(decl, misfit)] = misfits {
            let params = self.candidate(candidates, *decl);
            self.misfit(candidates.at, &candidates.what, params, args.len(), *misfit);
            return;
        }
        let forms: Vec<String> = misfits
            .iter()
            .map(|(decl, _)| {
                let names: Vec<&str> =
                    self.candidate(candidates, *decl).iter().map(|&param| self.name(param)).collect();
                format!("({})", names.join(", "))
            })
            .collect();
        let message = format!("{} does not take these {}", candidates.what, counted(args.len(), "argument"));
        self.report(
            Diagnostic::error(Class::Type, candidates.at, message)
                .help(format!("its parameters are {}", forms.join(" or "))),
        );
    }

    /// Returns the substitution of a call: known and own type parameters, and their arguments.
    fn substitution(
        &mut self,
        candidates: &Candidates<'_>,
        given: &[Ty],
        decl: DeclId,
    ) -> (Vec<DeclId>, Vec<Ty>) {
        let own = match self.ast.decls[decl].kind {
            DeclKind::Function(_) => type_params(self.ast, decl),
            _ => &[],
        };
        let params = candidates.known.0.iter().chain(own).copied().collect();
        let mut args = candidates.known.1.to_vec();
        for index in 0..own.len() {
            let arg = match given.get(index) {
                Some(&ty) => ty,
                None => self.fresh(),
            };
            args.push(arg);
        }
        (params, args)
    }

    /// Returns true if arguments have types that fit a function. Nothing stays bound.
    fn fits(
        &mut self,
        candidates: &Candidates<'_>,
        given: &[Ty],
        (decl, order): &(DeclId, Vec<Option<usize>>),
        args: &[Arg],
    ) -> bool {
        let (params, types) = self.substitution(candidates, given, *decl);
        let mark = self.mark();
        let good = self.candidate(candidates, *decl).iter().zip(order).all(|(&param, index)| {
            let Some(index) = *index else { return true };
            let wanted = self.out.types.substitute(self.out.decl_types[param], &params, &types);
            let arg = args[index].value;
            self.converts(arg, self.out.expr_types[arg], wanted)
        });
        self.undo(mark);
        good
    }

    /// Converts the arguments of a call to the types of the parameters.
    fn take(
        &mut self,
        candidates: &Candidates<'_>,
        given: &[Ty],
        (decl, order): (DeclId, &[Option<usize>]),
        args: &[Arg],
    ) -> Chosen {
        let (params, types) = self.substitution(candidates, given, decl);
        let list = self.candidate(candidates, decl);
        let values: Vec<Option<ExprId>> = order.iter().map(|index| index.map(|at| args[at].value)).collect();
        // Numbers without a width take the type that the other arguments decide, so they come last.
        for last in [false, true] {
            for (&param, value) in list.iter().zip(&values) {
                let Some(value) = *value else { continue };
                if (self.out.expr_types[value] == Ty::INTEGER) == last {
                    let wanted = self.out.types.substitute(self.out.decl_types[param], &params, &types);
                    self.argument(candidates, decl, (param, value), wanted);
                }
            }
        }
        let known = candidates.known.0.len();
        let type_args = types[known..].iter().map(|&ty| self.resolved(ty)).collect();
        Chosen { decl, type_args, args: values }
    }

    fn argument(
        &mut self,
        candidates: &Candidates<'_>,
        decl: DeclId,
        (param, value): (DeclId, ExprId),
        wanted: Ty,
    ) {
        match self.ast.direction(param) {
            Direction::Out | Direction::InOut => {
                let unused = matches!(self.ast.exprs[value].kind, ExprKind::Any);
                let action = format!("passed to the `out` parameter `{}`", self.name(param));
                let have = self.out.expr_types[value];
                if (unused || self.writable(value, &action)) && !self.unify(wanted, have) {
                    self.require_same(value, wanted, param);
                }
            }
            Direction::In => {
                self.require(value, wanted, Role::Argument(param));
            }
            Direction::None => {
                let good = self.require(value, wanted, Role::Argument(param));
                let called_at_run_time =
                    !candidates.constructs && !matches!(self.ast.decls[decl].kind, DeclKind::Function(_));
                let object = matches!(
                    self.out.types.kind(self.shallow(wanted)),
                    TyKind::Extern(..) | TyKind::Param(_)
                );
                if good && !called_at_run_time && !object && !self.is_static(value) {
                    self.not_constant(value, &format!("the argument for parameter `{}`", self.name(param)));
                }
            }
        }
    }

    fn require_same(&mut self, value: ExprId, wanted: Ty, param: DeclId) {
        let (found, expected) = (self.describe(self.out.expr_types[value]), self.describe(wanted));
        let message = format!("expected {expected}, found {found}");
        let at = self.ast.exprs[value].span;
        self.report(
            Diagnostic::error(Class::Type, at, message)
                .note(format!("argument for `out` parameter `{}`", self.name(param)))
                .help("a place that is written must have the very type; use a variable of that type"),
        );
    }

    fn result_type(&mut self, chosen: &Chosen, candidates: &Candidates<'_>) -> Ty {
        let own = match self.ast.decls[chosen.decl].kind {
            DeclKind::Function(_) => type_params(self.ast, chosen.decl),
            _ => &[],
        };
        let params: Vec<DeclId> = candidates.known.0.iter().chain(own).copied().collect();
        let args: Vec<Ty> = candidates.known.1.iter().chain(&chosen.type_args).copied().collect();
        let result = self.out.decl_types[chosen.decl];
        let undecided = own.iter().zip(&chosen.type_args).find(|(param, ty)| {
            let named = self.out.types.kind(result) == &TyKind::Param(**param);
            **ty == Ty::ANY && named
        });
        if let Some((&param, _)) = undecided {
            let message =
                format!("type parameter `{}` of {} is not known", self.name(param), candidates.what);
            self.report(
                Diagnostic::error(Class::Type, candidates.at, message)
                    .help(format!("give it: `{}<TYPE>(...)`", self.name(chosen.decl))),
            );
            return Ty::UNKNOWN;
        }
        self.out.types.substitute(result, &params, &args)
    }
}
