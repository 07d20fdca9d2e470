//! `conweave` with a control plane that installs hot flows.

mod hot_flows;
