//! Tables of the shared buffer with the columns of SONiC, in bytes. Ports and pools without packets are left out.

use crate::console::table::table;
use serde_json::Value;
use std::fmt::Write;

fn n(v: &Value) -> u64 {
    v.as_u64().unwrap_or(0)
}

fn list<'a>(s: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    s[key].as_array().into_iter().flatten()
}

/// Most rows of a table of ports.
const ALL: usize = usize::MAX;

/// Writes the tables of a summary with a buffer.
pub(crate) fn write(out: &mut String, s: &Value) -> std::fmt::Result {
    let buffer = &s["buffer"];
    if buffer.is_null() {
        return Ok(());
    }
    head(out, buffer)?;
    tables(out, s, ALL)
}

/// Writes the profile's name, notes, and what it accepted.
pub(super) fn head(out: &mut String, buffer: &Value) -> std::fmt::Result {
    writeln!(out, "\nbuffer profile {}:", buffer["profile"].as_str().unwrap_or(""))?;
    for text in list(buffer, "notes") {
        writeln!(out, "  note: {}", text.as_str().unwrap_or(""))?;
    }
    for text in list(buffer, "accepted") {
        writeln!(out, "  accepted: {}", text.as_str().unwrap_or(""))?;
    }
    Ok(())
}

/// Writes the tables of `buffer` and `pools`. Tables of ports have at most this many rows, those with the largest sums.
pub(super) fn tables(out: &mut String, s: &Value, most: usize) -> std::fmt::Result {
    let buffer = &s["buffer"];
    let user = |key: &'static str| move |v: &Value| n(&v[key]["user"]);
    wide(
        out,
        "priority-group watermark shared",
        "PG",
        rows(buffer, "priority_groups", "pg", user("shared")),
        most,
    )?;
    wide(
        out,
        "priority-group watermark headroom",
        "PG",
        rows(buffer, "priority_groups", "pg", user("headroom")),
        most,
    )?;
    wide(
        out,
        "priority-group drop counters",
        "PG",
        rows(buffer, "priority_groups", "pg", |v| n(&v["dropped"])),
        most,
    )?;
    wide(out, "queue watermark unicast", "UC", rows(buffer, "queues", "queue", user("shared")), most)?;
    pools(out, s)?;
    wred(out, buffer)?;
    let of = |key: &'static str| {
        let rows = list(buffer, "pfc").map(|p| {
            let cells: Vec<u64> = list(p, key).map(n).collect();
            (p["port"].as_str().unwrap_or("").to_owned(), cells)
        });
        rows.filter(|(_, cells)| cells.iter().any(|c| *c > 0)).collect::<Vec<_>>()
    };
    wide(out, "pfc counters, Port Rx", "PFC", of("rx"), most)?;
    wide(out, "pfc counters, Port Tx", "PFC", of("tx"), most)?;
    history(out, buffer, most)?;
    watchdog(out, buffer)
}

/// Returns a row for each port, with one value per index.
fn rows(buffer: &Value, key: &str, index: &str, value: impl Fn(&Value) -> u64) -> Vec<(String, Vec<u64>)> {
    let mut rows: Vec<(String, Vec<u64>)> = Vec::new();
    for item in list(buffer, key) {
        let (port, at) = (item["port"].as_str().unwrap_or(""), n(&item[index]) as usize);
        let found = rows.iter().position(|(name, _)| name == port);
        let row = found.unwrap_or_else(|| {
            rows.push((port.to_owned(), vec![0; 8]));
            rows.len() - 1
        });
        let cells = &mut rows[row].1;
        cells.resize(cells.len().max(at + 1), 0);
        cells[at] = value(item);
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

fn pools(out: &mut String, s: &Value) -> std::fmt::Result {
    let all = || list(s, "pools").filter(|p| n(&p["bytes"]["user"]) > 0);
    let row = |p: &Value| {
        let partition = n(&p["partition"]);
        let name = p["pool"].as_str().unwrap_or("");
        let name = if partition > 0 { format!("{name} ({partition})") } else { name.to_owned() };
        vec![name, n(&p["bytes"]["user"]).to_string()]
    };
    let (headroom, shared): (Vec<&Value>, Vec<&Value>) = all().partition(|p| p["kind"] == "headroom");
    for (title, pools) in [("buffer_pool watermark", shared), ("headroom-pool watermark", headroom)] {
        if !pools.is_empty() {
            writeln!(out, "\n{title}:\n{}", table(&["Pool", "Bytes"], pools.into_iter().map(row).collect()))?;
        }
    }
    Ok(())
}

fn wred(out: &mut String, buffer: &Value) -> std::fmt::Result {
    let acted = list(buffer, "queues").filter(|q| n(&q["ecn_marked"]) + n(&q["wred_dropped"]) > 0);
    let row = |q: &Value| {
        let port = q["port"].as_str().unwrap_or("").to_owned();
        vec![
            port,
            format!("UC{}", n(&q["queue"])),
            n(&q["wred_dropped"]).to_string(),
            n(&q["wred_dropped_bytes"]).to_string(),
            n(&q["ecn_marked"]).to_string(),
            n(&q["ecn_marked_bytes"]).to_string(),
        ]
    };
    let rows: Vec<_> = acted.map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let header = ["Port", "TxQ", "WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts", "EcnMarked/bytes"];
    writeln!(out, "\nqueue wredcounters:\n{}", table(&header, rows))
}

fn history(out: &mut String, buffer: &Value, most: usize) -> std::fmt::Result {
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    for port in list(buffer, "pfc") {
        for priority in 0..8 {
            let at = |key: &str| &port[key][priority];
            if n(at("pauses")) > 0 {
                let row = vec![
                    port["port"].as_str().unwrap_or("").to_owned(),
                    format!("PFC{priority}"),
                    n(at("pauses")).to_string(),
                    format!("{:.3}", at("paused_us").as_f64().unwrap_or(0.0)),
                    n(at("paused_quanta")).to_string(),
                ];
                rows.push((n(at("paused_quanta")), row));
            }
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

/// Returns the packets of a direction, sent and dropped.
fn pair(counts: &Value, direction: &str) -> String {
    let of = |what: &str| n(&counts[format!("{direction}_{what}").as_str()]);
    format!("{}/{}", of("ok"), of("drop"))
}

fn watchdog(out: &mut String, buffer: &Value) -> std::fmt::Result {
    let row = |w: &Value| {
        vec![
            format!("{}:{}", w["port"].as_str().unwrap_or(""), n(&w["queue"])),
            w["status"].as_str().unwrap_or("").to_owned(),
            format!("{}/{}", n(&w["detected"]), n(&w["restored"])),
            pair(&w["all"], "tx"),
            pair(&w["all"], "rx"),
            pair(&w["last"], "tx"),
            pair(&w["last"], "rx"),
        ]
    };
    let rows: Vec<_> = list(buffer, "watchdog").map(row).collect();
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
