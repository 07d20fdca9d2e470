//! Random stage programs.
//!
//! - [`program`] draws programs that are legal by construction, for placement and execution.
//! - [`illegal_program`] draws such a program and adds to it every operation of the IR, legal or not, for the text form
//!   and the verifier.
//! - [`chance`](Draw::chance), [`value`](Draw::value) and other choices of [`Draw`], for what else a test draws.
//!
//! Everything random is drawn from a list of numbers. A list of zeros, or an empty one, gives the smallest program, so
//! that whoever makes the list (`proptest`, a fuzzer) shrinks programs by shrinking it. This crate knows no chip's limits,
//! entries or packets.

mod draw;
mod illegal;
mod key;
mod limits;
mod program;

pub use draw::{Draw, words};
pub use illegal::{References, illegal_program};
pub use key::key_value;
pub use limits::{Limits, Widths};
pub use program::{numbered, program};
