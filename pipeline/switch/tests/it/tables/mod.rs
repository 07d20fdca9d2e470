//! Tables and actions through both engines: what programs of each construct write into packets on both chips, and
//! that entries changed one by one leave what a table built anew has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod algorithmic;
mod alu;
pub(crate) mod bench;
mod branches;
mod conditions;
mod drop_ctl;
mod hash;
mod idle;
mod incremental;
mod joined;
mod keys;
mod masked;
mod profiles;
mod random;
mod range;
mod slices;
mod turns;
mod wide;
