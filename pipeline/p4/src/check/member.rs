//! Members of values and types, without calls.

use super::Checker;
use super::suggestion::nearest;
use super::tables::{Builtin, Resolution};
use super::ty::{Ty, TyKind};
use super::value::Value;
use crate::diagnostic::{Class, Diagnostic};
use crate::prelude::intrinsic::is_of_t2na_alone;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind, Name, TypeId};

impl Checker<'_> {
    pub(super) fn member(&mut self, id: ExprId, base: ExprId, member: Name) -> Ty {
        if let ExprKind::Type(of) = self.ast.exprs[base].kind {
            return self.type_member(id, base, of, member);
        }
        let of = self.expr(base);
        let text = self.ast.text(member);
        match self.out.types.kind(of).clone() {
            TyKind::Unknown | TyKind::Any => Ty::UNKNOWN,
            TyKind::Header(..) | TyKind::Struct(..) => self.field(id, base, of, member),
            TyKind::Stack(element, number) => {
                let (builtin, ty) = match text {
                    "next" => (Builtin::Next, element),
                    "last" => (Builtin::Last, element),
                    "lastIndex" => (Builtin::LastIndex, self.out.types.bits(32)),
                    "size" => {
                        self.out.values.insert(id, Value::Int(number.into()));
                        (Builtin::Size, self.out.types.bits(32))
                    }
                    _ => return self.no_member(of, member, &["next", "last", "lastIndex", "size"]),
                };
                self.out.resolutions[id] = Some(Resolution::Builtin(builtin));
                ty
            }
            TyKind::TableResult(table) => {
                let (builtin, ty) = match text {
                    "hit" => (Builtin::Hit, Ty::BOOL),
                    "miss" => (Builtin::Miss, Ty::BOOL),
                    "action_run" => (Builtin::ActionRun, self.out.types.make(TyKind::ActionRun(table))),
                    _ => return self.no_member(of, member, &["hit", "miss", "action_run"]),
                };
                self.out.resolutions[id] = Some(Resolution::Builtin(builtin));
                ty
            }
            TyKind::Table(_) if matches!(text, "hit" | "miss" | "action_run") => {
                let found = self.describe(of);
                let message = format!("{found} has no member `{text}`; the result of applying it has");
                self.report(
                    Diagnostic::error(Class::Type, member.span, message)
                        .help(format!("write `.apply().{text}`")),
                );
                Ty::UNKNOWN
            }
            _ => self.no_member(of, member, &[]),
        }
    }

    fn field(&mut self, id: ExprId, base: ExprId, of: Ty, member: Name) -> Ty {
        let (TyKind::Header(decl, _) | TyKind::Struct(decl, _)) = *self.out.types.kind(of) else {
            return Ty::UNKNOWN;
        };
        let found =
            self.fields(decl).iter().position(|&field| self.ast.decls[field].name.symbol == member.symbol);
        let Some(at) = found else {
            return self.no_member(of, member, &[]);
        };
        let field = self.fields(decl)[at];
        self.out.resolutions[id] = Some(Resolution::Field(field, at as u32));
        if let Some(Value::List(values)) = self.out.values.get(&base)
            && let Some(value) = values.get(at).cloned()
        {
            self.out.values.insert(id, value);
        }
        let ty = self.out.decl_types[field];
        let args = self.out.types.arguments(self.ast, of).1.to_vec();
        self.out.types.substitute(ty, super::type_params(self.ast, decl), &args)
    }

    fn type_member(&mut self, id: ExprId, base: ExprId, of: TypeId, member: Name) -> Ty {
        let ty = self.type_use(of);
        self.out.expr_types[base] = ty;
        let decl = match *self.out.types.kind(ty) {
            TyKind::Unknown | TyKind::Any => return Ty::UNKNOWN,
            TyKind::Enum(decl) => match &self.ast.decls[decl].kind {
                DeclKind::Enum(enumeration) => enumeration
                    .members
                    .iter()
                    .copied()
                    .find(|&decl| self.ast.decls[decl].name.symbol == member.symbol),
                _ => None,
            },
            TyKind::Error => self.errors.get(&member.symbol).copied(),
            TyKind::MatchKind => self.match_kinds.get(&member.symbol).copied(),
            _ => None,
        };
        let Some(decl) = decl else {
            return self.no_member(ty, member, &[]);
        };
        self.out.resolutions[id] = Some(Resolution::Decl(decl));
        if let Some(value) = self.out.constants.get(&decl) {
            self.out.values.insert(id, value.clone());
        }
        ty
    }

    /// Reports a member that a type does not have. `others` are the members that the language defines for the type.
    pub(super) fn no_member(&mut self, of: Ty, member: Name, others: &[&'static str]) -> Ty {
        let text = self.ast.text(member);
        let owner = self.describe(of);
        let mut names: Vec<&str> = others.to_vec();
        names.extend(self.member_names(of));
        let noun = match self.out.types.kind(of) {
            TyKind::Header(..) | TyKind::Struct(..) => "field",
            TyKind::Extern(..) => "method",
            _ => "member",
        };
        let message = format!("there is no {noun} `{text}` in {owner}");
        let mut diagnostic = Diagnostic::error(Class::Name, member.span, message);
        if let TyKind::Header(decl, _) | TyKind::Struct(decl, _) | TyKind::Enum(decl) =
            *self.out.types.kind(of)
        {
            diagnostic = diagnostic.also(self.ast.decls[decl].name.span, format!("{owner} is declared here"));
        }
        let of_t2na = match *self.out.types.kind(of) {
            TyKind::Header(decl, _) | TyKind::Struct(decl, _) => is_of_t2na_alone(self.name(decl), text),
            _ => false,
        };
        let help = match nearest(text, names.iter().copied()) {
            _ if of_t2na => "only Tofino 2 has it: include <t2na.p4>, and choose the chip tofino2".to_owned(),
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => String::new(),
            None if names.len() <= 12 => format!("it has {}", names.join(", ")),
            None => format!("it has {}, ...", names[..12].join(", ")),
        };
        self.report(diagnostic.help(help));
        Ty::UNKNOWN
    }

    fn member_names(&self, of: Ty) -> Vec<&str> {
        let decls: &[DeclId] = match *self.out.types.kind(of) {
            TyKind::Header(decl, _) | TyKind::Struct(decl, _) => self.fields(decl),
            TyKind::Enum(decl) => match &self.ast.decls[decl].kind {
                DeclKind::Enum(enumeration) => &enumeration.members,
                _ => &[],
            },
            TyKind::Extern(decl, _) => match &self.ast.decls[decl].kind {
                DeclKind::Extern(decl) => &decl.methods,
                _ => &[],
            },
            _ => &[],
        };
        let mut names: Vec<&str> = decls.iter().map(|&decl| self.name(decl)).collect();
        if *self.out.types.kind(of) == TyKind::Error {
            names.extend(self.errors.values().map(|&decl| self.name(decl)));
            names.sort_unstable();
        }
        names.dedup();
        names
    }
}
