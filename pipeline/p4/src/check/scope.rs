//! Which declaration a name means, at the place that the checker has reached.

use crate::names::Symbol;
use crate::syntax::ast::DeclId;
use rustc_hash::FxHashMap;

/// The names that are visible, innermost scope last.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    visible: FxHashMap<Symbol, Vec<(u32, DeclId)>>,
    /// The names of each open scope below the top level.
    open: Vec<Vec<Symbol>>,
}

impl Scopes {
    /// Opens a scope inside the current one.
    pub(super) fn enter(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes the innermost scope, and with it the names declared in it.
    pub(super) fn leave(&mut self) {
        for name in self.open.pop().unwrap_or_default() {
            if let Some(stack) = self.visible.get_mut(&name) {
                stack.pop();
            }
        }
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: Symbol, decl: DeclId) {
        let depth = self.open.len() as u32;
        self.visible.entry(name).or_default().push((depth, decl));
        if let Some(scope) = self.open.last_mut() {
            scope.push(name);
        }
    }

    /// Returns the declaration of a name in the innermost scope, without those around it.
    pub(super) fn here(&self, name: Symbol) -> Option<DeclId> {
        let depth = self.open.len() as u32;
        self.visible.get(&name)?.last().filter(|(at, _)| *at == depth).map(|(_, decl)| *decl)
    }

    /// Returns the declarations of a name in the innermost scope that has it: several only for overloaded functions.
    pub(super) fn find(&self, name: Symbol, global: bool) -> Vec<DeclId> {
        let Some(stack) = self.visible.get(&name) else { return Vec::new() };
        let Some(&(depth, _)) = (if global { stack.first() } else { stack.last() }) else {
            return Vec::new();
        };
        if global && depth != 0 {
            return Vec::new();
        }
        stack.iter().filter(|(at, _)| *at == depth).map(|(_, decl)| *decl).collect()
    }

    /// Returns all visible names.
    pub(super) fn names(&self) -> impl Iterator<Item = (Symbol, DeclId)> {
        self.visible.iter().filter_map(|(name, stack)| stack.last().map(|(_, decl)| (*name, *decl)))
    }

    /// Returns the names at the top level.
    pub(super) fn into_top(self) -> FxHashMap<Symbol, Vec<DeclId>> {
        let top = self.visible.into_iter().map(|(name, stack)| {
            (name, stack.into_iter().filter(|(depth, _)| *depth == 0).map(|(_, decl)| decl).collect())
        });
        top.collect()
    }
}
