//! The stage programs that come with Sluice.
//!
//! One module per program, each with its parameters, its two gresses, its default entries and the P4 program
//! that says the same. [`catalog`] finds programs by name, [`setup`] is what a program asks of the device it
//! starts on. [`story`] and [`agent`] are what a program may offer besides: a reader of its frames, and a control plane. What may not live here: mutable state, and anything that is called per packet: a program's
//! behaviour is the [`Program`](sluice_ir::Program) that it builds, and nothing else.

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
