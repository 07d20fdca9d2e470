//! From files to a syntax tree, and from there to a program of the chip.

use crate::check::{Checked, check};
use crate::core;
use crate::diagnostic::{Class, Diagnostic, Diagnostics, render};
use crate::elaborate::{Pipe, elaborate};
use crate::lower::{Lowered, Source, lower};
use crate::preprocess::{Options, preprocess};
use crate::source::{Loader, SourceMap, Span};
use crate::syntax::ast::Ast;
use crate::syntax::{declaration, names, parse_tokens};
use sluice_asic::intrinsic::Architecture;

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

    /// Checks the program, and follows `main` to instances.
    ///
    /// # Errors
    /// The step that found errors; they are in `diagnostics`.
    pub fn elaborate(&mut self) -> Result<(Checked, Pipe), Step> {
        let checked = self.check()?;
        self.instances(checked)
    }

    /// Resolves names and finds types.
    fn check(&mut self) -> Result<Checked, Step> {
        let Parsed { ast, diagnostics, .. } = self;
        if ast.top.is_empty() {
            if diagnostics.errors() == 0 {
                let error = Diagnostic::error(Class::Syntax, Span::NONE, "the program declares nothing");
                let help = "is this the right file? a program includes <tna.p4> or <t2na.p4> and ends with `Switch(pipe) main;`";
                diagnostics.push(error.help(help));
            }
            return Err(Step::Parse);
        }
        let checked = check(ast, diagnostics);
        if diagnostics.errors() > 0 { Err(Step::Check) } else { Ok(checked) }
    }

    fn instances(&mut self, mut checked: Checked) -> Result<(Checked, Pipe), Step> {
        let pipe = elaborate(&self.ast, &mut checked, &mut self.diagnostics).ok_or(Step::Elaborate)?;
        Ok((checked, pipe))
    }

    /// Checks the program, takes it through the passes of [`core`] up to this one, and returns the declarations of its author as
    /// P4. The empty name stands for the tree before the first pass.
    ///
    /// # Errors
    /// The step that found errors; they are in `diagnostics`.
    pub fn dump(&mut self, pass: &str) -> Result<String, Step> {
        let mut checked = self.check()?;
        let sources = &self.sources;
        let is_authors =
            |at| sources.place(at).is_none_or(|place| !sources.name(place.region.file).starts_with('<'));
        let authors = |ast: &Ast| {
            let own = ast.top.iter().filter(|decl| is_authors(ast.decls[**decl].span));
            own.map(|decl| declaration(ast, *decl)).collect::<String>()
        };
        let mut dumped = authors(&self.ast);
        let mut reached = pass.is_empty();
        core::simplify(&mut self.ast, &mut checked, &mut |done, ast| {
            if !reached {
                dumped = authors(ast);
                reached = done.name == pass;
            }
        });
        Ok(dumped)
    }

    /// Takes the program through all steps to a program of a chip with this architecture.
    ///
    /// # Errors
    /// As of [`Parsed::elaborate`].
    pub fn lower(&mut self, chip: Architecture) -> Result<Lowered, Step> {
        let mut checked = self.check()?;
        core::simplify(&mut self.ast, &mut checked, &mut |_, _| {});
        let (mut checked, pipe) = self.instances(checked)?;
        let source = Source { ast: &self.ast, pipe: &pipe, texts: &self.sources, chip };
        lower(source, &mut checked, &mut self.diagnostics).ok_or(Step::Lower)
    }
}

/// A step of the front end that found errors, so that no later one was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file cannot be read, or no declaration can be parsed.
    Parse,
    /// A token, a name, a type or a constant is wrong.
    Check,
    /// The instances are wrong.
    Elaborate,
    /// A construct has no home on the chip.
    Lower,
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
