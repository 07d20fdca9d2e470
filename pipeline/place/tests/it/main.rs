//! Placement against oracles that share no code with it: all placements of small programs on small chips, and random
//! layouts of memories.

mod layouts;
mod small_chips;
