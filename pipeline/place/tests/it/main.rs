//! Placement against oracles that share no code with it: all placements of small programs on small chips, and random
//! layouts of memories.

#![allow(clippy::panic, reason = "tests")]

mod layouts;
mod mistakes;
mod small_chips;
