//! Front end for P4_16 programs of the Tofino architectures (TNA, T2NA).
//!
//! - [`source`]: the texts that a program consists of, and places in them, through macro expansions
//! - [`diagnostic`]: errors and warnings, with their source lines
//! - [`names`]: identifiers as small numbers
//! - [`syntax`]: the syntax tree
//!
//! The crate opens no files: the caller passes a [`Loader`](source::Loader) that returns the text of a file name. It prints
//! nothing: messages are values, and [`diagnostic::render`] makes text of them.

pub mod diagnostic;
mod front;
pub mod names;
mod preprocess;
pub mod source;
pub mod syntax;

pub use front::{Parsed, parse};
pub use preprocess::{Define, MAX_EXPANDED, MAX_INCLUDES, MAX_NESTING, MAX_TEXT, Options, Target};
