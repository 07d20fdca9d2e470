//! Decoded telemetry: its figures by node and port, and as text.

use super::by_port;
use super::rows::{Decoded, Row};
use crate::console::table::{Columns, of_columns, table};
use serde::Serialize;
use std::fmt::Write;

/// Decoded telemetry, with its figures by node and port: `sluice.int/1`.
#[derive(Serialize)]
pub(super) struct Outcome<'a> {
    pub(super) schema: &'static str,
    #[serde(flatten)]
    decoded: &'a Decoded,
    ports: Vec<Port>,
}

/// Hops of a node and egress port; `None` if the telemetry does not name it.
#[derive(Serialize)]
struct Port {
    node: Option<u32>,
    egress_port: Option<u32>,
    hops: usize,
    latency_ns: Option<Spread>,
    depth_cells: Option<Spread>,
}

/// The least, median, 99th percentile and largest of some values.
#[derive(Clone, Copy, Serialize)]
struct Spread {
    min: u32,
    p50: u32,
    p99: u32,
    max: u32,
}

impl Spread {
    /// Returns `None` if there are no values.
    fn of(values: impl Iterator<Item = u32>) -> Option<Spread> {
        let mut values: Vec<u32> = values.collect();
        values.sort_unstable();
        let at = |percent: usize| values.get((values.len().checked_sub(1)? * percent) / 100).copied();
        Some(Spread { min: at(0)?, p50: at(50)?, p99: at(99)?, max: at(100)? })
    }
}

impl Outcome<'_> {
    pub(super) fn of(decoded: &Decoded) -> Outcome<'_> {
        let known = |value: u32| (value != u32::MAX).then_some(value);
        let port = |((node, port), rows): (_, Vec<&Row>)| Port {
            node: known(node),
            egress_port: known(port),
            hops: rows.len(),
            latency_ns: Spread::of(rows.iter().filter_map(|row| row.latency)),
            depth_cells: Spread::of(rows.iter().filter_map(|row| row.depth)),
        };
        let ports = by_port(&decoded.rows).into_iter().map(port).collect();
        Outcome { schema: "sluice.int/1", decoded, ports }
    }
}

pub(super) fn text(outcome: &Outcome<'_>, limit: usize) -> String {
    let (d, r) = (outcome.decoded, &outcome.decoded.reports);
    let mut out = format!(
        "{} frames: {} with INT, {} reports ({} drops, {} congested, {} flows), {} with HPCC's header\n",
        d.frames, d.int_packets, r.count, r.dropped, r.congested, r.tracked, d.hpcc_packets
    );
    for (count, what) in [
        (r.lost, "reports are missing by their sequence numbers"),
        (d.hops_exceeded, "packets had no hops remaining (E)"),
        (d.mtu_exceeded, "packets had no room at some hop (M)"),
        (d.broken, "frames with broken telemetry were left out"),
    ] {
        if count > 0 {
            let _ = writeln!(out, "{count} {what}");
        }
    }
    if !outcome.ports.is_empty() {
        let _ = writeln!(out, "\nby node and egress port (latency in ns, depth in cells)");
        let _ = writeln!(out, "{}", of_columns(table, PORTS, &outcome.ports));
    }
    if !d.rows.is_empty() && limit > 0 {
        let _ = writeln!(out, "\nhops");
        let _ = writeln!(out, "{}", of_columns(table, HOPS, d.rows.iter().take(limit)));
        if d.rows.len() > limit {
            let _ =
                writeln!(out, "  ... {} more; -o DIR writes all, --limit prints more", d.rows.len() - limit);
        }
    }
    out
}

/// Returns a number; `-` if it is unknown.
fn or_none(value: Option<impl Into<u64>>) -> String {
    value.map_or("-".to_owned(), |value| value.into().to_string())
}

const PORTS: &Columns<Port> = &[
    ("node", |p| or_none(p.node)),
    ("port", |p| or_none(p.egress_port)),
    ("hops", |p| p.hops.to_string()),
    ("lat min", |p| or_none(p.latency_ns.map(|s| s.min))),
    ("p50", |p| or_none(p.latency_ns.map(|s| s.p50))),
    ("p99", |p| or_none(p.latency_ns.map(|s| s.p99))),
    ("max", |p| or_none(p.latency_ns.map(|s| s.max))),
    ("depth min", |p| or_none(p.depth_cells.map(|s| s.min))),
    ("p50", |p| or_none(p.depth_cells.map(|s| s.p50))),
    ("p99", |p| or_none(p.depth_cells.map(|s| s.p99))),
    ("max", |p| or_none(p.depth_cells.map(|s| s.max))),
];

const HOPS: &Columns<Row> = &[
    ("record", |r| r.record.to_string()),
    ("time", |r| r.time.to_string()),
    ("source", |r| r.source.name().to_owned()),
    ("hop", |r| r.hop.to_string()),
    ("node", |r| or_none(r.node)),
    ("in", |r| or_none(r.ingress_port)),
    ("out", |r| or_none(r.egress_port)),
    ("latency", |r| or_none(r.latency)),
    ("queue", |r| or_none(r.queue)),
    ("depth", |r| or_none(r.depth)),
    ("egress time", |r| or_none(r.egress_time)),
];
