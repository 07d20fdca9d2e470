//! The stage programs that come with Sluice.
//!
//! One module per program, each with its parameters, its two gresses, its default entries and the P4 program
//! that says the same. [`catalog`] finds programs by name, [`setup`] is what a program asks of the device it
//! starts on. In addition, a program may offer a reader of its frames ([`story`]) and a control plane ([`agent`]).
//!
//! What may not live here: mutable state of a program, and anything that a switch calls per packet: a program's behaviour is
//! the [`Program`](sluice_ir::Program) that it builds, and nothing else.

pub mod agent;
pub mod balance;
pub mod catalog;
pub mod conga;
pub mod conweave;
pub mod conweave_spine;
pub mod drb;
pub mod drill;
pub mod ecn_mark;
pub mod flare;
pub mod flowlet;
mod forwarding;
pub mod hpcc_int;
pub mod hula;
pub mod int;
pub mod l3_ecmp;
mod leaf;
pub mod letflow;
mod marking;
pub mod pfc;
pub mod planning;
pub mod ports;
pub mod position;
pub mod presto;
pub mod properties;
pub mod setup;
mod shipped;
pub mod spray;
pub mod story;

pub use catalog::{ProgramError, Role, StageProgram, UnknownProgram, all, by_name};
pub use leaf::Tables;
pub use setup::{Setup, SetupError};
