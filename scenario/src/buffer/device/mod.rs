//! The device of a scenario, its senders, and the events that it reports.

pub(crate) mod bench;
pub(crate) mod events;
pub(crate) mod forward;
pub(crate) mod frames;
pub(crate) mod invariants;
pub(crate) mod timeline;
