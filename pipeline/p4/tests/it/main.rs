//! Tests of the front end by its public items.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

mod accepted;
mod bounds;
mod check;
mod checked_corpus;
mod core;
mod corpus;
mod lower;
mod messages;
mod p4info;
mod parde;
