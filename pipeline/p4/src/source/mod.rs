//! The texts of a program, and places in them.
//!
//! All files, and all expansions of macros, have ranges in one space of 2^32 positions. A file takes a position per byte, an
//! expansion a position per token; one more position belongs to the end of each. A position in an expansion leads to two places:
//! the use of the macro, and the place where the token is spelled, which is in the `#define` or in an argument of the use.
//! [`SourceMap::place`] follows both.

mod loader;
mod map;
mod place;
mod span;

pub use loader::{Include, IncludeKind, LoadError, Loaded, Loader, Texts};
pub use map::{FileId, Full, MacroId, SourceMap};
pub use place::{Expanded, Position, Region};
pub use span::Span;
