//! Summaries: documents of schema `sluice.summary/1`.

use crate::collector::{Latency, Unparsed};
use crate::held_back::HeldBackReport;
use crate::outcome::{InputOutcome, Outcome, QueueOutcome};
use crate::shared_buffer::PipeWords;
use serde_json::{Map, Value, json};
use sluice_asic::units::{BitRate, Duration};
use sluice_ir::{CounterHome, LabelKind};
use sluice_pcaps::replay::Pace;
use sluice_switch::property::Violation;
use sluice_switch::{DeviceDrop, PipeOverload, Reason, RecirculationOverload, Stalled};

impl Outcome<'_> {
    /// Returns the summary as a document of schema `sluice.summary/1`. Every key is always there.
    #[must_use]
    pub fn summary(&self) -> Value {
        let t = &self.totals;
        let program = self.view.program();
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
            [("ingress", self.held.ingress), ("queues", self.held.queues), ("egress", self.held.egress)]
        {
            if count > 0 {
                held.insert(place.into(), count.into());
            }
        }
        let memory =
            json!({ "pool": "buffer", "cells": self.buffer_size.0, "max_cells": self.buffer_peak.0 });
        let pools = self.shared_buffer.as_ref().map_or(&[][..], |shared| &shared.pools);
        json!({
            "schema": "sluice.summary/1",
            "program": program.name,
            "chip": self.view.placement().chip.name,
            "params": params,
            "seed": self.view.config().seed,
            "inputs": self.inputs_json(),
            "packets": {
                "in": t.received, "created": t.created, "out": t.sent, "dropped": t.dropped,
                "absorbed": t.absorbed, "held": self.held.total(),
            },
            "created": {
                "mirror": t.made.mirror, "multicast": t.made.multicast, "pktgen": t.made.pktgen, "digest": t.made.digest, "pfc": t.made.pfc,
            },
            "drops": drops,
            "absorbed": absorbed,
            "held": held,
            "recirculated": t.recirculated,
            "resubmitted": t.resubmitted,
            "latency_ns": if self.view.is_timed() { self.latency.json() } else { Value::Null },
            "ports": self.ports_json(),
            "queues": self.queues.iter().map(QueueOutcome::json).collect::<Vec<_>>(),
            "pools": std::iter::once(&memory).chain(pools).collect::<Vec<_>>(),
            "buffer": self.shared_buffer.as_ref().map_or(&Value::Null, |shared| &shared.buffer),
            "obey_pfc": self.held_back.as_ref().map_or(Value::Null, HeldBackReport::json),
            "control_plane": self.control_plane.as_ref().unwrap_or(&Value::Null),
            "flow_control_words": self.flow_control_words.iter().map(PipeWords::json).collect::<Vec<_>>(),
            "counters": self.counters_json(),
            "registers": self.registers_shown(),
            "readings": self.readings_json(),
            "warnings": self.warnings(),
            "violations": self.violations.iter().map(violation).collect::<Vec<_>>(),
        })
    }

    fn inputs_json(&self) -> Vec<Value> {
        let input = |i: &InputOutcome| {
            json!({
                "file": i.name, "port": i.port_name, "dev_port": i.port.number(),
                "packets": i.report.packets, "truncated": i.report.truncated.is_some(),
            })
        };
        self.inputs.iter().map(input).collect()
    }

    /// Returns the external ports that received or sent a packet.
    fn ports_json(&self) -> Vec<Value> {
        let busy = self.totals.ports.iter().filter(|p| p.rx_packets + p.tx_packets > 0);
        busy.map(|p| {
            json!({
                "port": p.name, "dev_port": p.dev_port, "speed_bps": self.view.speed_of(p.dev_port).as_bps(),
                "rx_packets": p.rx_packets, "rx_bytes": p.rx_bytes,
                "tx_packets": p.tx_packets, "tx_bytes": p.tx_bytes,
            })
        })
        .collect()
    }

    /// Returns counter cells that are not 0; the index of an entry's cell is the entry's slot.
    fn counters_json(&self) -> Vec<Value> {
        let program = self.view.program();
        let mut list = Vec::new();
        for (counter, data) in program.counters.iter() {
            for (i, cell) in
                self.counters.counters[counter].iter().enumerate().filter(|(_, c)| c.packets + c.bytes > 0)
            {
                let table = match data.home {
                    CounterHome::Direct(t) => Value::String(program.tables[t].name.clone()),
                    CounterHome::Indirect(_) => Value::Null,
                };
                list.push(json!({
                    "counter": data.name, "table": table, "index": i, "packets": cell.packets, "bytes": cell.bytes,
                }));
            }
        }
        list
    }

    /// Returns warnings about anomalies of inputs, overload, and queues that are stopped at the end.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut list: Vec<String> = self.cut_inputs().map(|cut| cut.to_string()).collect();
        list.extend(self.oddities());
        let shortened = self.inputs.iter().filter(|i| i.report.gaps > 0);
        list.extend(shortened.map(|i| {
            format!(
                "{}: {} gaps of more than 102 hours each take 24 to 102 hours of simulated time; the timestamps of \
                 outputs have the whole gaps",
                i.name, i.report.gaps
            )
        }));
        list.extend(self.unparsed.iter().map(|u| self.unparsed_warning(u)));
        list.extend(self.stalled.iter().map(|stalled| self.stall_warning(stalled)));
        if self.view.is_timed() && self.schedule.pace != Pace::LineRate {
            list.extend(self.delays());
        }
        list.extend(self.overtaxed.iter().map(|o| self.overtaxed_warning(o)));
        list.extend(self.crowded.iter().map(|c| self.crowded_warning(c)));
        list
    }

    /// Returns warnings about anomalies of the inputs.
    fn oddities(&self) -> impl Iterator<Item = String> + '_ {
        self.inputs.iter().flat_map(|i| {
            i.report.oddities.iter().map(|(oddity, t)| {
                format!("{}: {oddity}: {} records, first is record {}", i.name, t.count, t.first_record)
            })
        })
    }

    /// Warns of a gress that got more than one packet per cycle.
    fn overtaxed_warning(&self, o: &PipeOverload) -> String {
        let clock = self.view.placement().chip.mau.clock;
        format!(
            "pipe {} took packets into {} at its ceiling, one per cycle of {clock}, those that are recirculated or made inside \
             included; they came faster and waited up to {} for a slot",
            o.pipe,
            o.gress,
            clock.span(o.waited),
        )
    }

    /// Warns of recirculation ports that got more than their line rate.
    fn crowded_warning(&self, c: &RecirculationOverload) -> String {
        format!(
            "the recirculation ports of pipe {} were at their ceiling, {} together; packets waited up to {} for the line",
            c.pipe,
            self.view.placement().chip.ports.recirculation_rate,
            c.waited,
        )
    }

    /// Warns of a queue that holds packets at the end and may not send.
    fn stall_warning(&self, s: &Stalled) -> String {
        let (port, queue, packets) = (self.view.port_name(s.dev_port), s.queue, s.packets);
        let who = match s.by_peer {
            true => "PFC frames of the port's peer (a profile's `watchdog` ends pauses that last)",
            false => "the program or an operator",
        };
        format!("port {port}: queue {queue} still holds {packets} packets, kept from sending by {who}")
    }

    /// Warns of input ports whose frames came closer together than the line allows.
    fn delays(&self) -> Vec<String> {
        let mut list = Vec::new();
        for load in &self.loads {
            // Timestamps have a resolution of 1 ns, so a shorter wait is rounding, not traffic.
            if load.longest_wait < Duration::from_nanos(1) {
                continue;
            }
            let line = self.view.speed_of(load.port.number());
            let mut text = format!(
                "port {}: {} of {} packets came closer together than its {line} line allows and were delayed, by {} at \
                 most and {} at the end",
                self.view.port_name(load.port.number()),
                load.delayed,
                load.packets,
                load.longest_wait,
                load.last_wait,
            );
            let span = self.last.since_origin().saturating_sub(load.last_wait).as_ps();
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

    /// Warns of packets that the parser could not read, with the place of the first one in its input.
    fn unparsed_warning(&self, u: &Unparsed) -> String {
        let wanted = Reason::Device(u.reason);
        let count = self.totals.reasons().find(|(reason, _)| *reason == wanted).map_or(0, |(_, n)| n);
        let what = match u.reason {
            DeviceDrop::ParserPartialHeader => "end inside a header that the parser extracts",
            _ => "match no transition of the parser",
        };
        let first = u.first.as_ref().map_or(String::new(), |place| {
            format!(
                "; the first is record {} at byte {} of {}, {} bytes long",
                place.record, place.offset, place.input, u.bytes
            )
        });
        format!("{count} packets {what} ({}){first}", u.reason.name())
    }
}

impl Latency {
    /// Returns the key `latency_ns` of a summary.
    pub(crate) fn json(&self) -> Value {
        let (Some(min), Some(max)) = (self.min(), self.max()) else { return Value::Null };
        let ns = |ps: u64| ps as f64 / 1000.0;
        json!({
            "method": "first bit in to first bit out",
            "min": ns(min), "p50": ns(self.quantile(0.5)), "p99": ns(self.quantile(0.99)), "max": ns(max),
        })
    }
}

impl QueueOutcome {
    /// Returns an element of the key `queues` of a summary.
    fn json(&self) -> Value {
        let s = &self.stats;
        json!({
            "dev_port": self.dev_port, "queue": self.queue,
            "enqueued": s.enqueued.packets, "enqueued_bytes": s.enqueued.bytes.get(),
            "dropped": s.dropped().packets, "dropped_bytes": s.dropped().bytes.get(),
            "max_cells": s.max_cells.0,
        })
    }
}

fn violation(v: &Violation) -> Value {
    json!({ "property": v.property, "packet": v.tag, "time_ps": v.time.as_ps(), "text": v.text })
}
