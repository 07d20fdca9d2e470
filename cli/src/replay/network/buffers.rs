//! Shared buffers of a network as text: PFC, pauses and watermarks by switch, then SONiC's tables over all switches.

use super::super::sonic;
use super::super::text::located;
use super::text::ROWS;
use crate::console::table::table;
use sluice_replay::network::SwitchRow;
use sluice_replay::{BufferState, PfcRow, PoolRow};
use std::fmt::Write;

/// A switch with a shared buffer.
struct Buffered<'s> {
    name: &'s str,
    buffer: &'s BufferState,
    pools: &'s [PoolRow],
}

/// Writes the tables of all switches that have a shared buffer.
pub(super) fn write(out: &mut String, switches: &[SwitchRow]) -> std::fmt::Result {
    let buffered = switches.iter().filter_map(|switch| {
        let buffer = switch.summary.buffer.as_ref()?;
        Some(Buffered { name: &switch.name, buffer, pools: &switch.summary.pools })
    });
    let switches: Vec<Buffered<'_>> = buffered.collect();
    if switches.is_empty() {
        return Ok(());
    }
    let mut heads: Vec<(&BufferState, Vec<&str>)> = Vec::new();
    for switch in &switches {
        let (name, buffer) = (switch.name, switch.buffer);
        let same = |head: &BufferState| {
            head.profile == buffer.profile && head.notes == buffer.notes && head.accepted == buffer.accepted
        };
        match heads.iter_mut().find(|(head, _)| same(head)) {
            Some((_, names)) => names.push(name),
            None => heads.push((buffer, vec![name])),
        }
    }
    for (buffer, names) in &heads {
        sonic::head(out, buffer)?;
        if heads.len() > 1 {
            writeln!(out, "  of {}", names.join(", "))?;
        }
    }
    by_switch(out, &switches)?;
    let (buffer, pools) = merged(&switches);
    sonic::tables(out, &buffer, &pools, ROWS)
}

/// Writes one row for each switch that paused or was paused, or that held packets.
fn by_switch(out: &mut String, switches: &[Buffered<'_>]) -> std::fmt::Result {
    let row = |Buffered { name, buffer, .. }: &Buffered<'_>| {
        let sum = |of: fn(&PfcRow) -> &[u64; 8]| buffer.pfc.iter().flat_map(of).sum::<u64>();
        let groups = || buffer.priority_groups.iter();
        let paused = buffer.pfc.iter().flat_map(|port| port.paused_us).fold(0.0, |sum, us| sum + us);
        let numbers = [
            sum(|port| &port.tx),
            sum(|port| &port.rx),
            groups().map(|group| group.shared.user).max().unwrap_or(0),
            groups().map(|group| group.headroom.user).max().unwrap_or(0),
            buffer.queues.iter().map(|queue| queue.shared.user).max().unwrap_or(0),
            groups().map(|group| group.dropped).sum(),
        ];
        let mut cells = vec![(*name).to_owned()];
        cells.extend(numbers.map(|number| number.to_string()));
        cells.insert(3, format!("{paused:.3}"));
        (numbers.iter().sum::<u64>(), cells)
    };
    let mut rows: Vec<(u64, Vec<String>)> = switches.iter().map(row).filter(|(sum, _)| *sum > 0).collect();
    if rows.is_empty() {
        return writeln!(out, "  no buffer held a packet");
    }
    let left = sonic::keep(&mut rows, ROWS, |(sum, _)| *sum);
    let titles =
        ["SWITCH", "PFC TX", "PFC RX", "PAUSED US", "MOST PG B", "HEADROOM B", "MOST QUEUE B", "PG DROPS"];
    writeln!(out, "\n{}", table(&titles, rows.into_iter().map(|(_, row)| row).collect()))?;
    sonic::more(out, left)
}

/// Returns the rows of all switches; ports and pools have the switch's name in front.
fn merged(switches: &[Buffered<'_>]) -> (BufferState, Vec<PoolRow>) {
    let (mut all, mut all_pools) = (BufferState::default(), Vec::new());
    for switch in switches {
        let (name, mut own) = (switch.name, switch.buffer.clone());
        let ports = own.priority_groups.iter_mut().map(|row| &mut row.port);
        let ports = ports.chain(own.queues.iter_mut().map(|row| &mut row.port));
        let ports = ports.chain(own.pfc.iter_mut().map(|row| &mut row.port));
        let ports = ports.chain(own.watchdog.iter_mut().map(|row| &mut row.port));
        ports.for_each(|port| *port = located(Some(name), port));
        all.priority_groups.append(&mut own.priority_groups);
        all.queues.append(&mut own.queues);
        all.pfc.append(&mut own.pfc);
        all.watchdog.append(&mut own.watchdog);
        let pools = switch.pools.iter().cloned();
        all_pools.extend(pools.map(|row| PoolRow { pool: format!("{name} {}", row.pool), ..row }));
    }
    (all, all_pools)
}
