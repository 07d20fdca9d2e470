//! Shared buffers of a network as text: PFC, pauses and watermarks by switch, then SONiC's tables over all switches.

use super::super::sonic;
use super::super::text::n;
use super::text::ROWS;
use crate::console::table::table;
use serde_json::{Value, json};
use std::fmt::Write;

/// Lists of a switch's buffer whose rows name a port.
const OF_PORTS: [&str; 4] = ["priority_groups", "queues", "pfc", "watchdog"];

fn list<'v>(s: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    s[key].as_array().into_iter().flatten()
}

/// Writes the tables of all switches that have a shared buffer.
pub(super) fn write(out: &mut String, s: &Value) -> std::fmt::Result {
    let switches: Vec<&Value> = list(s, "switches").filter(|switch| !switch["buffer"].is_null()).collect();
    if switches.is_empty() {
        return Ok(());
    }
    let mut heads: Vec<(&Value, Vec<&str>)> = Vec::new();
    for switch in &switches {
        let (buffer, name) = (&switch["buffer"], switch["name"].as_str().unwrap_or(""));
        let same = |head: &(&Value, Vec<&str>)| {
            ["profile", "notes", "accepted"].iter().all(|key| head.0[*key] == buffer[*key])
        };
        match heads.iter_mut().find(|head| same(head)) {
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
    sonic::tables(out, &merged(&switches), ROWS)
}

/// Writes one row for each switch that paused or was paused, or that held packets.
fn by_switch(out: &mut String, switches: &[&Value]) -> std::fmt::Result {
    let sum = |buffer: &Value, key: &str| -> u64 {
        list(buffer, "pfc").flat_map(|port| list(port, key)).map(n).sum()
    };
    let most = |buffer: &Value, of: &str, key: &str| {
        list(buffer, of).map(|row| n(&row[key]["user"])).max().unwrap_or(0)
    };
    let row = |switch: &&Value| {
        let buffer = &switch["buffer"];
        let paused = list(buffer, "pfc").flat_map(|port| list(port, "paused_us")).filter_map(Value::as_f64);
        let paused = paused.fold(0.0, |sum, us| sum + us);
        let dropped: u64 = list(buffer, "priority_groups").map(|group| n(&group["dropped"])).sum();
        let numbers = [
            sum(buffer, "tx"),
            sum(buffer, "rx"),
            most(buffer, "priority_groups", "shared"),
            most(buffer, "priority_groups", "headroom"),
            most(buffer, "queues", "shared"),
            dropped,
        ];
        let mut cells = vec![switch["name"].as_str().unwrap_or("").to_owned()];
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

/// Returns a summary with the rows of all switches; ports and pools have the switch's name in front.
fn merged(switches: &[&Value]) -> Value {
    let mut buffer = json!({});
    for key in OF_PORTS {
        let rows = switches.iter().flat_map(|switch| {
            list(&switch["buffer"], key).map(|row| named(row, "port", &switch["name"], ":"))
        });
        buffer[key] = rows.collect();
    }
    let pools = switches
        .iter()
        .flat_map(|switch| list(switch, "pools").map(|row| named(row, "pool", &switch["name"], " ")));
    json!({ "buffer": buffer, "pools": pools.collect::<Vec<_>>() })
}

fn named(row: &Value, key: &str, switch: &Value, joint: &str) -> Value {
    let mut row = row.clone();
    let of = |v: &Value| v.as_str().unwrap_or("").to_owned();
    row[key] = format!("{}{joint}{}", of(switch), of(&row[key])).into();
    row
}
