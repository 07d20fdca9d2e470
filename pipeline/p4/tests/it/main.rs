//! Tests of the front end by its public items.

mod accepted;
mod bounds;
mod check;
mod checked_corpus;
mod corpus;
mod messages;
