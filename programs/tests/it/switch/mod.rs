//! The switch device under programs: the fate and times of packets, which depend neither on the size of batches nor on
//! the steps of the caller nor on the executor.

mod conservation;
mod control;
mod entry;
mod order;
mod queues;
mod rounds;
mod steer;
mod timing;
pub(crate) mod world;
