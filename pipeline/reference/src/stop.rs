//! Reasons for which a walk through code ends early.

use crate::value::Value;
use sluice_p4::source::Span;
use std::fmt;

/// A construct whose meaning the interpreter does not have.
///
/// The interpreter returns this in place of a result that may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The place in the source; [`Span::NONE`] if the construct has none.
    pub span: Span,
    /// The construct.
    pub what: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the reference interpreter does not have {}", self.what)
    }
}

impl std::error::Error for Unsupported {}

/// A reason to leave the code that is being run.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// `exit`: leaves the control of the gress.
    Exit,
    /// `return`, with its value: leaves the action, method or control.
    Return(Value),
    /// Parsing ends with an error, which has these bits in `parser_err`.
    Parser(u16),
    /// There is no result.
    Unsupported(Unsupported),
}

/// The result of a walk through code.
pub(crate) type Res<T> = Result<T, Stop>;

/// Returns the end of a walk at a construct whose meaning is not known.
pub(crate) fn unsupported(span: Span, what: impl Into<String>) -> Stop {
    Stop::Unsupported(Unsupported { span, what: what.into() })
}
