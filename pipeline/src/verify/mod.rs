//! (being written)
mod diag;
pub use diag::{Diag, Severity};
