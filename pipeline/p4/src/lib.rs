//! Front end for P4_16 programs of the Tofino architectures (TNA, T2NA).
//!
//! The data's way, one module per step:
//!
//! 1. **Text**: a [`Loader`](source::Loader) gives the texts of files, [`prelude`] those of `core.p4`, `tna.p4` and `t2na.p4`.
//!    [`source`] keeps them, with one space of positions for files and macro expansions.
//! 2. **Tokens**: the preprocessor follows directives and expands macros.
//! 3. **Syntax tree**: the parser makes an [`Ast`](syntax::ast::Ast), in which declarations, expressions and types have
//!    numbers.
//! 4. **Side tables**: [`check`] resolves names and finds types and constants. Its tables
//!    ([`Checked`](check::Checked)) have the numbers of the tree as keys.
//! 5. **Core**: the passes of [`core`] leave fewer forms in the tree, one job each. No later step changes the tree.
//! 6. **Elaborated program**: [`elaborate`] follows the package `main` to instances by path. Its [`Pipe`](elaborate::Pipe) says
//!    for each block what its names stand for; code stays in the tree.
//! 7. **Program of the chip**: [`lower`] walks the blocks of the pipe and makes a [`Program`](sluice_ir::Program), with notes on what
//!    it approximates or ignores. [`p4info`] says what a controller must know of the pipe.
//!
//! [`parse`] does steps 1 to 3, [`Parsed::lower`] the others. Each step runs after errors in those before it as far as it can, so that one run finds
//! independent mistakes; [`diagnostic`] has the messages, and [`names`] identifiers as small numbers.
//!
//! The crate opens no files: the caller passes a [`Loader`](source::Loader) that returns the text of a file name. It prints
//! nothing: messages are values, and [`diagnostic::render`] makes text of them.

pub mod check;
pub mod core;
pub mod diagnostic;
pub mod elaborate;
mod front;
pub mod lower;
pub mod names;
pub mod p4info;
pub mod prelude;
mod preprocess;
pub mod source;
pub mod syntax;
pub mod write;

pub use front::{Parsed, Step, parse};
pub use preprocess::{Define, MAX_INCLUDES, MAX_NESTING, Options};
