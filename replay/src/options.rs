//! Settings of a replay, except for those of a switch or an input.

use crate::trace::TraceFilter;
use sluice_asic::units::{Duration, Length};
use sluice_exec::cover::Points;
use sluice_fabric::spans::SpanRequest;
use sluice_pcaps::replay::{Rewrite, Schedule};
use sluice_switch::property::Property;
use std::sync::Arc;

/// Settings of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// Pace of the inputs, number of turns, and limits of packets and time.
    pub schedule: Schedule,
    /// Change of IP addresses from turn to turn.
    pub rewrite: Option<Rewrite>,
    /// Simulated time after the last packet in which switches must become empty. Packets that are inside after that
    /// count as held.
    pub drain: Duration,
    /// Length of the cables to senders that obey PFC frames; `None`: senders ignore PFC frames.
    pub pfc_cable: Option<Length>,
    /// True if each packet in a capture of sent packets gets a comment: fate, path, latency, time in the queue, ECN.
    pub comments: bool,
    /// True if an input that ends inside a record is an error.
    pub strict: bool,
    /// True if each step of each pass is traced. The executors must report their steps: see
    /// [`ExecutorRequest::tracer`](crate::ExecutorRequest::tracer).
    pub trace: bool,
    /// Filter of the trace; `None`: the trace has all packets.
    pub trace_filter: Option<Arc<TraceFilter>>,
    /// Packets whose spans are recorded; `None`: no spans are recorded. Only a run with time has spans.
    pub spans: Option<SpanRequest>,
}

impl Default for Options {
    /// Plays the inputs once, as captured, with 10 ms to drain.
    fn default() -> Options {
        Options {
            schedule: Schedule::default(),
            rewrite: None,
            drain: Duration::from_millis(10),
            pfc_cable: None,
            comments: false,
            strict: false,
            trace: false,
            trace_filter: None,
            spans: None,
        }
    }
}

/// Creates new properties, without history.
pub type PropertyFactory = Box<dyn Fn() -> Vec<Box<dyn Property>> + Send + Sync>;

/// Checks and counts that a replay makes at one switch.
#[derive(Default)]
pub struct Checks {
    /// Makes the properties to check; `None`: none are checked. A check keeps every packet in memory.
    pub properties: Option<PropertyFactory>,
    /// Points of the program whose coverage is counted; `None`: coverage is not counted. The executor must count: see
    /// [`ExecutorRequest::points`](crate::ExecutorRequest::points).
    pub points: Option<Points>,
}
