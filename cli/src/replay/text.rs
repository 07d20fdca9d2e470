//! Summary of a replay, as text: the totals first, then drops with advice, then tables. Rows of zeros are left out.

use super::args::ReplayArgs;
use super::control_plane;
use super::endings::{Ending, endings};
use super::sonic;
use crate::console::hint::{own_arguments, proposals};
use crate::console::table::table;
use crate::report::ReportArgs;
use serde_json::Value;
use sluice_control::show_key;
use sluice_fabric::network::SwitchSetup;
use sluice_ir::{CounterHome, Program};
use sluice_replay::Checks;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Writes the packets that senders held back because they obey PFC.
pub(super) fn senders(out: &mut String, s: &Value) -> std::fmt::Result {
    let held: Vec<&Value> = s["obey_pfc"]["ports"].as_array().into_iter().flatten().collect();
    if held.is_empty() {
        return Ok(());
    }
    let cable = s["obey_pfc"]["cable_m"].as_f64().unwrap_or(0.0);
    writeln!(out, "\nsenders obey PFC over {cable} m:")?;
    for p in held {
        let ns = |key: &str| p["delay_ns"][key].as_f64().unwrap_or(0.0);
        writeln!(
            out,
            "  port {}{}: {} pauses, {} packets held back, by {:.1} ns at most and {:.1} in all, {} not sent",
            p["switch"].as_str().map_or(String::new(), |name| format!("{name}:")),
            p["port"].as_str().unwrap_or(""),
            n(&p["pauses"]),
            n(&p["held_back"]),
            ns("most"),
            ns("total"),
            n(&p["unsent"])
        )?;
    }
    Ok(())
}

/// Writes the flow-control words that are in the visibility FIFOs.
fn words(out: &mut String, s: &Value) -> std::fmt::Result {
    for pipe in s["flow_control_words"].as_array().into_iter().flatten() {
        let (words, lost) = (n(&pipe["words"]), n(&pipe["lost"]));
        let more = if lost > 0 { format!("; the visibility FIFO lost {lost}") } else { String::new() };
        writeln!(out, "\nflow-control words to queues of pipe {}: {words}{more}", n(&pipe["pipe"]))?;
        for word in pipe["seen"].as_array().into_iter().flatten() {
            writeln!(
                out,
                "  {} ns: port {} queue {}, credit {} ({})",
                word["time_ns"],
                n(&word["local_port"]),
                n(&word["group_queue"]),
                n(&word["credit"]),
                word["mode"].as_str().unwrap_or("not obeyed")
            )?;
        }
    }
    Ok(())
}

pub(super) fn n(v: &Value) -> u64 {
    v.as_u64().unwrap_or(0)
}

/// Returns the text of a summary; `is_written` is true if the results are in a folder too. `checked` is the line of
/// [`checked`]. `program` is the program as the user named it.
pub(super) fn summary(
    switch: &SwitchSetup,
    program: &str,
    is_written: bool,
    checked: &str,
    s: &Value,
) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write_summary(&mut out, switch, checked, s);
    let _ = next(&mut out, program, is_written);
    out
}

/// Returns the line of `--check`: how many properties were checked, and that they hold. It is empty if nothing was checked or a
/// property failed.
pub(super) fn checked<'c>(checks: impl IntoIterator<Item = &'c Checks>, s: &Value) -> String {
    let factories = checks.into_iter().filter_map(|c| c.properties.as_ref());
    let names: BTreeSet<String> = factories.flat_map(|make| make()).map(|p| p.name().to_owned()).collect();
    if names.is_empty() || s["violations"].as_array().is_some_and(|v| !v.is_empty()) {
        return String::new();
    }
    let count = names.len();
    let names: Vec<String> = names.into_iter().collect();
    format!("\nproperties: all {count} hold: {}\n", names.join(", "))
}

fn write_summary(out: &mut String, switch: &SwitchSetup, checked: &str, s: &Value) -> std::fmt::Result {
    let (program, placement) = (&switch.placed.program, &switch.placed.placement);
    let p = &s["packets"];
    let stages =
        placement.gresses.iter().flat_map(|g| g.nodes.values()).flat_map(|n| &n.parts).map(|p| p.stage);
    writeln!(
        out,
        "{} on {}: fits in {} of {} stages",
        program.name,
        placement.chip.name,
        stages.max().map_or(0, |s| u32::from(s) + 1),
        placement.chip.mau.stages
    )?;
    for i in s["inputs"].as_array().into_iter().flatten() {
        writeln!(
            out,
            "  {} packets from {} into port {}",
            n(&i["packets"]),
            i["file"].as_str().unwrap_or(""),
            i["port"].as_str().unwrap_or("")
        )?;
    }
    writeln!(
        out,
        "\npackets: {} in + {} created = {} out + {} dropped + {} absorbed + {} held",
        n(&p["in"]),
        n(&p["created"]),
        n(&p["out"]),
        n(&p["dropped"]),
        n(&p["absorbed"]),
        n(&p["held"])
    )?;
    if let Some(line) = control_plane::text(&s["control_plane"]) {
        writeln!(out, "{line}")?;
    }
    if let Some(l) = s["latency_ns"].as_object() {
        let ns = |k: &str| l[k].as_f64().unwrap_or(0.0);
        writeln!(
            out,
            "latency: {:.1} ns least, {:.1} median, {:.1} at 99 %, {:.1} most ({})",
            ns("min"),
            ns("p50"),
            ns("p99"),
            ns("max"),
            l["method"].as_str().unwrap_or("")
        )?;
    }
    deaths(out, &[program], s)?;
    ports(out, s)?;
    senders(out, s)?;
    words(out, s)?;
    counters(out, switch, s)?;
    registers(out, s)?;
    readings(out, s)?;
    queues(out, switch, s)?;
    sonic::write(out, s)?;
    for v in s["violations"].as_array().into_iter().flatten() {
        let packet = v["packet"].as_u64().map_or(String::new(), |n| format!(" packet {n}:"));
        let (property, text) = (v["property"].as_str().unwrap_or(""), v["text"].as_str().unwrap_or(""));
        writeln!(out, "\nFAILED {property}:{packet} {text}")?;
    }
    for w in s["warnings"].as_array().into_iter().flatten() {
        writeln!(out, "\nwarning: {}", w.as_str().unwrap_or(""))?;
    }
    out.write_str(checked)
}

/// Writes the reasons why packets ended; labels are those of the programs.
pub(super) fn deaths(out: &mut String, programs: &[&Program], s: &Value) -> std::fmt::Result {
    let total = n(&s["packets"]["in"]).max(1) as f64;
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

fn ports(out: &mut String, s: &Value) -> std::fmt::Result {
    let rows: Vec<Vec<String>> = s["ports"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|p| {
            vec![
                p["port"].as_str().unwrap_or("").to_owned(),
                n(&p["dev_port"]).to_string(),
                format!("{}G", n(&p["speed_bps"]) / 1_000_000_000),
                n(&p["rx_packets"]).to_string(),
                n(&p["rx_bytes"]).to_string(),
                n(&p["tx_packets"]).to_string(),
                n(&p["tx_bytes"]).to_string(),
            ]
        })
        .collect();
    writeln!(
        out,
        "\n{}",
        table(&["PORT", "DEV", "SPEED", "RX PKTS", "RX BYTES", "TX PKTS", "TX BYTES"], rows)
    )
}

/// Returns the name of a counter's cell: the entry's key, or the index.
fn cell_name(switch: &SwitchSetup, counter: &str, index: u64) -> String {
    let program = &switch.placed.program;
    let home = program.counters.values().find(|c| c.name == counter).map(|c| c.home);
    let Some(CounterHome::Direct(t)) = home else { return index.to_string() };
    let data = &program.tables[t];
    let entry = switch.control.tables[t].slots.get(index as usize).and_then(Option::as_ref);
    let Some(entry) = entry else { return index.to_string() };
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

/// Returns the entries that packets hit: table and key, packets, bytes.
pub(super) fn hits(switch: &SwitchSetup, s: &Value) -> Vec<[String; 4]> {
    let program = &switch.placed.program;
    let direct = |name: &str| {
        program.counters.values().any(|c| c.name == name && matches!(c.home, CounterHome::Direct(_)))
    };
    let counters = s["counters"].as_array().into_iter().flatten();
    let hit = counters.filter(|c| direct(c["counter"].as_str().unwrap_or(""))).map(|c| {
        let name = c["counter"].as_str().unwrap_or("");
        let key = cell_name(switch, name, n(&c["index"]));
        let table = c["table"].as_str().unwrap_or("").to_owned();
        [table, key, n(&c["packets"]).to_string(), n(&c["bytes"]).to_string()]
    });
    hit.collect()
}

fn counters(out: &mut String, switch: &SwitchSetup, s: &Value) -> std::fmt::Result {
    let row = |[table, key, packets, bytes]: [String; 4]| vec![format!("{table}  {key}"), packets, bytes];
    let rows: Vec<Vec<String>> = hits(switch, s).into_iter().map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", table(&["ENTRIES HIT", "PKTS", "BYTES"], rows))
}

/// Returns `17`, or `(17, 4)` for a pair.
pub(super) fn value(element: &Value) -> String {
    match element["high"].as_u64() {
        Some(high) => format!("({}, {high})", n(&element["value"])),
        None => n(&element["value"]).to_string(),
    }
}

/// Writes a few elements of every register that packets changed.
fn registers(out: &mut String, s: &Value) -> std::fmt::Result {
    const FEW: usize = 6;
    let rows: Vec<Vec<String>> = s["registers"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|r| {
            let elements = r["elements"].as_array().into_iter().flatten().take(FEW);
            let mut texts: Vec<String> =
                elements.map(|e| format!("[{}] = {}", n(&e["index"]), value(e))).collect();
            if n(&r["changed"]) > texts.len() as u64 {
                texts.push("..".to_owned());
            }
            vec![
                r["register"].as_str().unwrap_or("").to_owned(),
                n(&r["pipe"]).to_string(),
                format!("{} of {}", n(&r["changed"]), n(&r["size"])),
                texts.join(", "),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", table(&["REGISTER", "PIPE", "CHANGED", "ELEMENTS"], rows))
}

fn readings(out: &mut String, s: &Value) -> std::fmt::Result {
    let rows: Vec<Vec<String>> = s["readings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|r| {
            let (name, text) = match r["register"].as_str() {
                Some(name) => (name, value(r)),
                None => {
                    let text = format!("{} packets, {} bytes", n(&r["packets"]), n(&r["bytes"]));
                    (r["counter"].as_str().unwrap_or(""), text)
                }
            };
            let ns = n(&r["time_ps"]);
            vec![
                format!("{}.{:03} ns", ns / 1000, ns % 1000),
                format!("{name}[{}]", n(&r["index"])),
                n(&r["pipe"]).to_string(),
                text,
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", table(&["READ AT", "CELL", "PIPE", "VALUE"], rows))
}

fn queues(out: &mut String, switch: &SwitchSetup, s: &Value) -> std::fmt::Result {
    let cell = s["buffer"]["cell_bytes"].as_u64().unwrap_or(switch.placed.placement.chip.tm.cell.get());
    let name = |dev: u64| {
        let port = switch.ports.iter().find(|p| u64::from(p.dev_port.number()) == dev);
        let front = port.and_then(|port| port.front()).map(|front| switch.ports.shown(front));
        front.or(port.map(ToString::to_string)).unwrap_or_else(|| format!("dev:{dev}"))
    };
    let mut busiest: Vec<&Value> = s["queues"].as_array().into_iter().flatten().collect();
    busiest.sort_by_key(|q| std::cmp::Reverse((n(&q["dropped"]), n(&q["max_cells"]))));
    let rows: Vec<Vec<String>> = busiest
        .iter()
        .take(5)
        .map(|q| {
            vec![
                format!("{} queue {}", name(n(&q["dev_port"])), n(&q["queue"])),
                n(&q["enqueued"]).to_string(),
                n(&q["dropped"]).to_string(),
                n(&q["max_cells"]).to_string(),
                (n(&q["max_cells"]) * cell).to_string(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", table(&["FULLEST QUEUES", "ENQUEUED", "DROPPED", "MAX CELLS", "MAX BYTES"], rows))
}

/// Writes commands that show more, with the arguments of the user.
fn next(out: &mut String, name: &str, is_written: bool) -> std::fmt::Result {
    let own = |without: &[&str]| own_arguments::<ReplayArgs, ReplayArgs>("replay", name, without);
    let mut list = vec![(
        format!(
            "sluice replay {} --trace --limit 3",
            own(&["--trace", "--limit", "--coverage", "--find-ndr", "-o", "--output"])
        ),
        "what happens to each packet, step by step",
    )];
    if !is_written {
        let command = format!("sluice replay {} -o out", own(&[]));
        list.push((command, "captures and summary.json, for tshark and scripts"));
    }
    let report = own_arguments::<ReplayArgs, ReportArgs>("replay", name, &["-o", "--output"]);
    list.push((format!("sluice report {report}"), "stages, resources, cycles"));
    list.push(("sluice explain WORD".to_owned(), "what a word above means"));
    write!(out, "\nnext:\n{}", proposals(&list))
}
