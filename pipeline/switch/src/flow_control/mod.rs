//! Flow control of the device: a shared buffer with classes, PFC at the MACs, ECN marking, the watchdog.
//!
//! The accounting is in [`sluice_asic::tm::buffer`], timers and state machines are in [`sluice_asic::tm`].
//! This module connects them to frames and to the order of events:
//!
//! - A received PFC frame ends at the MAC and takes effect a reaction time after its last bit. Queues of its
//!   priorities stop; packets already dequeued are sent.
//! - A pause or resume that the buffer requests is sent by the port's MAC as soon as its line is free, before
//!   packets in queues (assumptions: after packets that have left the egress deparser; the request takes as
//!   long as a packet from the deparser). It is repeated while the pause lasts.
//! - A packet's queue and priority group follow from `qid` and `ingress_cos`, which the program sets; without that they
//!   are 0. The device's driver writes the profile's maps into the program's class tables
//!   ([`sluice_control::classes`]).
//! - A mark is decided by the length of the queue and written when the frame is sent. Neither chip marks by
//!   itself; if there is a profile, this module marks in the chip's place.

mod classify;
mod mac;
mod mark;
mod operate;
mod setup;
mod shape;
mod stuck;
mod view;
mod watch;

pub(crate) use classify::set_ecn;
pub(super) use mark::FlowInfo;
pub use setup::BufferSetup;
pub use view::{FlowView, PortFlowView, QueueFlowView, StormCounts};

use sluice_asic::random::RandomStream;
use sluice_asic::tm::Counter;
use sluice_asic::tm::buffer::BufferConfig;
use sluice_asic::tm::ecn::Average;
use sluice_asic::tm::pfc::{PfcRx, PfcTx};
use sluice_asic::tm::watchdog::Watchdog;
use sluice_asic::units::{Duration, Time};

/// Flow-control state of the device.
pub(super) struct FlowControl {
    config: BufferConfig,
    ports: Vec<PortFlow>,
    random: RandomStream,
    /// True if the operator makes all lossless queues drop.
    big_red_switch: bool,
}

impl FlowControl {
    /// Returns the profile, resolved for the device's ports.
    pub(super) const fn config(&self) -> &BufferConfig {
        &self.config
    }
}

/// Flow-control state of a port.
struct PortFlow {
    rx: PfcRx,
    tx: PfcTx,
    /// Delay from a frame's last bit to its effect.
    reaction: Duration,
    /// Number of MAC control frames that are neither PFC nor PAUSE.
    unknown: u64,
    /// Scheduled end of a pause.
    pause_ends: Option<Time>,
    /// True if some queue is paused, so that a backlog may have no packet to send.
    held_up: bool,
    queues: Vec<QueueFlow>,
    polling: bool,
    /// True if a check for stuck queues is scheduled.
    looking: bool,
}

/// Flow-control state of a queue.
#[derive(Default)]
struct QueueFlow {
    average: Average,
    marked: Counter,
    wred_dropped: Counter,
    watchdog: Option<Box<Watchdog>>,
    /// True if the watchdog drops arriving packets.
    dropping: bool,
    watchdog_dropped: u64,
    /// Number of packets removed and dropped.
    flushed: u64,
    /// Counters at the beginning of the last storm.
    storm: Option<StormCounts>,
    /// Time at which it last sent, or got a packet while empty; kept only if stuck queues are emptied.
    idle_since: Time,
}
