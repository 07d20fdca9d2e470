//! From the instances of a pipe to the program that the chip runs.
//!
//! [`lower`] walks the code of the blocks. Each name stands for a *place* ([`places`]): storage in the PHV, which parser, control
//! and deparser of a gress share. Values and conditions become those of one instruction or one gateway; statements become
//! primitives of actions and statements of control blocks.
//!
//! Invariants:
//! - A construct without a home in the program is refused by name, at its P4 line, with a remedy. None is dropped silently.
//! - What the program approximates or ignores is a [`Note`].
//! - Fields of metadata and intrinsic fields are declared at their first use, so that unused members of structures take no room.
//!   Headers are declared whole.

mod condition;
mod deparser;
mod frame;
mod loc;
mod name;
mod parser;
mod places;
mod simplify;
mod types;
mod value;

use crate::check::Checked;
use crate::diagnostic::{Class, Diagnostic, Diagnostics};
use crate::elaborate::Pipe;
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Ast;
use name::Names;
use places::Storage;
use sluice_asic::gress::Gress;
use sluice_asic::intrinsic::Architecture;
use sluice_ir as ir;

/// A lowered program.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program. It has not been verified.
    pub program: ir::Program,
    /// Parts of the source that the program approximates or ignores, in the order in which they were found.
    pub notes: Vec<Note>,
}

/// A part of the source that the program approximates or ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The place.
    pub at: Span,
    /// The construct.
    pub what: String,
    /// The difference that it makes.
    pub effect: String,
}

/// The inputs of a lowering that it does not change.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The syntax tree.
    pub ast: &'a Ast,
    /// The instances.
    pub pipe: &'a Pipe,
    /// The texts, for source locations.
    pub texts: &'a SourceMap,
    /// The chip's architecture, which decides the widths of some intrinsic fields.
    pub chip: Architecture,
}

/// Lowers a pipe. Returns `None` after an error, which goes to `diagnostics`.
pub fn lower(source: Source<'_>, checked: &mut Checked, diagnostics: &mut Diagnostics) -> Option<Lowered> {
    let before = diagnostics.errors();
    let mut lower = Lower::new(source, checked, diagnostics);
    let _ = lower.blocks();
    let Lower { program, notes, .. } = lower;
    (diagnostics.errors() == before).then_some(Lowered { program, notes })
}

/// The state of a lowering.
struct Lower<'a> {
    ast: &'a Ast,
    pipe: &'a Pipe,
    texts: &'a SourceMap,
    chip: Architecture,
    checked: &'a mut Checked,
    diagnostics: &'a mut Diagnostics,
    program: ir::Program,
    notes: Vec<Note>,
    storage: Storage,
    names: Names,
}

/// An error has been reported: the part that contains it is given up, and the parts after it are lowered, so that one run finds
/// independent mistakes.
#[derive(Clone, Copy, Debug)]
struct Refused;

/// A result whose error has been reported.
type Res<T> = Result<T, Refused>;

impl Lower<'_> {
    /// Lowers all blocks. Parsers come first, because they decide which metadata ports fill; what they write follows when it is
    /// known which metadata the other blocks name.
    fn blocks(&mut self) -> Res<()> {
        self.roots()?;
        let parsers = Gress::ALL.map(|gress| self.parser(gress).unwrap_or_default());
        for gress in Gress::ALL {
            let _ = self.deparser(gress);
        }
        self.finish_parsers(parsers);
        Ok(())
    }
}

impl<'a> Lower<'a> {
    fn new(source: Source<'a>, checked: &'a mut Checked, diagnostics: &'a mut Diagnostics) -> Lower<'a> {
        let Source { ast, pipe, texts, chip } = source;
        Lower {
            ast,
            pipe,
            texts,
            chip,
            checked,
            diagnostics,
            program: ir::Program::default(),
            notes: Vec::new(),
            storage: Storage::default(),
            names: Names::default(),
        }
    }

    /// Reports a construct without a home in the program.
    fn refuse(&mut self, at: Span, message: impl Into<String>, help: impl Into<String>) -> Refused {
        self.diagnostics.push(Diagnostic::error(Class::Unsupported, at, message).help(help));
        Refused
    }

    /// Notes that a construct is approximated or ignored.
    fn note(&mut self, at: Span, what: impl Into<String>, effect: impl Into<String>) {
        let note = Note { at, what: what.into(), effect: effect.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
