//! `ecn-mark` and `pfc` through the device and on both engines: marks by the curve, pauses obeyed and requested.

mod asking;
pub(crate) mod bench;
mod law;
mod leak;
mod marks;
mod obeyed;
mod obeying;
mod reports;
mod storm;
