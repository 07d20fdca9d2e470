//! The syntax of P4_16: keywords, the parser and the syntax tree.

pub mod ast;
mod keyword;
mod parse;
mod print;

pub(crate) use keyword::{is_reserved, names};
pub(crate) use parse::parse_tokens;
pub use print::{declaration, expr_text, print};
