//! Counts and watermarks of a network at the end of a run.

use super::sampler::reorder_queues;
use sluice_asic::tm::buffer::{PoolKind, Reader};
use sluice_asic::units::Time;
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{LinkDrop, Network, SwitchId};
use sluice_ir::LabelKind;
use sluice_switch::{FlowView, Reason};
use std::collections::BTreeMap;

/// Counters with more cells are per flow, port or entry, and are left out.
const FEW: usize = 16;

/// Counts by name.
pub(crate) type Counts = BTreeMap<String, u64>;

/// Returns the counts of a network that has run up to `now`.
pub(crate) fn counts(network: &Network, catalogue: &Catalogue, now: Time) -> Counts {
    let mut counts = Counts::new();
    let totals = network.totals();
    let ended = totals.delivered + totals.dropped + totals.lost_on_links() + totals.absorbed;
    let known = ended + totals.held + totals.on_links;
    let mut put = |name: &str, value: u64| _ = counts.insert(name.to_owned(), value);
    put("hops", totals.hops);
    put("unaccounted", (totals.entered + totals.created).abs_diff(known));
    put("simulated_ns", now.since_origin().as_nanos());
    for name in ["dropped", "pauses"].into_iter().chain(MOST).chain(SUMS) {
        put(name, 0);
    }
    for (drop, name, ..) in LinkDrop::TABLE {
        lose(&mut counts, name, totals.link_drops[drop as usize]);
    }
    for id in network.ids() {
        of_program(network, id, &mut counts);
        of_buffer(network, catalogue, id, now, &mut counts);
    }
    counts
}

/// Numbers that are the largest of all switches, and those that are sums over the switches.
const MOST: [&str; 7] = [
    "buffer_max_bytes",
    "queue_max_bytes",
    "group_max_bytes",
    "ingress_pool_max_bytes",
    "egress_pool_max_bytes",
    "headroom_max_bytes",
    "reorder_queue_max_bytes",
];
const SUMS: [&str; 7] = [
    "digests",
    "reorder_queues",
    "switch_marked",
    "switch_paused_ns",
    "paused_ports",
    "paused_switches",
    "pausing_switches",
];

fn lose(counts: &mut Counts, reason: &str, count: u64) {
    if count > 0 {
        *counts.entry(format!("drop.{reason}")).or_default() += count;
        *counts.entry("dropped".to_owned()).or_default() += count;
    }
}

fn add(counts: &mut Counts, name: &str, more: u64) {
    *counts.entry(name.to_owned()).or_default() += more;
}

fn raise(counts: &mut Counts, name: &str, value: u64) {
    let most = counts.entry(name.to_owned()).or_default();
    *most = value.max(*most);
}

/// Adds a switch's drops by reason, its PFC frames, and its program's counters of few cells.
fn of_program(network: &Network, id: SwitchId, into: &mut Counts) {
    let Some(switch) = network.switch(id) else { return };
    let (program, totals) = (switch.program(), switch.totals());
    for (reason, count) in totals.reasons() {
        let consumed = matches!(reason, Reason::Label(l) if program.labels[l].kind == LabelKind::Consume);
        if !consumed {
            lose(into, reason.name(program), count);
        }
    }
    add(into, "pauses", totals.made.pfc);
    add(into, "digests", totals.made.digest);
    for ((_, declared), cells) in program.counters.iter().zip(switch.state().counters.values()) {
        for (number, cell) in cells.iter().enumerate().filter(|_| cells.len() <= FEW) {
            let name = match cells.len() {
                1 => format!("counter.{}", declared.name),
                _ => format!("counter.{}.{number}", declared.name),
            };
            add(into, &name, cell.packets);
        }
    }
}

/// Adds a switch's watermarks, marks and pauses.
fn of_buffer(network: &Network, catalogue: &Catalogue, id: SwitchId, now: Time, into: &mut Counts) {
    let Some(switch) = network.switch(id) else { return };
    let cell = switch.cell().get();
    let bytes = |cells: u32| u64::from(cells) * cell;
    let reorder = reorder_queues(network, catalogue, id);
    for (port, queue, stats) in switch.queues() {
        let most = bytes(stats.max_cells.get());
        raise(into, "queue_max_bytes", most);
        if reorder.contains(&(port, queue)) && stats.enqueued.packets > 0 {
            add(into, "reorder_queues", 1);
            raise(into, "reorder_queue_max_bytes", most);
        }
    }
    let Some(flow) = switch.flow(now) else {
        raise(into, "buffer_max_bytes", bytes(switch.max_used_cells()));
        return;
    };
    raise(into, "buffer_max_bytes", bytes(flow.buffer.total().watermark(Reader::User).get()));
    for pool in flow.buffer.pools(flow.config) {
        let name = match pool.kind {
            PoolKind::Ingress => "ingress_pool_max_bytes",
            PoolKind::Egress => "egress_pool_max_bytes",
            PoolKind::Headroom => "headroom_max_bytes",
        };
        raise(into, name, bytes(pool.used.watermark(Reader::User).get()));
    }
    for (_, _, group) in flow.buffer.all_groups() {
        raise(into, "group_max_bytes", bytes(group.shared().watermark(Reader::User).get()));
    }
    of_pauses(&flow, into);
}

/// Adds marks, and how long and at how many ports a switch was paused.
fn of_pauses(flow: &FlowView<'_>, into: &mut Counts) {
    let marked = flow.ports.iter().flat_map(|port| &port.queues).map(|queue| queue.marked.packets);
    add(into, "switch_marked", marked.sum());
    // Only profiles with a watchdog have the number.
    for queue in flow.ports.iter().flat_map(|port| &port.queues).filter(|queue| queue.watched) {
        add(into, "storms", queue.detected);
    }
    let paused = |port: &&sluice_switch::PortFlowView<'_>| port.received.iter().any(|p| p.pauses > 0);
    let ports = flow.ports.iter().filter(paused).count() as u64;
    add(into, "paused_ports", ports);
    add(into, "paused_switches", u64::from(ports > 0));
    let time = flow.ports.iter().flat_map(|port| &port.received).map(|p| p.paused.as_nanos());
    add(into, "switch_paused_ns", time.sum());
    let pausing = flow.ports.iter().any(|port| port.sent.iter().any(|frames| *frames > 0));
    add(into, "pausing_switches", u64::from(pausing));
}
