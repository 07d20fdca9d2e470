//! Networks of switches.
//!
//! [`topology`] says which switches and links there are and where a packet may go next, [`flows`] makes flows or takes
//! them out of a capture, [`experiment`] sends flows through a topology by the very hashes and selectors of the packet
//! path and measures how even the links are; [`flowlets`] counts flowlets of captures and tries load balancers on them;
//! [`host`] has RDMA hosts and their parts, rates and recovery; [`contest`] lets programs carry the messages of such hosts;
//! [`network`] joins emulated switches by links and lets time pass, [`deploy`] builds one from a topology; [`scenario`] puts one
//! switch between senders and says what must be seen; [`senders`] hold frames back when they are paused; [`story`] tells
//! the life of one flow from what observers were shown. What may not live here: flags,
//! files by name, clocks of the host; threads but for those that a network is asked to run on.

pub mod contest;
pub mod deploy;
pub mod experiment;
pub mod flowlets;
pub mod flows;
pub mod host;
pub mod network;
pub mod scenario;
pub mod senders;
pub mod story;
pub mod topology;
