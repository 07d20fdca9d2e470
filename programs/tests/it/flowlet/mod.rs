//! The load balancers of a leaf: their programs on both chips, by both engines, against closed forms.

mod cells;
mod conga;
mod conga_eight;
mod detection;
mod device;
mod drill;
mod hula;
mod limits;
mod random;
mod rounds;
mod samples;
mod shape;
mod world;
