//! Read access to the traffic manager: depths, counters, watermarks, held packets.

use super::TrafficManager;
use super::afc::AfcMode;
use super::buffer::Reader;
use super::offer::{QueueId, TmPort};
use super::port::Queue;
use super::stats::{PortBacklog, QueueStats};
use crate::units::{Bytes, Cells};

impl<H: Copy> TrafficManager<H> {
    /// Returns true if a pause or flow control keeps the queue from sending.
    pub fn is_paused(&self, port: TmPort, queue: QueueId) -> bool {
        let port = self.ports.get(usize::from(port.0));
        port.and_then(|p| p.queues.get(usize::from(queue.0))).is_some_and(|q| !q.hold.open())
    }

    /// Returns the mode in which a queue obeys flow-control words; `None`: it ignores them.
    pub fn flow_control_of(&self, port: TmPort, queue: QueueId) -> Option<AfcMode> {
        self.ports.get(usize::from(port.0))?.queues.get(usize::from(queue.0))?.hold.mode()
    }

    /// Returns true if a pause or flow control keeps any queue of the port from sending.
    pub fn any_paused(&self, port: TmPort) -> bool {
        self.ports.get(usize::from(port.0)).is_some_and(|p| p.queues.iter().any(|q| !q.hold.open()))
    }

    /// Returns the bytes in a queue.
    #[inline]
    pub fn queued_bytes(&self, port: TmPort, queue: QueueId) -> Bytes {
        let port = self.ports.get(usize::from(port.0));
        port.and_then(|p| p.queues.get(usize::from(queue.0))).map_or(Bytes::ZERO, |q| q.fifo.bytes())
    }

    /// Returns the counters of one queue.
    pub fn stats_of(&self, port: TmPort, queue: QueueId) -> Option<&QueueStats> {
        let port = self.ports.get(usize::from(port.0))?;
        port.queues.get(usize::from(queue.0)).map(|q| &q.stats)
    }

    /// Returns the tail-drop limit of a queue; `None` if the queue is not configured.
    pub fn limit_of(&self, port: TmPort, queue: QueueId) -> Option<Cells> {
        let port = self.ports.get(usize::from(port.0))?;
        port.queues.get(usize::from(queue.0)).map(|q| q.limit)
    }

    /// Returns the packets that wait on a port; zero for a port that is not configured.
    pub fn backlog(&self, port: TmPort) -> PortBacklog {
        self.ports.get(usize::from(port.0)).map_or_else(PortBacklog::default, |port| port.backlog)
    }

    /// Returns the depth of a queue in cells; `None` if the queue is not configured.
    pub fn depth(&self, port: TmPort, queue: QueueId) -> Option<Cells> {
        let port = self.ports.get(usize::from(port.0))?;
        port.queues.get(usize::from(queue.0)).map(|queue| queue.fifo.cells())
    }

    /// Returns the number of packets in all queues.
    pub fn held(&self) -> u64 {
        self.ports.iter().map(|port| port.backlog.packets).sum()
    }

    /// Returns the packets in all queues, by port, queue and order of arrival.
    pub fn held_handles(&self) -> impl Iterator<Item = (TmPort, QueueId, H)> + '_ {
        self.all_queues().flat_map(move |(port, id, queue)| {
            queue.fifo.iter(&self.slab).map(move |packet| (port, id, packet.handle))
        })
    }

    /// Returns counters and watermark of every queue, by port and queue.
    pub fn queue_stats(&self) -> impl Iterator<Item = (TmPort, QueueId, &QueueStats)> + '_ {
        self.all_queues().map(|(port, id, queue)| (port, id, &queue.stats))
    }

    /// Returns the most cells that a port's queues held together; `None` if the port is not configured.
    pub fn port_max_cells(&self, port: TmPort) -> Option<Cells> {
        self.ports.get(usize::from(port.0)).map(|port| port.max_cells)
    }

    /// Returns the size of the buffer.
    pub const fn size(&self) -> Cells {
        self.buffer_cells
    }

    /// Returns the buffer cells in use.
    pub const fn used_cells(&self) -> Cells {
        self.used_cells
    }

    /// Returns the most buffer cells that were in use at once.
    pub const fn max_used_cells(&self) -> Cells {
        self.max_used_cells
    }

    /// Restarts all watermarks from the current depths; counters are unchanged.
    pub fn reset_watermarks(&mut self) {
        self.max_used_cells = self.used_cells;
        self.touched.iter_mut().for_each(|t| t.all = true);
        if let Some(buffer) = self.buffer.as_deref_mut() {
            buffer.clear_watermarks(Reader::User);
        }
        for port in self.ports.iter_mut().filter(|port| port.used.any) {
            port.max_cells = port.backlog.cells;
            for queue in &mut port.queues {
                queue.stats.max_cells = queue.fifo.cells();
            }
        }
    }

    fn all_queues(&self) -> impl Iterator<Item = (TmPort, QueueId, &Queue)> + '_ {
        // Validated counts: at most 65,536 ports of at most 128 queues.
        self.ports.iter().enumerate().flat_map(|(port, state)| {
            let queues = state.queues.iter().enumerate();
            queues.map(move |(queue, state)| (TmPort(port as u16), QueueId(queue as u8), state))
        })
    }
}
