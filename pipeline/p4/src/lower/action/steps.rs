//! Actions that need several steps.
//!
//! The chip's tables run one instruction per container. An action that decides, that uses the result of a unit, or that takes
//! several operations over its parameters is split: what can run at once stays in the table's action, which keeps the
//! parameters that the rest needs in fields; the rest runs in the table's arm of this action.

use super::super::control::Leave;
use super::super::frame::{Bound, Frame};
use super::super::places::{Place, Storage};
use super::super::{Lower, Refused, Res, externs};
use super::{Body, Target};
use crate::check::Callee;
use crate::diagnostic::{Diagnostics, Severity};
use crate::elaborate::{Binding, ObjectId};
use crate::syntax::ast::{ActionDecl, Block, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use sluice_asic::gress::Gress;
use sluice_ir::{self as ir, Expr, Primitive};

/// What a lowering has made, to which it can return.
#[derive(Debug)]
pub(in crate::lower) struct Mark {
    /// The program without its actions: a program can have thousands, and each of them is lowered after a mark.
    program: ir::Program,
    /// Number of actions.
    actions: usize,
    storage: Storage,
    names: usize,
    /// Number of notes.
    notes: usize,
    units: FxHashMap<ObjectId, externs::Unit>,
    hashes: FxHashMap<ObjectId, Vec<ir::Hash>>,
    written_flags: Vec<(Gress, ir::Intrinsic, ir::Field)>,
    diagnostics: Diagnostics,
    leave: Leave,
    before: Vec<Primitive>,
    after: ir::Block,
}

/// The parts of an action.
#[derive(Debug, Default)]
pub(in crate::lower) struct Steps {
    /// The primitives that run at once.
    pub(in crate::lower) body: Vec<Primitive>,
    /// The place of an `exit`.
    pub(in crate::lower) exit: Option<crate::source::Span>,
    /// Statements that run after them.
    pub(in crate::lower) rest: ir::Block,
}

/// Most places that are tried for a split: actions that call actions repeat their statements.
const SPLITS: usize = 256;

/// Statements of one action after a split.
#[derive(Debug)]
struct Later<'a> {
    /// The values and places for which the names stand.
    frame: Frame,
    /// Parameters of the action.
    params: &'a [DeclId],
    statements: &'a [Stmt],
}

impl<'a> Lower<'a> {
    /// Remembers what is made so far.
    pub(in crate::lower) fn remember(&mut self) -> Mark {
        let actions = std::mem::take(&mut self.program.actions);
        let program = self.program.clone();
        self.program.actions = actions;
        Mark {
            program,
            actions: self.program.actions.len(),
            storage: self.storage.clone(),
            names: self.names.mark(),
            notes: self.notes.len(),
            units: self.units.clone(),
            hashes: self.hashes.clone(),
            written_flags: self.written_flags.clone(),
            diagnostics: self.diagnostics.clone(),
            leave: self.leave.clone(),
            before: self.before.clone(),
            after: self.after.clone(),
        }
    }

    /// Returns to what was made before.
    pub(in crate::lower) fn go_back(&mut self, to: &Mark) {
        let mut actions = std::mem::take(&mut self.program.actions);
        actions.truncate(to.actions);
        self.program = ir::Program { actions, ..to.program.clone() };
        self.storage = to.storage.clone();
        self.names.go_back(to.names);
        self.notes.truncate(to.notes);
        self.units = to.units.clone();
        self.hashes = to.hashes.clone();
        self.written_flags = to.written_flags.clone();
        *self.diagnostics = to.diagnostics.clone();
        self.leave = to.leave.clone();
        self.before = to.before.clone();
        self.after = to.after.clone();
    }

    /// Lowers the body of a table's action, in several steps if one does not do.
    pub(in crate::lower) fn action_steps(&mut self, frame: &Frame, decl: DeclId) -> Res<Steps> {
        let ast = self.ast;
        let DeclKind::Action(action) = &ast.decls[decl].kind else { return Ok(Steps::default()) };
        if action.body.statements.is_empty() {
            return Ok(Steps::default());
        }
        if self.is_exhausted() {
            return Err(Refused);
        }
        let mark = self.remember();
        if let Ok((body, exit)) = self.action_body(&mut frame.clone(), decl) {
            return Ok(Steps { body, exit, rest: std::mem::take(&mut self.after) });
        }
        if self.is_exhausted() {
            return Err(Refused);
        }
        let (first, before) = (self.diagnostics.clone(), mark.diagnostics.list().len());
        for split in self.splits(&action.body.statements) {
            self.go_back(&mark);
            self.results.clear();
            let step = self.first_step(frame, decl, &split);
            if self.is_exhausted() {
                return Err(Refused);
            }
            let Ok((parts, body)) = step else { continue };
            let mut rest = std::mem::take(&mut self.after);
            let at = parts.iter().find_map(|part| part.statements.first()).map(|stmt| stmt.span);
            for mut part in parts {
                // What stands in the way of the later steps is the reason.
                rest.extend(self.later_steps(&mut part.frame, part.statements)?);
            }
            let what = format!("action `{}` needs several stages", self.owner);
            let effect = "from here on, tables after the one that runs the action do it";
            let effect = match first.list()[before.min(first.list().len())..]
                .iter()
                .find(|of| of.severity == Severity::Error)
            {
                Some(why) => format!("{effect}: {}", why.message),
                None => effect.to_owned(),
            };
            self.note(at.unwrap_or(ast.decls[decl].name.span), what, effect);
            return Ok(Steps { body, exit: None, rest });
        }
        self.go_back(&mark);
        *self.diagnostics = first;
        Err(Refused)
    }

    /// Returns the places where an action can be split, the last one first: the number of statements in front of the place and, if
    /// the place is inside a called action, the same for the statements of that action.
    fn splits(&self, statements: &'a [Stmt]) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        for (at, stmt) in statements.iter().enumerate().rev() {
            if found.len() > SPLITS {
                break;
            }
            if let Some((called, _)) = self.called_action(stmt) {
                let within = self.splits(&called.body.statements);
                let within = within.into_iter().filter(|split| split.iter().any(|number| *number > 0));
                found.extend(within.map(|split| [&[at], &split[..]].concat()));
            }
            found.push(vec![at]);
        }
        found
    }

    /// Returns the action that a statement calls, with the arguments.
    fn called_action(&self, stmt: &Stmt) -> Option<(&'a ActionDecl, Vec<Option<ExprId>>)> {
        let StmtKind::Call(id) = stmt.kind else { return None };
        let ast = self.ast;
        let call = self.checked.calls.get(&id)?;
        let Callee::Action(decl) = call.callee else { return None };
        match &ast.decls[decl].kind {
            DeclKind::Action(action) => Some((action, call.args.clone())),
            _ => None,
        }
    }

    /// Lowers the statements in front of a split, with copies of the parameters that later statements use.
    fn first_step(
        &mut self,
        frame: &Frame,
        decl: DeclId,
        split: &[usize],
    ) -> Res<(Vec<Later<'a>>, Vec<Primitive>)> {
        let ast = self.ast;
        let DeclKind::Action(action) = &ast.decls[decl].kind else { return Err(Refused) };
        let mut parts = self.after_split(frame, action, split);
        let kept = self.names_later(&parts);
        let outer = std::mem::replace(&mut self.body, Body { action: true, kept, ..Body::default() });
        let done = self.run_first_step(frame, action, split, &mut parts);
        let body = std::mem::replace(&mut self.body, outer);
        done?;
        Ok((parts, self.emit(body)?))
    }

    fn run_first_step(
        &mut self,
        frame: &Frame,
        action: &'a ActionDecl,
        split: &[usize],
        parts: &mut [Later<'a>],
    ) -> Res<()> {
        self.run_in_front(frame, action, split, parts)?;
        let next = parts.iter_mut().find(|part| !part.statements.is_empty());
        if let Some(Later { frame, statements, .. }) = next
            && let StmtKind::Assign { value, .. } = &statements[0].kind
        {
            self.keep_results(frame, *value)?;
        }
        for part in parts.iter_mut() {
            for stmt in part.statements {
                if self.is_direct(&part.frame, stmt) {
                    self.straight(&mut part.frame, stmt)?;
                }
            }
        }
        if self.body.exit.is_some() {
            return Err(Refused);
        }
        // Calls whose results are kept are done.
        let used = self.names_later(parts);
        for part in parts {
            for &param in part.params.iter().filter(|param| used.contains(param)) {
                self.keep_param(&mut part.frame, param)?;
            }
        }
        Ok(())
    }

    /// Returns the statements after a split, those of the innermost called action first.
    fn after_split(&self, frame: &Frame, action: &'a ActionDecl, split: &[usize]) -> Vec<Later<'a>> {
        let Some((&at, within)) = split.split_first() else { return Vec::new() };
        let (_, later) = action.body.statements.split_at(at);
        let part = |statements| Later { frame: frame.clone(), params: &action.params, statements };
        match later.split_first() {
            Some((stmt, behind)) if !within.is_empty() => {
                let called = self.called_action(stmt);
                let mut parts =
                    called.map_or_else(Vec::new, |(called, _)| self.after_split(frame, called, within));
                parts.push(part(behind));
                parts
            }
            _ => vec![part(later)],
        }
    }

    /// Lowers the statements in front of a split, and gives the parts after it their frames.
    fn run_in_front(
        &mut self,
        frame: &Frame,
        action: &'a ActionDecl,
        split: &[usize],
        parts: &mut [Later<'a>],
    ) -> Res<()> {
        let Some((&at, within)) = split.split_first() else { return Ok(()) };
        let mut inner = frame.clone();
        for stmt in &action.body.statements[..at] {
            if !self.body.ended {
                self.straight(&mut inner, stmt)?;
            }
        }
        let Some((last, called_parts)) = parts.split_last_mut() else { return Ok(()) };
        if self.body.ended && self.body.exit.is_none() {
            // `return` ends the action, but not its callers.
            self.body.ended = false;
            parts.iter_mut().for_each(|part| part.statements = &[]);
            return Ok(());
        }
        if !within.is_empty()
            && let Some((called, args)) = self.called_action(&action.body.statements[at])
        {
            let mut bound = inner.clone();
            self.bind_arguments(&inner, &mut bound, &called.params, &args)?;
            self.run_in_front(&bound, called, within, called_parts)?;
        }
        last.frame = inner;
        Ok(())
    }

    /// Returns the declarations that later statements name.
    fn names_later(&self, parts: &[Later<'a>]) -> FxHashSet<DeclId> {
        let mut used = FxHashSet::default();
        parts.iter().flat_map(|part| part.statements).for_each(|stmt| self.names_in(stmt, &mut used));
        used
    }

    /// Lets units write the results inside a value to fields, for a later step.
    fn keep_results(&mut self, frame: &mut Frame, id: ExprId) -> Res<()> {
        if self.is_unit_call(id) && !self.is_hash(frame, id) {
            let (ty, at) = (self.ty(frame, id), self.ast.exprs[id].span);
            let place = self.make_place(ty, self.gress, &frame.name("result"), at)?;
            self.call(frame, id, Some(Target { place: place.clone(), bits: None }), at)?;
            let Place::Slot(slot) = place else { return Err(Refused) };
            let value = vec![self.read(slot)];
            self.results.insert(id, value);
            return Ok(());
        }
        let parts: Vec<ExprId> = self.ast.exprs[id].kind.parts().collect();
        parts.into_iter().try_for_each(|part| self.keep_results(frame, part))
    }

    /// Copies a parameter to a field that stands for it afterwards.
    fn keep_param(&mut self, frame: &mut Frame, param: DeclId) -> Res<()> {
        let Some(Bound::Pieces(pieces)) = frame.names.get(&param).cloned() else { return Ok(()) };
        if pieces.iter().all(|piece| matches!(piece, Expr::Const(..))) {
            return Ok(());
        }
        let own = self.ast.decls[param].name;
        let ty = self.checked.decl_types[param];
        let ty = self.pipe.concrete(self.ast, self.checked, frame.block, ty);
        let short = self.owner.rsplit('.').next().unwrap_or_default();
        let name = frame.name(&format!("{short}.{}", self.ast.text(own)));
        let place = self.make_place(ty, frame.gress, &name, own.span)?;
        self.write(&Target { place: place.clone(), bits: None }, pieces, own.span)?;
        frame.bind(param, place);
        Ok(())
    }

    /// Lowers statements that run after an action.
    fn later_steps(&mut self, frame: &mut Frame, later: &'a [Stmt]) -> Res<ir::Block> {
        let errors = self.diagnostics.errors();
        let before = std::mem::take(&mut self.before);
        let stmts: Vec<&'a Stmt> = later.iter().filter(|stmt| !self.is_direct(frame, stmt)).collect();
        let block = self.left_by_return(|lower| lower.block_of(frame, &stmts));
        self.before = before;
        if self.diagnostics.errors() > errors { Err(Refused) } else { Ok(block) }
    }

    /// Returns true for a call that accesses the entry of the table that runs the action, and whose result nobody takes.
    fn is_direct(&self, frame: &Frame, stmt: &Stmt) -> bool {
        let StmtKind::Call(call) = stmt.kind else { return false };
        let ExprKind::Call { callee, .. } = &self.ast.exprs[call].kind else { return false };
        let ExprKind::Member { base, .. } = &self.ast.exprs[*callee].kind else { return false };
        let Some(Binding::Object(object)) = self.pipe.instance(self.checked, frame.block, *base) else {
            return false;
        };
        let args =
            self.checked.calls.get(&call).is_none_or(|call| call.args.iter().flatten().next().is_none());
        args && self.object_kind(*object).starts_with("Direct")
    }

    /// Collects the declarations that a statement names.
    pub(in crate::lower) fn names_in(&self, stmt: &Stmt, found: &mut FxHashSet<DeclId>) {
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Exit | StmtKind::Return(None) => {}
            StmtKind::Return(Some(value)) => self.names_of(*value, found),
            StmtKind::Decl(decl) => {
                if let DeclKind::Variable { value: Some(value), .. } = self.ast.decls[*decl].kind {
                    self.names_of(value, found);
                }
            }
            StmtKind::Block(block) => self.names_in_block(block, found),
            StmtKind::Assign { target, value } => {
                self.names_of(*target, found);
                self.names_of(*value, found);
            }
            StmtKind::Call(call) => self.names_of(*call, found),
            StmtKind::If { condition, then, otherwise } => {
                self.names_of(*condition, found);
                self.names_in(then, found);
                otherwise.iter().for_each(|stmt| self.names_in(stmt, found));
            }
            StmtKind::Switch { value, cases } => {
                self.names_of(*value, found);
                cases
                    .iter()
                    .filter_map(|case| case.body.as_ref())
                    .for_each(|body| self.names_in_block(body, found));
            }
        }
    }

    fn names_in_block(&self, block: &Block, found: &mut FxHashSet<DeclId>) {
        block.statements.iter().for_each(|stmt| self.names_in(stmt, found));
    }

    fn names_of(&self, id: ExprId, found: &mut FxHashSet<DeclId>) {
        if self.results.contains_key(&id) {
            return;
        }
        found.extend(self.checked.decl_of(id));
        self.ast.exprs[id].kind.parts().for_each(|part| self.names_of(part, found));
    }

    /// Returns true if statements write a place that a value reads, or call something that may.
    pub(in crate::lower) fn may_write(&mut self, frame: &Frame, stmts: &[Stmt], pieces: &[Expr]) -> bool {
        let mut read = Vec::new();
        pieces.iter().for_each(|piece| piece.fields(&mut |field| read.push(field)));
        !read.is_empty() && stmts.iter().any(|stmt| self.writes_one(frame, stmt, &read))
    }

    fn writes_one(&mut self, frame: &Frame, stmt: &Stmt, read: &[ir::Field]) -> bool {
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Exit | StmtKind::Return(_) | StmtKind::Decl(_) => false,
            StmtKind::Block(block) => block.statements.iter().any(|stmt| self.writes_one(frame, stmt, read)),
            StmtKind::If { then, otherwise, .. } => {
                self.writes_one(frame, then, read)
                    || otherwise.as_ref().is_some_and(|stmt| self.writes_one(frame, stmt, read))
            }
            StmtKind::Assign { target, .. } => {
                let mut base = *target;
                while let ExprKind::Slice { base: inner, .. } = &self.ast.exprs[base].kind {
                    base = *inner;
                }
                let place = self.place(frame, base).unwrap_or(Place::Nothing);
                let slots = self.storage.slots_of(&place);
                slots
                    .iter()
                    .any(|&slot| self.storage.slots[slot].field.is_some_and(|field| read.contains(&field)))
            }
            StmtKind::Call(call) => {
                let callee = self.checked.calls.get(call).map(|call| call.callee);
                !matches!(callee, Some(Callee::Builtin(_)))
            }
            StmtKind::Switch { .. } => true,
        }
    }
}
