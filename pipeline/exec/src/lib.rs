//! Executors of a stage program.
//!
//! [`mod@reference`] interprets the program and defines its meaning. [`engine`] runs the program as placed, by steps or
//! with generated code. Both fill the same [`pass`] of packets in a [`packet`] store, and both can count [`cover`]age.
//! Queues, ports and the clock of a device belong to the switch.

pub mod cover;
pub mod engine;
mod hits;
mod layouts;
pub mod packet;
pub mod pass;
pub mod reference;
mod state_changes;

pub use layouts::control_state;
