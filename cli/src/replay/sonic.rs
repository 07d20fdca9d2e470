//! Tables of the shared buffer with the columns of SONiC, in bytes. Ports and pools without packets are left out.

use crate::console::table::table;
use crate::open::buffer_profile::whose_memory;
use sluice_asic::tm::buffer::PoolKind;
use sluice_replay::{BufferQueueRow, BufferState, PfcRow, PoolRow, StormRow, Summary, WatchdogRow};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Most rows of a table of ports.
const ALL: usize = usize::MAX;

/// Writes the tables of a summary with a buffer.
pub(crate) fn write(out: &mut String, s: &Summary) -> std::fmt::Result {
    let Some(buffer) = &s.buffer else { return Ok(()) };
    head(out, buffer)?;
    tables(out, buffer, &s.pools, ALL)
}

/// Returns the note on whose memory files of SONiC are read over.
fn of_notes(buffer: &BufferState) -> Option<&str> {
    whose_memory(buffer.notes.first().map(String::as_str))
}

/// Writes whose memory files of SONiC are read over, a line for each that differs.
pub(super) fn memory<'b>(
    out: &mut String,
    buffers: impl Iterator<Item = &'b BufferState>,
) -> std::fmt::Result {
    let lines: BTreeSet<&str> = buffers.filter_map(of_notes).collect();
    lines.iter().try_for_each(|line| writeln!(out, "buffer: {line}"))
}

/// Writes the profile's name, notes, and what it accepted.
pub(super) fn head(out: &mut String, buffer: &BufferState) -> std::fmt::Result {
    writeln!(out, "\nbuffer profile {}:", buffer.profile)?;
    let shown = usize::from(of_notes(buffer).is_some());
    buffer.notes.iter().skip(shown).try_for_each(|text| writeln!(out, "  note: {text}"))?;
    buffer.accepted.iter().try_for_each(|text| writeln!(out, "  accepted: {text}"))
}

/// Writes the tables of a buffer and its pools. Tables of ports have at most this many rows, those with the largest sums.
pub(super) fn tables(
    out: &mut String,
    buffer: &BufferState,
    all_pools: &[PoolRow],
    most: usize,
) -> std::fmt::Result {
    let groups = || buffer.priority_groups.iter();
    let shared = rows(groups().map(|g| (g.port.as_str(), g.pg, g.shared.user)));
    wide(out, "priority-group watermark shared", "PG", shared, most)?;
    let headroom = rows(groups().map(|g| (g.port.as_str(), g.pg, g.headroom.user)));
    wide(out, "priority-group watermark headroom", "PG", headroom, most)?;
    let dropped = rows(groups().map(|g| (g.port.as_str(), g.pg, g.dropped)));
    wide(out, "priority-group drop counters", "PG", dropped, most)?;
    let queues = rows(buffer.queues.iter().map(|q| (q.port.as_str(), q.queue, q.shared.user)));
    wide(out, "queue watermark unicast", "UC", queues, most)?;
    pools(out, all_pools)?;
    wred(out, buffer)?;
    let frames = |of: fn(&PfcRow) -> &[u64; 8]| {
        let rows = buffer.pfc.iter().map(|p| (p.port.clone(), of(p).to_vec()));
        rows.filter(|(_, cells)| cells.iter().any(|c| *c > 0)).collect::<Vec<_>>()
    };
    wide(out, "pfc counters, Port Rx", "PFC", frames(|p| &p.rx), most)?;
    wide(out, "pfc counters, Port Tx", "PFC", frames(|p| &p.tx), most)?;
    history(out, buffer, most)?;
    watchdog(out, buffer)
}

/// Returns a row for each port, with one value per index, from ports, indices and values.
fn rows<'p>(items: impl Iterator<Item = (&'p str, u8, u64)>) -> Vec<(String, Vec<u64>)> {
    let mut rows: Vec<(String, Vec<u64>)> = Vec::new();
    for (port, at, value) in items {
        let found = rows.iter().position(|(name, _)| name == port);
        let row = found.unwrap_or_else(|| {
            rows.push((port.to_owned(), vec![0; 8]));
            rows.len() - 1
        });
        let (cells, at) = (&mut rows[row].1, usize::from(at));
        cells.resize(cells.len().max(at + 1), 0);
        cells[at] = value;
    }
    rows.retain(|(_, cells)| cells.iter().any(|c| *c > 0));
    rows
}

/// Keeps the rows with the largest sums, in their order; returns how many were left out.
pub(super) fn keep<R>(rows: &mut Vec<R>, most: usize, sum: impl Fn(&R) -> u64) -> usize {
    let left = rows.len().saturating_sub(most);
    if left > 0 {
        let mut sums: Vec<(u64, usize)> = rows.iter().map(&sum).zip(0..).collect();
        sums.sort_by_key(|(sum, at)| (std::cmp::Reverse(*sum), *at));
        let mut kept = vec![false; rows.len()];
        sums.iter().take(most).for_each(|(_, at)| kept[*at] = true);
        let mut kept = kept.into_iter();
        rows.retain(|_| kept.next().unwrap_or(false));
    }
    left
}

pub(super) fn more(out: &mut String, left: usize) -> std::fmt::Result {
    if left > 0 { writeln!(out, "  and {left} rows with less") } else { Ok(()) }
}

/// Writes a table with a column per index.
fn wide(
    out: &mut String,
    title: &str,
    column: &str,
    mut rows: Vec<(String, Vec<u64>)>,
    most: usize,
) -> std::fmt::Result {
    let left = keep(&mut rows, most, |(_, cells)| cells.iter().sum());
    let Some(columns) = rows.iter().map(|(_, cells)| cells.len()).max() else { return Ok(()) };
    let header: Vec<String> =
        std::iter::once("Port".to_owned()).chain((0..columns).map(|i| format!("{column}{i}"))).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let row = |(port, mut cells): (String, Vec<u64>)| {
        cells.resize(columns, 0);
        std::iter::once(port).chain(cells.iter().map(u64::to_string)).collect()
    };
    writeln!(out, "\n{title}:\n{}", table(&header, rows.into_iter().map(row).collect()))?;
    more(out, left)
}

fn pools(out: &mut String, all: &[PoolRow]) -> std::fmt::Result {
    let mut tables = [Vec::new(), Vec::new()];
    for (row, of) in all.iter().filter_map(|row| Some((row, row.of?))).filter(|(_, of)| of.bytes.user > 0) {
        let (name, partition) = (&row.pool, of.partition);
        let name = if partition > 0 { format!("{name} ({partition})") } else { name.clone() };
        tables[usize::from(of.kind == PoolKind::Headroom)].push(vec![name, of.bytes.user.to_string()]);
    }
    for (title, rows) in ["buffer_pool watermark", "headroom-pool watermark"].into_iter().zip(tables) {
        if !rows.is_empty() {
            writeln!(out, "\n{title}:\n{}", table(&["Pool", "Bytes"], rows))?;
        }
    }
    Ok(())
}

fn wred(out: &mut String, buffer: &BufferState) -> std::fmt::Result {
    let acted = buffer.queues.iter().filter(|q| q.ecn_marked + q.wred_dropped > 0);
    let row = |q: &BufferQueueRow| {
        vec![
            q.port.clone(),
            format!("UC{}", q.queue),
            q.wred_dropped.to_string(),
            q.wred_dropped_bytes.to_string(),
            q.ecn_marked.to_string(),
            q.ecn_marked_bytes.to_string(),
        ]
    };
    let rows: Vec<_> = acted.map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let header = ["Port", "TxQ", "WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes"];
    writeln!(out, "\nqueue wredcounters:\n{}", table(&header, rows))
}

fn history(out: &mut String, buffer: &BufferState, most: usize) -> std::fmt::Result {
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    for port in &buffer.pfc {
        for priority in (0..port.pauses.len()).filter(|priority| port.pauses[*priority] > 0) {
            let quanta = port.paused_quanta[priority];
            let row = vec![
                port.port.clone(),
                format!("PFC{priority}"),
                port.pauses[priority].to_string(),
                format!("{:.3}", port.paused_us[priority]),
                quanta.to_string(),
            ];
            rows.push((quanta, row));
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let left = keep(&mut rows, most, |(quanta, _)| *quanta);
    let header = ["Port", "Priority", "RX Pause Transitions", "Total RX Pause Time US", "Quanta"];
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    writeln!(out, "\npfc counters --history:\n{}", table(&header, rows))?;
    more(out, left)
}

fn watchdog(out: &mut String, buffer: &BufferState) -> std::fmt::Result {
    let tx = |c: &StormRow| format!("{}/{}", c.tx_ok, c.tx_drop);
    let rx = |c: &StormRow| format!("{}/{}", c.rx_ok, c.rx_drop);
    let row = |w: &WatchdogRow| {
        let (queue, storms) = (format!("{}:{}", w.port, w.queue), format!("{}/{}", w.detected, w.restored));
        vec![queue, w.status.to_owned(), storms, tx(&w.all), rx(&w.all), tx(&w.last), rx(&w.last)]
    };
    let rows: Vec<_> = buffer.watchdog.iter().map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let header = [
        "QUEUE",
        "STATUS",
        "STORM DETECTED/RESTORED",
        "TX OK/DROP",
        "RX OK/DROP",
        "TX LAST OK/DROP",
        "RX LAST OK/DROP",
    ];
    writeln!(out, "\npfcwd stats:\n{}", table(&header, rows))
}
