//! Flowlets of captures, and what load balancers make of them.
//!
//! [`census`] counts the flowlets of a capture for many timeouts at once, [`order`] measures how far out of order the
//! packets of flows arrive, [`through`] sends a capture through a program for that, and [`elastic`] lets the program
//! `letflow` settle flows on paths of different rate. Hosts that react do not exist yet; [`elastic::Paths`] is the
//! place where they will stand in for its rates.

pub mod census;
pub mod elastic;
mod key;
pub mod order;
mod placed;
pub mod through;

pub use key::{FlowKey, flow_key};
