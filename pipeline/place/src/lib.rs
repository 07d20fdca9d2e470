//! Placement of a program on a chip: PHV allocation, stages, units with coordinates and owners, latency.
//!
//! The passes make a [`Placement`]; a verifier derives totals, limits and dependencies again from the
//! coordinates alone; `report` is the data of a resource report. Nothing here executes a program.

mod bits;
mod conditions;
mod data;
pub mod deparser;
pub mod deps;
mod mau;
pub mod next_table;
mod nofit;
mod options;
pub mod params;
pub mod parser;
mod passes;
pub mod phv;
mod purpose;
pub mod report;
mod steps;
mod timing;
mod units;
mod verify;

pub use data::{
    FieldSlice, Owner, Part, PhvAllocation, PlacedGress, PlacedNode, PlacedParser, PlacedState, Placement,
    PovBit, Unit, UnitUse,
};
pub use deps::{Dependency, DependencyGraph, Edge, node_name};
pub use next_table::{Carrier, LongBranch, Retest};
pub use nofit::{Exhausted, NoFit, Resource, ShortIn};
pub use options::{Objective, Optimisation, Options, UnknownName};
pub use passes::{PASSES, PassInfo, place, place_with};
pub use purpose::{ArrayRef, Computation, Purpose, Sink, Source};
pub use timing::stage_latencies;
pub use verify::verify;
