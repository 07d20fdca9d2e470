//! Executors of a stage program.
//!
//! [`mod@reference`] walks the program and is the definition of what it means; [`engine`] runs the program as it was placed,
//! by steps or on generated code; both fill the same [`pass`] of packets in a [`packet`] store, and both may count
//! [`cover`]age. This crate has no queue, no port and no clock of a device: those belong to the switch.

pub mod cover;
pub mod engine;
pub mod packet;
pub mod pass;
pub mod reference;
mod state_changes;
