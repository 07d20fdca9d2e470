//! RDMA hosts and their parts: state machines without I/O.
//!
//! [`dcqcn`] is congestion control: the sender's rate and the receiver's CNPs. [`recovery`] is retransmission of lost
//! packets. [`bottleneck`] is one flow through a marking queue, [`receive_cache`] is a receiver with a limited cache of
//! queue pair contexts, and [`rnic`] is a complete host at a port of a network.

pub mod bottleneck;
pub mod dcqcn;
pub mod receive_cache;
pub mod recovery;
pub mod rnic;
