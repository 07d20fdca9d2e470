//! `conweave` under load: what the handbook's figures are made of.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod chart;
mod hot_flows;
mod laps;
mod load;
mod page;
