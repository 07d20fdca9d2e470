//! Nested controls: their parameters stand for the caller's places.
//!
//! The tables of an instance are lowered once. If the instance is applied at several places, a parameter whose arguments differ
//! has storage of its own, to which the argument is copied before and from which it is copied afterwards.

use super::super::action::Target;
use super::super::frame::{Bound, Frame};
use super::super::places::Place;
use super::super::{Lower, Res};
use super::Seq;
use crate::check::{Call, Callee};
use crate::elaborate::{Binding, BlockId};
use crate::source::Span;
use crate::syntax::ast::{Block, DeclKind, Direction, ExprId, ExprKind, Stmt, StmtKind};
use rustc_hash::FxHashMap;

impl<'a> Lower<'a> {
    /// Lowers an application of a nested control.
    pub(super) fn nested(
        &mut self,
        frame: &mut Frame,
        id: ExprId,
        call: &Call,
        at: Span,
        seq: &mut Seq,
    ) -> Res<()> {
        let Some(block) = self.block_instance(frame, id) else {
            return Err(self.refuse(
                at,
                "this control is not known when the program is compiled",
                "name an instance",
            ));
        };
        let params = self.params(block);
        let copied = self.copied_params(frame, block, call);
        let mut inner = match self.entered.get(&block) {
            Some(first) => first.clone(),
            None => self.enter(frame, block, call, &copied)?,
        };
        for (position, &param) in params.iter().enumerate().filter(|(n, _)| copied[*n]) {
            let (Some(arg), Some(place)) = (call.args.get(position).copied().flatten(), inner.place(param))
            else {
                continue;
            };
            let any = matches!(self.ast.exprs[arg].kind, ExprKind::Any);
            if !any && self.ast.direction(param) != Direction::Out {
                self.set(frame, &place.clone(), arg, at, seq)?;
            }
        }
        self.control_body(&mut inner, seq);
        for (position, &param) in params.iter().enumerate().filter(|(n, _)| copied[*n]) {
            let (Some(arg), Some(place)) = (call.args.get(position).copied().flatten(), inner.place(param))
            else {
                continue;
            };
            let any = matches!(self.ast.exprs[arg].kind, ExprKind::Any);
            if !any && matches!(self.ast.direction(param), Direction::Out | Direction::InOut) {
                let target = self.target(frame, arg)?;
                self.copy_back(&target, &place.clone(), at, seq)?;
            }
        }
        Ok(())
    }

    /// Makes the frame of a control at its first application.
    fn enter(&mut self, frame: &Frame, block: BlockId, call: &Call, copied: &[bool]) -> Res<Frame> {
        let name = self.pipe.blocks[block].name.clone();
        let path = self.below_root(&name);
        let mut inner = Frame { block, gress: frame.gress, path, names: FxHashMap::default() };
        for (position, &param) in self.params(block).iter().enumerate() {
            let Some(arg) = call.args.get(position).copied().flatten() else { continue };
            let bound = if copied[position] { None } else { self.direct_argument(frame, arg)? };
            let bound = match bound {
                Some(bound) => bound,
                None => {
                    let own = self.ast.decls[param].name;
                    let ty = self.checked.decl_types[param];
                    let ty = self.pipe.concrete(self.ast, self.checked, block, ty);
                    let name = inner.name(self.ast.text(own));
                    Bound::Place(self.make_place(ty, frame.gress, &name, own.span)?)
                }
            };
            inner.names.insert(param, bound);
        }
        self.bind_variables(&mut inner)?;
        self.entered.insert(block, inner.clone());
        Ok(inner)
    }

    /// Returns what a parameter stands for if nothing has to be copied.
    fn direct_argument(&mut self, frame: &Frame, arg: ExprId) -> Res<Option<Bound>> {
        if let Some(place) = self.place(frame, arg) {
            return Ok(Some(Bound::Place(place)));
        }
        if let ExprKind::Name { .. } = self.ast.exprs[arg].kind
            && let Some(bound) = self.checked.decl_of(arg).and_then(|decl| frame.names.get(&decl))
        {
            return Ok(Some(bound.clone()));
        }
        if self.constant(frame, arg).is_some() && self.scalar_of(frame, arg).is_some() {
            return Ok(Some(Bound::Pieces(self.pieces(frame, arg)?)));
        }
        Ok(None)
    }

    /// Returns, for each parameter, whether its argument is copied: it is computed, or it differs among the places at which the
    /// instance is applied.
    fn copied_params(&mut self, frame: &Frame, block: BlockId, call: &Call) -> Vec<bool> {
        let sites = self.sites(frame, block);
        (0..self.params(block).len())
            .map(|position| {
                let Some(arg) = call.args.get(position).copied().flatten() else { return false };
                let own = self.direct_argument(frame, arg).ok().flatten();
                own.is_none()
                    || sites.iter().any(|site| {
                        let other = site.args.get(position).copied().flatten();
                        other.is_some_and(|other| self.direct_argument(frame, other).ok().flatten() != own)
                    })
            })
            .collect()
    }

    /// Returns the applications of an instance in the block around it.
    fn sites(&self, frame: &Frame, block: BlockId) -> Vec<Call> {
        let DeclKind::Control(control) = &self.ast.decls[self.pipe.blocks[frame.block].decl].kind else {
            return Vec::new();
        };
        let mut calls = Vec::new();
        control.apply.iter().for_each(|apply| calls_in(apply, &mut calls));
        let own = calls.into_iter().filter(|call| self.block_instance(frame, *call) == Some(block));
        own.filter_map(|call| self.checked.calls.get(&call).cloned()).collect()
    }

    /// Returns the instance of a control that a call applies.
    fn block_instance(&self, frame: &Frame, call: ExprId) -> Option<BlockId> {
        if !matches!(self.checked.calls.get(&call)?.callee, Callee::Block(_)) {
            return None;
        }
        let ExprKind::Call { callee, .. } = &self.ast.exprs[call].kind else { return None };
        let ExprKind::Member { base, .. } = &self.ast.exprs[*callee].kind else { return None };
        match self.pipe.instance(self.checked, frame.block, *base)? {
            Binding::Block(block) => Some(*block),
            _ => None,
        }
    }

    /// Copies a parameter to its argument.
    fn copy_back(&mut self, to: &Target, from: &Place, at: Span, seq: &mut Seq) -> Res<()> {
        if let Place::Slot(_) | Place::Parts(_) = from {
            let pieces = self.read_place(from, at)?;
            return self.set_target(to, pieces, at, seq);
        }
        let primitives = self.copy_body(&to.place, from, at)?;
        self.add(seq, primitives);
        Ok(())
    }

    /// Returns the name of a block without the pipe and its control.
    fn below_root(&self, full: &str) -> String {
        let short = self.short(full);
        short.split_once('.').map_or_else(|| short.to_owned(), |(_, rest)| rest.to_owned())
    }
}

/// Collects the calls that are statements.
fn calls_in(block: &Block, found: &mut Vec<ExprId>) {
    block.statements.iter().for_each(|stmt| calls_of(stmt, found));
}

fn calls_of(stmt: &Stmt, found: &mut Vec<ExprId>) {
    match &stmt.kind {
        StmtKind::Call(call) => found.push(*call),
        StmtKind::Block(block) => calls_in(block, found),
        StmtKind::If { then, otherwise, .. } => {
            calls_of(then, found);
            otherwise.iter().for_each(|stmt| calls_of(stmt, found));
        }
        StmtKind::Switch { cases, .. } => {
            cases.iter().filter_map(|case| case.body.as_ref()).for_each(|body| calls_in(body, found));
        }
        _ => {}
    }
}
