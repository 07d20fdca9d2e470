//! From files to a syntax tree.

use crate::diagnostic::{Diagnostics, render};
use crate::preprocess::{Options, preprocess};
use crate::source::{Loader, SourceMap};
use crate::syntax::ast::Ast;
use crate::syntax::{names, parse_tokens};

/// A program's syntax tree, its texts, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree. If the program has errors, the parts without errors; empty if a file cannot be read.
    pub ast: Ast,
    /// The texts, to which the spans of the tree and of the diagnostics belong.
    pub sources: SourceMap,
    /// Errors and warnings; later passes add theirs.
    pub diagnostics: Diagnostics,
}

impl Parsed {
    /// Returns all errors and warnings as text, with their source lines.
    #[must_use]
    pub fn messages(&self) -> String {
        let texts: Vec<String> =
            self.diagnostics.list().iter().map(|diagnostic| render(&self.sources, diagnostic)).collect();
        texts.join("\n")
    }
}

/// Preprocesses and parses a program. `root` is the name of the file that the loader is asked for first.
#[must_use]
pub fn parse(loader: &dyn Loader, root: &str, options: &Options) -> Parsed {
    let mut sources = SourceMap::new();
    let mut names = names();
    let mut diagnostics = Diagnostics::default();
    let tokens = preprocess(loader, root, options, &mut sources, &mut names, &mut diagnostics);
    // Without a file's declarations, nearly every line after the `#include` would be an error.
    let ast = match tokens {
        Some(tokens) => parse_tokens(tokens, names, &mut diagnostics),
        None => Ast { names, ..Ast::default() },
    };
    Parsed { ast, sources, diagnostics }
}
