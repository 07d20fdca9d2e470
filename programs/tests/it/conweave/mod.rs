//! `conweave`.

mod destination;
mod fit;
mod hosts;
mod load;
mod log;
mod network;
mod outside;
mod source;
mod spine;
mod time;
mod timers;
mod wire;
mod world;
