//! Summaries: documents of schema `sluice.summary/1`.

use crate::collector::Latency;
use crate::control_plane::ControlPlaneReport;
use crate::held_back::HeldBackReport;
use crate::outcome::{InputOutcome, Outcome, QueueOutcome};
use crate::shared_buffer::{BufferState, PipeWords, PoolRow};
use crate::state::{ReadingRow, RegisterRow};
use serde::Serialize;
use sluice_ir::{CounterHome, LabelKind};
use sluice_switch::Reason;
use sluice_switch::property::Violation;
use std::collections::BTreeMap;

/// Packets by a word: a reason or a place.
pub type Counts = BTreeMap<String, u64>;

/// Summary of a switch, or the sums and lists over the switches of a network. The key of a field is its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the schema.
    pub schema: &'static str,
    /// Name of the program; of several, their names with `+` between them.
    pub program: String,
    /// Name of the chip; `None` of switches with several.
    pub chip: Option<String>,
    /// Parameters of the program; empty of switches with several.
    pub params: BTreeMap<String, String>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The inputs, in their order.
    pub inputs: Vec<InputRow>,
    /// Packets by fate.
    pub packets: PacketCounts,
    /// Packets made inside, by origin.
    pub created: CreatedCounts,
    /// Dropped packets by reason.
    pub drops: Counts,
    /// Absorbed packets by reason.
    pub absorbed: Counts,
    /// Packets still inside, by place.
    pub held: Counts,
    /// Passes over a recirculation port.
    pub recirculated: u64,
    /// Resubmits.
    pub resubmitted: u64,
    /// Latencies; `None` without packets out, and in functional mode.
    pub latency_ns: Option<LatencyRow>,
    /// External ports that received or sent a packet.
    pub ports: Vec<PortRow>,
    /// Queues that a packet entered or was dropped at.
    pub queues: Vec<QueueRow>,
    /// The packet memory, and pools of the shared buffer.
    pub pools: Vec<PoolRow>,
    /// The shared buffer; `None` if there is none, and of a network, whose switches have their own.
    pub buffer: Option<BufferState>,
    /// Packets that senders held back; `None` if senders ignore PFC frames.
    pub obey_pfc: Option<HeldBackReport>,
    /// Report of the control plane; `None` without one.
    pub control_plane: Option<ControlPlaneReport>,
    /// Flow-control words that reached queues, for each pipe that had any.
    pub flow_control_words: Vec<PipeWords>,
    /// Counter cells that are not 0; of a network, its switches have them.
    pub counters: Vec<CounterRow>,
    /// Lookups of tables with entries, by entry; of a network, its switches have them.
    pub hits: Vec<HitRow>,
    /// Registers that packets changed; of a network, its switches have them.
    pub registers: Vec<RegisterRow>,
    /// Cells that the control plane read; of a network, its switches have them.
    pub readings: Vec<ReadingRow>,
    /// Warnings, a sentence each.
    pub warnings: Vec<String>,
    /// Properties that do not hold.
    pub violations: Vec<ViolationRow>,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputRow {
    /// Name of the input.
    pub file: String,
    /// Name of the port that it goes into.
    pub port: String,
    /// dev_port of this port.
    pub dev_port: u16,
    /// Packets that were read.
    pub packets: u64,
    /// True if the input ends inside a record.
    pub truncated: bool,
}

/// Packets by fate. What came in and was made is out, dropped, absorbed or held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketCounts {
    /// Packets from outside.
    #[serde(rename = "in")]
    pub entered: u64,
    /// Packets made inside.
    pub created: u64,
    /// Packets sent to the outside.
    pub out: u64,
    /// Dropped packets.
    pub dropped: u64,
    /// Absorbed packets.
    pub absorbed: u64,
    /// Packets still inside.
    pub held: u64,
}

/// Packets made inside, by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CreatedCounts {
    /// Copies for mirror sessions.
    pub mirror: u64,
    /// Copies of multicast packets after the first.
    pub multicast: u64,
    /// Packets of packet generators.
    pub pktgen: u64,
    /// Digests.
    pub digest: u64,
    /// PFC frames that MACs sent.
    pub pfc: u64,
}

/// Latencies from first bit in to first bit out, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyRow {
    /// Points between which the latency is measured.
    pub method: &'static str,
    /// Least latency.
    pub min: f64,
    /// Median, to three significant digits.
    pub p50: f64,
    /// 99th percentile, to three significant digits.
    pub p99: f64,
    /// Largest latency.
    pub max: f64,
}

/// An external port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortRow {
    /// Name of the switch, in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Name of the port.
    pub port: String,
    /// dev_port.
    pub dev_port: u16,
    /// Speed in bit/s.
    pub speed_bps: u64,
    /// Frames received.
    pub rx_packets: u64,
    /// Bytes received, without FCS.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Bytes sent, without FCS, before padding.
    pub tx_bytes: u64,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueRow {
    /// Name of the switch, in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Name of the port, in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// dev_port of the port.
    pub dev_port: u16,
    /// Number of the queue at its port.
    pub queue: u8,
    /// Packets that entered.
    pub enqueued: u64,
    /// Bytes that entered.
    pub enqueued_bytes: u64,
    /// Packets that were dropped at the queue.
    pub dropped: u64,
    /// Bytes of these packets.
    pub dropped_bytes: u64,
    /// Largest number of cells at the same time.
    pub max_cells: u64,
}

/// A counter cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CounterRow {
    /// Name of the counter.
    pub counter: String,
    /// The table whose entries the counter counts; `None` of an indirect counter.
    pub table: Option<String>,
    /// Index of the cell; of a table's counter, the slot of the entry.
    pub index: usize,
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Packets that matched an entry of a table, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HitRow {
    /// Name of the table.
    pub table: String,
    /// Slot of the entry; `None`: no entry matched, and the default action ran.
    pub entry: Option<usize>,
    /// Lookups.
    pub packets: u64,
}

/// A property that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ViolationRow {
    /// Name of the switch, in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Name of the property.
    pub property: String,
    /// Packet at which it was found; `None` at the end of the run.
    pub packet: Option<u64>,
    /// Time in ps at which it was found.
    pub time_ps: u64,
    /// Sentence that says how the property is violated.
    pub text: String,
}

/// Name of the schema of summaries.
pub(crate) const SCHEMA: &str = "sluice.summary/1";

/// Adds packets to a count; a count of 0 has no word.
pub(crate) fn add(counts: &mut Counts, word: &str, packets: u64) {
    if packets > 0 {
        *counts.entry(word.to_owned()).or_default() += packets;
    }
}

impl Outcome<'_> {
    /// Returns the summary.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let t = &self.totals;
        let program = self.view.program();
        let (mut drops, mut absorbed, mut held) = (Counts::new(), Counts::new(), Counts::new());
        for (reason, packets) in t.reasons() {
            let consumed = matches!(reason, Reason::Label(l) if program.labels[l].kind == LabelKind::Consume);
            add(if consumed { &mut absorbed } else { &mut drops }, reason.name(program), packets);
        }
        add(&mut absorbed, "digest", t.made.digest);
        add(&mut absorbed, "mac_control", t.mac_control);
        add(&mut held, "ingress", self.held.ingress);
        add(&mut held, "queues", self.held.queues);
        add(&mut held, "egress", self.held.egress);
        let memory = PoolRow::memory(self.buffer_size, self.buffer_peak);
        let shared = self.shared_buffer.as_ref();
        Summary {
            schema: SCHEMA,
            program: program.name.clone(),
            chip: Some(self.view.placement().chip.name.clone()),
            params: program.params.iter().map(|p| (p.key.clone(), p.value.clone())).collect(),
            seed: self.view.config().seed,
            inputs: self.inputs.iter().map(InputOutcome::row).collect(),
            packets: PacketCounts {
                entered: t.received,
                created: t.created,
                out: t.sent,
                dropped: t.dropped,
                absorbed: t.absorbed,
                held: self.held.total(),
            },
            created: CreatedCounts {
                mirror: t.made.mirror,
                multicast: t.made.multicast,
                pktgen: t.made.pktgen,
                digest: t.made.digest,
                pfc: t.made.pfc,
            },
            drops,
            absorbed,
            held,
            recirculated: t.recirculated,
            resubmitted: t.resubmitted,
            latency_ns: self.latency.row().filter(|_| self.view.is_timed()),
            ports: self.port_rows(),
            queues: self.queues.iter().map(QueueOutcome::row).collect(),
            pools: std::iter::once(memory).chain(shared.iter().flat_map(|s| &s.pools).cloned()).collect(),
            buffer: shared.map(|shared| shared.buffer.clone()),
            obey_pfc: self.held_back.clone(),
            control_plane: self.control_plane.clone(),
            flow_control_words: self.flow_control_words.clone(),
            counters: self.counter_rows(),
            hits: self.hit_rows(),
            registers: self.registers_shown(),
            readings: self.reading_rows(),
            warnings: self.warnings(),
            violations: self.violations.iter().map(ViolationRow::of).collect(),
        }
    }

    /// Returns the external ports that received or sent a packet.
    fn port_rows(&self) -> Vec<PortRow> {
        let busy = self.totals.ports.iter().filter(|p| p.rx_packets + p.tx_packets > 0);
        busy.map(|p| PortRow {
            switch: None,
            port: p.name.clone(),
            dev_port: p.dev_port,
            speed_bps: self.view.speed_of(p.dev_port).as_bps(),
            rx_packets: p.rx_packets,
            rx_bytes: p.rx_bytes,
            tx_packets: p.tx_packets,
            tx_bytes: p.tx_bytes,
        })
        .collect()
    }

    /// Returns counter cells that are not 0.
    fn counter_rows(&self) -> Vec<CounterRow> {
        let program = self.view.program();
        let mut rows = Vec::new();
        for (counter, data) in program.counters.iter() {
            let table = match data.home {
                CounterHome::Direct(t) => Some(&program.tables[t].name),
                CounterHome::Indirect(_) => None,
            };
            let cells = self.counters.counters[counter].iter().enumerate();
            let counted = cells.filter(|(_, cell)| cell.packets + cell.bytes > 0);
            rows.extend(counted.map(|(index, cell)| CounterRow {
                counter: data.name.clone(),
                table: table.cloned(),
                index,
                packets: cell.packets,
                bytes: cell.bytes,
            }));
        }
        rows
    }
}

impl Outcome<'_> {
    /// Returns the lookups of tables that had entries, by slot; those without a matching entry come last.
    fn hit_rows(&self) -> Vec<HitRow> {
        let mut rows = Vec::new();
        for (table, data) in self.view.program().tables.iter() {
            let had_entries = self.view.setup.control.tables[table].entries().next().is_some();
            let Some(hits) = self.counters.hits.get(table) else { continue };
            let row =
                |entry: Option<usize>, packets: u64| HitRow { table: data.name.clone(), entry, packets };
            let Some((missed, hits)) = hits.split_first() else { continue };
            let matched = hits.iter().enumerate().filter(|(_, packets)| **packets > 0);
            let mut of_table: Vec<HitRow> =
                matched.map(|(slot, packets)| row(Some(slot), *packets)).collect();
            if *missed > 0 && (had_entries || !of_table.is_empty()) {
                of_table.push(row(None, *missed));
            }
            rows.append(&mut of_table);
        }
        rows
    }
}

impl InputOutcome {
    fn row(&self) -> InputRow {
        InputRow {
            file: self.name.clone(),
            port: self.port_name.clone(),
            dev_port: self.port.number(),
            packets: self.report.packets,
            truncated: self.report.truncated.is_some(),
        }
    }
}

impl Latency {
    pub(crate) fn row(&self) -> Option<LatencyRow> {
        let ns = |ps: u64| ps as f64 / 1000.0;
        Some(LatencyRow {
            method: "first bit in to first bit out",
            min: ns(self.min()?),
            p50: ns(self.quantile(0.5)),
            p99: ns(self.quantile(0.99)),
            max: ns(self.max()?),
        })
    }
}

impl QueueOutcome {
    fn row(&self) -> QueueRow {
        let (enqueued, dropped) = (self.stats.enqueued, self.stats.dropped());
        QueueRow {
            switch: None,
            port: None,
            dev_port: self.dev_port,
            queue: self.queue,
            enqueued: enqueued.packets,
            enqueued_bytes: enqueued.bytes.get(),
            dropped: dropped.packets,
            dropped_bytes: dropped.bytes.get(),
            max_cells: self.stats.max_cells.0.into(),
        }
    }
}

impl ViolationRow {
    fn of(Violation { property, tag, time, text }: &Violation) -> ViolationRow {
        ViolationRow {
            switch: None,
            property: property.clone(),
            packet: *tag,
            time_ps: time.as_ps(),
            text: text.clone(),
        }
    }
}
