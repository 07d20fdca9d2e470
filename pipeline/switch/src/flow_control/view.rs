//! Flow control for reports: the buffer, and counters of ports and queues.

use crate::Switch;
use sluice_asic::tm::buffer::{Buffer, BufferConfig, PgConfig};
use sluice_asic::tm::pfc::{PRIORITIES, PauseStats};
use sluice_asic::tm::{Counter, QueueId, TmPort};
use sluice_asic::units::Time;

/// Flow control of a device at one time.
pub struct FlowView<'a> {
    /// The profile, resolved for the device's ports.
    pub config: &'a BufferConfig,
    /// The buffer; ports are numbered as in `ports`.
    pub buffer: &'a Buffer,
    /// Ports, in the order of the buffer's ports.
    pub ports: Vec<PortFlowView<'a>>,
}

/// PFC state and counters of a port.
#[derive(Clone, Debug)]
pub struct PortFlowView<'a> {
    /// dev_port.
    pub dev_port: u16,
    /// Front-panel number, `cpu` or `recirc:N`.
    pub name: &'a str,
    /// Pauses received, by priority: number and duration.
    pub received: [PauseStats; PRIORITIES],
    /// Duration of the received pauses, by priority, in quanta of the line.
    pub paused_quanta: [u64; PRIORITIES],
    /// Priorities that are paused now, as a bit mask.
    pub paused: u8,
    /// PFC frames sent with each priority's enable bit set.
    pub sent: [u64; PRIORITIES],
    /// Priorities whose senders this port keeps paused, as a bit mask.
    pub pausing: u8,
    /// 802.3x PAUSE frames, ignored.
    pub ignored_pauses: u64,
    /// MAC control frames of an unknown kind.
    pub unknown: u64,
    /// Queues.
    pub queues: Vec<QueueFlowView>,
}

/// Marks and watchdog of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFlowView {
    /// Packets marked.
    pub marked: Counter,
    /// Packets dropped by WRED.
    pub wred_dropped: Counter,
    /// True if the watchdog watches the queue.
    pub watched: bool,
    /// True during a storm.
    pub stormed: bool,
    /// Storms detected.
    pub detected: u64,
    /// Storms that ended.
    pub restored: u64,
    /// Packets that the watchdog dropped.
    pub watchdog_dropped: u64,
    /// Counters since the run began.
    pub all: StormCounts,
    /// Counters since the last storm began.
    pub last: StormCounts,
}

/// The watchdog's counters of a queue and of the priority group with the same number (model: buffer §2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StormCounts {
    /// Packets sent from the queue.
    pub tx_ok: u64,
    /// Packets that the watchdog dropped at the queue.
    pub tx_drop: u64,
    /// Packets that the port's priority group of the same priority admitted.
    pub rx_ok: u64,
    /// Packets that this group refused.
    pub rx_drop: u64,
}

impl StormCounts {
    fn since(self, before: Self) -> Self {
        Self {
            tx_ok: self.tx_ok.saturating_sub(before.tx_ok),
            tx_drop: self.tx_drop.saturating_sub(before.tx_drop),
            rx_ok: self.rx_ok.saturating_sub(before.rx_ok),
            rx_drop: self.rx_drop.saturating_sub(before.rx_drop),
        }
    }
}

impl Switch<'_> {
    /// Returns true if PFC frames of a port's peer pause a queue.
    pub(crate) fn is_paused_by_peer(&self, port: u16, queue: u8) -> bool {
        let Some(flow) = &self.flow else { return false };
        let own = flow.config.ports.get(usize::from(port)).and_then(|p| p.queues.get(usize::from(queue)));
        let priority = own.and_then(|queue| queue.priority);
        let paused = flow.ports.get(usize::from(port)).map_or(0, |p| p.rx.paused());
        priority.is_some_and(|priority| paused >> priority & 1 != 0)
    }

    /// Returns the counters of a queue and of the priority group of its priority.
    pub(super) fn storm_counts(&self, port: u16, queue: u8) -> StormCounts {
        let Some(flow) = &self.flow else { return StormCounts::default() };
        let Some(config) = flow.config.ports.get(usize::from(port)) else { return StormCounts::default() };
        let own = flow.ports.get(usize::from(port)).and_then(|p| p.queues.get(usize::from(queue)));
        let (tx_drop, flushed) = own.map_or((0, 0), |q| (q.watchdog_dropped, q.flushed));
        let taken = self.tm.stats_of(TmPort(port), QueueId(queue)).map_or(0, |s| s.dequeued.packets);
        let priority = config.queues.get(usize::from(queue)).and_then(|q| q.priority);
        let pauses =
            |pg: &PgConfig| pg.lossless.zip(priority).is_some_and(|(l, p)| l.priorities >> p & 1 != 0);
        let pg = config.groups.iter().position(|pg| pg.as_ref().is_some_and(pauses));
        let pg = pg.and_then(|pg| self.tm.buffer()?.group(port, pg as u8));
        let (rx_ok, rx_drop) = pg.map_or((0, 0), |pg| (pg.admitted().packets, pg.dropped().packets));
        StormCounts { tx_ok: taken.saturating_sub(flushed), tx_drop, rx_ok, rx_drop }
    }

    /// Returns flow control at time `now`, `None` without a shared buffer.
    pub fn flow(&self, now: Time) -> Option<FlowView<'_>> {
        let flow = self.flow.as_ref()?;
        let buffer = self.tm.buffer()?;
        let pairs = (0u16..).zip(self.ports.iter().zip(&flow.ports));
        let ports = pairs.map(|(port, (state, own))| {
            let received = own.rx.stats(now);
            let queues = (0u8..).zip(&own.queues).map(|(id, q)| {
                let dog = q.watchdog.as_deref();
                let all = dog.map_or(StormCounts::default(), |_| self.storm_counts(port, id));
                let (detected, restored) = dog.map_or((0, 0), |w| w.counts());
                QueueFlowView {
                    marked: q.marked,
                    wred_dropped: q.wred_dropped,
                    watched: dog.is_some(),
                    stormed: dog.is_some_and(|w| w.is_stormed()),
                    detected,
                    restored,
                    watchdog_dropped: q.watchdog_dropped,
                    all,
                    last: q.storm.map_or(StormCounts::default(), |storm| all.since(storm)),
                }
            });
            PortFlowView {
                dev_port: state.dev_port,
                name: &state.name,
                received,
                paused_quanta: received.map(|s| own.rx.quanta_in(s.paused)),
                paused: own.rx.paused(),
                sent: own.tx.frames(),
                pausing: own.tx.active(),
                ignored_pauses: own.rx.ignored_pauses(),
                unknown: own.unknown,
                queues: queues.collect(),
            }
        });
        Some(FlowView { config: &flow.config, buffer, ports: ports.collect() })
    }
}
