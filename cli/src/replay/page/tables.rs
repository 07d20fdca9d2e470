//! Tables of a page: ports, switches, links, queues, groups, pools, PFC, state.

use super::{list, n, words};
use crate::replay::text::value;
use maud::{Markup, html};
use serde_json::Value;
use sluice_asic::units::BitRate;
use sluice_charts::Table;

/// Returns a row of numbers and texts of an object, by key.
fn row<'k>(v: &Value, keys: impl IntoIterator<Item = &'k str>) -> Vec<String> {
    keys.into_iter().map(|key| words(&v[key])).collect()
}

/// Returns the name of a port, with its switch in a network.
fn port(v: &Value) -> String {
    let name = v["port"].as_str().map_or_else(|| format!("dev:{}", n(&v["dev_port"])), str::to_owned);
    v["switch"].as_str().map_or(name.clone(), |switch| format!("{switch}:{name}"))
}

fn rate(v: &Value) -> String {
    BitRate::from_bps(n(v)).to_string()
}

/// Returns the elements of a list of `buffer`, of all switches; in a network, each has the name of its switch.
fn of_buffers(s: &Value, key: &str) -> Vec<Value> {
    let mut all: Vec<Value> = list(&s["buffer"], key).cloned().collect();
    for switch in list(s, "switches") {
        for element in list(&switch["buffer"], key) {
            let mut element = element.clone();
            element["switch"] = switch["name"].clone();
            all.push(element);
        }
    }
    all
}

pub(super) fn ports(s: &Value) -> Markup {
    let keys = ["dev_port", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes"];
    let rows =
        list(s, "ports").map(|p| [port(p), rate(&p["speed_bps"])].into_iter().chain(row(p, keys)).collect());
    let header = ["port", "speed", "dev_port", "packets in", "bytes in", "packets out", "bytes out"];
    html! { (Table::new(&header).rows(rows)) }
}

pub(super) fn switches(s: &Value) -> Markup {
    let of = |v: &Value| {
        let counts = row(&v["packets"], ["in", "created", "out", "dropped", "absorbed", "held"]);
        let ns = |key: &str| v["latency_ns"][key].as_f64().map_or(String::new(), |ns| format!("{ns:.1}"));
        row(v, ["name", "program"])
            .into_iter()
            .chain(counts)
            .chain([ns("p50"), ns("p99"), ns("max")])
            .collect()
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
    html! { (Table::new(&header).rows(list(s, "switches").map(of))) }
}

pub(super) fn links(s: &Value) -> Markup {
    let lost = |way: &Value| way["drops"].as_object().map_or(0, |drops| drops.values().map(n).sum::<u64>());
    let mut links: Vec<&Value> = list(s, "links").collect();
    // The busiest first; links with equal counts keep their order.
    links.sort_by_key(|l| std::cmp::Reverse(n(&l["forth"]["packets"]) + n(&l["back"]["packets"])));
    let of = |l: &Value| {
        let way = |way: &Value| [words(&way["packets"]), words(&way["bytes"]), lost(way).to_string()];
        let head = [words(&l["link"]), rate(&l["rate_bps"]), words(&l["delay_ns"])];
        head.into_iter().chain(way(&l["forth"])).chain(way(&l["back"])).collect()
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

pub(super) fn queues(s: &Value, cell: u64) -> Markup {
    let mut all: Vec<&Value> = list(s, "queues").collect();
    all.sort_by_key(|q| std::cmp::Reverse((n(&q["max_cells"]), n(&q["dropped"]))));
    let name = |q: &Value| {
        let known = list(s, "ports").find(|p| p["dev_port"] == q["dev_port"]);
        match (q["port"].is_string(), known) {
            (false, Some(known)) => port(known),
            _ => port(q),
        }
    };
    let of = |q: &Value| {
        let bytes = (n(&q["max_cells"]) * cell).to_string();
        let keys = ["queue", "enqueued", "enqueued_bytes", "dropped", "dropped_bytes", "max_cells"];
        [name(q)].into_iter().chain(row(q, keys)).chain([bytes]).collect()
    };
    let header =
        ["port", "queue", "packets in", "bytes in", "dropped", "bytes dropped", "most cells", "most bytes"];
    let marked = of_buffers(s, "queues");
    let acted: Vec<&Value> =
        marked.iter().filter(|q| n(&q["ecn_marked"]) + n(&q["wred_dropped"]) > 0).collect();
    let wred = |q: &&Value| {
        [port(q)]
            .into_iter()
            .chain(row(q, ["queue", "ecn_marked", "ecn_marked_bytes", "wred_dropped", "wred_dropped_bytes"]))
            .collect()
    };
    html! {
        (Table::new(&header).rows(all.into_iter().map(of)))
        @if !acted.is_empty() {
            h3 { "ECN and WRED" }
            (Table::new(&["port", "queue", "marked", "bytes marked", "dropped", "bytes dropped"]).rows(acted.iter().map(wred)))
        }
    }
}

pub(super) fn has_groups(s: &Value) -> bool {
    !of_buffers(s, "priority_groups").is_empty()
}

pub(super) fn groups(s: &Value) -> Markup {
    let of = |g: &Value| {
        let kind = if g["lossless"] == true { "lossless" } else { "lossy" };
        let marks = [&g["shared"]["user"], &g["headroom"]["user"]].map(words);
        let counts = row(g, ["pauses", "dropped", "dropped_bytes"]);
        [port(g), words(&g["pg"]), kind.to_owned()].into_iter().chain(marks).chain(counts).collect()
    };
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
    html! { (Table::new(&header).rows(of_buffers(s, "priority_groups").iter().map(of))) }
}

pub(super) fn pools(s: &Value, cell: u64) -> Markup {
    let of = |p: &Value| {
        let (size, most) = (n(&p["cells"]), n(&p["max_cells"]));
        let share = format!("{:.1} %", 100.0 * most as f64 / size.max(1) as f64);
        let name = p["switch"]
            .as_str()
            .map_or_else(|| words(&p["pool"]), |switch| format!("{switch}: {}", words(&p["pool"])));
        let kind = p["kind"].as_str().unwrap_or("memory").to_owned();
        vec![
            name,
            kind,
            words(&p["partition"]),
            size.to_string(),
            most.to_string(),
            (most * cell).to_string(),
            share,
        ]
    };
    let header = ["pool", "kind", "partition", "cells", "most cells", "most bytes", "fullest"];
    html! { (Table::new(&header).rows(list(s, "pools").map(of))) }
}

pub(super) fn has_pfc(s: &Value) -> bool {
    !of_buffers(s, "pfc").is_empty() || list(&s["obey_pfc"], "ports").next().is_some()
}

pub(super) fn pfc(s: &Value) -> Markup {
    let mut rows = Vec::new();
    for p in of_buffers(s, "pfc") {
        for priority in 0..8 {
            let at = |key: &str| n(&p[key][priority]);
            if at("rx") + at("tx") > 0 {
                let paused = format!("{:.3}", p["paused_us"][priority].as_f64().unwrap_or(0.0));
                let counts =
                    [priority as u64, at("tx"), at("rx"), at("pauses"), at("resumes")].map(|c| c.to_string());
                rows.push([port(&p)].into_iter().chain(counts).chain([paused]).collect());
            }
        }
    }
    let storms = of_buffers(s, "watchdog");
    let storm = |w: &Value| {
        [port(w)]
            .into_iter()
            .chain(row(w, ["queue", "action", "status", "detected", "restored", "dropped"]))
            .collect()
    };
    let held: Vec<&Value> = list(&s["obey_pfc"], "ports").collect();
    let sender = |p: &&Value| {
        let ns = |key: &str| p["delay_ns"][key].as_f64().map_or(String::new(), |ns| format!("{ns:.1}"));
        let counts = row(p, ["pauses", "held_back", "unsent"]);
        [port(p)].into_iter().chain(counts).chain([ns("most"), ns("total")]).collect()
    };
    html! {
        @if !rows.is_empty() {
            p.note { "Pause frames of each port and priority; received ones pause the port's queues." }
            (Table::new(&["port", "priority", "frames out", "frames in", "pauses", "resumes", "paused, us"]).rows(rows))
        }
        @if !storms.is_empty() {
            h3 { "PFC watchdog" }
            @let header = ["port", "queue", "action", "status", "detected", "restored", "dropped"];
            (Table::new(&header).rows(storms.iter().map(storm)))
        }
        @if !held.is_empty() {
            h3 { "Senders that obey PFC, over cables of " (words(&s["obey_pfc"]["cable_m"])) " m" }
            @let header = ["port", "pauses", "packets held back", "not sent", "longest wait, ns", "waits together, ns"];
            (Table::new(&header).rows(held.iter().map(sender)))
        }
    }
}

pub(super) fn has_state(s: &Value) -> bool {
    ["registers", "readings"].iter().any(|key| list(s, key).next().is_some())
}

pub(super) fn state(s: &Value) -> Markup {
    /// Most elements of a register that are shown.
    const ELEMENTS: usize = 64;
    let register = |r: &Value| {
        let elements =
            list(r, "elements").take(ELEMENTS).map(|e| format!("[{}] = {}", n(&e["index"]), value(e)));
        let changed = format!("{} of {}", n(&r["changed"]), n(&r["size"]));
        let mut texts: Vec<String> = elements.collect();
        if n(&r["changed"]) > texts.len() as u64 {
            texts.push("..".to_owned());
        }
        vec![words(&r["register"]), words(&r["pipe"]), changed, texts.join(", ")]
    };
    let reading = |r: &Value| {
        let (name, text) = match r["register"].as_str() {
            Some(name) => (name, value(r)),
            None => (
                r["counter"].as_str().unwrap_or(""),
                format!("{} packets, {} bytes", n(&r["packets"]), n(&r["bytes"])),
            ),
        };
        let ps = n(&r["time_ps"]);
        vec![
            format!("{name}[{}]", n(&r["index"])),
            words(&r["pipe"]),
            format!("{}.{:03}", ps / 1000, ps % 1000),
            text,
        ]
    };
    let (registers, readings): (Vec<_>, Vec<_>) =
        (list(s, "registers").map(register).collect(), list(s, "readings").map(reading).collect());
    html! {
        @if !registers.is_empty() { (Table::new(&["register", "pipe", "changed", "elements"]).rows(registers)) }
        @if !readings.is_empty() { h3 { "Readings of the control plane" }
        (Table::new(&["cell", "pipe", "ns", "value"]).rows(readings)) }
    }
}

pub(super) fn inputs(s: &Value) -> Markup {
    let rows = list(s, "inputs").map(|i| row(i, ["file", "port", "packets"]));
    let params: Vec<Vec<String>> = s["params"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| vec![key.clone(), words(value)])
        .collect();
    html! {
        (Table::new(&["input", "port", "packets"]).rows(rows))
        p { "Seed " (words(&s["seed"])) "." }
        @if !params.is_empty() {
            details { summary { (params.len()) " parameters of the program" }
            (Table::new(&["parameter", "value"]).rows(params)) }
        }
    }
}
