//! A program placed on a chip: PHV allocation, stages, units with coordinates and owners, latency.
//!
//! What lives here: the passes that make a [`Placement`], its data, and the independent verifier that
//! re-derives totals, limits and dependencies from coordinates alone. What may not: execution.

mod data;

pub use data::{
    FieldSlice, Owner, Part, PhvAllocation, PlacedGress, PlacedNode, PlacedParser, Placement, PovBit, Unit, UnitUse,
};
