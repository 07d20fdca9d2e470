//! Identifiers and other words of a program as small numbers.

use rustc_hash::FxHashMap;
use sluice_entity::entities;
use sluice_entity::{Entity, EntityMap};
use std::sync::Arc;

entities! {
    /// A word of the program: an identifier or the text of a string. Equal words have equal symbols.
    Symbol = "symbol";
}

/// The words of a program, each stored once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: EntityMap<Symbol, Arc<str>>,
    symbols: FxHashMap<Arc<str>, Symbol>,
}

impl Names {
    /// Makes an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the symbol of a word and adds the word if it is new.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let text: Arc<str> = text.into();
        let symbol = self.texts.push(Arc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// Returns the symbol of a word, if the program has the word.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }

    /// Returns the text of a symbol of this table; an empty text for a symbol of another table that is not in this one.
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        self.texts.get(symbol).map_or("", |text| text)
    }

    /// Returns the number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns true if the table has no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns all symbols, in the order in which their words were added.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.texts.len()).map(Symbol::new)
    }
}
