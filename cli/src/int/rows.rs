//! Hops as rows for text, CSV and Parquet.

use crate::console::fail::Failure;
use crate::output::files::Pending;
use crate::output::rows::{Cell, Column, Format, Kind, RowWriter};
use serde::{Serialize, Serializer};
use sluice_pcaps::int::{Hop, HpccHop, IntPacket, Report, Telemetry};
use std::path::Path;

/// Origin of a hop's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// INT in a packet.
    Packet,
    /// INT in the packet headers that a report contains.
    Embedded,
    /// A report's own metadata.
    Report,
    /// HPCC's header.
    Hpcc,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Source::Packet => "packet",
            Source::Embedded => "embedded",
            Source::Report => "report",
            Source::Hpcc => "hpcc",
        }
    }
}

/// One hop.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Number of the packet record.
    pub(crate) record: u64,
    /// Time since the first frame of the capture, ns.
    pub(crate) time: u64,
    pub(crate) source: Source,
    /// Place on the path, from 0.
    pub(crate) hop: u32,
    pub(crate) node: Option<u32>,
    pub(crate) ingress_port: Option<u32>,
    pub(crate) egress_port: Option<u32>,
    pub(crate) latency: Option<u32>,
    pub(crate) queue: Option<u32>,
    pub(crate) depth: Option<u32>,
    pub(crate) ingress_time: Option<u64>,
    pub(crate) egress_time: Option<u64>,
    pub(crate) utilisation: Option<u32>,
    /// Domain-specific word, or the sent bytes of HPCC.
    pub(crate) ds: Option<u32>,
    /// Drop reason of the packet.
    pub(crate) drop_reason: Option<u32>,
}

/// Names of the numeric columns, after `record,time,source,hop`.
pub(crate) const COLUMNS: [&str; 11] = [
    "node",
    "ingress_port",
    "egress_port",
    "latency",
    "queue",
    "depth",
    "ingress_time",
    "egress_time",
    "utilisation",
    "ds",
    "drop_reason",
];

impl Row {
    fn of(record: u64, time: u64, source: Source, hop: u32, h: &Hop) -> Row {
        Row {
            record,
            time,
            source,
            hop,
            node: h.node,
            ingress_port: h.ingress_port.map(u32::from),
            egress_port: h.egress_port.map(u32::from),
            latency: h.latency,
            queue: h.queue.map(u32::from),
            depth: h.occupancy,
            ingress_time: h.ingress_time,
            egress_time: h.egress_time,
            utilisation: h.utilisation,
            ds: h.ds,
            drop_reason: None,
        }
    }

    /// Returns the values of [`COLUMNS`].
    pub(crate) fn values(&self) -> [Option<u64>; 11] {
        let wide = |v: Option<u32>| v.map(u64::from);
        [
            wide(self.node),
            wide(self.ingress_port),
            wide(self.egress_port),
            wide(self.latency),
            wide(self.queue),
            wide(self.depth),
            self.ingress_time,
            self.egress_time,
            wide(self.utilisation),
            wide(self.ds),
            wide(self.drop_reason),
        ]
    }
}

/// Everything found in a capture.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Decoded {
    pub(crate) frames: u64,
    pub(crate) int_packets: u64,
    pub(crate) reports: Reports,
    pub(crate) hpcc_packets: u64,
    /// Frames that were skipped because their telemetry is broken.
    pub(crate) broken: u64,
    pub(crate) hops_exceeded: u64,
    pub(crate) mtu_exceeded: u64,
    /// The hops; serialised as their number.
    #[serde(rename = "hops", serialize_with = "number")]
    pub(crate) rows: Vec<Row>,
    /// Next sequence number by node and hw_id.
    #[serde(skip)]
    next: std::collections::BTreeMap<(u32, u8), u32>,
}

/// Numbers of reports: of all, of drops, of congestion, and of flows.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Reports {
    pub(crate) count: u64,
    pub(crate) dropped: u64,
    pub(crate) congested: u64,
    pub(crate) tracked: u64,
    /// Number of sequence numbers that are missing between reports of one node and hw_id.
    pub(crate) lost: u64,
}

fn number<S: Serializer>(rows: &[Row], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(rows.len() as u64)
}

const SEQUENCES: u32 = 1 << 22;

impl Decoded {
    pub(crate) fn add(&mut self, record: u64, time: u64, found: &Telemetry) {
        match found {
            Telemetry::Int(packet) => {
                self.int_packets += 1;
                self.stack(record, time, Source::Packet, packet);
            }
            Telemetry::Hpcc(_, hops) => {
                self.hpcc_packets += 1;
                let row = |(n, hop): (usize, &HpccHop)| Row {
                    depth: Some(hop.queue),
                    egress_time: Some(hop.time.into()),
                    ds: Some(hop.bytes),
                    ..Row::of(record, time, Source::Hpcc, n as u32, &Hop::default())
                };
                self.rows.extend(hops.iter().enumerate().map(row));
            }
            Telemetry::Reports(reports) => {
                for (report, inner) in reports {
                    self.report(record, time, report, inner.as_ref());
                }
            }
        }
    }

    fn report(&mut self, record: u64, time: u64, report: &Report, inner: Option<&IntPacket>) {
        let own = &mut self.reports;
        own.count += 1;
        own.dropped += u64::from(report.dropped);
        own.congested += u64::from(report.congested);
        own.tracked += u64::from(report.tracked);
        let next = self.next.entry((report.node, report.hw_id)).or_insert(report.sequence);
        own.lost += u64::from(report.sequence.wrapping_sub(*next) % SEQUENCES);
        *next = (report.sequence + 1) % SEQUENCES;
        let before = inner.map_or(0, |packet| packet.hops.len());
        if let Some(packet) = inner {
            self.stack(record, time, Source::Embedded, packet);
        }
        let mut hop = report.metadata.hop;
        hop.node = Some(report.node);
        let mut row = Row::of(record, time, Source::Report, before as u32, &hop);
        if let Some((queue, reason)) = report.metadata.drop {
            (row.queue, row.drop_reason) = (row.queue.or(Some(queue.into())), Some(reason.into()));
        }
        self.rows.push(row);
    }

    fn stack(&mut self, record: u64, time: u64, source: Source, packet: &IntPacket) {
        self.hops_exceeded += u64::from(packet.hops_exceeded);
        self.mtu_exceeded += u64::from(packet.mtu_exceeded);
        let hops = packet.hops.iter().enumerate();
        self.rows.extend(hops.map(|(n, hop)| Row::of(record, time, source, n as u32, hop)));
    }
}

/// First columns of a file of rows.
const FILE: [Column; 4] = [
    Column::new("record", Kind::Number),
    Column::new("time", Kind::Number),
    Column::new("source", Kind::Text),
    Column::new("hop", Kind::Number),
];

/// Writes the rows as a file.
pub(crate) fn write(path: &Path, format: Format, rows: &[Row]) -> Result<Pending, Failure> {
    let values = COLUMNS.map(|name| Column::new(name, Kind::Optional));
    let columns: Vec<Column> = FILE.into_iter().chain(values).collect();
    let mut table = RowWriter::create(path, format, "hops", &columns)?;
    for row in rows {
        let own = [
            Cell::Number(row.record),
            Cell::Number(row.time),
            Cell::Text(row.source.name()),
            Cell::Number(row.hop.into()),
        ];
        let cells: Vec<Cell<'_>> = own.into_iter().chain(row.values().map(Cell::from)).collect();
        table.row(&cells)?;
    }
    table.finish()
}
