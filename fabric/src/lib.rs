//! Networks of switches.
//!
//! Three rooms: [`topology`] says which switches and links there are and where a packet may go next, [`flows`]
//! makes flows or takes them out of a capture, and [`experiment`] sends flows through a topology by the very
//! hashes and selectors of the packet path and measures how even the links are. [`flowlets`] counts flowlets of
//! captures and tries load balancers on them. What may not live here: flags,
//! files by name, clocks, threads; bytes of packets beyond a flow's key.

pub mod experiment;
pub mod flowlets;
pub mod flows;
pub mod topology;
