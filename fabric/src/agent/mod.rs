//! Control-plane agents: what listens to switches and changes them, without a loop, clock or thread of its own.
//!
//! Drain order: tell the agent what a switch said, ask it for what is due ([`HotFlows::poll`]) and give that to the
//! switches.

mod hot_flows;

pub use hot_flows::{Change, HotFlowConfig, HotFlows, MissingEntity};
