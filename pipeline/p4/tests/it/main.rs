//! Tests of the front end by its public items.

mod check;
mod corpus;
mod lower;
mod messages;
mod parde;
