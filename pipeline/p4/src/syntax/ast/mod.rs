//! The syntax tree of a program.
//!
//! Declarations, expressions and types are entities of an [`Ast`], with typed indices. Later passes keep resolutions, types and
//! constants in maps from these indices, and do not change the tree. Statements are a tree of values inside the
//! declarations.
//!
//! Invariants:
//! - Every part has exactly one parent. The order of indices means nothing.
//! - [`Decl::parent`] is the declaration directly around a declaration, [`None`] at the top.
//! - No declaration, statement or type is more than [`MAX_DEPTH`] levels below the top level, and no expression has more than
//!   [`MAX_DEPTH`] levels below it, so that passes may recurse.
//! - Names are not resolved. The parser knows only which names are types where the grammar depends on it.
//! - What the parser refused is [`ExprKind::Error`], [`TypeKind::Invalid`] or absent. A program with such parts has an error among
//!   its diagnostics, and later passes need not report the part a second time.

mod annotation;
mod decl;
mod expr;
mod stmt;
mod types;

pub use annotation::{Annotation, AnnotationArg, AnnotationBody, AnnotationToken, AnnotationTokenKind};
pub use decl::{
    ActionDecl, Actions, ControlDecl, Decl, DeclKind, Direction, Entries, Entry, EnumDecl, ExternDecl,
    FieldsDecl, FunctionDecl, Instance, Key, KeyElement, PackageDecl, ParamDecl, ParserDecl, Property,
    TableDecl,
};
pub use expr::{Arg, BinaryOp, Expr, ExprKind, IntLiteral, UnaryOp, Width};
pub use stmt::{Block, Select, SelectCase, StateDecl, Stmt, StmtKind, SwitchCase, SwitchLabel, Transition};
pub use types::{Type, TypeKind};

use crate::names::{Names, Symbol};
use crate::source::Span;
use sluice_entity::EntityMap;
use sluice_entity::entities;

entities! {
    /// A declaration: everything that gives a name a meaning, also parameters, fields, members of enumerations and local variables.
    DeclId = "decl";
    /// An expression.
    ExprId = "expr";
    /// A use of a type.
    TypeId = "type";
}

/// The greatest number of levels of declarations, statements and types, and of an expression.
pub const MAX_DEPTH: usize = 256;

/// A name as it is written somewhere in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The word.
    pub symbol: Symbol,
    /// Its place.
    pub span: Span,
}

/// A whole program: every declaration of the root file and of the files that it includes.
#[derive(Clone, Debug, Default)]
pub struct Ast {
    /// The words of the program.
    pub names: Names,
    /// The declarations at the top level, in source order.
    pub top: Vec<DeclId>,
    /// All declarations.
    pub decls: EntityMap<DeclId, Decl>,
    /// All expressions.
    pub exprs: EntityMap<ExprId, Expr>,
    /// All uses of types.
    pub types: EntityMap<TypeId, Type>,
}

impl Ast {
    /// Returns the text of a name.
    #[must_use]
    pub fn text(&self, name: Name) -> &str {
        self.names.text(name.symbol)
    }

    /// Returns the parameters of a function, constructor, action, parser or control; none of other declarations.
    #[must_use]
    pub fn params(&self, decl: DeclId) -> &[DeclId] {
        match &self.decls[decl].kind {
            DeclKind::Function(function) => &function.params,
            DeclKind::Constructor { params } => params,
            DeclKind::Action(action) => &action.params,
            DeclKind::Parser(parser) => &parser.params,
            DeclKind::Control(control) => &control.params,
            _ => &[],
        }
    }

    /// Returns the direction of a parameter.
    #[must_use]
    pub fn direction(&self, param: DeclId) -> Direction {
        match &self.decls[param].kind {
            DeclKind::Param(param) => param.direction,
            _ => Direction::None,
        }
    }
}
