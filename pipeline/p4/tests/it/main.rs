//! Tests of the front end by its public items.

mod corpus;
mod messages;
