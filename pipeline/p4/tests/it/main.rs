//! Tests of the front end by its public items.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

mod check;
mod corpus;
mod lower;
mod messages;
mod parde;
