//! Networks of the real switch.

mod acknowledgments;
mod asymmetry;
mod bus;
mod circles;
mod closed;
mod conga;
mod congestion;
mod conservation;
mod conweave;
mod deployed;
mod faults;
mod functional;
mod links;
mod own_program;
mod parallel;
mod pauses;
mod rates;
mod rdma;
mod single;
mod support;
mod tcp;
mod telemetry;
