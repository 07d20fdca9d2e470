//! The shared buffer in summaries: priority groups, queues, pools, PFC, watchdog, flow-control words. Watermarks are in bytes
//! of cells.

use serde_json::{Value, json};
use sluice_asic::tm::buffer::{Gauge, PoolKind, Reader};
use sluice_asic::tm::watchdog::WatchdogAction;
use sluice_asic::tm::{AfcFifo, AfcMode, AfcSeen};
use sluice_asic::units::{Bytes, Cells};
use sluice_switch::{FlowView, PortFlowView, StormCounts, Switch};

/// Returns the present value and the watermarks of a number of cells, in bytes.
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

/// The shared buffer at the end of a run, as parts of a summary.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    /// The key `buffer`: profile, priority groups, queues, ports, PFC, watchdog.
    pub buffer: Value,
    /// Elements of the key `pools`.
    pub pools: Vec<Value>,
}

impl SharedBuffer {
    pub(crate) fn of(view: &FlowView<'_>) -> SharedBuffer {
        SharedBuffer { buffer: buffer(view), pools: pools(view) }
    }
}

/// Returns the key `buffer`.
fn buffer(view: &FlowView<'_>) -> Value {
    json!({
        "profile": view.config.name,
        "cell_bytes": view.config.cell.get(),
        "size_bytes": view.config.size.bytes(view.config.cell).get(),
        "partitions": view.config.partitions,
        "accepted": view.config.accepted,
        "notes": view.config.notes,
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

/// Returns for each port the cells of packets received on it, and of packets queued at it.
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

/// Returns elements of the key `pools`.
fn pools(view: &FlowView<'_>) -> Vec<Value> {
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

/// Flow-control words that reached queues of a pipe.
#[derive(Clone, Debug)]
pub struct PipeWords {
    /// The pipe.
    pub pipe: u32,
    /// Number of words.
    pub words: u64,
    /// Words that the visibility FIFO of the pipe lost because it was full.
    pub lost: u64,
    /// Words in the visibility FIFO.
    pub seen: Vec<AfcSeen>,
}

/// Returns the flow-control words of each pipe that had any.
pub(crate) fn words(switch: &Switch<'_>) -> Vec<PipeWords> {
    let pipes = (0..).zip(switch.seen_flow_control_words()).filter(|(_, fifo)| fifo.words() > 0);
    let words = |(pipe, fifo): (u32, &AfcFifo)| PipeWords {
        pipe,
        words: fifo.words(),
        lost: fifo.lost(),
        seen: fifo.entries().copied().collect(),
    };
    pipes.map(words).collect()
}

impl PipeWords {
    /// Returns an element of the key `flow_control_words`.
    pub(crate) fn json(&self) -> Value {
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
        let entries: Vec<Value> = self.seen.iter().map(seen).collect();
        json!({ "pipe": self.pipe, "words": self.words, "lost": self.lost, "seen": entries })
    }
}
