//! The syntax of P4_16.

pub mod ast;
