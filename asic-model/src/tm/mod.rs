//! The traffic manager's queueing half: who may enter a queue, in which order packets leave, what is counted.
//!
//! What lives here: per-port queues with tail drop against per-queue limits and the whole buffer, strict
//! priority and DWRR, depths in cells, watermarks, counters, and the stamp that becomes egress intrinsic
//! metadata. What may not: packets (a packet is a handle the caller chose), time keeping (the caller says
//! what time it is), ports' rates, the making of multicast and mirror copies.
//!
//! Two decisions are one function each, and whatever else is to take part in them belongs there:
//! whether a packet is admitted (`admission`, and with a shared buffer [`buffer::Buffer::admit`] before it) and whether a
//! queue may send (`Queue::sendable`).
//!
//! Beside that, and used by nothing here: the parameters of mirror sessions (`mirror`) and the flow-control words
//! that programs send (`afc`).
//!
//! Layers, each knowing only those before it: `config` (plain data and its checks), `stats`, `queue`
//! (packets in order), `scheduler` (which queue next), and this file, which joins them.
//!
//! Assumptions (facts: asic §8.1, §8.11, §12 items 5 and 6 leave these open):
//! - a packet is charged `ceil(bytes / cell)` cells of the byte count the caller gives, at least one;
//! - `enq_qdepth` is the queue's depth before the packet joins it, `deq_qdepth` the depth after it left;
//! - a packet leaves depth and buffer when it is dequeued, not when its last bit is sent.

mod afc;
pub mod buffer;
mod config;
pub mod ecn;
pub mod headroom;
mod hold;
mod mirror;
pub mod pfc;
mod queue;
mod scheduler;
mod shaper;
pub mod source;
mod stats;
pub mod watchdog;

use thiserror::Error;

use crate::meter::Colour;
use crate::units::{Bytes, Cells, Divisor, Duration, Time};
pub use afc::{AfcEffect, AfcError, AfcMode, AfcWord};
use buffer::{Arrival, Buffer, Charge, CopyGroup, Refusal};
pub use config::{ConfigError, PortQueues, QueueConfig, TmConfig};
use hold::Hold;
pub use hold::PauseCause;
pub use mirror::{HashIndex, MirrorError, MirrorKind, MirrorMetadata, MirrorOverrides, MirrorSession};
use queue::{Fifo, Packet, Slab};
use scheduler::Scheduler;
use shaper::Shaper;
pub use shaper::ShaperConfig;
pub use stats::{Counter, PortBacklog, QueueStats};

/// A port of the traffic manager: an index into [`TmConfig::ports`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TmPort(pub u16);

/// A queue of one port: an index into [`PortQueues::queues`], the `qid` of intrinsic metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId(pub u8);

/// A packet that asks to be enqueued under a shared buffer.
#[derive(Debug, Clone, Copy)]
pub struct Offer<H> {
    /// The caller's handle.
    pub handle: H,
    /// The port that it leaves by.
    pub port: TmPort,
    /// Its queue there.
    pub queue: QueueId,
    /// Its length.
    pub bytes: Bytes,
    /// The port that it came in by.
    pub in_port: TmPort,
    /// Its priority group there.
    pub pg: u8,
    /// Its colour.
    pub colour: Colour,
    /// Set for one of several copies that share cells.
    pub copies: Option<CopyGroup>,
}

/// The least that a queue gets: it goes before queues that have had theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// Rate and burst.
    pub shaper: ShaperConfig,
    /// Among guarantees the higher goes first, 0..=7.
    pub priority: u8,
}

/// What the traffic manager notes when a packet enters its queue (facts: asic §8.11). Metadata fields may be
/// narrower than these values; cutting them is the caller's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnqueueStamp {
    /// Depth of the queue in cells before this packet.
    pub enq_qdepth: Cells,
    /// When it entered.
    pub enq_tstamp: Time,
}

/// The whole stamp of a packet that left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DequeueStamp {
    /// What was noted on entry.
    pub enqueue: EnqueueStamp,
    /// Depth of the queue in cells after this packet left.
    pub deq_qdepth: Cells,
    /// Time spent in the queue.
    pub deq_timedelta: Duration,
}

/// The packet a port sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dequeued<H> {
    /// The caller's handle.
    pub handle: H,
    /// The queue it was in.
    pub queue: QueueId,
    /// Its length.
    pub bytes: Bytes,
    /// Depths and times for egress intrinsic metadata.
    pub stamp: DequeueStamp,
    /// Bytes that it left behind in the queue.
    pub left_bytes: Bytes,
}

/// Why a packet was not enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TailDrop {
    /// The queue's own limit.
    #[error("queue holds {depth} of {limit}; {need} more do not fit")]
    QueueTailDrop {
        /// Its depth.
        depth: Cells,
        /// What the packet needs.
        need: Cells,
        /// Its limit.
        limit: Cells,
    },
    /// The packet buffer.
    #[error("packet buffer holds {used} of {size}; {need} more do not fit")]
    BufferFull {
        /// Cells in use.
        used: Cells,
        /// What the packet needs.
        need: Cells,
        /// Its size.
        size: Cells,
    },
    /// The packet was sent to a queue that is not configured.
    #[error("port {} has no queue {}", port.0, queue.0)]
    NoSuchQueue {
        /// The port named.
        port: TmPort,
        /// The queue named.
        queue: QueueId,
    },
    /// A rule of the shared buffer.
    #[error(transparent)]
    Refused(Refusal),
}

impl TailDrop {
    /// The drop reason as it is counted and printed.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::QueueTailDrop { .. } => "queue_tail_drop",
            Self::BufferFull { .. } => "buffer_full",
            Self::NoSuchQueue { .. } => "no_such_queue",
            Self::Refused(refusal) => refusal.rule.name(),
        }
    }
}

/// The verdict on a packet that asks to be enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Admission {
    /// It enters.
    Admit,
    /// It is lost.
    Drop(TailDrop),
}

#[derive(Debug, Clone)]
struct Queue {
    fifo: Fifo,
    limit: Cells,
    stats: QueueStats,
    hold: Hold,
    /// The most that it may send.
    max: Option<Shaper>,
    /// The least that it gets, with its priority.
    min: Option<(Shaper, u8)>,
}

impl Queue {
    /// The length of the packet at the head, if the queue may send it now.
    #[inline]
    fn sendable<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<Bytes> {
        if !self.hold.open() || self.max.as_ref().is_some_and(|max| !max.is_open(now)) {
            return None;
        }
        self.fifo.head(slab).map(|packet| packet.bytes)
    }

    /// As [`sendable`](Self::sendable), and what it sends is within its guarantee of this priority.
    fn guaranteed<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<u8> {
        let (bucket, priority) = self.min.as_ref()?;
        (bucket.is_open(now) && self.sendable(slab, now).is_some()).then_some(*priority)
    }
}

#[derive(Debug, Clone)]
struct Port {
    queues: Box<[Queue]>,
    scheduler: Scheduler,
    backlog: PortBacklog,
    max_cells: Cells,
    /// The most that the port may send.
    max: Option<Shaper>,
    /// Queues with a guarantee; where there are none nobody looks for one.
    guarantees: u8,
}

impl Port {
    fn new(config: &PortQueues, dwrr_quantum: Bytes) -> Self {
        let queue = |queue: &QueueConfig| Queue {
            fifo: Fifo::new(),
            limit: queue.limit_cells,
            stats: QueueStats::default(),
            hold: Hold::default(),
            max: None,
            min: None,
        };
        Self {
            queues: config.queues.iter().map(queue).collect(),
            scheduler: Scheduler::new(&config.queues, dwrr_quantum),
            backlog: PortBacklog::default(),
            max_cells: Cells::ZERO,
            max: None,
            guarantees: 0,
        }
    }

    /// The queue within its guarantee that goes first: the highest priority, then the lowest queue id.
    fn guaranteed<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<QueueId> {
        if self.guarantees == 0 {
            return None;
        }
        let queues = (0u8..).zip(&self.queues);
        let open = queues.filter_map(|(id, queue)| queue.guaranteed(slab, now).map(|p| (p, QueueId(id))));
        open.max_by_key(|(priority, id)| (*priority, std::cmp::Reverse(*id))).map(|(_, id)| id)
    }
}

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
}

impl<H: Copy> TrafficManager<H> {
    /// An empty traffic manager.
    ///
    /// # Errors
    /// Everything that is wrong with the configuration.
    pub fn new(config: TmConfig) -> Result<Self, Vec<ConfigError>> {
        config.validate()?;
        Ok(Self {
            cell_size: Divisor::new(config.cell_size.0),
            buffer_cells: config.buffer_cells,
            used_cells: Cells::ZERO,
            max_used_cells: Cells::ZERO,
            ports: config.ports.iter().map(|port| Port::new(port, config.dwrr_quantum)).collect(),
            slab: Slab::new(),
            buffer: None,
        })
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

    /// Whether somebody keeps the queue from sending.
    pub fn is_paused(&self, port: TmPort, queue: QueueId) -> bool {
        let port = self.ports.get(usize::from(port.0));
        port.and_then(|p| p.queues.get(usize::from(queue.0))).is_some_and(|q| !q.hold.open())
    }

    /// Whether somebody keeps a queue of the port from sending.
    pub fn any_paused(&self, port: TmPort) -> bool {
        self.ports.get(usize::from(port.0)).is_some_and(|p| p.queues.iter().any(|q| !q.hold.open()))
    }

    /// Bytes in a queue.
    #[inline]
    pub fn queued_bytes(&self, port: TmPort, queue: QueueId) -> Bytes {
        let port = self.ports.get(usize::from(port.0));
        port.and_then(|p| p.queues.get(usize::from(queue.0))).map_or(Bytes::ZERO, |q| q.fifo.bytes())
    }

    /// Counters of one queue.
    pub fn stats_of(&self, port: TmPort, queue: QueueId) -> Option<&QueueStats> {
        let port = self.ports.get(usize::from(port.0))?;
        port.queues.get(usize::from(queue.0)).map(|q| &q.stats)
    }

    /// Sets the most that a queue may send; its bucket is full.
    pub fn set_queue_shaper(&mut self, port: TmPort, queue: QueueId, shaper: Option<ShaperConfig>) {
        if let Some(queue) = self.queue_mut(port, queue) {
            queue.max = shaper.map(Shaper::new);
        }
    }

    /// Sets the most that a port may send; its bucket is full.
    pub fn set_port_shaper(&mut self, port: TmPort, shaper: Option<ShaperConfig>) {
        if let Some(port) = self.ports.get_mut(usize::from(port.0)) {
            port.max = shaper.map(Shaper::new);
        }
    }

    /// Sets the least that a queue gets; its bucket is full. Within it the queue goes before all others and outside
    /// their round: what it sends so takes nothing off its share (assumption; facts: asic §8.4 gives the order alone).
    pub fn set_guarantee(&mut self, port: TmPort, queue: QueueId, guarantee: Option<Guarantee>) {
        let Some(port) = self.ports.get_mut(usize::from(port.0)) else { return };
        if let Some(queue) = port.queues.get_mut(usize::from(queue.0)) {
            queue.min = guarantee.map(|g| (Shaper::new(g.shaper), g.priority.min(config::MAX_PRIORITY)));
        }
        port.guarantees = port.queues.iter().filter(|q| q.min.is_some()).count() as u8;
    }

    /// When a port that may send nothing for its shapers may send again; `None` if it waits for something else.
    pub fn opens_at(&self, port: TmPort) -> Option<Time> {
        let port = self.ports.get(usize::from(port.0))?;
        let waiting = port.queues.iter().filter(|q| q.hold.open() && !q.fifo.is_empty());
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
        let missing = TailDrop::NoSuchQueue { port, queue };
        let port = self.ports.get_mut(usize::from(port.0)).ok_or(missing)?;
        let Queue { fifo, limit, stats, .. } = port.queues.get_mut(usize::from(queue.0)).ok_or(missing)?;
        if let Admission::Drop(reason) = admission(need, used, size, fifo.cells(), *limit) {
            stats.count_drop(&reason, bytes);
            return Err(reason);
        }
        let stamp = EnqueueStamp { enq_qdepth: fifo.cells(), enq_tstamp: now };
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
        let Port { queues, scheduler, backlog, .. } = self.ports.get_mut(usize::from(port.0))?;
        let Queue { fifo, stats, hold, .. } = queues.get_mut(usize::from(queue.0))?;
        let Packet { handle, bytes, cells, stamp, charge } = fifo.pop(&mut self.slab)?;
        hold.spend(cells);
        scheduler.sent(queue, counted, fifo.is_empty());
        stats.dequeued.count(bytes);
        backlog.remove(bytes, cells);
        self.used_cells = self.used_cells - cells;
        if let (Some(charge), Some(buffer)) = (charge, self.buffer.as_deref_mut()) {
            buffer.release(charge);
        }
        let deq_timedelta = now.saturating_since(stamp.enq_tstamp);
        let stamp = DequeueStamp { enqueue: stamp, deq_qdepth: fifo.cells(), deq_timedelta };
        Some(Dequeued { handle, queue, bytes, stamp, left_bytes: fifo.bytes() })
    }

    /// Pauses a queue for a cause, or lifts that pause. What was dequeued goes on its way. False if there is no
    /// such queue.
    pub fn pause(&mut self, port: TmPort, queue: QueueId, cause: PauseCause, paused: bool) -> bool {
        self.held_by(port, queue).map(|hold| hold.pause(cause, paused)).is_some()
    }

    /// Sets how a queue obeys flow-control words; it obeys none at first. False if there is no such queue.
    pub fn set_flow_control(&mut self, port: TmPort, queue: QueueId, mode: Option<AfcMode>) -> bool {
        self.held_by(port, queue).map(|hold| hold.set_mode(mode)).is_some()
    }

    /// A flow-control word reaches a queue. False if there is no such queue.
    pub fn flow_control(&mut self, port: TmPort, queue: QueueId, word: AfcWord) -> bool {
        self.held_by(port, queue).map(|hold| hold.obey(word)).is_some()
    }

    fn queue_mut(&mut self, port: TmPort, queue: QueueId) -> Option<&mut Queue> {
        self.ports.get_mut(usize::from(port.0))?.queues.get_mut(usize::from(queue.0))
    }

    fn held_by(&mut self, port: TmPort, queue: QueueId) -> Option<&mut Hold> {
        self.queue_mut(port, queue).map(|queue| &mut queue.hold)
    }

    /// What waits on a port; nothing on a port that is not configured.
    pub fn backlog(&self, port: TmPort) -> PortBacklog {
        self.ports.get(usize::from(port.0)).map_or_else(PortBacklog::default, |port| port.backlog)
    }

    /// Depth of a queue in cells, or `None` if it is not configured.
    pub fn depth(&self, port: TmPort, queue: QueueId) -> Option<Cells> {
        let port = self.ports.get(usize::from(port.0))?;
        port.queues.get(usize::from(queue.0)).map(|queue| queue.fifo.cells())
    }

    /// Packets inside, on all ports.
    pub fn held(&self) -> u64 {
        self.ports.iter().map(|port| port.backlog.packets).sum()
    }

    /// The packets inside, by port, queue and order of arrival.
    pub fn held_handles(&self) -> impl Iterator<Item = (TmPort, QueueId, H)> + '_ {
        self.all_queues().flat_map(move |(port, id, queue)| {
            queue.fifo.iter(&self.slab).map(move |packet| (port, id, packet.handle))
        })
    }

    /// Counters and watermark of every queue, by port and queue.
    pub fn queue_stats(&self) -> impl Iterator<Item = (TmPort, QueueId, &QueueStats)> + '_ {
        self.all_queues().map(|(port, id, queue)| (port, id, &queue.stats))
    }

    /// Most cells that a port's queues held together, or `None` if it is not configured.
    pub fn port_max_cells(&self, port: TmPort) -> Option<Cells> {
        self.ports.get(usize::from(port.0)).map(|port| port.max_cells)
    }

    /// Buffer cells in use.
    pub const fn used_cells(&self) -> Cells {
        self.used_cells
    }

    /// Most buffer cells in use at once.
    pub const fn max_used_cells(&self) -> Cells {
        self.max_used_cells
    }

    /// Starts all watermarks anew from the present depths; counters stay.
    pub fn reset_watermarks(&mut self) {
        self.max_used_cells = self.used_cells;
        if let Some(buffer) = self.buffer.as_deref_mut() {
            buffer.clear_watermarks(buffer::Reader::User);
        }
        for port in &mut self.ports {
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

/// Cells that a packet takes: at least one, so that every queue entry is paid for.
fn cells_of(bytes: Bytes, cell_size: Divisor) -> Cells {
    // A packet of more than 2^32 cells fits no buffer; the largest count says so to admission.
    Cells(u32::try_from(cell_size.ceil(bytes.0)).unwrap_or(u32::MAX).max(1))
}

/// Whether a packet that needs `need` cells may join a queue of depth `depth` while `used` cells of the
/// buffer are taken. The buffer is asked first, as ingress admission comes before the queue's
/// (facts: asic §8.2).
fn admission(need: Cells, used: Cells, size: Cells, depth: Cells, limit: Cells) -> Admission {
    if need > size.saturating_sub(used) {
        return Admission::Drop(TailDrop::BufferFull { used, need, size });
    }
    if need > limit.saturating_sub(depth) {
        return Admission::Drop(TailDrop::QueueTailDrop { depth, need, limit });
    }
    Admission::Admit
}
