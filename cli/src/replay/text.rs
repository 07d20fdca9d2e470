//! Summary of a replay, as text: the totals first, then drops with advice, then tables. Rows of zeros are left out.

use super::args::ReplayArgs;
use super::endings::{Ending, endings};
use super::sonic;
use crate::console::hint::{new_name, next_arguments, proposals};
use crate::console::numbers::counted;
use crate::console::table::table;
use crate::report::ReportArgs;
use sluice_control::show_key;
use sluice_fabric::network::SwitchSetup;
use sluice_ir::{CounterHome, CounterKind, Program, Table};
use sluice_replay::{
    CellRow, Checks, Element, HitRow, LatencyRow, Matched, PacketCounts, PipeWords, PortRow, QueueRow,
    ReadingRow, RegisterRow, Summary,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Returns the line on how many packets the condition of `--where` selects; it is empty without a condition.
pub(super) fn matched(args: &ReplayArgs, matched: Option<Matched>) -> String {
    let (Some(text), Some(Matched { packets, of })) = (&args.trace_where, matched) else {
        return String::new();
    };
    format!("{packets} of {} match --where '{text}'\n", counted(of as u64, "packet"))
}

/// Writes the packets that senders held back because they obey PFC.
pub(super) fn senders(out: &mut String, s: &Summary) -> std::fmt::Result {
    let Some(report) = s.obey_pfc.as_ref().filter(|report| !report.ports.is_empty()) else { return Ok(()) };
    writeln!(out, "\nsenders obey PFC over {} m:", report.cable_m)?;
    for p in &report.ports {
        writeln!(
            out,
            "  port {}: {} pauses, {} packets held back, by {:.1} ns at most and {:.1} in all, {} not sent",
            located(p.switch.as_deref(), &p.port),
            p.pauses,
            p.held_back,
            p.delay_ns.most,
            p.delay_ns.total,
            p.unsent
        )?;
    }
    Ok(())
}

/// Returns the name of a port, with its switch in a network.
pub(super) fn located(switch: Option<&str>, port: &str) -> String {
    switch.map_or_else(|| port.to_owned(), |switch| format!("{switch}:{port}"))
}

/// Writes the flow-control words that are in the visibility FIFOs.
fn words(out: &mut String, s: &Summary) -> std::fmt::Result {
    for PipeWords { pipe, words, lost, seen, .. } in &s.flow_control_words {
        let more = if *lost > 0 { format!("; the visibility FIFO lost {lost}") } else { String::new() };
        writeln!(out, "\nflow-control words to queues of pipe {pipe}: {words}{more}")?;
        for word in seen {
            writeln!(
                out,
                "  {:?} ns: port {} queue {}, credit {} ({})",
                word.time_ns,
                word.local_port,
                word.group_queue,
                word.credit,
                word.mode.unwrap_or("not obeyed")
            )?;
        }
    }
    Ok(())
}

/// Returns the text of a summary; `is_written` is true if the results are in a folder too. `checked` is the line of
/// [`checked`]. `program` is the program as the user named it.
pub(super) fn summary(
    switch: &SwitchSetup,
    program: &str,
    is_written: bool,
    checked: &str,
    s: &Summary,
) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write_summary(&mut out, switch, checked, s);
    let _ = next(&mut out, program, is_written);
    out
}

/// Returns the line of `--check`: how many properties were checked, and that they hold. It is empty if nothing was checked or a
/// property failed.
pub(super) fn checked<'c>(checks: impl IntoIterator<Item = &'c Checks>, s: &Summary) -> String {
    let factories = checks.into_iter().filter_map(|c| c.properties.as_ref());
    let names: BTreeSet<String> = factories.flat_map(|make| make()).map(|p| p.name().to_owned()).collect();
    if names.is_empty() || !s.violations.is_empty() {
        return String::new();
    }
    let count = names.len();
    let names: Vec<String> = names.into_iter().collect();
    format!("\nproperties: all {count} hold: {}\n", names.join(", "))
}

fn write_summary(out: &mut String, switch: &SwitchSetup, checked: &str, s: &Summary) -> std::fmt::Result {
    let (program, placement) = (&switch.placed.program, &switch.placed.placement);
    let stages =
        placement.gresses.iter().flat_map(|g| g.nodes.values()).flat_map(|n| &n.parts).map(|p| p.stage);
    sonic::memory(out, s.buffer.iter())?;
    writeln!(
        out,
        "{} on {}: fits in {} of {} stages",
        program.name,
        placement.chip.name,
        stages.max().map_or(0, |s| u32::from(s) + 1),
        placement.chip.mau.stages
    )?;
    for i in &s.inputs {
        writeln!(out, "  {} packets from {} into port {}", i.packets, i.file, i.port)?;
    }
    writeln!(out, "\npackets: {}", packets(&s.packets))?;
    if let Some(line) = s.control_plane.as_ref().and_then(|report| report.line.as_ref()) {
        writeln!(out, "{line}")?;
    }
    if let Some(latency) = &s.latency_ns {
        writeln!(out, "latency: {} ({})", latencies(latency), latency.method)?;
    }
    deaths(out, &[program], s)?;
    ports(out, s)?;
    senders(out, s)?;
    words(out, s)?;
    entries_hit(out, switch, s)?;
    registers(out, s)?;
    readings(out, s)?;
    queues(out, switch, s)?;
    sonic::write(out, s)?;
    violations(out, s)?;
    out.write_str(checked)
}

/// Returns the packets by fate.
pub(super) fn packets(p: &PacketCounts) -> String {
    let PacketCounts { entered, created, out, dropped, absorbed, held } = p;
    format!(
        "{entered} in + {created} created = {out} out + {dropped} dropped + {absorbed} absorbed + {held} held"
    )
}

pub(super) fn latencies(l: &LatencyRow) -> String {
    format!("{:.1} ns least, {:.1} median, {:.1} at 99 %, {:.1} most", l.min, l.p50, l.p99, l.max)
}

/// Writes the properties that do not hold, and the warnings.
pub(super) fn violations(out: &mut String, s: &Summary) -> std::fmt::Result {
    for v in &s.violations {
        let at = v.switch.as_ref().map_or(String::new(), |switch| format!(" at {switch}"));
        let packet = v.packet.map_or(String::new(), |n| format!(" packet {n}:"));
        writeln!(out, "\nFAILED {}{at}:{packet} {}", v.property, v.text)?;
    }
    s.warnings.iter().try_for_each(|warning| writeln!(out, "\nwarning: {warning}"))
}

/// Writes the reasons why packets ended; labels are those of the programs.
pub(super) fn deaths(out: &mut String, programs: &[&Program], s: &Summary) -> std::fmt::Result {
    let total = s.packets.entered.max(1) as f64;
    for (number, ending) in endings(programs, s).iter().enumerate() {
        if number == 0 {
            writeln!(out, "\nwhere packets ended inside:")?;
        }
        let Ending { reason, packets, word, meaning, help } = ending;
        writeln!(
            out,
            "  {packets:>6} {word} ({:.1} %)  {reason}: {meaning}",
            100.0 * *packets as f64 / total
        )?;
        if let Some(help) = help {
            writeln!(out, "         try: {help}")?;
        }
    }
    Ok(())
}

fn ports(out: &mut String, s: &Summary) -> std::fmt::Result {
    let row = |p: &PortRow| {
        vec![
            p.port.clone(),
            p.dev_port.to_string(),
            format!("{}G", p.speed_bps / 1_000_000_000),
            p.rx_packets.to_string(),
            p.rx_bytes.to_string(),
            p.tx_packets.to_string(),
            p.tx_bytes.to_string(),
        ]
    };
    let titles = ["PORT", "DEV", "SPEED", "RX PKTS", "RX BYTES", "TX PKTS", "TX BYTES"];
    writeln!(out, "\n{}", table(&titles, s.ports.iter().map(row).collect()))
}

/// Returns the name of an entry: its key, or the slot of an entry that was not there at the start.
fn entry_name(switch: &SwitchSetup, table: Table, slot: usize) -> String {
    let program = &switch.placed.program;
    let data = &program.tables[table];
    let entry = switch.control.tables[table].slots.get(slot).and_then(Option::as_ref);
    let Some(entry) = entry else { return format!("entry {slot}") };
    let keys = data.keys.iter().zip(&entry.key);
    let cared = keys.filter(|(_, v)| !matches!(v, sluice_ir::KeyValue::Ternary { mask: 0, .. }));
    let texts: Vec<String> = cared
        .map(|(k, v)| {
            let name = k.name(program);
            format!("{name}={}", show_key(*v, k.width(program), &name))
        })
        .collect();
    texts.join(" ")
}

/// Most entries of a table that are shown: those with the most packets.
const MOST_ENTRIES: usize = 12;

/// Returns the entries that packets hit, in the order of the program's tables: table, key, packets, and bytes if a direct counter
/// of the table counts them, else an empty text. The last row of a table is that of packets without a matching entry.
pub(super) fn hits(switch: &SwitchSetup, s: &Summary) -> Vec<[String; 4]> {
    let program = &switch.placed.program;
    let mut shown = Vec::new();
    for of_table in s.hits.chunk_by(|a, b| a.table == b.table) {
        let Some(table) = of_table.first().and_then(|row| program.table_named(&row.table)) else { continue };
        let counter = program.counters.values().find(|c| {
            c.home == CounterHome::Direct(table)
                && matches!(c.kind, CounterKind::Bytes | CounterKind::PacketsAndBytes)
        });
        let bytes = |slot: usize| {
            let Some(counter) = counter else { return String::new() };
            let cell = s.counters.iter().find(|row| row.counter == counter.name && row.index == slot);
            cell.map_or_else(String::new, |cell| cell.bytes.to_string())
        };
        let mut by_packets: Vec<&HitRow> = of_table.iter().filter(|row| row.entry.is_some()).collect();
        by_packets.sort_by_key(|row| Reverse(row.packets));
        // A row for one entry that is left out would not be shorter.
        let shown_entries = if by_packets.len() > MOST_ENTRIES + 1 { MOST_ENTRIES } else { by_packets.len() };
        let (most, others) = by_packets.split_at(shown_entries);
        let mut most: Vec<(usize, u64)> =
            most.iter().filter_map(|row| Some((row.entry?, row.packets))).collect();
        most.sort_unstable();
        let row = |key: String, packets: u64, bytes: String| {
            [program.tables[table].name.clone(), key, packets.to_string(), bytes]
        };
        shown.extend(
            most.into_iter()
                .map(|(slot, packets)| row(entry_name(switch, table, slot), packets, bytes(slot))),
        );
        if !others.is_empty() {
            let packets = others.iter().map(|row| row.packets).sum();
            shown.push(row(format!("{} more entries", others.len()), packets, String::new()));
        }
        let missed = of_table.iter().filter(|row| row.entry.is_none());
        shown.extend(missed.map(|missed| row("miss".to_owned(), missed.packets, String::new())));
    }
    shown
}

fn entries_hit(out: &mut String, switch: &SwitchSetup, s: &Summary) -> std::fmt::Result {
    let hits = hits(switch, s);
    if hits.is_empty() {
        return Ok(());
    }
    let counts_bytes = hits.iter().any(|[.., bytes]| !bytes.is_empty());
    let titles = &["ENTRIES HIT", "PKTS", "BYTES"][..if counts_bytes { 3 } else { 2 }];
    let row = |[table, key, packets, bytes]: [String; 4]| {
        let mut cells = vec![format!("{table}  {key}"), packets];
        cells.extend(counts_bytes.then_some(bytes));
        cells
    };
    writeln!(out, "\n{}", table(titles, hits.into_iter().map(row).collect()))
}

/// Returns `17`, or `(17, 4)` for a pair.
fn value(element: &Element) -> String {
    match element.high {
        Some(high) => format!("({}, {high})", element.value),
        None => element.value.to_string(),
    }
}

/// Returns at most `most` elements of a register that packets changed.
pub(super) fn elements(r: &RegisterRow, most: usize) -> String {
    let elements = r.elements.iter().take(most);
    let mut texts: Vec<String> = elements.map(|e| format!("[{}] = {}", e.index, value(e))).collect();
    if r.changed > texts.len() {
        texts.push("..".to_owned());
    }
    texts.join(", ")
}

/// Writes a few elements of every register that packets changed.
fn registers(out: &mut String, s: &Summary) -> std::fmt::Result {
    const FEW: usize = 6;
    let row = |r: &RegisterRow| {
        let changed = format!("{} of {}", r.changed, r.size);
        vec![r.register.clone(), r.pipe.to_string(), changed, elements(r, FEW)]
    };
    if s.registers.is_empty() {
        return Ok(());
    }
    let titles = ["REGISTER", "PIPE", "CHANGED", "ELEMENTS"];
    writeln!(out, "\n{}", table(&titles, s.registers.iter().map(row).collect()))
}

/// Returns the time in ns, the cell and the value of a reading.
pub(super) fn reading(r: &ReadingRow) -> [String; 3] {
    let (cell, value) = match &r.cell {
        CellRow::Register { register, element } => (format!("{register}[{}]", element.index), value(element)),
        CellRow::Counter { counter, index, packets, bytes } => {
            (format!("{counter}[{index}]"), format!("{packets} packets, {bytes} bytes"))
        }
    };
    [format!("{}.{:03}", r.time_ps / 1000, r.time_ps % 1000), cell, value]
}

fn readings(out: &mut String, s: &Summary) -> std::fmt::Result {
    let row = |r: &ReadingRow| {
        let [time, cell, value] = reading(r);
        vec![format!("{time} ns"), cell, r.pipe.to_string(), value]
    };
    if s.readings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", table(&["READ AT", "CELL", "PIPE", "VALUE"], s.readings.iter().map(row).collect()))
}

fn queues(out: &mut String, switch: &SwitchSetup, s: &Summary) -> std::fmt::Result {
    let cell = s.buffer.as_ref().map_or(switch.placed.placement.chip.tm.cell.get(), |b| b.cell_bytes);
    let name = |dev: u16| {
        let port = switch.ports.iter().find(|p| p.dev_port.number() == dev);
        let front = port.and_then(|port| port.front()).map(|front| switch.ports.shown(front));
        front.or(port.map(ToString::to_string)).unwrap_or_else(|| format!("dev:{dev}"))
    };
    let mut busiest: Vec<&QueueRow> = s.queues.iter().collect();
    busiest.sort_by_key(|q| std::cmp::Reverse((q.dropped, q.max_cells)));
    let row = |q: &&QueueRow| {
        vec![
            format!("{} queue {}", name(q.dev_port), q.queue),
            q.enqueued.to_string(),
            q.dropped.to_string(),
            q.max_cells.to_string(),
            (q.max_cells * cell).to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = busiest.iter().take(5).map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", table(&["FULLEST QUEUES", "ENQUEUED", "DROPPED", "MAX CELLS", "MAX BYTES"], rows))
}

/// Writes commands that show more, with the arguments of the user.
fn next(out: &mut String, name: &str, is_written: bool) -> std::fmt::Result {
    let own = |without: &[&str]| next_arguments::<ReplayArgs, ReplayArgs>("replay", name, without);
    let mut list = vec![(
        format!(
            "sluice replay {} --trace --limit 3",
            own(&["--trace", "--limit", "--coverage", "--find-ndr", "--ndr-resolution", "--comments"])
        ),
        "what happens to each packet, step by step",
    )];
    if !is_written {
        let command = format!("sluice replay {} -o {}", own(&[]), new_name("out"));
        list.push((command, "captures and summary.json, for tshark and scripts"));
    }
    let report = next_arguments::<ReplayArgs, ReportArgs>("replay", name, &[]);
    list.push((format!("sluice report {report}"), "stages, resources, cycles"));
    list.push(("sluice explain WORD".to_owned(), "what a word above means"));
    write!(out, "\nnext:\n{}", proposals(&list))
}
