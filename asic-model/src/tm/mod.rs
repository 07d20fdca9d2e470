//! The traffic manager: admission to queues, scheduling, and the counters of both.
//!
//! Each port has queues with tail drop against the queue's limit and the whole buffer, strict priority and DWRR, depths
//! in cells, watermarks, counters, and the timestamps that become egress intrinsic metadata.
//!
//! Each of two decisions is made in one place, so that a new condition has one place to go:
//! - admission of a packet: `admission`, and with a shared buffer [`buffer::Buffer::admit`] before it;
//! - permission of a queue to send: `Queue::sendable`.
//!
//! Module `mirror` holds the parameters of mirror sessions for the switch. Module `afc` decodes the flow-control words
//! that programs send, and `hold` applies them to queues.
//!
//! Layers, each of which uses only earlier ones: `config` (plain data and its checks), `offer`, `stats`, `queue`
//! (packets in order), `scheduler` (choice of the next queue), `port`, and this file, which joins them. Module
//! `settings` changes a running traffic manager, and `view` reads it.
//!
//! Assumptions (model: tm §1, §11, §12 items 3 and 4 leave these open):
//! - a packet is charged `ceil(bytes / cell)` cells of the byte count that the caller gives, at least one;
//! - `enq_qdepth` is the queue's depth before the packet joins the queue, `deq_qdepth` the depth after the packet left;
//! - a packet leaves queue and buffer when it is dequeued, not when its last bit is sent.

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

use crate::units::{Bytes, Cells, Divisor, Duration, Time};
pub use admission::TailDrop;
use admission::{Admission, admission, cells_of};
pub use afc::{AfcEffect, AfcError, AfcMode, AfcWord};
pub use afc_fifo::{AfcFifo, AfcSeen};
use buffer::{Arrival, Buffer, Charge, Refusal};
pub use config::{ConfigError, PortQueues, QueueConfig, TmConfig};
pub use hold::PauseCause;
pub use mirror::{HashIndex, MirrorError, MirrorKind, MirrorMetadata, MirrorOverrides, MirrorSession};
pub use offer::{DequeueStamp, Dequeued, EnqueueStamp, Guarantee, Offer, Offered, QueueId, TmPort};
use port::{Port, Queue};
use queue::{Packet, Slab};
pub use shaper::ShaperConfig;
pub use stats::{Counter, PortBacklog, QueueStats};
pub use touched::Touched;

/// Queues and schedulers of all ports over one packet buffer.
///
/// `H` is the caller's handle to a packet. After warm-up the traffic manager allocates nothing per packet.
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
    /// Places whose counters changed; `None` if the caller did not ask for them.
    touched: Option<Box<Touched>>,
}

impl<H: Copy> TrafficManager<H> {
    /// Creates an empty traffic manager.
    ///
    /// # Errors
    /// Returns every problem of the configuration.
    pub fn new(config: TmConfig) -> Result<Self, Vec<ConfigError>> {
        config.validate()?;
        let ports = config.ports.iter().map(|port| Port::new(port, config.dwrr_quantum)).collect();
        Ok(TrafficManager::with_ports(config, ports))
    }

    /// Creates an empty traffic manager and reuses the memory of `self`. If the configuration is the same, queues that
    /// were never used are kept as they are.
    ///
    /// # Errors
    /// Returns every problem of the configuration.
    pub fn again(mut self, config: TmConfig) -> Result<Self, Vec<ConfigError>> {
        if config != self.config {
            return TrafficManager::new(config);
        }
        for (port, config) in self.ports.iter_mut().zip(&config.ports).filter(|(port, _)| port.used.any) {
            port.clear(config, self.config.dwrr_quantum);
        }
        Ok(TrafficManager::with_ports(self.config, self.ports))
    }

    /// Creates an empty traffic manager with new ports from a checked configuration.
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

    /// Puts a shared buffer over the queues. Packets must then be given to [`offer`](Self::offer). The buffer must have
    /// the ports, queues and cell size of the traffic manager's configuration. The queues' own limits hold in addition
    /// to the buffer's rules.
    pub fn set_buffer(&mut self, buffer: Buffer) {
        self.buffer = Some(Box::new(buffer));
    }

    /// Returns the shared buffer, if there is one.
    pub fn buffer(&self) -> Option<&Buffer> {
        self.buffer.as_deref()
    }

    /// Returns the shared buffer for changes, if there is one.
    pub fn buffer_mut(&mut self) -> Option<&mut Buffer> {
        self.buffer.as_deref_mut()
    }

    /// Puts a packet at the tail of a queue, or drops it, by the rules of the shared buffer and then by the queue's own
    /// limit. Packets and drops are both counted.
    ///
    /// # Errors
    /// Returns the drop reason. The packet's handle stays with the caller.
    pub fn offer(&mut self, offer: &Offer<H>, now: Time) -> Result<EnqueueStamp, TailDrop> {
        let Offer { handle, port, queue, bytes, in_port, pg, colour, copies } = *offer;
        let Some(buffer) = self.buffer.as_deref_mut() else {
            return self.enqueue(port, queue, handle, bytes, now);
        };
        if let Some(touched) = self.touched.as_deref_mut() {
            touched.group(in_port, pg);
        }
        let arrival =
            Arrival { in_port: in_port.0, pg, out_port: port.0, queue: queue.0, bytes, colour, copies };
        match buffer.admit(&arrival) {
            Ok(charge) => self.keep(port, queue, (handle, Some(charge)), bytes, now),
            Err(refusal) => Err(self.refused(port, queue, bytes, refusal)),
        }
    }

    /// Puts an admitted packet into its queue, or takes its charge back if the queue is full.
    #[inline]
    fn keep(
        &mut self,
        port: TmPort,
        queue: QueueId,
        (handle, charge): (H, Option<Charge>),
        bytes: Bytes,
        now: Time,
    ) -> Result<EnqueueStamp, TailDrop> {
        self.enter(port, queue, (handle, charge), bytes, now).inspect_err(|_| {
            if let (Some(charge), Some(buffer)) = (charge, self.buffer.as_deref_mut()) {
                buffer.release(charge);
            }
        })
    }

    /// Counts a packet that the shared buffer refused.
    #[cold]
    fn refused(&mut self, port: TmPort, queue: QueueId, bytes: Bytes, refusal: Refusal) -> TailDrop {
        let drop = TailDrop::Refused(refusal);
        if let Some(queue) = self.queue_mut(port, queue) {
            queue.stats.count_drop(&drop, bytes);
        }
        drop
    }

    /// Offers a packet to a port whose line is free, and dequeues the packet at once if nothing holds it up. The result is
    /// that of [`offer`](Self::offer), then [`dequeue`](Self::dequeue) at the same time, without a place in the queue.
    ///
    /// A packet is queued if the port has packets already, a shaper, a guarantee, a pause or a watching caller, or if the
    /// packet pauses a priority group; the caller dequeues it as usual.
    ///
    /// # Errors
    /// Those of [`offer`](Self::offer).
    pub fn pass(&mut self, offer: &Offer<H>, now: Time) -> Result<Offered<H>, TailDrop> {
        let Offer { handle, port, queue, bytes, in_port, pg, colour, copies } = *offer;
        let state = self.ports.get(usize::from(port.0));
        let open = state.is_some_and(|p| p.passes(queue)) && self.touched.is_none() && copies.is_none();
        if !open {
            return self.offer(offer, now).map(Offered::Queued);
        }
        let cells = self.cells_of(bytes);
        let fits = cells <= limit_of(&self.ports, port, queue)
            && cells <= self.buffer_cells.saturating_sub(self.used_cells);
        let passes = |buffer: &mut Buffer| {
            let arrival =
                Arrival { in_port: in_port.0, pg, out_port: port.0, queue: queue.0, bytes, colour, copies };
            !buffer.has_edges() && buffer.pass(&arrival, cells)
        };
        if !fits || !self.buffer.as_deref_mut().is_none_or(passes) {
            return self.offer(offer, now).map(Offered::Queued);
        }
        self.max_used_cells = self.max_used_cells.max(self.used_cells + cells);
        if let Some(port) = self.ports.get_mut(usize::from(port.0)) {
            port.pass(queue, bytes, cells);
        }
        let enqueue = EnqueueStamp { enq_qdepth: Cells::ZERO, enq_tstamp: now };
        let stamp = DequeueStamp { enqueue, deq_qdepth: Cells::ZERO, deq_timedelta: Duration::ZERO };
        Ok(Offered::Passed(Dequeued { handle, queue, bytes, stamp, left_bytes: Bytes::ZERO }))
    }

    /// Counts a packet as dropped at its queue for a reason other than a limit. If the packet is one of several copies
    /// that share cells, one copy fewer is expected.
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

    /// Returns the cells that a packet of `bytes` takes.
    pub fn cells_of(&self, bytes: Bytes) -> Cells {
        self.buffer.as_deref().map_or_else(|| cells_of(bytes, self.cell_size), |b| b.cells_of(bytes))
    }

    /// Returns the time at which shapers let a port send again; `None` if the port does not wait for a shaper.
    pub fn opens_at(&self, port: TmPort) -> Option<Time> {
        let port = self.ports.get(usize::from(port.0))?;
        let used = port.used.ids().filter_map(|id| port.queues.get(id));
        let waiting = used.filter(|q| q.hold.open() && !q.fifo.is_empty());
        let queue = waiting.map(|q| q.max.map_or(Time::ORIGIN, |max| max.opens_at())).min()?;
        let port = port.max.map_or(Time::ORIGIN, |max| max.opens_at());
        Some(queue.max(port)).filter(|at| *at > Time::ORIGIN)
    }

    /// Puts a packet of `bytes` at the tail of a queue at time `now`, or drops it. Packets and drops are both counted.
    ///
    /// # Errors
    /// Returns the drop reason. The packet's handle stays with the caller.
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

    /// Returns handle, queue and length of the packet that [`dequeue`](Self::dequeue) would take at `now`.
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
        // Bytes sent within a guarantee do not count in the DWRR round.
        let counted = if guaranteed.is_some() { Bytes::ZERO } else { bytes };
        if let (Some(_), Some((bucket, _))) = (guaranteed, &mut state.min) {
            bucket.take(now, bytes);
        }
        for bucket in [&mut state.max, max].into_iter().flatten() {
            bucket.take(now, bytes);
        }
        self.pop(index, queue, now, counted)
    }

    /// Removes the packet at the head of a queue in order to drop it, even if the queue may not send.
    pub fn evict(&mut self, port: TmPort, queue: QueueId, now: Time) -> Option<Dequeued<H>> {
        self.pop(port, queue, now, Bytes::ZERO)
    }

    /// Removes the head packet of a queue and releases its cells; `counted` bytes are subtracted from the queue's
    /// deficit.
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

/// Returns the limit of a queue; zero if the port has no such queue.
#[inline]
fn limit_of(ports: &[Port], port: TmPort, queue: QueueId) -> Cells {
    let queue = ports.get(usize::from(port.0)).and_then(|p| p.queues.get(usize::from(queue.0)));
    queue.map_or(Cells::ZERO, |queue| queue.limit)
}
