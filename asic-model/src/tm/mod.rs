//! The traffic manager's queueing half: who may enter a queue, in which order packets leave, what is counted.
//!
//! Per-port queues with tail drop against per-queue limits and the whole buffer, strict priority and DWRR, depths in
//! cells, watermarks, counters, and the stamp that becomes egress intrinsic metadata.
//!
//! Two decisions are one function each, and whatever else is to take part in them belongs there:
//! whether a packet is admitted (`admission`, and with a shared buffer [`buffer::Buffer::admit`] before it) and whether a
//! queue may send (`Queue::sendable`).
//!
//! Beside that, and used by nothing here: the parameters of mirror sessions (`mirror`) and the flow-control words
//! that programs send (`afc`).
//!
//! Layers, each knowing only those before it: `config` (plain data and its checks), `offer`, `stats`, `queue`
//! (packets in order), `scheduler` (which queue next), `port`, and this file, which joins them; beside it `settings`
//! changes what `view` shows.
//!
//! Assumptions (model: tm §1, §11, §12 items 3 and 4 leave these open):
//! - a packet is charged `ceil(bytes / cell)` cells of the byte count the caller gives, at least one;
//! - `enq_qdepth` is the queue's depth before the packet joins it, `deq_qdepth` the depth after it left;
//! - a packet leaves depth and buffer when it is dequeued, not when its last bit is sent.

mod admission;
mod afc;
mod afc_fifo;
pub mod buffer;
mod config;
pub mod ecn;
pub mod headroom;
mod hold;
mod mirror;
mod offer;
pub mod pfc;
mod port;
mod queue;
mod scheduler;
mod settings;
mod shaper;
pub mod source;
mod stats;
mod touched;
mod view;
pub mod watchdog;

use crate::units::{Bytes, Cells, Divisor, Time};
pub use admission::TailDrop;
use admission::{Admission, admission, cells_of};
pub use afc::{AfcEffect, AfcError, AfcMode, AfcWord};
pub use afc_fifo::{AfcFifo, AfcSeen};
use buffer::{Arrival, Buffer, Charge, Refusal};
pub use config::{ConfigError, PortQueues, QueueConfig, TmConfig};
pub use hold::PauseCause;
pub use mirror::{HashIndex, MirrorError, MirrorKind, MirrorMetadata, MirrorOverrides, MirrorSession};
pub use offer::{DequeueStamp, Dequeued, EnqueueStamp, Guarantee, Offer, QueueId, TmPort};
use port::{Port, Queue};
use queue::{Packet, Slab};
pub use shaper::ShaperConfig;
pub use stats::{Counter, PortBacklog, QueueStats};
pub use touched::Touched;

/// Queues and schedulers of all ports over one packet buffer.
///
/// `H` is the caller's handle to a packet. After warm-up nothing is allocated per packet.
#[derive(Debug, Clone)]
pub struct TrafficManager<H> {
    cell_size: Divisor,
    buffer_cells: Cells,
    used_cells: Cells,
    max_used_cells: Cells,
    ports: Box<[Port]>,
    slab: Slab<H>,
    buffer: Option<Box<Buffer>>,
    config: TmConfig,
    /// What changes, if somebody watches.
    touched: Option<Box<Touched>>,
}

impl<H: Copy> TrafficManager<H> {
    /// An empty traffic manager.
    ///
    /// # Errors
    /// Everything that is wrong with the configuration.
    pub fn new(config: TmConfig) -> Result<Self, Vec<ConfigError>> {
        config.validate()?;
        let ports = config.ports.iter().map(|port| Port::new(port, config.dwrr_quantum)).collect();
        Ok(TrafficManager::with_ports(config, ports))
    }

    /// The same from one that is of no use any more: of one with the same configuration the queues that were never used stay.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn again(mut self, config: TmConfig) -> Result<Self, Vec<ConfigError>> {
        if config != self.config {
            return TrafficManager::new(config);
        }
        for (port, config) in self.ports.iter_mut().zip(&config.ports).filter(|(port, _)| port.used.any) {
            port.clear(config, self.config.dwrr_quantum);
        }
        Ok(TrafficManager::with_ports(self.config, self.ports))
    }

    /// An empty one with new ports, of a configuration that was checked.
    fn with_ports(config: TmConfig, ports: Box<[Port]>) -> Self {
        Self {
            cell_size: Divisor::new(config.cell_size.0),
            buffer_cells: config.buffer_cells,
            used_cells: Cells::ZERO,
            max_used_cells: Cells::ZERO,
            ports,
            slab: Slab::new(),
            buffer: None,
            config,
            touched: None,
        }
    }

    /// Puts a shared buffer over the queues: from here on packets come by [`offer`](Self::offer). Ports, queues and cells
    /// must be those of the configuration; the queues' own limits hold beside the buffer's rules.
    pub fn set_buffer(&mut self, buffer: Buffer) {
        self.buffer = Some(Box::new(buffer));
    }

    /// The shared buffer, if there is one.
    pub fn buffer(&self) -> Option<&Buffer> {
        self.buffer.as_deref()
    }

    /// The shared buffer, if there is one.
    pub fn buffer_mut(&mut self) -> Option<&mut Buffer> {
        self.buffer.as_deref_mut()
    }

    /// Puts a packet at the tail of a queue, or drops it, by the rules of the shared buffer and then by the queue's own
    /// limit. Both are counted.
    ///
    /// # Errors
    /// The reason of the drop; the packet is the caller's again.
    pub fn offer(&mut self, offer: &Offer<H>, now: Time) -> Result<EnqueueStamp, TailDrop> {
        let Offer { handle, port, queue, bytes, in_port, pg, colour, copies } = *offer;
        if let Some(touched) = self.touched.as_deref_mut() {
            touched.group(in_port, pg);
        }
        let Some(buffer) = self.buffer.as_deref_mut() else {
            return self.enqueue(port, queue, handle, bytes, now);
        };
        let arrival =
            Arrival { in_port: in_port.0, pg, out_port: port.0, queue: queue.0, bytes, colour, copies };
        match buffer.admit(&arrival) {
            Ok(charge) => self.enter(port, queue, (handle, Some(charge)), bytes, now).inspect_err(|_| {
                if let Some(buffer) = self.buffer.as_deref_mut() {
                    buffer.release(charge);
                }
            }),
            Err(refusal) => {
                let drop = TailDrop::Refused(refusal);
                if let Some(queue) = self.queue_mut(port, queue) {
                    queue.stats.count_drop(&drop, bytes);
                }
                Err(drop)
            }
        }
    }

    /// Drops a packet that something other than a limit refuses; it is counted to its queue, and copies of it that share
    /// cells are one fewer.
    pub fn refuse(&mut self, offer: &Offer<H>, refusal: Refusal) -> TailDrop {
        let drop = TailDrop::Refused(refusal);
        if let Some(buffer) = self.buffer.as_deref_mut() {
            buffer.refuse(offer.port.0, offer.queue.0, offer.bytes, offer.copies);
        }
        if let Some(queue) = self.queue_mut(offer.port, offer.queue) {
            queue.stats.count_drop(&drop, offer.bytes);
        }
        drop
    }

    /// Cells that a packet of `bytes` takes.
    pub fn cells_of(&self, bytes: Bytes) -> Cells {
        self.buffer.as_deref().map_or_else(|| cells_of(bytes, self.cell_size), |b| b.cells_of(bytes))
    }

    /// When a port that may send nothing for its shapers may send again; `None` if it waits for something else.
    pub fn opens_at(&self, port: TmPort) -> Option<Time> {
        let port = self.ports.get(usize::from(port.0))?;
        let used = port.used.ids().filter_map(|id| port.queues.get(id));
        let waiting = used.filter(|q| q.hold.open() && !q.fifo.is_empty());
        let queue = waiting.map(|q| q.max.map_or(Time::ORIGIN, |max| max.opens_at())).min()?;
        let port = port.max.map_or(Time::ORIGIN, |max| max.opens_at());
        Some(queue.max(port)).filter(|at| *at > Time::ORIGIN)
    }

    /// Puts a packet of `bytes` at the tail of a queue at time `now`, or drops it. Both are counted.
    ///
    /// # Errors
    /// The reason of the drop; the packet is the caller's again.
    pub fn enqueue(
        &mut self,
        port: TmPort,
        queue: QueueId,
        handle: H,
        bytes: Bytes,
        now: Time,
    ) -> Result<EnqueueStamp, TailDrop> {
        self.enter(port, queue, (handle, None), bytes, now)
    }

    #[inline]
    fn enter(
        &mut self,
        port: TmPort,
        queue: QueueId,
        (handle, charge): (H, Option<Charge>),
        bytes: Bytes,
        now: Time,
    ) -> Result<EnqueueStamp, TailDrop> {
        let (used, size) = (self.used_cells, self.buffer_cells);
        let need = charge.map_or_else(|| cells_of(bytes, self.cell_size), |charge| charge.cells());
        let index = port;
        let missing = TailDrop::NoSuchQueue { port, queue };
        let port = self.ports.get_mut(usize::from(port.0)).ok_or(missing)?;
        port.used.queue(queue);
        let Queue { fifo, limit, stats, .. } = port.queues.get_mut(usize::from(queue.0)).ok_or(missing)?;
        if let Admission::Drop(reason) = admission(need, used, size, fifo.cells(), *limit) {
            stats.count_drop(&reason, bytes);
            return Err(reason);
        }
        let stamp = EnqueueStamp { enq_qdepth: fifo.cells(), enq_tstamp: now };
        if let Some(touched) = self.touched.as_deref_mut() {
            touched.queue(index, queue);
        }
        fifo.push(&mut self.slab, Packet { handle, bytes, cells: need, stamp, charge });
        stats.enqueued.count(bytes);
        stats.max_cells = stats.max_cells.max(fifo.cells());
        port.scheduler.set_backlogged(queue, true);
        port.backlog.add(bytes, need);
        port.max_cells = port.max_cells.max(port.backlog.cells);
        self.used_cells += need;
        self.max_used_cells = self.max_used_cells.max(self.used_cells);
        Ok(stamp)
    }

    /// The packet that [`dequeue`](Self::dequeue) would take at `now`: handle, queue, length.
    pub fn peek(&self, port: TmPort, now: Time) -> Option<(H, QueueId, Bytes)> {
        let port =
            self.ports.get(usize::from(port.0)).filter(|p| p.max.is_none_or(|max| max.is_open(now)))?;
        let Port { queues, scheduler, .. } = port;
        let queue = port.guaranteed(&self.slab, now).or_else(|| {
            let turn = scheduler.next(|queue| queues.get(usize::from(queue.0))?.sendable(&self.slab, now))?;
            Some(turn.queue)
        })?;
        let packet = queues.get(usize::from(queue.0))?.fifo.head(&self.slab)?;
        Some((packet.handle, queue, packet.bytes))
    }

    /// Takes the next packet of a port at time `now`, or `None` if no queue of it may send.
    pub fn dequeue(&mut self, index: TmPort, now: Time) -> Option<Dequeued<H>> {
        let port = self.ports.get_mut(usize::from(index.0))?;
        port.used.any = true;
        if port.max.is_some_and(|max| !max.is_open(now)) {
            return None;
        }
        let guaranteed = port.guaranteed(&self.slab, now);
        let Port { queues, scheduler, max, .. } = port;
        let queue = match guaranteed {
            Some(queue) => queue,
            None => scheduler.take(|queue| queues.get(usize::from(queue.0))?.sendable(&self.slab, now))?,
        };
        let state = queues.get_mut(usize::from(queue.0))?;
        let bytes = state.fifo.head(&self.slab)?.bytes;
        // Within its guarantee a queue is outside the round: that takes nothing off its deficit.
        let counted = if guaranteed.is_some() { Bytes::ZERO } else { bytes };
        if let (Some(_), Some((bucket, _))) = (guaranteed, &mut state.min) {
            bucket.take(now, bytes);
        }
        for bucket in [&mut state.max, max].into_iter().flatten() {
            bucket.take(now, bytes);
        }
        self.pop(index, queue, now, counted)
    }

    /// Takes the packet at the head of a queue, whether it may send or not: to drop it.
    pub fn evict(&mut self, port: TmPort, queue: QueueId, now: Time) -> Option<Dequeued<H>> {
        self.pop(port, queue, now, Bytes::ZERO)
    }

    /// Takes the head packet of a queue and gives its cells back; `counted` bytes are taken off its deficit.
    fn pop(&mut self, port: TmPort, queue: QueueId, now: Time, counted: Bytes) -> Option<Dequeued<H>> {
        let Port { queues, scheduler, backlog, used, .. } = self.ports.get_mut(usize::from(port.0))?;
        used.queue(queue);
        let Queue { fifo, stats, hold, .. } = queues.get_mut(usize::from(queue.0))?;
        let Packet { handle, bytes, cells, stamp, charge } = fifo.pop(&mut self.slab)?;
        hold.spend(cells);
        scheduler.sent(queue, counted, fifo.is_empty());
        stats.dequeued.count(bytes);
        backlog.remove(bytes, cells);
        self.used_cells = self.used_cells - cells;
        if let Some(touched) = self.touched.as_deref_mut() {
            touched.queue(port, queue);
            charge.into_iter().for_each(|charge| touched.group(charge.group().0, charge.group().1));
        }
        if let (Some(charge), Some(buffer)) = (charge, self.buffer.as_deref_mut()) {
            buffer.release(charge);
        }
        let deq_timedelta = now.saturating_since(stamp.enq_tstamp);
        let stamp = DequeueStamp { enqueue: stamp, deq_qdepth: fifo.cells(), deq_timedelta };
        Some(Dequeued { handle, queue, bytes, stamp, left_bytes: fifo.bytes() })
    }

    fn queue_mut(&mut self, port: TmPort, queue: QueueId) -> Option<&mut Queue> {
        let port = self.ports.get_mut(usize::from(port.0))?;
        port.used.queue(queue);
        port.queues.get_mut(usize::from(queue.0))
    }

    fn port_mut(&mut self, port: TmPort) -> Option<&mut Port> {
        let port = self.ports.get_mut(usize::from(port.0))?;
        (port.used.any, port.used.whole) = (true, true);
        Some(port)
    }
}
