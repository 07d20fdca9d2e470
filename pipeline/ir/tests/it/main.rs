//! Random programs through the text form and the verifier.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod grammar;
mod kinds;
mod random;
