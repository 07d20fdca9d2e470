//! What flow control shows: the buffer, and counters of ports and queues.

use crate::pass::Executor;
use crate::switch::Switch;
use sluice_asic::tm::buffer::{Buffer, BufferConfig};
use sluice_asic::tm::pfc::{PRIORITIES, PauseStats};
use sluice_asic::units::Time;

/// Flow control of a device at a time.
pub struct FlowView<'a> {
    /// The profile on its ports.
    pub config: &'a BufferConfig,
    /// The buffer; ports are numbered as in `ports`.
    pub buffer: &'a Buffer,
    /// Ports, in the buffer's order.
    pub ports: Vec<PortFlowView<'a>>,
}

/// A port's PFC.
#[derive(Clone, Debug)]
pub struct PortFlowView<'a> {
    /// dev_port.
    pub dev_port: u16,
    /// Front-panel number, `cpu` or `recirc:N`.
    pub name: &'a str,
    /// Pauses received, by priority.
    pub received: [PauseStats; PRIORITIES],
    /// The same pauses' time in quanta of the line.
    pub paused_quanta: [u64; PRIORITIES],
    /// Priorities that are paused now, as bits.
    pub paused: u8,
    /// PFC frames sent with each priority's enable bit set.
    pub sent: [u64; PRIORITIES],
    /// Priorities whose senders are kept paused, as bits.
    pub pausing: u8,
    /// 802.3x PAUSE frames, ignored.
    pub ignored_pauses: u64,
    /// MAC control frames of no known kind.
    pub unknown: u64,
    /// Queues.
    pub queues: Vec<QueueFlowView>,
}

/// A queue's marks and watchdog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFlowView {
    /// Packets marked.
    pub marked: u64,
    /// Packets dropped by WRED.
    pub wred_dropped: u64,
    /// The watchdog watches it.
    pub watched: bool,
    /// A storm goes on.
    pub stormed: bool,
    /// Storms seen.
    pub detected: u64,
    /// Storms that ended.
    pub restored: u64,
    /// Packets that the watchdog dropped.
    pub watchdog_dropped: u64,
}

impl<E: Executor> Switch<E> {
    /// Whether PFC frames of a port's peer stop a queue.
    pub(in crate::switch) fn is_paused_by_peer(&self, port: u16, queue: u8) -> bool {
        let Some(flow) = &self.flow else { return false };
        let own = flow.config.ports.get(usize::from(port)).and_then(|p| p.queues.get(usize::from(queue)));
        let priority = own.and_then(|queue| queue.priority);
        let paused = flow.ports.get(usize::from(port)).map_or(0, |p| p.rx.paused());
        priority.is_some_and(|priority| paused >> priority & 1 != 0)
    }

    /// Flow control at time `now`, if the device has a shared buffer.
    pub fn flow(&self, now: Time) -> Option<FlowView<'_>> {
        let flow = self.flow.as_ref()?;
        let buffer = self.tm.buffer()?;
        let pairs = self.ports.iter().zip(&flow.ports);
        let ports = pairs.map(|(state, own)| {
            let received = own.rx.stats(now);
            let queues = own.queues.iter().map(|q| {
                let dog = q.watchdog.as_deref();
                let (detected, restored) = dog.map_or((0, 0), |w| w.counts());
                QueueFlowView {
                    marked: q.marked,
                    wred_dropped: q.wred_dropped,
                    watched: dog.is_some(),
                    stormed: dog.is_some_and(|w| w.is_stormed()),
                    detected,
                    restored,
                    watchdog_dropped: q.watchdog_dropped,
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
