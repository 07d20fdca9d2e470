//! Hosts and their parts: state machines without I/O.
//!
//! [`dcqcn`], [`hpcc`], [`timely`] and [`rate_dctcp`] are congestion control of RDMA senders, of which a queue pair has one
//! ([`congestion`]); [`dcqcn`] has the receiver's CNPs too. [`recovery`] is retransmission of lost
//! packets. [`rdma`] has the queue pairs of a host, and [`nic`] is a complete host at a port of a network: it sends
//! [messages](message) by one transport or several. [`tcp`] has the connections of a host, and [`udp`] sends without reaction. [`bottleneck`] is one flow through a marking queue, and
//! [`receive_cache`] is a receiver with a limited cache of queue pair contexts.

pub mod bottleneck;
pub mod congestion;
pub mod counters;
pub mod dcqcn;
pub mod hpcc;
pub mod message;
pub mod nic;
pub mod ports;
pub mod rate_dctcp;
pub mod rdma;
pub mod receive_cache;
pub mod recovery;
pub mod tag;
pub mod tcp;
pub mod timely;
pub mod udp;
