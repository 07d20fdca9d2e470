//! `conweave` with a control plane that installs hot flows.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod hot_flows;
