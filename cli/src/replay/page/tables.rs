//! Tables of a page: ports, switches, links, queues, groups, pools, PFC, state.

use super::Run;
use crate::replay::text::{elements, located, reading};
use maud::{Markup, html};
use sluice_asic::units::BitRate;
use sluice_charts::Table;
use sluice_replay::network::{LinkRow, NetworkSummary, SwitchRow, WayRow};
use sluice_replay::{PoolRow, QueueRow, SenderRow, Summary};

fn rate(bps: u64) -> String {
    BitRate::from_bps(bps).to_string()
}

/// Returns a row that begins with texts, of numbers.
fn row<const T: usize, const N: usize>(texts: [String; T], numbers: [u64; N]) -> Vec<String> {
    texts.into_iter().chain(numbers.map(|number| number.to_string())).collect()
}

pub(super) fn ports(s: &Summary) -> Markup {
    let rows = s.ports.iter().map(|p| {
        let texts = [located(p.switch.as_deref(), &p.port), rate(p.speed_bps)];
        row(texts, [p.dev_port.into(), p.rx_packets, p.rx_bytes, p.tx_packets, p.tx_bytes])
    });
    let header = ["port", "speed", "dev_port", "packets in", "bytes in", "packets out", "bytes out"];
    html! { (Table::new(&header).rows(rows)) }
}

pub(super) fn switches(network: &NetworkSummary) -> Markup {
    let of = |SwitchRow { name, summary }: &SwitchRow| {
        let p = &summary.packets;
        let latency = summary.latency_ns;
        let ns = |ns: Option<f64>| ns.map_or(String::new(), |ns| format!("{ns:.1}"));
        let counts = [p.entered, p.created, p.out, p.dropped, p.absorbed, p.held];
        let mut cells = row([name.clone(), summary.program.clone()], counts);
        cells.extend([latency.map(|l| l.p50), latency.map(|l| l.p99), latency.map(|l| l.max)].map(ns));
        cells
    };
    let header = [
        "switch",
        "program",
        "in",
        "created",
        "out",
        "dropped",
        "absorbed",
        "held",
        "median ns",
        "99 % ns",
        "most ns",
    ];
    html! { (Table::new(&header).rows(network.switches.iter().map(of))) }
}

pub(super) fn links(network: &NetworkSummary) -> Markup {
    let mut links: Vec<&LinkRow> = network.links.iter().collect();
    // The busiest first; links with equal counts keep their order.
    links.sort_by_key(|link| std::cmp::Reverse(link.frames()));
    let of = |l: &LinkRow| {
        let way = |way: &WayRow| [way.packets, way.bytes, way.lost()];
        let ([a, b, c], [d, e, f]) = (way(&l.forth), way(&l.back));
        row([l.link.clone(), rate(l.rate_bps), format!("{:?}", l.delay_ns)], [a, b, c, d, e, f])
    };
    let header = [
        "link",
        "rate",
        "delay, ns",
        "packets forth",
        "bytes forth",
        "lost forth",
        "packets back",
        "bytes back",
        "lost back",
    ];
    html! { (Table::new(&header).rows(links.into_iter().map(of))) }
}

pub(super) fn queues(run: &Run<'_>) -> Markup {
    let s = run.summary;
    let mut all: Vec<&QueueRow> = s.queues.iter().collect();
    all.sort_by_key(|q| std::cmp::Reverse((q.max_cells, q.dropped)));
    let name = |q: &QueueRow| {
        let known = || s.ports.iter().find(|p| p.dev_port == q.dev_port).map(|p| p.port.clone());
        let port = q.port.clone().or_else(known).unwrap_or_else(|| format!("dev:{}", q.dev_port));
        located(q.switch.as_deref(), &port)
    };
    let of = |q: &QueueRow| {
        let (most, queue) = (q.max_cells, q.queue.into());
        let counts = [queue, q.enqueued, q.enqueued_bytes, q.dropped, q.dropped_bytes, most, most * run.cell];
        row([name(q)], counts)
    };
    let header =
        ["port", "queue", "packets in", "bytes in", "dropped", "bytes dropped", "most cells", "most bytes"];
    let marked = run.buffers().flat_map(|(switch, buffer)| buffer.queues.iter().map(move |q| (switch, q)));
    let acted = marked.filter(|(_, q)| q.ecn_marked + q.wred_dropped > 0);
    let wred: Vec<Vec<String>> = acted
        .map(|(switch, q)| {
            let marked = [q.ecn_marked, q.ecn_marked_bytes, q.wred_dropped, q.wred_dropped_bytes];
            row([located(switch, &q.port), q.queue.to_string()], marked)
        })
        .collect();
    html! {
        (Table::new(&header).rows(all.into_iter().map(of)))
        @if !wred.is_empty() {
            h3 { "ECN and WRED" }
            (Table::new(&["port", "queue", "marked", "bytes marked", "dropped", "bytes dropped"]).rows(wred))
        }
    }
}

pub(super) fn has_groups(run: &Run<'_>) -> bool {
    run.buffers().any(|(_, buffer)| !buffer.priority_groups.is_empty())
}

pub(super) fn groups(run: &Run<'_>) -> Markup {
    let all = run.buffers().flat_map(|(at, buffer)| buffer.priority_groups.iter().map(move |g| (at, g)));
    let rows = all.map(|(switch, g)| {
        let kind = if g.lossless { "lossless" } else { "lossy" };
        let counts = [g.shared.user, g.headroom.user, g.pauses, g.dropped, g.dropped_bytes];
        row([located(switch, &g.port), g.pg.to_string(), kind.to_owned()], counts)
    });
    let header = [
        "port",
        "group",
        "kind",
        "most shared bytes",
        "most headroom bytes",
        "pauses sent",
        "dropped",
        "bytes dropped",
    ];
    html! { (Table::new(&header).rows(rows)) }
}

pub(super) fn pools(s: &Summary, cell: u64) -> Markup {
    let of = |p: &PoolRow| {
        let (size, most) = (u64::from(p.cells), u64::from(p.max_cells));
        let share = format!("{:.1} %", 100.0 * most as f64 / size.max(1) as f64);
        let name = p.switch.as_ref().map_or(p.pool.clone(), |switch| format!("{switch}: {}", p.pool));
        let partition = p.of.map_or(String::new(), |of| of.partition.to_string());
        let mut cells = row([name, p.kind().to_owned(), partition], [size, most, most * cell]);
        cells.push(share);
        cells
    };
    let header = ["pool", "kind", "partition", "cells", "most cells", "most bytes", "fullest"];
    html! { (Table::new(&header).rows(s.pools.iter().map(of))) }
}

fn senders<'r>(run: &Run<'r>) -> &'r [SenderRow] {
    run.summary.obey_pfc.as_ref().map_or(&[][..], |report| &report.ports)
}

pub(super) fn has_pfc(run: &Run<'_>) -> bool {
    run.buffers().any(|(_, buffer)| !buffer.pfc.is_empty()) || !senders(run).is_empty()
}

pub(super) fn pfc(run: &Run<'_>) -> Markup {
    let mut rows = Vec::new();
    for (switch, p) in run.buffers().flat_map(|(at, buffer)| buffer.pfc.iter().map(move |p| (at, p))) {
        for at in (0..p.rx.len()).filter(|at| p.rx[*at] + p.tx[*at] > 0) {
            let counts = [at as u64, p.tx[at], p.rx[at], p.pauses[at], p.resumes[at]];
            let mut cells = row([located(switch, &p.port)], counts);
            cells.push(format!("{:.3}", p.paused_us[at]));
            rows.push(cells);
        }
    }
    let storms = run.buffers().flat_map(|(at, buffer)| buffer.watchdog.iter().map(move |w| (at, w)));
    let storms: Vec<Vec<String>> = storms
        .map(|(switch, w)| {
            let [action, status] = [w.action, w.status].map(str::to_owned);
            let texts = [located(switch, &w.port), w.queue.to_string(), action, status];
            row(texts, [w.detected, w.restored, w.dropped])
        })
        .collect();
    let sender = |p: &SenderRow| {
        let mut cells = row([located(p.switch.as_deref(), &p.port)], [p.pauses, p.held_back, p.unsent]);
        cells.extend([p.delay_ns.most, p.delay_ns.total].map(|ns| format!("{ns:.1}")));
        cells
    };
    html! {
        @if !rows.is_empty() {
            p.note { "Pause frames of each port and priority; received ones pause the port's queues." }
            (Table::new(&["port", "priority", "frames out", "frames in", "pauses", "resumes", "paused, us"]).rows(rows))
        }
        @if !storms.is_empty() {
            h3 { "PFC watchdog" }
            (Table::new(&["port", "queue", "action", "status", "detected", "restored", "dropped"]).rows(storms))
        }
        @if let Some(report) = run.summary.obey_pfc.as_ref().filter(|report| !report.ports.is_empty()) {
            h3 { "Senders that obey PFC, over cables of " (format!("{:?}", report.cable_m)) " m" }
            @let header = ["port", "pauses", "packets held back", "not sent", "longest wait, ns", "waits together, ns"];
            (Table::new(&header).rows(report.ports.iter().map(sender)))
        }
    }
}

pub(super) fn has_state(s: &Summary) -> bool {
    !s.registers.is_empty() || !s.readings.is_empty()
}

pub(super) fn state(s: &Summary) -> Markup {
    /// Most elements of a register that are shown.
    const ELEMENTS: usize = 64;
    let registers = s.registers.iter().map(|r| {
        let changed = format!("{} of {}", r.changed, r.size);
        vec![r.register.clone(), r.pipe.to_string(), changed, elements(r, ELEMENTS)]
    });
    let readings = s.readings.iter().map(|r| {
        let [time, cell, value] = reading(r);
        vec![cell, r.pipe.to_string(), time, value]
    });
    html! {
        @if !s.registers.is_empty() { (Table::new(&["register", "pipe", "changed", "elements"]).rows(registers)) }
        @if !s.readings.is_empty() { h3 { "Readings of the control plane" }
        (Table::new(&["cell", "pipe", "ns", "value"]).rows(readings)) }
    }
}

pub(super) fn inputs(s: &Summary) -> Markup {
    let rows = s.inputs.iter().map(|i| row([i.file.clone(), i.port.clone()], [i.packets]));
    let params = s.params.iter().map(|(key, value)| vec![key.clone(), value.clone()]);
    html! {
        (Table::new(&["input", "port", "packets"]).rows(rows))
        p { "Seed " (s.seed) "." }
        @if !s.params.is_empty() {
            details { summary { (s.params.len()) " parameters of the program" }
            (Table::new(&["parameter", "value"]).rows(params)) }
        }
    }
}
