//! The switch device under programs: what becomes of packets, when, and that neither the size of batches nor
//! the steps of the caller nor the executor has a say in it.

mod conservation;
mod control;
mod entry;
mod order;
mod queues;
mod rounds;
mod steer;
mod timing;
pub(crate) mod world;
