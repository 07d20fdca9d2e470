//! Which names are types.

use crate::names::Symbol;
use sluice_entity::Entity;

/// Meanings that the grammar distinguishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Not declared.
    #[default]
    Unknown,
    /// A type or type parameter.
    Type,
    /// Another declaration.
    Value,
}

/// The declared names, in nested scopes.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// By the symbol's index.
    meanings: Vec<Meaning>,
    /// What declarations have changed, in order.
    changes: Vec<(Symbol, Meaning)>,
    /// For each open scope, the number of changes before it.
    open: Vec<usize>,
}

impl Scope {
    pub(super) fn meaning(&self, name: Symbol) -> Meaning {
        self.meanings.get(name.index()).copied().unwrap_or_default()
    }

    /// Declares a name up to the end of the innermost scope.
    pub(super) fn declare(&mut self, name: Symbol, meaning: Meaning) {
        if self.meanings.len() <= name.index() {
            self.meanings.resize(name.index() + 1, Meaning::Unknown);
        }
        let before = std::mem::replace(&mut self.meanings[name.index()], meaning);
        if !self.open.is_empty() {
            self.changes.push((name, before));
        }
    }

    pub(super) fn enter(&mut self) {
        self.open.push(self.changes.len());
    }

    pub(super) fn leave(&mut self) {
        let before = self.open.pop().unwrap_or(0);
        while self.changes.len() > before {
            if let Some((name, meaning)) = self.changes.pop() {
                self.meanings[name.index()] = meaning;
            }
        }
    }
}
