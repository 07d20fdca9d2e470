//! Stacks whose elements are told apart.
//!
//! The chip writes metadata from fields of a header. Where a state writes a field of a stack's last element to other storage, the
//! walk counts the elements on each path, so that it knows which header the last element is. The states are told apart by the
//! count, as the chip's are anyhow.

use super::super::Res;
use super::super::places::{Instance, StackId};
use super::walk::{State, Walk};
use crate::source::Span;
use crate::syntax::ast::{DeclKind, ExprId, ExprKind, StmtKind};
use std::collections::BTreeSet;

impl Walk<'_, '_> {
    /// Notes the names of the stacks whose last element a state writes to other storage.
    pub(super) fn find_counted(&mut self) {
        let ast = self.cx.ast;
        let mut found = BTreeSet::new();
        for decl in ast.decls.values() {
            let DeclKind::State(state) = &decl.kind else { continue };
            for statement in super::walk::flat(&state.statements) {
                if let StmtKind::Assign { value, .. } = &statement.kind {
                    self.lasts_of(*value, &mut found);
                }
            }
        }
        self.counted = found;
    }

    /// Adds the name of each stack whose last element an expression reads.
    fn lasts_of(&self, id: ExprId, found: &mut BTreeSet<String>) {
        let ast = self.cx.ast;
        let kind = &ast.exprs[id].kind;
        if let ExprKind::Member { base, member } = kind
            && ast.text(*member) == "last"
            && let ExprKind::Member { member: stack, .. } = &ast.exprs[*base].kind
        {
            found.insert(ast.text(*stack).to_owned());
        }
        for part in kind.parts() {
            self.lasts_of(part, found);
        }
    }

    /// Returns true if the elements of the stack with this name are told apart.
    pub(super) fn is_counted(&self, name: &str) -> bool {
        self.counted.contains(name.rsplit('.').next().unwrap_or(name))
    }

    /// Extracts the next element of a stack whose elements are told apart. With all elements taken, the parser finds no match.
    pub(super) fn extract_counted(&mut self, state: &mut State, stack: StackId, at: Span) -> Res<()> {
        let taken = state.env.taken.get(&stack).copied().unwrap_or(0);
        match self.cx.storage.stacks[stack].elements.get(usize::from(taken)).copied() {
            Some(element) => {
                self.extract_header(state, element, at)?;
                state.env.taken.insert(stack, taken + 1);
            }
            None => state.full = true,
        }
        Ok(())
    }

    /// Returns the last element of a stack whose elements are told apart; `None` for another stack, or if there is none.
    pub(super) fn last_element(&self, state: &State, stack: StackId) -> Option<Instance> {
        let taken = state.env.taken.get(&stack)?.checked_sub(1)?;
        self.cx.storage.stacks[stack].elements.get(usize::from(taken)).copied()
    }
}
