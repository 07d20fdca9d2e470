//! Runs the networks of a contest.

pub(crate) mod contest;
mod end_counts;
mod estats;
mod frame_labels;
mod ideal_times;
mod max_min;
mod message_spans;
pub(crate) mod message_watch;
mod network_run;
pub(crate) mod pool;
pub(crate) mod progress;
mod sampler;
mod set_up;
pub(crate) mod trial;
