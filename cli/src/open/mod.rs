//! Opens the inputs that a command names: programs, chips, ports, entries, networks, buffer profiles, captures.

pub(crate) mod buffer_profile;
pub(crate) mod captures;
pub(crate) mod door;
pub(crate) mod named;
pub(crate) mod p4;
pub(crate) mod resolve;
pub(crate) mod target;
pub(crate) mod topology;
