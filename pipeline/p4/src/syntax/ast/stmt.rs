//! Statements and parser states.

use super::{Annotation, DeclId, ExprId, Name};
use crate::source::Span;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    /// The place, with the semicolon.
    pub span: Span,
    /// The statement.
    pub kind: StmtKind,
}

/// Kinds of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `{ ... }`
    Block(Block),
    /// A local variable, constant or instance.
    Decl(DeclId),
    /// `target = value;`
    Assign {
        /// A variable, field, element or slice.
        target: ExprId,
        /// The value.
        value: ExprId,
    },
    /// A call as a statement; the expression is an [`ExprKind::Call`](super::ExprKind::Call).
    Call(ExprId),
    /// `if (condition) then else otherwise`
    If {
        /// The condition.
        condition: ExprId,
        /// The statement if the condition is true.
        then: Box<Stmt>,
        /// The statement after `else`.
        otherwise: Option<Box<Stmt>>,
    },
    /// `switch (value) { ... }`
    Switch {
        /// The value, usually `table.apply().action_run`.
        value: ExprId,
        /// The cases, in source order.
        cases: Vec<SwitchCase>,
    },
    /// `return;` or `return value;`
    Return(Option<ExprId>),
    /// `exit;`
    Exit,
}

/// Statements between braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// From `{` to `}`.
    pub span: Span,
    /// Annotations before `{`, such as `@in_hash`.
    pub annotations: Vec<Annotation>,
    /// The statements.
    pub statements: Vec<Stmt>,
}

/// A case of a `switch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchCase {
    /// From the label to the end of the block.
    pub span: Span,
    /// The label.
    pub label: SwitchLabel,
    /// The block; without one, the case shares the next case's block.
    pub body: Option<Block>,
}

/// The label of a case of a `switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchLabel {
    /// `default`
    Default(Span),
    /// The name of an action.
    Value(ExprId),
}

/// A parser state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDecl {
    /// The statements before the transition.
    pub statements: Vec<Stmt>,
    /// The transition; a state without one goes to `reject`.
    pub transition: Option<Transition>,
}

/// The transition of a parser state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transition {
    /// `transition next;`
    Direct(Name),
    /// `transition select(...) { ... }`
    Select(Select),
}

/// A `select`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// From `select` to `}`.
    pub span: Span,
    /// The values that are compared.
    pub keys: Vec<ExprId>,
    /// The cases; the first that matches is taken.
    pub cases: Vec<SelectCase>,
}

/// A case of a `select`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectCase {
    /// From the key to the semicolon.
    pub span: Span,
    /// One expression per key, or a single one: `default`, `_` or the name of a value set.
    pub keys: Vec<ExprId>,
    /// The next state.
    pub next: Name,
}
