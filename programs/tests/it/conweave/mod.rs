//! `conweave`.

mod destination;
mod fit;
mod hosts;
mod hot_flows;
mod load;
mod log;
mod network;
mod outside;
mod properties;
pub(crate) mod published;
mod queues;
mod sample;
mod source;
mod spine;
mod time;
mod timers;
mod wire;
mod world;
