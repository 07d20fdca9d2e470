//! `l3-ecmp` on the reference interpreter: the fate of each kind of packet, byte for byte.

mod device;
mod filter;
mod forwarding;
mod fuzz;
mod groups;
mod params;
mod sample;
mod vlans;
