//! `summary.json`: every key of the contract, always.

use super::Plan;
use super::run::Done;
use super::sink::Latency;
use serde_json::{Map, Value, json};
use sluice_asic::units::{BitRate, Duration};
use sluice_ir::{CounterHome, LabelKind};
use sluice_pcaps::replay::Pace;
use sluice_switch::{DeviceDrop, Mode, PipeOverload, Reason, RecirculationOverload, Stalled};

/// The summary of a run.
pub(crate) fn value(plan: &Plan<'_>, done: &Done<'_>) -> Value {
    let t = &done.totals;
    let program = &plan.program;
    let params: Map<String, Value> =
        program.params.iter().map(|p| (p.key.clone(), Value::String(p.value.clone()))).collect();
    let (mut drops, mut absorbed) = (Map::new(), Map::new());
    for (reason, count) in t.reasons().filter(|(_, n)| *n > 0) {
        let consumed = matches!(reason, Reason::Label(l) if program.labels[l].kind == LabelKind::Consume);
        let list = if consumed { &mut absorbed } else { &mut drops };
        list.insert(reason.name(program).to_owned(), count.into());
    }
    if t.made.digest > 0 {
        absorbed.insert("digest".into(), t.made.digest.into());
    }
    if t.mac_control > 0 {
        absorbed.insert("mac_control".into(), t.mac_control.into());
    }
    let mut held = Map::new();
    for (place, count) in
        [("ingress", done.held.ingress), ("queues", done.held.queues), ("egress", done.held.egress)]
    {
        if count > 0 {
            held.insert(place.into(), count.into());
        }
    }
    let warnings = warnings(plan, done);
    json!({
        "schema": "sluice.summary/1",
        "program": program.name,
        "chip": plan.placement.chip.name,
        "params": params,
        "seed": plan.args.seed,
        "inputs": inputs(done),
        "packets": {
            "in": t.received, "created": t.created, "out": t.sent, "dropped": t.dropped,
            "absorbed": t.absorbed, "held": done.held.total(),
        },
        "created": {
            "mirror": t.made.mirror, "multicast": t.made.multicast, "pktgen": t.made.pktgen, "digest": t.made.digest, "pfc": t.made.pfc,
        },
        "drops": drops,
        "absorbed": absorbed,
        "held": held,
        "recirculated": t.recirculated,
        "resubmitted": t.resubmitted,
        "latency_ns": latency(plan, done),
        "ports": ports(plan, done),
        "queues": done.queues,
        "pools": std::iter::once(&done.buffer).chain(&done.flow_pools).collect::<Vec<_>>(),
        "buffer": done.flow,
        "obey_pfc": done.obeyed,
        "hot_flows": done.hot_flows,
        "flow_control_words": done.words,
        "counters": counters(plan, done),
        "registers": super::state::registers(plan, done, super::state::SHOWN),
        "readings": super::state::readings(plan, done),
        "warnings": warnings,
        "violations": violations(done),
    })
}

/// Properties that do not hold, with `--check`.
fn violations(done: &Done<'_>) -> Vec<Value> {
    let list = done.collector.checked.as_ref().map_or(&[][..], |c| c.monitor.violations());
    let one = |v: &sluice_switch::property::Violation| json!({ "property": v.property, "packet": v.tag, "time_ps": v.time.as_ps(), "text": v.text });
    list.iter().map(one).collect()
}

fn inputs(done: &Done<'_>) -> Vec<Value> {
    let pairs = done.inputs.sources.iter().zip(&done.reports);
    pairs
        .map(|(s, r)| {
            json!({
                "file": s.name, "port": s.port_text, "dev_port": s.port.number(),
                "packets": r.packets, "truncated": r.truncated.is_some(),
            })
        })
        .collect()
}

fn latency(plan: &Plan<'_>, done: &Done<'_>) -> Value {
    if plan.config.mode == Mode::Functional {
        return Value::Null;
    }
    latency_of(&done.collector.latency)
}

/// The `latency_ns` key.
pub(super) fn latency_of(l: &Latency) -> Value {
    if l.count == 0 {
        return Value::Null;
    }
    let ns = |ps: u64| ps as f64 / 1000.0;
    json!({
        "method": "first bit in to first bit out",
        "min": ns(l.min), "p50": ns(l.quantile(0.5)), "p99": ns(l.quantile(0.99)), "max": ns(l.max),
    })
}

fn ports(plan: &Plan<'_>, done: &Done<'_>) -> Vec<Value> {
    let busy = done.totals.ports.iter().filter(|p| p.rx_packets + p.tx_packets > 0);
    busy.map(|p| {
        json!({
            "port": p.name, "dev_port": p.dev_port, "speed_bps": plan.speed_of(p.dev_port).as_bps(),
            "rx_packets": p.rx_packets, "rx_bytes": p.rx_bytes,
            "tx_packets": p.tx_packets, "tx_bytes": p.tx_bytes,
        })
    })
    .collect()
}

/// Counter cells that counted something; those of entries by the entry's slot.
fn counters(plan: &Plan<'_>, done: &Done<'_>) -> Vec<Value> {
    let mut list = Vec::new();
    for (counter, data) in plan.program.counters.iter() {
        for (i, cell) in
            done.state.counters[counter].iter().enumerate().filter(|(_, c)| c.packets + c.bytes > 0)
        {
            let table = match data.home {
                CounterHome::Direct(t) => Value::String(plan.program.tables[t].name.clone()),
                CounterHome::Indirect(_) => Value::Null,
            };
            list.push(json!({
                "counter": data.name, "table": table, "index": i, "packets": cell.packets, "bytes": cell.bytes,
            }));
        }
    }
    list
}

fn warnings(plan: &Plan<'_>, done: &Done<'_>) -> Vec<String> {
    let mut list: Vec<String> = done.cut_tails().chain(done.oddities()).collect();
    list.extend(unparsed(done));
    list.extend(done.stalled.iter().map(|stalled| stall(plan, stalled)));
    if plan.config.mode == Mode::Timed && plan.schedule.pace != Pace::LineRate {
        list.extend(delays(plan, done));
    }
    list.extend(done.pipe_overloads.iter().map(|o| pipe_overload(plan, o)));
    list.extend(done.recirculation_overloads.iter().map(|c| recirculation_overload(plan, c)));
    list
}

/// Describes a gress of a pipe that received more than one packet per cycle.
fn pipe_overload(plan: &Plan<'_>, o: &PipeOverload) -> String {
    let clock = plan.placement.chip.mau.clock;
    format!(
        "pipe {} took packets into {} at its ceiling, one per cycle of {clock}, those that are recirculated or made inside \
         included; they came faster and waited up to {} for a slot",
        o.pipe,
        o.gress,
        clock.span(o.waited),
    )
}

/// Describes recirculation ports that received more than their line carries.
fn recirculation_overload(plan: &Plan<'_>, c: &RecirculationOverload) -> String {
    format!(
        "the recirculation ports of pipe {} were at their ceiling, {} together; packets waited up to {} for the line",
        c.pipe, plan.placement.chip.ports.recirculation_rate, c.waited,
    )
}

/// A queue that holds packets at the end and may not send: pauses that last are never passed over in silence.
fn stall(plan: &Plan<'_>, s: &Stalled) -> String {
    let (port, queue, packets) = (plan.port_name(s.dev_port), s.queue, s.packets);
    let who = match s.by_peer {
        true => "PFC frames of the port's peer (a profile's `watchdog` ends pauses that last)",
        false => "the program or an operator",
    };
    format!("port {port}: queue {queue} still holds {packets} packets, kept from sending by {who}")
}

/// Inputs whose frames came closer together than their port's line allows.
fn delays(plan: &Plan<'_>, done: &Done<'_>) -> Vec<String> {
    let mut list = Vec::new();
    for (port, load) in done.inputs.ports.iter().zip(&done.ports) {
        // Stamps have a resolution of 1 ns: less than that is rounding, not traffic.
        if load.most < Duration::from_nanos(1) {
            continue;
        }
        let line = plan.speed_of(port.number());
        let mut text = format!(
            "port {}: {} of {} packets came closer together than its {line} line allows and were delayed, by {} at \
             most and {} at the end",
            plan.port_name(port.number()),
            load.delayed,
            load.packets,
            load.most,
            load.at_end,
        );
        let span = done.last.since_origin().saturating_sub(load.at_end).as_ps();
        let bits = u128::from(load.wire_bytes) * 8 * 1_000_000_000_000;
        if let Some(offered) = bits.checked_div(span.into()).and_then(|b| u64::try_from(b).ok())
            && offered > line.as_bps()
        {
            text.push_str(&format!("; the whole trace offers {}", BitRate::from_bps(offered)));
        }
        list.push(text);
    }
    list
}

/// Packets that the parser could not read, with the place of the first in its capture.
fn unparsed(done: &Done<'_>) -> Vec<String> {
    let count = |reason: DeviceDrop| {
        done.totals.reasons().find(|(r, _)| *r == Reason::Device(reason)).map_or(0, |(_, n)| n)
    };
    let text = |u: &super::sink::Unparsed| {
        let what = match u.reason {
            DeviceDrop::ParserPartialHeader => "end inside a header that the parser extracts",
            _ => "match no transition of the parser",
        };
        let first = u.first.as_ref().map_or(String::new(), |(name, o)| {
            format!(
                "; the first is record {} at byte {} of {name}, {} bytes long",
                o.record, o.offset, u.bytes
            )
        });
        format!("{} packets {what} ({}){first}", count(u.reason), u.reason.name())
    };
    done.collector.unparsed.iter().map(text).collect()
}
