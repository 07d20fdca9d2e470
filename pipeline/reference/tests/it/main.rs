//! Tests of the interpreter: values computed by hand, and programs on which the other steps must agree with it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod judge;
mod packet_tests;
mod semantics;
mod tree;
