//! A program placed on a chip: PHV allocation, stages, units with coordinates and owners, latency.
//!
//! What lives here: the passes that make a [`Placement`], its data, and the independent verifier that
//! re-derives totals, limits and dependencies from coordinates alone. What may not: execution.

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
pub mod report;
mod timing;
mod verify;

pub use data::{
    FieldSlice, Owner, Part, PhvAllocation, PlacedGress, PlacedNode, PlacedParser, PlacedState, Placement,
    PovBit, Unit, UnitUse,
};
pub use deps::{Dependency, DependencyGraph, Edge, node_name};
pub use next_table::{Carrier, LongBranch, Retest};
pub use nofit::{Exhausted, NoFit, Place, Resource};
pub use options::{Objective, Optimisation, Options, UnknownName};
pub use passes::{PASSES, PassInfo, place, place_with};
pub use timing::stage_latencies;
pub use verify::verify;
