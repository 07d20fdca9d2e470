//! Decoded telemetry as text and JSON.

use super::by_port;
use super::rows::{Decoded, Row};
use crate::console::table::table;
use serde_json::{Value, json};
use std::fmt::Write;

/// Returns the least, median, 99th percentile and largest of some values; `None` if there are none.
fn spread(mut values: Vec<u32>) -> Option<[u32; 4]> {
    values.sort_unstable();
    let at = |percent: usize| values.get((values.len().checked_sub(1)? * percent) / 100).copied();
    Some([at(0)?, at(50)?, at(99)?, at(100)?])
}

fn name(value: u32) -> String {
    if value == u32::MAX { "-".to_owned() } else { value.to_string() }
}

pub(super) fn text(decoded: &Decoded, limit: usize) -> String {
    let d = decoded;
    let mut out = format!(
        "{} frames: {} with INT, {} reports ({} drops, {} congested, {} flows), {} with HPCC's header\n",
        d.frames, d.int_packets, d.reports, d.flags[0], d.flags[1], d.flags[2], d.hpcc_packets
    );
    for (count, what) in [
        (d.lost_reports, "reports are missing by their sequence numbers"),
        (d.hops_exceeded, "packets had no hops remaining (E)"),
        (d.mtu_exceeded, "packets had no room at some hop (M)"),
        (d.broken, "frames with broken telemetry were left out"),
    ] {
        if count > 0 {
            let _ = writeln!(out, "{count} {what}");
        }
    }
    let ports = ports(&d.rows);
    if !ports.is_empty() {
        let _ = writeln!(out, "\nby node and egress port (latency in ns, depth in cells)");
        let header =
            ["node", "port", "hops", "lat min", "p50", "p99", "max", "depth min", "p50", "p99", "max"];
        let _ = writeln!(out, "{}", table(&header, ports));
    }
    if !d.rows.is_empty() && limit > 0 {
        let _ = writeln!(out, "\nhops");
        let header = [
            "record",
            "time",
            "source",
            "hop",
            "node",
            "in",
            "out",
            "latency",
            "queue",
            "depth",
            "egress time",
        ];
        let rows = d.rows.iter().take(limit).map(cells).collect();
        let _ = writeln!(out, "{}", table(&header, rows));
        if d.rows.len() > limit {
            let _ =
                writeln!(out, "  ... {} more; -o DIR writes all, --limit prints more", d.rows.len() - limit);
        }
    }
    out
}

fn cells(row: &Row) -> Vec<String> {
    let number = |v: Option<u32>| v.map_or("-".to_owned(), |v| v.to_string());
    let mut cells =
        vec![row.record.to_string(), row.time.to_string(), row.source.name().to_owned(), row.hop.to_string()];
    let values = [row.node, row.ingress_port, row.egress_port, row.latency, row.queue, row.depth];
    cells.extend(values.map(number));
    cells.push(row.egress_time.map_or("-".to_owned(), |v| v.to_string()));
    cells
}

fn ports(rows: &[Row]) -> Vec<Vec<String>> {
    let line = |((node, port), rows): ((u32, u32), Vec<&Row>)| {
        let mut line = vec![name(node), name(port), rows.len().to_string()];
        for values in
            [rows.iter().filter_map(|r| r.latency).collect(), rows.iter().filter_map(|r| r.depth).collect()]
        {
            let spread = spread(values);
            line.extend((0..4).map(|i| spread.map_or("-".to_owned(), |s| s[i].to_string())));
        }
        line
    };
    by_port(rows).into_iter().map(line).collect()
}

pub(super) fn json(decoded: &Decoded) -> Value {
    let d = decoded;
    let named = |spread: Option<[u32; 4]>| {
        spread.map(|[min, p50, p99, max]| json!({ "min": min, "p50": p50, "p99": p99, "max": max }))
    };
    let known = |v: u32| (v != u32::MAX).then_some(v);
    let ports: Vec<Value> = by_port(&d.rows)
        .into_iter()
        .map(|((node, port), rows)| {
            json!({
                "node": known(node),
                "egress_port": known(port),
                "hops": rows.len(),
                "latency_ns": named(spread(rows.iter().filter_map(|r| r.latency).collect())),
                "depth_cells": named(spread(rows.iter().filter_map(|r| r.depth).collect())),
            })
        })
        .collect();
    json!({
        "schema": "sluice.int/1",
        "frames": d.frames,
        "int_packets": d.int_packets,
        "hpcc_packets": d.hpcc_packets,
        "broken": d.broken,
        "reports": {
            "count": d.reports, "dropped": d.flags[0], "congested": d.flags[1], "tracked": d.flags[2],
            "lost": d.lost_reports,
        },
        "hops_exceeded": d.hops_exceeded,
        "mtu_exceeded": d.mtu_exceeded,
        "hops": d.rows.len(),
        "ports": ports,
    })
}
