//! `ecmp` and `wcmp` on both engines and both chips: ports and bytes out against the planners' arithmetic.

mod places;
mod reports;
mod schemes;
mod world;
