//! `ecmp` and `wcmp` on both engines and both chips: ports and bytes out against the planners' arithmetic.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod places;
mod reports;
mod schemes;
mod world;
