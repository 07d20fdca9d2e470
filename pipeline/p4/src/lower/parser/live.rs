//! What a parser reads: values that nothing reads do not tell paths apart.

use super::super::Lower;
use super::env::{Env, LocalId};
use super::frame::{Frame, FrameId, Point};
use super::walk::flat;
use crate::check::{Callee, Resolution, Ty, TyKind};
use crate::source::Span;
use crate::syntax::ast::{
    Ast, DeclId, DeclKind, ExprId, ExprKind, ParserDecl, StateDecl, Stmt, StmtKind, Transition,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The declarations of variables, parameters and members that parsers read.
#[derive(Debug, Default)]
pub(super) struct Live {
    decls: FxHashSet<DeclId>,
    /// The places of the declarations, by which storage knows them.
    spans: FxHashSet<Span>,
    /// The states in which, or behind which, the result of a checksum is used.
    before_results: FxHashSet<DeclId>,
}

impl Live {
    /// Returns what the parsers of a program read.
    pub(super) fn of(lower: &Lower<'_>) -> Live {
        let mut live = Live::default();
        for decl in lower.ast.decls.values() {
            let DeclKind::Parser(parser) = &decl.kind else { continue };
            live.before_results(lower, parser);
            for &local in &parser.locals {
                if let DeclKind::Variable { value: Some(value), .. } = lower.ast.decls[local].kind {
                    live.read(lower, value);
                }
            }
            for &state in &parser.states {
                let DeclKind::State(state) = &lower.ast.decls[state].kind else { continue };
                state.statements.iter().for_each(|statement| live.statement(lower, statement));
                if let Some(Transition::Select(select)) = &state.transition {
                    select.keys.iter().for_each(|&key| live.read(lower, key));
                }
            }
        }
        live
    }

    /// Finds the states of a parser from which paths lead to the result of a checksum, or to another parser.
    fn before_results(&mut self, lower: &Lower<'_>, parser: &ParserDecl) {
        let ast = lower.ast;
        let states: Vec<(DeclId, &StateDecl)> = parser
            .states
            .iter()
            .filter_map(|&decl| match &ast.decls[decl].kind {
                DeclKind::State(state) => Some((decl, state)),
                _ => None,
            })
            .collect();
        let uses = |statement: &&Stmt| {
            let (StmtKind::Call(value) | StmtKind::Assign { value, .. }) = statement.kind else {
                return false;
            };
            uses_result(lower, value)
        };
        let mut names = FxHashSet::default();
        loop {
            let known = names.len();
            for &(decl, state) in &states {
                let leads = match &state.transition {
                    None => false,
                    Some(Transition::Direct(name)) => names.contains(ast.text(*name)),
                    Some(Transition::Select(select)) => {
                        select.cases.iter().any(|case| names.contains(ast.text(case.next)))
                    }
                };
                if leads || flat(&state.statements).iter().any(uses) {
                    names.insert(ast.text(ast.decls[decl].name));
                    self.before_results.insert(decl);
                }
            }
            if names.len() == known {
                return;
            }
        }
    }

    fn statement(&mut self, lower: &Lower<'_>, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Block(block) => block.statements.iter().for_each(|inner| self.statement(lower, inner)),
            StmtKind::Decl(decl) => {
                if let DeclKind::Variable { value: Some(value), .. } = lower.ast.decls[*decl].kind {
                    self.read(lower, value);
                }
            }
            StmtKind::Assign { target, value } => {
                // The other bits of a sliced target stay.
                if let ExprKind::Slice { .. } = lower.ast.exprs[*target].kind {
                    self.read(lower, *target);
                }
                self.read(lower, *value);
            }
            StmtKind::Call(call) => {
                let extract = lower.checked.calls.get(call).is_some_and(|call| match call.callee {
                    Callee::Method(decl) => lower.ast.text(lower.ast.decls[decl].name) == "extract",
                    _ => false,
                });
                match lower.checked.calls.get(call).map(|call| call.callee) {
                    // What another parser reads of its arguments is read there.
                    Some(Callee::Block(_)) => self.arguments(lower, *call),
                    _ if extract => {}
                    _ => self.read(lower, *call),
                }
            }
            _ => {}
        }
    }

    /// The variables that are arguments of another parser are live as a whole; members of structures are if a parser reads them.
    fn arguments(&mut self, lower: &Lower<'_>, call: ExprId) {
        for arg in lower.checked.calls[&call].args.iter().flatten() {
            let ty = lower.checked.types.kind(lower.checked.expr_types[*arg]);
            match ty {
                TyKind::Struct(..) | TyKind::Header(..) => self.path(lower, *arg),
                _ => self.read(lower, *arg),
            }
        }
    }

    fn read(&mut self, lower: &Lower<'_>, expr: ExprId) {
        let ast = lower.ast;
        if let Some(Resolution::Field(decl, _) | Resolution::Decl(decl)) = lower.checked.resolutions[expr] {
            self.add(ast, decl);
            self.nested(lower, lower.checked.expr_types[expr]);
        }
        match &ast.exprs[expr].kind {
            // Only the member of a structure is read.
            ExprKind::Member { base, .. } => self.path(lower, *base),
            kind => kind.parts().for_each(|part| self.read(lower, part)),
        }
    }

    /// A member of what the expression names is read.
    fn path(&mut self, lower: &Lower<'_>, expr: ExprId) {
        match &lower.ast.exprs[expr].kind {
            ExprKind::Name { .. } => {
                if let Some(decl) = lower.checked.decl_of(expr) {
                    self.add(lower.ast, decl);
                }
            }
            ExprKind::Member { base, .. } | ExprKind::Index { base, .. } => self.path(lower, *base),
            _ => self.read(lower, expr),
        }
    }

    fn add(&mut self, ast: &Ast, decl: DeclId) {
        self.decls.insert(decl);
        self.spans.insert(ast.decls[decl].name.span);
    }

    /// All members of a structure are read.
    fn nested(&mut self, lower: &Lower<'_>, ty: Ty) {
        let (TyKind::Struct(decl, _) | TyKind::Header(decl, _)) = lower.checked.types.kind(ty) else {
            return;
        };
        let (DeclKind::Struct(of) | DeclKind::Header(of)) = &lower.ast.decls[*decl].kind else { return };
        for &field in &of.fields {
            if self.decls.insert(field) {
                self.spans.insert(lower.ast.decls[field].name.span);
                self.nested(lower, lower.checked.decl_types[field]);
            }
        }
    }

    /// Removes what no parser reads from `point` on.
    pub(super) fn forget(
        &self,
        lower: &Lower<'_>,
        locals: &FxHashMap<(FrameId, DeclId), LocalId>,
        (point, frame): (Point, &Frame),
        env: &mut Env,
    ) {
        // What follows a copy of a parser may use the sums too.
        if frame.then.is_none() && !self.before_results.contains(&point.state) {
            env.sums.clear();
            env.rests.clear();
        }
        let live: FxHashSet<LocalId> =
            locals.iter().filter(|((_, decl), _)| self.decls.contains(decl)).map(|(_, &id)| id).collect();
        env.locals.retain(|id, _| live.contains(id));
        env.slots.retain(|&slot, _| self.spans.contains(&lower.storage.slots[slot].at));
    }
}

/// Returns true if a value, or a statement's call, is the result of a checksum, also when it is added to another, or if it applies a
/// parser.
fn uses_result(lower: &Lower<'_>, value: ExprId) -> bool {
    let here = match lower.checked.calls.get(&value).map(|call| call.callee) {
        Some(Callee::Block(_)) => true,
        Some(Callee::Method(decl)) => {
            matches!(
                lower.ast.text(lower.ast.decls[decl].name),
                "get" | "verify" | "subtract_all_and_deposit"
            )
        }
        _ => false,
    };
    here || lower.ast.exprs[value].kind.parts().any(|part| uses_result(lower, part))
}
