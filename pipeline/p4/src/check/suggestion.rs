//! Messages on unknown names, with the name that was probably meant.

use super::Checker;
use super::type_use::word;
use super::v1model;
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{DeclId, DeclKind, Name};

impl Checker<'_> {
    /// Reports a name that is not declared where it is used. `role` is the expected kind of thing: type, value, state.
    pub(super) fn unknown_name(&mut self, name: Name, role: &str) {
        let text = self.ast.text(name);
        if let Some(&open) =
            self.open.iter().rev().find(|&&open| self.ast.decls[open].name.symbol == name.symbol)
        {
            let message = format!("`{text}` is used inside its own declaration");
            let declared = self.ast.decls[open].name.span;
            self.report(
                Diagnostic::error(Class::Name, name.span, message)
                    .also(declared, "this declaration is not complete at the use")
                    .help("a P4 type, parser or control cannot contain itself"),
            );
            return;
        }
        let message = format!("`{text}` is not declared");
        if let Some(later) = self.declared_later(name) {
            let place = self.ast.decls[later].name.span;
            let what = word(&self.ast.decls[later].kind);
            self.report(
                Diagnostic::error(Class::Name, name.span, format!("`{text}` is used before its declaration"))
                    .also(place, format!("{what} of this name is declared here"))
                    .help("move the declaration in front of the use"),
            );
            return;
        }
        if let Some(form) = v1model::in_tna(text) {
            let help = format!("the name is of v1model (bmv2); in TNA, {form}");
            self.report(Diagnostic::error(Class::Name, name.span, message).help(help));
            return;
        }
        let candidates = self
            .scopes
            .names()
            .filter(|(_, decl)| is_type(&self.ast.decls[*decl].kind) == (role == "type"))
            .map(|(symbol, _)| self.ast.names.text(symbol));
        let diagnostic = Diagnostic::error(Class::Name, name.span, message);
        self.report(match nearest(text, candidates) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => {
                diagnostic.help(format!("declare a {role} of this name before the use, or correct the name"))
            }
        });
    }

    fn declared_later(&self, name: Name) -> Option<DeclId> {
        let same = |decl: &DeclId| self.ast.decls[*decl].name.symbol == name.symbol;
        let locals = self.blocks.iter().rev().find_map(|&block| match &self.ast.decls[block].kind {
            DeclKind::Parser(parser) => parser.locals.iter().copied().find(same),
            DeclKind::Control(control) => control.locals.iter().copied().find(same),
            _ => None,
        });
        locals.or_else(|| self.ast.top.iter().copied().find(same))
    }
}

fn is_type(kind: &DeclKind) -> bool {
    matches!(
        kind,
        DeclKind::Typedef { .. }
            | DeclKind::Newtype { .. }
            | DeclKind::Enum(_)
            | DeclKind::Header(_)
            | DeclKind::Struct(_)
            | DeclKind::Extern(_)
            | DeclKind::Parser(_)
            | DeclKind::Control(_)
            | DeclKind::Package(_)
            | DeclKind::TypeParam
    )
}

/// Returns the candidate that is most like the text, if one is like it at all. Of several, the first in alphabetical order.
pub(super) fn nearest<'n>(text: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Every name of one or two characters is near every other.
    let limit = if text.len() < 3 { 0 } else { (text.len() / 3).max(1) };
    candidates
        .map(|candidate| (strsim::osa_distance(text, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= limit || (candidate.eq_ignore_ascii_case(text) && *candidate != text)
        })
        .min()
        .map(|(_, candidate)| candidate)
}
