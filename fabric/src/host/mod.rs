//! Parts of RDMA hosts, each a state machine that is told what came in and when, and says what goes out.
//!
//! [`dcqcn`] is how a sender's rate answers congestion notifications and when a receiver sends them; [`recovery`] how
//! lost packets are sent again, [`bottleneck`] a flow that is marked and answers, [`receive_cache`] a receiver that
//! forgets queue pairs; [`rnic`] is a whole host at a port of a network.

pub mod bottleneck;
pub mod dcqcn;
pub mod receive_cache;
pub mod recovery;
pub mod rnic;
