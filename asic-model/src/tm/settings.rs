//! Changes to a running traffic manager: shapers, guarantees, schedules, pauses, flow-control words.

use super::TrafficManager;
use super::afc::{AfcMode, AfcWord};
use super::config::{MAX_PRIORITY, MAX_WEIGHT, QueueConfig};
use super::hold::{Hold, PauseCause};
use super::offer::{Guarantee, QueueId, TmPort};
use super::scheduler::Scheduler;
use super::shaper::{Shaper, ShaperConfig};
use super::touched::Touched;

impl<H: Copy> TrafficManager<H> {
    /// Starts to record the places whose counters change; [`touched`](Self::touched) returns them.
    pub fn watch(&mut self) {
        self.touched.get_or_insert_default().all = true;
    }

    /// Returns the places that changed since they were last cleared; `None` if [`watch`](Self::watch) was not called.
    pub fn touched(&mut self) -> Option<&mut Touched> {
        self.touched.as_deref_mut()
    }

    /// Sets the maximum rate of a queue, with a full bucket.
    pub fn set_queue_shaper(&mut self, port: TmPort, queue: QueueId, shaper: Option<ShaperConfig>) {
        if let Some(queue) = self.queue_mut(port, queue) {
            queue.max = shaper.map(Shaper::new);
        }
    }

    /// Sets the maximum rate of a port, with a full bucket.
    pub fn set_port_shaper(&mut self, port: TmPort, shaper: Option<ShaperConfig>) {
        if let Some(port) = self.port_mut(port) {
            port.max = shaper.map(Shaper::new);
        }
    }

    /// Sets the guaranteed rate of a queue, with a full bucket. Within its guarantee the queue is served before all
    /// others. Assumption: those bytes do not reduce the queue's DWRR share (model: tm §4 gives the order alone).
    pub fn set_guarantee(&mut self, port: TmPort, queue: QueueId, guarantee: Option<Guarantee>) {
        let Some(port) = self.port_mut(port) else { return };
        if let Some(queue) = port.queues.get_mut(usize::from(queue.0)) {
            queue.min = guarantee.map(|g| (Shaper::new(g.shaper), g.priority.min(MAX_PRIORITY)));
        }
        port.guarantees = port.queues.iter().filter(|q| q.min.is_some()).count() as u8;
    }

    /// Sets strict priority (0 to 7) and DWRR weight (0 to 1023) of a queue; a larger number counts as the largest. The
    /// port's round restarts.
    pub fn set_schedule(&mut self, port: TmPort, queue: QueueId, priority: u8, weight: u16) {
        let quantum = self.config.dwrr_quantum;
        let Some(port) = self.port_mut(port) else { return };
        let Some(state) = port.queues.get_mut(usize::from(queue.0)) else { return };
        (state.config.priority, state.config.weight) = (priority.min(MAX_PRIORITY), weight.min(MAX_WEIGHT));
        let configs: Vec<QueueConfig> = port.queues.iter().map(|q| q.config).collect();
        port.scheduler = Scheduler::new(&configs, quantum);
        for (id, queue) in (0u8..).zip(&port.queues) {
            port.scheduler.set_backlogged(QueueId(id), !queue.fifo.is_empty());
        }
    }

    /// Pauses a queue for a cause, or removes the pause of that cause. Packets that were already dequeued are still
    /// sent. Returns false if there is no such queue.
    pub fn pause(&mut self, port: TmPort, queue: QueueId, cause: PauseCause, paused: bool) -> bool {
        self.held_by(port, queue).map(|hold| hold.pause(cause, paused)).is_some()
    }

    /// Sets the mode in which a queue obeys flow-control words; initially it ignores them. Returns false if there is no
    /// such queue.
    pub fn set_flow_control(&mut self, port: TmPort, queue: QueueId, mode: Option<AfcMode>) -> bool {
        self.held_by(port, queue).map(|hold| hold.set_mode(mode)).is_some()
    }

    /// Applies a flow-control word to a queue. Returns false if there is no such queue.
    pub fn flow_control(&mut self, port: TmPort, queue: QueueId, word: AfcWord) -> bool {
        self.held_by(port, queue).map(|hold| hold.obey(word)).is_some()
    }

    fn held_by(&mut self, port: TmPort, queue: QueueId) -> Option<&mut Hold> {
        if let Some(touched) = self.touched.as_deref_mut() {
            touched.queue(port, queue);
        }
        self.queue_mut(port, queue).map(|queue| &mut queue.hold)
    }
}
