//! Tests of the front end by its public items.

mod accepted;
mod bounds;
mod corpus;
mod messages;
