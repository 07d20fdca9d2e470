//! Flowlets of captures, and load balancers that move them.
//!
//! [`census`] counts a capture's flowlets for several timeouts, [`through`] sends a capture through a program,
//! [`order`] measures the reordering that results, and [`elastic`] runs a program such as `letflow` on a model of flows
//! on paths of different rates. The model has no hosts that react to loss or marking.

pub mod census;
pub mod elastic;
mod key;
pub mod order;
mod placed;
pub mod through;

pub use key::{FlowKey, flow_key};
