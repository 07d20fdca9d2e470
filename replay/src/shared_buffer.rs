//! The shared buffer in summaries: priority groups, queues, pools, PFC, watchdog, flow-control words. Watermarks are in bytes
//! of cells.

use serde::{Serialize, Serializer};
use sluice_asic::tm::buffer::{Gauge, PoolKind, PoolView, Reader};
use sluice_asic::tm::pfc::PRIORITIES;
use sluice_asic::tm::watchdog::WatchdogAction;
use sluice_asic::tm::{AfcFifo, AfcMode, AfcSeen};
use sluice_asic::units::{Bytes, Cells};
use sluice_switch::{FlowView, PortFlowView, StormCounts, Switch};

/// A number of bytes and its watermarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Watermarks {
    /// Bytes at the end of the run.
    pub current: u64,
    /// Most bytes since the last reading of SONiC's user watermark.
    pub user: u64,
    /// Most bytes of the run.
    pub persistent: u64,
}

impl Watermarks {
    fn of(gauge: &Gauge, cell: Bytes) -> Watermarks {
        let bytes = |cells: Cells| cells.bytes(cell).get();
        Watermarks {
            current: bytes(gauge.current()),
            user: bytes(gauge.watermark(Reader::User)),
            persistent: bytes(gauge.watermark(Reader::Persistent)),
        }
    }
}

fn seen(g: &Gauge) -> bool {
    g.watermark(Reader::Persistent) > Cells::ZERO
}

/// The shared buffer at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedBuffer {
    /// Groups, queues and ports.
    pub buffer: BufferState,
    /// The pools.
    pub pools: Vec<PoolRow>,
}

/// The shared buffer without its pools.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BufferState {
    /// Name of the profile.
    pub profile: String,
    /// Bytes of a cell.
    pub cell_bytes: u64,
    /// Bytes of the buffer.
    pub size_bytes: u64,
    /// Number of partitions.
    pub partitions: u16,
    /// Settings that the profile accepted, a sentence each.
    pub accepted: Vec<String>,
    /// Notes of the profile.
    pub notes: Vec<String>,
    /// Priority groups that held or dropped packets.
    pub priority_groups: Vec<GroupRow>,
    /// Queues that held, marked or dropped packets.
    pub queues: Vec<BufferQueueRow>,
    /// Ports that held packets.
    pub ports: Vec<BufferPortRow>,
    /// PFC of ports that sent or received a MAC control frame.
    pub pfc: Vec<PfcRow>,
    /// Queues on which the watchdog detected a storm.
    pub watchdog: Vec<WatchdogRow>,
}

/// A priority group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupRow {
    /// Name of the port.
    pub port: String,
    /// dev_port.
    pub dev_port: u16,
    /// Number of the group.
    pub pg: u8,
    /// True if the group is lossless.
    pub lossless: bool,
    /// Reserved bytes in use.
    pub reserved: u64,
    /// Shared bytes.
    pub shared: Watermarks,
    /// Bytes of headroom.
    pub headroom: Watermarks,
    /// True if the group keeps its senders paused.
    pub xoff: bool,
    /// Pauses that it sent.
    pub pauses: u64,
    /// Packets that it dropped.
    pub dropped: u64,
    /// Bytes of these packets.
    pub dropped_bytes: u64,
}

/// A queue in the shared buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BufferQueueRow {
    /// Name of the port.
    pub port: String,
    /// dev_port.
    pub dev_port: u16,
    /// Number of the queue.
    pub queue: u8,
    /// True if the queue is lossless.
    pub lossless: bool,
    /// Shared bytes.
    pub shared: Watermarks,
    /// Packets that it dropped.
    pub dropped: u64,
    /// Bytes of these packets.
    pub dropped_bytes: u64,
    /// Packets marked with CE.
    pub ecn_marked: u64,
    /// Bytes of these packets.
    pub ecn_marked_bytes: u64,
    /// Packets that WRED dropped.
    pub wred_dropped: u64,
    /// Bytes of these packets.
    pub wred_dropped_bytes: u64,
}

/// Bytes of a port in the shared buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BufferPortRow {
    /// Name of the port.
    pub port: String,
    /// dev_port.
    pub dev_port: u16,
    /// Bytes of packets received on the port.
    pub ingress: Watermarks,
    /// Bytes of packets queued at the port.
    pub egress: Watermarks,
}

/// PFC of a port, by priority.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PfcRow {
    /// Name of the port.
    pub port: String,
    /// dev_port.
    pub dev_port: u16,
    /// PFC frames received.
    pub rx: [u64; PRIORITIES],
    /// PFC frames sent.
    pub tx: [u64; PRIORITIES],
    /// Pauses that received frames began.
    pub pauses: [u64; PRIORITIES],
    /// Frames that ended a pause.
    pub resumes: [u64; PRIORITIES],
    /// Time of the pauses in us.
    pub paused_us: [f64; PRIORITIES],
    /// Time of the pauses in quanta of the line.
    pub paused_quanta: [u64; PRIORITIES],
    /// Priorities that are paused at the end, as a bit mask.
    pub paused: u8,
    /// Priorities whose senders the port keeps paused, as a bit mask.
    pub pausing: u8,
    /// 802.3x PAUSE frames, ignored.
    pub ignored_pause: u64,
    /// MAC control frames of an unknown kind.
    pub unknown: u64,
}

/// A queue on which the watchdog detected a storm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchdogRow {
    /// Name of the port.
    pub port: String,
    /// dev_port.
    pub dev_port: u16,
    /// Number of the queue.
    pub queue: usize,
    /// Action on the queue in a storm: `drop`, `forward` or `alert`.
    pub action: &'static str,
    /// `stormed` during a storm, otherwise `operational`.
    pub status: &'static str,
    /// Storms detected.
    pub detected: u64,
    /// Storms that ended.
    pub restored: u64,
    /// Packets that the watchdog dropped.
    pub dropped: u64,
    /// Packets since the run began.
    pub all: StormRow,
    /// Packets since the last storm began.
    pub last: StormRow,
}

/// Packets of a queue that the watchdog watches, and of the priority group that belongs to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StormRow {
    /// Packets sent from the queue.
    pub tx_ok: u64,
    /// Packets that the watchdog dropped at the queue.
    pub tx_drop: u64,
    /// Packets that the group admitted.
    pub rx_ok: u64,
    /// Packets that the group refused.
    pub rx_drop: u64,
}

/// A pool of the shared buffer, or the whole packet memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolRow {
    /// Name of the switch, in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Name of the pool; `buffer` is the whole memory.
    pub pool: String,
    /// Size in cells.
    pub cells: u32,
    /// Most cells in use at the same time.
    pub max_cells: u32,
    /// Use of a pool; `None` of the whole memory.
    #[serde(flatten)]
    pub of: Option<PoolUse>,
}

/// Use of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PoolUse {
    /// Kind.
    #[serde(serialize_with = "kind_name")]
    pub kind: PoolKind,
    /// The partition.
    pub partition: u16,
    /// Bytes in use.
    pub bytes: Watermarks,
}

fn kind_name<S: Serializer>(kind: &PoolKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(PoolUse::name(*kind))
}

impl PoolUse {
    /// Returns the name of a kind.
    const fn name(kind: PoolKind) -> &'static str {
        match kind {
            PoolKind::Ingress => "ingress",
            PoolKind::Egress => "egress",
            PoolKind::Headroom => "headroom",
        }
    }
}

impl PoolRow {
    /// Returns the row of the whole packet memory.
    pub(crate) fn memory(size: Cells, most: Cells) -> PoolRow {
        PoolRow {
            switch: None,
            pool: "buffer".to_owned(),
            cells: size.get(),
            max_cells: most.get(),
            of: None,
        }
    }

    fn of(pool: &PoolView<'_>, cell: Bytes) -> PoolRow {
        let bytes = Watermarks::of(&pool.used, cell);
        PoolRow {
            switch: None,
            pool: pool.name.to_owned(),
            cells: pool.size.get(),
            max_cells: pool.used.watermark(Reader::Persistent).get(),
            of: Some(PoolUse { kind: pool.kind, partition: pool.partition, bytes }),
        }
    }

    /// Returns the kind of the pool, or `memory`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.of.map_or("memory", |of| PoolUse::name(of.kind))
    }
}

impl SharedBuffer {
    pub(crate) fn of(view: &FlowView<'_>) -> SharedBuffer {
        let (config, cell) = (view.config, view.config.cell);
        let buffer = BufferState {
            profile: config.name.clone(),
            cell_bytes: cell.get(),
            size_bytes: config.size.bytes(cell).get(),
            partitions: config.partitions,
            accepted: config.accepted.clone(),
            notes: config.notes.clone(),
            priority_groups: groups(view),
            queues: queues(view),
            ports: ports(view),
            pfc: view.ports.iter().filter_map(pfc).collect(),
            watchdog: watchdog(view),
        };
        let pools = view.buffer.pools(config).map(|pool| PoolRow::of(&pool, cell)).collect();
        SharedBuffer { buffer, pools }
    }
}

fn groups(view: &FlowView<'_>) -> Vec<GroupRow> {
    let cell = view.config.cell;
    let all = view.buffer.all_groups().filter(|(.., pg)| {
        seen(pg.shared()) || seen(pg.headroom()) || pg.reserved() > Cells::ZERO || pg.dropped().packets > 0
    });
    all.filter_map(|(port, index, pg)| {
        let port = view.ports.get(usize::from(port))?;
        Some(GroupRow {
            port: port.name.to_owned(),
            dev_port: port.dev_port,
            pg: index,
            lossless: pg.config().lossless.is_some(),
            reserved: pg.reserved().bytes(cell).get(),
            shared: Watermarks::of(pg.shared(), cell),
            headroom: Watermarks::of(pg.headroom(), cell),
            xoff: pg.is_xoff(),
            pauses: pg.pauses(),
            dropped: pg.dropped().packets,
            dropped_bytes: pg.dropped().bytes.get(),
        })
    })
    .collect()
}

fn queues(view: &FlowView<'_>) -> Vec<BufferQueueRow> {
    let cell = view.config.cell;
    let mut rows = Vec::new();
    for (port, index, queue) in view.buffer.all_queues() {
        let Some(port) = view.ports.get(usize::from(port)) else { continue };
        let own = port.queues.get(usize::from(index)).copied().unwrap_or_default();
        let dropped = queue.dropped();
        if !seen(queue.shared()) && dropped.packets == 0 && own.marked.packets == 0 {
            continue;
        }
        rows.push(BufferQueueRow {
            port: port.name.to_owned(),
            dev_port: port.dev_port,
            queue: index,
            lossless: queue.config().lossless,
            shared: Watermarks::of(queue.shared(), cell),
            dropped: dropped.packets,
            dropped_bytes: dropped.bytes.get(),
            ecn_marked: own.marked.packets,
            ecn_marked_bytes: own.marked.bytes.get(),
            wred_dropped: own.wred_dropped.packets,
            wred_dropped_bytes: own.wred_dropped.bytes.get(),
        });
    }
    rows
}

fn ports(view: &FlowView<'_>) -> Vec<BufferPortRow> {
    let cell = view.config.cell;
    let row = |(index, port): (u16, &PortFlowView<'_>)| {
        let [ingress, egress] = view.buffer.port(index)?;
        (seen(&ingress) || seen(&egress)).then(|| BufferPortRow {
            port: port.name.to_owned(),
            dev_port: port.dev_port,
            ingress: Watermarks::of(&ingress, cell),
            egress: Watermarks::of(&egress, cell),
        })
    };
    (0u16..).zip(&view.ports).filter_map(row).collect()
}

fn pfc(port: &PortFlowView<'_>) -> Option<PfcRow> {
    let rx = port.received.map(|s| s.frames);
    let all: u64 = rx.iter().chain(&port.sent).sum();
    (all + port.ignored_pauses + port.unknown > 0).then(|| PfcRow {
        port: port.name.to_owned(),
        dev_port: port.dev_port,
        rx,
        tx: port.sent,
        pauses: port.received.map(|s| s.pauses),
        resumes: port.received.map(|s| s.resumes),
        paused_us: port.received.map(|s| s.paused.as_ps() as f64 / 1e6),
        paused_quanta: port.paused_quanta,
        paused: port.paused,
        pausing: port.pausing,
        ignored_pause: port.ignored_pauses,
        unknown: port.unknown,
    })
}

fn watchdog(view: &FlowView<'_>) -> Vec<WatchdogRow> {
    let Some(config) = view.config.watchdog else { return Vec::new() };
    let action = match config.action {
        WatchdogAction::Drop => "drop",
        WatchdogAction::Forward => "forward",
        WatchdogAction::Alert => "alert",
    };
    let mut rows = Vec::new();
    for port in &view.ports {
        for (index, queue) in port.queues.iter().enumerate().filter(|(_, q)| q.detected > 0) {
            rows.push(WatchdogRow {
                port: port.name.to_owned(),
                dev_port: port.dev_port,
                queue: index,
                action,
                status: if queue.stormed { "stormed" } else { "operational" },
                detected: queue.detected,
                restored: queue.restored,
                dropped: queue.watchdog_dropped,
                all: StormRow::of(&queue.all),
                last: StormRow::of(&queue.last),
            });
        }
    }
    rows
}

impl StormRow {
    const fn of(counts: &StormCounts) -> StormRow {
        let StormCounts { tx_ok, tx_drop, rx_ok, rx_drop } = *counts;
        StormRow { tx_ok, tx_drop, rx_ok, rx_drop }
    }
}

/// Flow-control words that reached queues of a pipe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipeWords {
    /// Name of the switch, in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// The pipe.
    pub pipe: u32,
    /// Number of words.
    pub words: u64,
    /// Words that the visibility FIFO of the pipe lost because it was full.
    pub lost: u64,
    /// Words in the visibility FIFO.
    pub seen: Vec<WordRow>,
}

/// A flow-control word.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WordRow {
    /// Time in ns at which the word reached the queue.
    pub time_ns: f64,
    /// Local port, 0 to 127.
    pub local_port: u8,
    /// Queue within its port group, 0 to 127.
    pub group_queue: u8,
    /// Mode of the queue, `xoff` or `credit`; `None` if the queue ignores flow-control words.
    pub mode: Option<&'static str>,
    /// Credit, 15 bits.
    pub credit: u16,
    /// The word as the driver reads it from the register.
    pub register: u32,
}

/// Returns the flow-control words of each pipe that had any.
pub(crate) fn words(switch: &Switch<'_>) -> Vec<PipeWords> {
    let pipes = (0..).zip(switch.seen_flow_control_words()).filter(|(_, fifo)| fifo.words() > 0);
    let words = |(pipe, fifo): (u32, &AfcFifo)| PipeWords {
        switch: None,
        pipe,
        words: fifo.words(),
        lost: fifo.lost(),
        seen: fifo.entries().map(WordRow::of).collect(),
    };
    pipes.map(words).collect()
}

impl WordRow {
    fn of(seen: &AfcSeen) -> WordRow {
        let mode = seen.mode.map(|mode| match mode {
            AfcMode::Xoff => "xoff",
            AfcMode::Credit => "credit",
        });
        WordRow {
            time_ns: seen.time.as_ps() as f64 / 1000.0,
            local_port: seen.port,
            group_queue: seen.queue,
            mode,
            credit: seen.credit,
            register: seen.register(),
        }
    }
}
