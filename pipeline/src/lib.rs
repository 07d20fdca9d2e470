//! Stage programs on the silicon.
//!
//! What lives here: the program IR with its builder, text form and verifier; dependency analysis, PHV
//! allocation and placement; the resource report; the reference interpreter and the fast engine; the
//! control plane; the sans-IO switch device. What may not: files, threads, clocks of the host, printing,
//! and any particular stage program.

// The macros name this crate from outside; inside it they must find it too.
extern crate self as sluice_pipeline;

pub mod build;
pub mod cells;
pub mod control;
pub mod cover;
pub mod engine;
pub mod entity;
pub mod flow;
pub mod ir;
pub mod meters;
pub mod packet;
pub mod pass;
pub mod place;
pub mod property;
pub mod reference;
pub mod report;
mod rows;
pub mod salu;
pub mod switch;
pub mod text;
pub mod verify;
mod ways;
