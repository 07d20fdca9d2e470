//! Summary of a network, as text.

use super::super::sonic;
use super::super::text::{deaths, latencies, located, packets, senders, violations};
use super::{HostRow, buffers};
use crate::console::table::table;
use sluice_asic::units::BitRate;
use sluice_ir::Program;
use sluice_replay::network::{LinkRow, NetworkSummary, SwitchRow};
use sluice_replay::{QueueRow, Summary};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most rows of a table.
pub(super) const ROWS: usize = 16;

/// Returns the text of a summary.
pub(super) fn summary(programs: &[&Program], network: &NetworkSummary, hosts: &[HostRow]) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write_summary(&mut out, programs, network, hosts);
    out
}

/// Writes the rates of all links, unless they are equal.
fn rates(out: &mut String, links: &[LinkRow], hosts: &[HostRow]) -> std::fmt::Result {
    let mut counts: [BTreeMap<u64, usize>; 2] = Default::default();
    links.iter().for_each(|link| *counts[0].entry(link.rate_bps).or_default() += 1);
    hosts.iter().for_each(|host| *counts[1].entry(host.rate_bps).or_default() += 1);
    let all: BTreeSet<&u64> = counts.iter().flat_map(BTreeMap::keys).collect();
    if all.len() < 2 {
        return Ok(());
    }
    let [links, hosts] = counts.map(|counts| {
        let of = |(bps, count): (&u64, &usize)| format!("{count} at {}", BitRate::from_bps(*bps));
        counts.iter().rev().map(of).collect::<Vec<_>>().join(", ")
    });
    writeln!(out, "  links between switches: {links}; links of hosts: {hosts}")
}

fn write_summary(
    out: &mut String,
    programs: &[&Program],
    network: &NetworkSummary,
    hosts: &[HostRow],
) -> std::fmt::Result {
    let NetworkSummary { total: s, hops, links, switches } = network;
    let chip = s.chip.as_deref().unwrap_or("several chips");
    sonic::memory(out, switches.iter().filter_map(|switch| switch.summary.buffer.as_ref()))?;
    writeln!(out, "{} on {} switches and {} links, {chip}", s.program, switches.len(), links.len())?;
    for i in s.inputs.iter().take(ROWS) {
        writeln!(out, "  {} packets from {} into port {}", i.packets, i.file, i.port)?;
    }
    more(out, "inputs", s.inputs.len())?;
    rates(out, links, hosts)?;
    writeln!(out, "\npackets: {}; {hops} hops over links", packets(&s.packets))?;
    if let Some(line) = s.control_plane.as_ref().and_then(|report| report.line.as_ref()) {
        writeln!(out, "{line}")?;
    }
    if let Some(latency) = &s.latency_ns {
        writeln!(out, "latency: {} (first bit in to first bit out of the network)", latencies(latency))?;
    }
    deaths(out, programs, s)?;
    switch_rows(out, switches)?;
    link_rows(out, links)?;
    queue_rows(out, s)?;
    buffers::write(out, switches)?;
    senders(out, s)?;
    violations(out, s)
}

fn more(out: &mut String, what: &str, count: usize) -> std::fmt::Result {
    match count.checked_sub(ROWS) {
        Some(rest @ 1..) => writeln!(out, "  and {rest} {what} more"),
        _ => Ok(()),
    }
}

fn switch_rows(out: &mut String, switches: &[SwitchRow]) -> std::fmt::Result {
    let row = |SwitchRow { name, summary }: &SwitchRow| {
        let p = &summary.packets;
        let numbers = [p.entered, p.created, p.out, p.dropped, p.absorbed, p.held].map(|n| n.to_string());
        let median = summary.latency_ns.map_or(String::new(), |latency| format!("{:.1}", latency.p50));
        [name.clone(), summary.program.clone()].into_iter().chain(numbers).chain([median]).collect()
    };
    let busy = |s: &&SwitchRow| s.summary.packets.entered + s.summary.packets.created > 0;
    let rows: Vec<Vec<String>> = switches.iter().filter(busy).take(ROWS).map(row).collect();
    let titles = ["SWITCH", "PROGRAM", "IN", "CREATED", "OUT", "DROPPED", "ABSORBED", "HELD", "MEDIAN NS"];
    writeln!(out, "\n{}", table(&titles, rows))?;
    more(out, "switches", switches.iter().filter(busy).count())
}

fn link_rows(out: &mut String, links: &[LinkRow]) -> std::fmt::Result {
    let mut links: Vec<&LinkRow> = links.iter().filter(|link| link.frames() > 0).collect();
    // The busiest first; links with equal counts keep their order.
    links.sort_by_key(|link| std::cmp::Reverse(link.frames()));
    if links.is_empty() {
        return Ok(());
    }
    let row = |link: &&LinkRow| {
        vec![
            link.link.clone(),
            format!("{}G", link.rate_bps / 1_000_000_000),
            link.delay_ns.to_string(),
            link.forth.packets.to_string(),
            link.back.packets.to_string(),
            (link.forth.lost() + link.back.lost()).to_string(),
        ]
    };
    let rows = links.iter().take(ROWS).map(row).collect();
    writeln!(out, "\n{}", table(&["BUSIEST LINKS", "RATE", "DELAY NS", "FORTH", "BACK", "LOST"], rows))?;
    more(out, "links", links.len())
}

fn queue_rows(out: &mut String, s: &Summary) -> std::fmt::Result {
    let mut queues: Vec<&QueueRow> = s.queues.iter().collect();
    queues.sort_by_key(|q| std::cmp::Reverse((q.max_cells, q.dropped)));
    if queues.is_empty() {
        return Ok(());
    }
    let row = |q: &&QueueRow| {
        let (switch, port) = (q.switch.as_deref(), q.port.as_deref().unwrap_or(""));
        vec![
            format!("{} queue {}", located(switch, port), q.queue),
            q.enqueued.to_string(),
            q.dropped.to_string(),
            q.max_cells.to_string(),
        ]
    };
    let rows = queues.iter().take(5).map(row).collect();
    writeln!(out, "\n{}", table(&["FULLEST QUEUES", "ENQUEUED", "DROPPED", "MAX CELLS"], rows))
}
