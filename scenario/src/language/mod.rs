//! What files of scenarios and of contests have in common: expressions, grids of values, seeds.

pub(crate) mod expr;
pub(crate) mod grid;
pub(crate) mod seeds;
