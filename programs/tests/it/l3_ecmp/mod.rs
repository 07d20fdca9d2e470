//! `l3-ecmp` run by the reference interpreter: what becomes of each kind of packet, byte for byte.

mod device;
mod filter;
mod forwarding;
mod fuzz;
mod groups;
mod params;
mod sample;
mod vlans;
