//! Annotations: `@name`, `@name(...)`, `@name[...]` and `@pragma name ...`.

use super::{ExprId, IntLiteral, Name};
use crate::names::Symbol;
use crate::source::Span;

/// An annotation of a declaration, statement, block, table property, key element, action reference or entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// From `@` to the last token.
    pub span: Span,
    /// The name after `@`; for `@pragma NAME ...`, the name after `@pragma`.
    pub name: Name,
    /// True for the form `@pragma NAME ...`.
    pub pragma: bool,
    /// The part after the name.
    pub body: AnnotationBody,
}

/// The part of an annotation after its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationBody {
    /// Nothing.
    None,
    /// `(...)`, or the rest of the line of a `@pragma`. Arguments are separated by commas; those of a `@pragma` by blanks.
    Args(Vec<AnnotationArg>),
    /// `[a, b]`
    Exprs(Vec<ExprId>),
    /// `[k = a, l = b]`
    Pairs(Vec<(Name, ExprId)>),
}

/// An argument of an unstructured annotation. Its meaning depends on the annotation, so the parser keeps its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationArg {
    /// From the first token to the last.
    pub span: Span,
    /// The tokens; at least one.
    pub tokens: Vec<AnnotationToken>,
}

/// A token of an unstructured annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationToken {
    /// The place.
    pub span: Span,
    /// The token.
    pub kind: AnnotationTokenKind,
}

/// Kinds of tokens of an unstructured annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationTokenKind {
    /// An identifier or keyword.
    Word(Symbol),
    /// A number.
    Int(IntLiteral),
    /// A string; its text without quotation marks.
    Text(Symbol),
    /// Punctuation, as it is written.
    Punct(&'static str),
}
