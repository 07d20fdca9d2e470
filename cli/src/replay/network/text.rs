//! Summary of a network, as text.

use super::super::control_plane;
use super::super::text::{deaths, n, senders};
use super::buffers;
use crate::console::table::table;
use serde_json::Value;
use sluice_asic::units::BitRate;
use sluice_ir::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Most rows of a table.
pub(super) const ROWS: usize = 16;

/// Returns the text of a summary.
pub(super) fn summary(programs: &[&Program], s: &Value) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write_summary(&mut out, programs, s);
    out
}

fn list<'v>(s: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    s[key].as_array().into_iter().flatten()
}

fn text(v: &Value) -> String {
    v.as_str().unwrap_or("").to_owned()
}

/// Writes the rates of all links, unless they are equal.
fn rates(out: &mut String, s: &Value) -> std::fmt::Result {
    let counts = |key: &str| {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        list(s, key)
            .filter_map(|row| row["rate_bps"].as_u64())
            .for_each(|bps| *counts.entry(bps).or_default() += 1);
        counts
    };
    let [links, hosts] = ["links", "hosts"].map(counts);
    let all: BTreeSet<&u64> = links.keys().chain(hosts.keys()).collect();
    if all.len() < 2 {
        return Ok(());
    }
    let text = |counts: &BTreeMap<u64, usize>| {
        let of = |(bps, count): (&u64, &usize)| format!("{count} at {}", BitRate::from_bps(*bps));
        counts.iter().rev().map(of).collect::<Vec<_>>().join(", ")
    };
    writeln!(out, "  links between switches: {}; links of hosts: {}", text(&links), text(&hosts))
}

fn write_summary(out: &mut String, programs: &[&Program], s: &Value) -> std::fmt::Result {
    let (switches, links) = (list(s, "switches").count(), list(s, "links").count());
    writeln!(
        out,
        "{} on {} switches and {} links, {}",
        text(&s["program"]),
        switches,
        links,
        s["chip"].as_str().unwrap_or("several chips")
    )?;
    for i in list(s, "inputs").take(ROWS) {
        writeln!(
            out,
            "  {} packets from {} into port {}",
            n(&i["packets"]),
            text(&i["file"]),
            text(&i["port"])
        )?;
    }
    more(out, "inputs", list(s, "inputs").count())?;
    rates(out, s)?;
    let p = &s["packets"];
    writeln!(
        out,
        "\npackets: {} in + {} created = {} out + {} dropped + {} absorbed + {} held; {} hops over links",
        n(&p["in"]),
        n(&p["created"]),
        n(&p["out"]),
        n(&p["dropped"]),
        n(&p["absorbed"]),
        n(&p["held"]),
        n(&s["hops"])
    )?;
    if let Some(line) = control_plane::text(&s["control_plane"]) {
        writeln!(out, "{line}")?;
    }
    if let Some(l) = s["latency_ns"].as_object() {
        let ns = |k: &str| l[k].as_f64().unwrap_or(0.0);
        writeln!(
            out,
            "latency: {:.1} ns least, {:.1} median, {:.1} at 99 %, {:.1} most (first bit in to first bit out of the \
             network)",
            ns("min"),
            ns("p50"),
            ns("p99"),
            ns("max"),
        )?;
    }
    deaths(out, programs, s)?;
    switch_rows(out, s)?;
    link_rows(out, s)?;
    queue_rows(out, s)?;
    buffers::write(out, s)?;
    senders(out, s)?;
    for v in list(s, "violations") {
        let packet = v["packet"].as_u64().map_or(String::new(), |n| format!(" packet {n}:"));
        writeln!(
            out,
            "\nFAILED {} at {}:{packet} {}",
            text(&v["property"]),
            text(&v["switch"]),
            text(&v["text"])
        )?;
    }
    for w in list(s, "warnings") {
        writeln!(out, "\nwarning: {}", text(w))?;
    }
    Ok(())
}

fn more(out: &mut String, what: &str, count: usize) -> std::fmt::Result {
    match count.checked_sub(ROWS) {
        Some(rest @ 1..) => writeln!(out, "  and {rest} {what} more"),
        _ => Ok(()),
    }
}

fn switch_rows(out: &mut String, s: &Value) -> std::fmt::Result {
    let row = |v: &Value| {
        let p = &v["packets"];
        let numbers =
            ["in", "created", "out", "dropped", "absorbed", "held"].map(|key| n(&p[key]).to_string());
        let median = v["latency_ns"]["p50"].as_f64().map_or(String::new(), |ns| format!("{ns:.1}"));
        [text(&v["name"]), text(&v["program"])].into_iter().chain(numbers).chain([median]).collect()
    };
    let busy = || list(s, "switches").filter(|v| n(&v["packets"]["in"]) + n(&v["packets"]["created"]) > 0);
    let rows: Vec<Vec<String>> = busy().take(ROWS).map(row).collect();
    let titles = ["SWITCH", "PROGRAM", "IN", "CREATED", "OUT", "DROPPED", "ABSORBED", "HELD", "MEDIAN NS"];
    writeln!(out, "\n{}", table(&titles, rows))?;
    more(out, "switches", busy().count())
}

fn link_rows(out: &mut String, s: &Value) -> std::fmt::Result {
    let lost = |way: &Value| way["drops"].as_object().map_or(0, |drops| drops.values().map(n).sum::<u64>());
    let mut links: Vec<&Value> = list(s, "links").filter(|l| frames(l) > 0).collect();
    // The busiest first; links with equal counts keep their order.
    links.sort_by_key(|l| std::cmp::Reverse(frames(l)));
    if links.is_empty() {
        return Ok(());
    }
    let count = links.len();
    let row = |l: &&Value| {
        vec![
            text(&l["link"]),
            format!("{}G", n(&l["rate_bps"]) / 1_000_000_000),
            format!("{}", l["delay_ns"].as_f64().unwrap_or(0.0)),
            n(&l["forth"]["packets"]).to_string(),
            n(&l["back"]["packets"]).to_string(),
            (lost(&l["forth"]) + lost(&l["back"])).to_string(),
        ]
    };
    let rows = links.iter().take(ROWS).map(row).collect();
    writeln!(out, "\n{}", table(&["BUSIEST LINKS", "RATE", "DELAY NS", "FORTH", "BACK", "LOST"], rows))?;
    more(out, "links", count)
}

fn frames(link: &Value) -> u64 {
    n(&link["forth"]["packets"]) + n(&link["back"]["packets"])
}

fn queue_rows(out: &mut String, s: &Value) -> std::fmt::Result {
    let mut queues: Vec<&Value> = list(s, "queues").collect();
    queues.sort_by_key(|q| std::cmp::Reverse((n(&q["max_cells"]), n(&q["dropped"]))));
    if queues.is_empty() {
        return Ok(());
    }
    let row = |q: &&Value| {
        vec![
            format!("{}:{} queue {}", text(&q["switch"]), text(&q["port"]), n(&q["queue"])),
            n(&q["enqueued"]).to_string(),
            n(&q["dropped"]).to_string(),
            n(&q["max_cells"]).to_string(),
        ]
    };
    let rows = queues.iter().take(5).map(row).collect();
    writeln!(out, "\n{}", table(&["FULLEST QUEUES", "ENQUEUED", "DROPPED", "MAX CELLS"], rows))
}
