//! Small programs on the device: what packets become is the same through the interpreter, the engine and every batch size.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod movement;
mod parsers;
mod registers;
mod tables;
