//! Flow control of the device: a shared buffer with its classes, PFC at the MACs, marking, the watchdog.
//!
//! The accounting is the traffic manager's ([`sluice_asic::tm::buffer`]), timers and state machines are
//! [`sluice_asic::tm`]'s; here they meet frames and the order of events:
//!
//! - a received PFC frame ends at the MAC and takes effect a reaction time after its last bit; queues of its priorities
//!   stop, packets that they have handed out go on their way;
//! - a pause or resume that the buffer asks for is sent by the port's MAC as soon as its line is free, before what waits
//!   in queues (assumption: behind what has left the egress deparser; on its way from the buffer it takes as long as
//!   packets from the deparser), and again while it lasts;
//! - a packet's class is that of its code points as it came in, unless the program sets `qid` or `ingress_cos`;
//! - a mark is decided by the length of the queue and written as the frame leaves. Neither chip marks by itself; where
//!   there is a profile, this does so in its place.

mod classify;
mod mac;
mod mark;
mod operate;
mod setup;
mod shape;
mod stuck;
mod view;
mod watch;

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

/// What the device keeps of flow control.
pub(super) struct FlowControl {
    config: BufferConfig,
    ports: Vec<PortFlow>,
    random: RandomStream,
    /// The program sets `qid`, `ingress_cos`.
    own_queue: bool,
    own_cos: bool,
    /// The operator has all lossless queues drop.
    big_red_switch: bool,
}

impl FlowControl {
    /// The profile on its ports.
    pub(super) const fn config(&self) -> &BufferConfig {
        &self.config
    }
}

/// One port's.
struct PortFlow {
    rx: PfcRx,
    tx: PfcTx,
    /// From a frame's last bit to its effect.
    reaction: Duration,
    /// MAC control frames that are neither PFC nor PAUSE.
    unknown: u64,
    /// When the end of a pause is scheduled.
    pause_ends: Option<Time>,
    /// Some queue is kept from sending, so that a backlog may be nothing that can go.
    held_up: bool,
    queues: Vec<QueueFlow>,
    polling: bool,
    /// A look for stuck queues is scheduled.
    looking: bool,
}

/// One queue's.
#[derive(Default)]
struct QueueFlow {
    average: Average,
    marked: Counter,
    wred_dropped: Counter,
    watchdog: Option<Box<Watchdog>>,
    /// The watchdog drops what comes.
    dropping: bool,
    watchdog_dropped: u64,
    /// Packets that were taken out to be dropped.
    flushed: u64,
    /// What had been counted when the storm began that was seen last.
    storm: Option<StormCounts>,
    /// When it last sent, or got something while it was empty; kept where stuck queues are emptied.
    idle_since: Time,
}
