//! `ecn-mark` and `pfc` through the device and on both engines: marks by the law, pauses obeyed and asked for, storms.

mod asking;
mod bench;
mod law;
mod leak;
mod marks;
mod obeying;
mod reports;
mod storm;
