//! The shared buffer in `summary.json`: priority groups, queues, pools, PFC, watchdog. Watermarks are in bytes of cells.
//! What may not live here: text for people.

use serde_json::{Value, json};
use sluice_asic::tm::buffer::{Gauge, PoolKind, Reader};
use sluice_asic::tm::watchdog::WatchdogAction;
use sluice_asic::tm::{AfcFifo, AfcMode, AfcSeen};
use sluice_asic::units::{Bytes, Cells};
use sluice_pipeline::pass::Executor;
use sluice_pipeline::switch::{FlowView, PortFlowView, StormCounts, Switch};

/// What a count of cells shows.
fn gauge(g: &Gauge, cell: Bytes) -> Value {
    let bytes = |cells: Cells| cells.bytes(cell).get();
    json!({
        "current": bytes(g.current()),
        "user": bytes(g.watermark(Reader::User)),
        "persistent": bytes(g.watermark(Reader::Persistent)),
    })
}

fn seen(g: &Gauge) -> bool {
    g.watermark(Reader::Persistent) > Cells::ZERO
}

/// The `buffer` key.
pub(crate) fn buffer(view: &FlowView<'_>) -> Value {
    json!({
        "profile": view.config.name,
        "cell_bytes": view.config.cell.get(),
        "size_bytes": view.config.size.bytes(view.config.cell).get(),
        "partitions": view.config.partitions,
        "accepted": view.config.accepted,
        "priority_groups": groups(view),
        "queues": queues(view),
        "ports": ports(view),
        "pfc": view.ports.iter().filter_map(pfc).collect::<Vec<_>>(),
        "watchdog": watchdog(view),
    })
}

fn groups(view: &FlowView<'_>) -> Vec<Value> {
    let cell = view.config.cell;
    let all = view.buffer.all_groups().filter(|(.., pg)| {
        seen(pg.shared()) || seen(pg.headroom()) || pg.reserved() > Cells::ZERO || pg.dropped().packets > 0
    });
    all.filter_map(|(port, index, pg)| {
        let port = view.ports.get(usize::from(port))?;
        Some(json!({
            "port": port.name, "dev_port": port.dev_port, "pg": index,
            "lossless": pg.config().lossless.is_some(),
            "reserved": pg.reserved().bytes(cell).get(),
            "shared": gauge(pg.shared(), cell),
            "headroom": gauge(pg.headroom(), cell),
            "xoff": pg.is_xoff(), "pauses": pg.pauses(),
            "dropped": pg.dropped().packets, "dropped_bytes": pg.dropped().bytes.get(),
        }))
    })
    .collect()
}

fn queues(view: &FlowView<'_>) -> Vec<Value> {
    let cell = view.config.cell;
    let mut list = Vec::new();
    for (port, index, queue) in view.buffer.all_queues() {
        let Some(port) = view.ports.get(usize::from(port)) else { continue };
        let own = port.queues.get(usize::from(index)).copied().unwrap_or_default();
        let dropped = queue.dropped();
        if !seen(queue.shared()) && dropped.packets == 0 && own.marked.packets == 0 {
            continue;
        }
        list.push(json!({
            "port": port.name, "dev_port": port.dev_port, "queue": index,
            "lossless": queue.config().lossless,
            "shared": gauge(queue.shared(), cell),
            "dropped": dropped.packets, "dropped_bytes": dropped.bytes.get(),
            "ecn_marked": own.marked.packets, "ecn_marked_bytes": own.marked.bytes.get(),
            "wred_dropped": own.wred_dropped.packets, "wred_dropped_bytes": own.wred_dropped.bytes.get(),
        }));
    }
    list
}

/// Cells of packets that came in by each port, and of those that wait to leave by it.
fn ports(view: &FlowView<'_>) -> Vec<Value> {
    let cell = view.config.cell;
    let row = |(index, port): (u16, &PortFlowView<'_>)| {
        let [ingress, egress] = view.buffer.port(index)?;
        (seen(&ingress) || seen(&egress)).then(|| {
            json!({
                "port": port.name, "dev_port": port.dev_port,
                "ingress": gauge(&ingress, cell), "egress": gauge(&egress, cell),
            })
        })
    };
    (0u16..).zip(&view.ports).filter_map(row).collect()
}

fn pfc(port: &PortFlowView<'_>) -> Option<Value> {
    let frames = port.received.map(|s| s.frames);
    let all: u64 = frames.iter().chain(&port.sent).sum();
    (all + port.ignored_pauses + port.unknown > 0).then(|| {
        json!({
            "port": port.name, "dev_port": port.dev_port,
            "rx": frames, "tx": port.sent,
            "pauses": port.received.map(|s| s.pauses),
            "resumes": port.received.map(|s| s.resumes),
            "paused_us": port.received.map(|s| s.paused.as_ps() as f64 / 1e6),
            "paused_quanta": port.paused_quanta,
            "paused": port.paused, "pausing": port.pausing,
            "ignored_pause": port.ignored_pauses, "unknown": port.unknown,
        })
    })
}

fn watchdog(view: &FlowView<'_>) -> Vec<Value> {
    let Some(config) = view.config.watchdog else { return Vec::new() };
    let action = match config.action {
        WatchdogAction::Drop => "drop",
        WatchdogAction::Forward => "forward",
        WatchdogAction::Alert => "alert",
    };
    let mut list = Vec::new();
    for port in &view.ports {
        for (index, queue) in port.queues.iter().enumerate().filter(|(_, q)| q.detected > 0) {
            list.push(json!({
                "port": port.name, "dev_port": port.dev_port, "queue": index, "action": action,
                "status": if queue.stormed { "stormed" } else { "operational" },
                "detected": queue.detected, "restored": queue.restored, "dropped": queue.watchdog_dropped,
                "all": storm_counts(&queue.all), "last": storm_counts(&queue.last),
            }));
        }
    }
    list
}

fn storm_counts(counts: &StormCounts) -> Value {
    let StormCounts { tx_ok, tx_drop, rx_ok, rx_drop } = counts;
    json!({ "tx_ok": tx_ok, "tx_drop": tx_drop, "rx_ok": rx_ok, "rx_drop": rx_drop })
}

/// Elements of the `pools` key.
pub(crate) fn pools(view: &FlowView<'_>) -> Vec<Value> {
    let cell = view.config.cell;
    let pools = view.buffer.pools(view.config);
    pools
        .map(|pool| {
            let kind = match pool.kind {
                PoolKind::Ingress => "ingress",
                PoolKind::Egress => "egress",
                PoolKind::Headroom => "headroom",
            };
            json!({
                "pool": pool.name, "kind": kind, "partition": pool.partition,
                "cells": pool.size.get(), "max_cells": pool.used.watermark(Reader::Persistent).get(),
                "bytes": gauge(&pool.used, cell),
            })
        })
        .collect()
}

/// Flow-control words that reached queues of each pipe, and what its visibility FIFO has of them.
pub(super) fn words<E: Executor>(switch: &Switch<E>) -> Value {
    let seen = |s: &AfcSeen| {
        let mode = s.mode.map(|mode| match mode {
            AfcMode::Xoff => "xoff",
            AfcMode::Credit => "credit",
        });
        json!({
            "time_ns": s.time.as_ps() as f64 / 1000.0, "local_port": s.port, "group_queue": s.queue, "mode": mode,
            "credit": s.credit, "register": s.register(),
        })
    };
    let pipes = (0..).zip(switch.seen_flow_control_words()).filter(|(_, fifo)| fifo.words() > 0);
    pipes
        .map(|(pipe, fifo): (u32, &AfcFifo)| {
            let entries: Vec<Value> = fifo.entries().map(seen).collect();
            json!({ "pipe": pipe, "words": fifo.words(), "lost": fifo.lost(), "seen": entries })
        })
        .collect()
}
