//! The loop: takes packets from the feed, gives them to the switch in order of time, lets it run, drains it.

use super::Plan;
use super::ahead::Frames;
use super::flow;
use super::inputs::{Inputs, bad};
use super::network::{Agent, Told};
use super::obey;
use super::progress::Progress;
use super::sink::{Collector, Origin};
use crate::fail::Failure;
use crate::timeline::{self, Recorder};
use serde_json::{Value, json};
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::QosMaps;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{Duration, Time};
use sluice_control::Reading;
use sluice_exec::cover::Coverage;
use sluice_exec::pass::{Executor, State};
use sluice_fabric::senders::{Ears, Heard, Receiver, Senders, Sent, Waiting};
use sluice_pcaps::capture::{CaptureError, TruncatedTail};
use sluice_pcaps::replay::{InputReport, Sending};
use sluice_pcaps::wire::ethernet::wire_len;
use sluice_switch::{Crowded, Held, Mode, Overtaxed, RxFrame, Stalled, Switch, Totals};
use std::sync::atomic::Ordering;

/// Packets between two times that the switch is let run; without time more of them make fuller batches of egress.
const STRIDE: u64 = 64;
const FUNCTIONAL_STRIDE: u64 = 256;

/// A replay under way.
pub(crate) struct Session<'a, E> {
    plan: &'a Plan<'a>,
    inputs: &'a Inputs,
    switch: Switch<E>,
    collector: Collector<'a>,
    /// Bytes of a packet whose addresses change.
    scratch: Vec<u8>,
    last: Time,
    ports: Vec<PortLoad>,
    progress: Progress,
    /// Senders that obey PFC, if they do.
    senders: Option<Senders>,
    /// Files of timelines, if any are asked for.
    timelines: Option<Recorder>,
    /// The control plane of `--hot-flows`, and the frames that it wants counted.
    agent: Option<Agent>,
    data: u64,
}

/// What went into one port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortLoad {
    pub(crate) packets: u64,
    /// Bytes on the wire, with padding, FCS, preamble and gap.
    pub(crate) wire_bytes: u64,
    /// Packets that waited for the wire.
    pub(crate) delayed: u64,
    /// Longest wait, and that of the last packet.
    pub(crate) most: Duration,
    pub(crate) at_end: Duration,
}

/// A finished replay.
pub(crate) struct Done<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) reports: Vec<InputReport>,
    pub(crate) collector: Collector<'a>,
    pub(crate) totals: Totals,
    pub(crate) held: Held,
    pub(crate) state: State,
    /// Each pipe's own.
    pub(crate) pipes: Vec<State>,
    /// What the control plane has read.
    pub(crate) readings: Vec<Reading>,
    pub(crate) queues: Vec<Value>,
    pub(crate) buffer: Value,
    /// The shared buffer and its pools.
    pub(crate) flow: Value,
    pub(crate) flow_pools: Vec<Value>,
    pub(crate) ports: Vec<PortLoad>,
    pub(crate) conserved: bool,
    /// Gresses that got more than a packet per cycle.
    pub(crate) overtaxed: Vec<Overtaxed>,
    pub(crate) crowded: Vec<Crowded>,
    /// The packet at which a capture turned out to be damaged: what came before it was replayed.
    pub(crate) damage: Option<CaptureError>,
    /// What was reached, with `--coverage`.
    pub(crate) coverage: Option<Coverage>,
    /// When the last packet came in.
    pub(crate) last: Time,
    /// What senders that obey PFC held back.
    pub(crate) obeyed: Value,
    /// The `hot_flows` key.
    pub(crate) hot_flows: Value,
    /// Flow-control words that reached queues, by pipe.
    pub(crate) words: Value,
    /// Queues that hold packets and may not send.
    pub(crate) stalled: Vec<Stalled>,
    pub(crate) wall: Value,
    /// Files of timelines, to be completed.
    pub(crate) timelines: Option<Recorder>,
}

impl<'a, E: Executor> Session<'a, E> {
    pub(crate) fn new(
        plan: &'a Plan<'a>,
        inputs: &'a Inputs,
        switch: Switch<E>,
        collector: Collector<'a>,
        progress: Progress,
    ) -> Self {
        let ports = vec![PortLoad::default(); inputs.ports.len()];
        let senders = plan.cable.map(|cable| {
            let flow = switch.flow(Time::ORIGIN);
            let (pfc, maps) =
                flow.map_or((PfcConfig::default(), QosMaps::azure()), |f| (f.config.pfc, f.config.maps));
            let sender = |port: &DevPort| ((0, *port), plan.speed_of(port.number()), pfc, maps);
            Senders::new(inputs.ports.iter().map(sender), cable)
        });
        Session {
            plan,
            inputs,
            switch,
            collector,
            scratch: Vec::new(),
            last: Time::ORIGIN,
            ports,
            progress,
            senders,
            timelines: None,
            agent: None,
            data: 0,
        }
    }

    /// With a control plane of hot flows, if there is to be one.
    pub(crate) fn with_hot_flows(mut self) -> Result<Self, Failure> {
        if let Some(settings) = &self.plan.args.hot_flows {
            self.agent = Some(Agent::of_one(settings, &self.plan.program)?);
            self.collector.told = Some(Told::default());
        }
        Ok(self)
    }

    /// Has timelines drawn, if files of them are asked for.
    pub(crate) fn with_timelines(mut self) -> Result<Self, Failure> {
        self.timelines = Recorder::start(&self.plan.args.timelines, &mut self.switch)?;
        Ok(self)
    }

    /// Runs to the end of the feed, or until the user interrupts, and takes the results out.
    pub(crate) fn run(mut self, mut feed: Frames) -> Result<Done<'a>, Failure> {
        let mut damage = None;
        let stride = match self.plan.config.mode {
            Mode::Timed => STRIDE,
            Mode::Functional => FUNCTIONAL_STRIDE,
        };
        let mut until_stride = stride;
        while !(feed.may_end() && self.plan.stop.load(Ordering::Relaxed)) {
            match self.send_next(&mut feed) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Stop::Damage(e)) => {
                    damage = Some(e);
                    break;
                }
                Err(Stop::Failure(e)) => return Err(e),
            }
            until_stride -= 1;
            if until_stride == 0 {
                until_stride = stride;
                if self.senders.is_none() {
                    self.advance(self.last)?;
                    self.progress.tick(self.last, feed.sent(), || feed.progress());
                }
            }
        }
        self.send_rest()?;
        self.drain()?;
        self.progress.clear();
        Ok(self.finish(&mut feed, damage))
    }

    /// Sends the next packet; `false` if there is none.
    #[inline]
    fn send_next(&mut self, feed: &mut Frames) -> Result<bool, Stop> {
        let tag = feed.sent();
        let Some(s) = feed.next_frame().map_err(Stop::Damage)? else { return Ok(false) };
        let frame = s.frame;
        let bytes = bytes_of(self.plan, &s, &mut self.scratch);
        let time = Time::from_ps(s.time);
        self.last = time;
        self.collector
            .origins
            .note(tag, Origin { input: s.input as u32, record: frame.record, offset: frame.offset });
        if let Some(senders) = &mut self.senders {
            let due = Waiting { due: time, tag, bytes: bytes.to_vec(), orig_len: frame.orig_len };
            senders.queue(s.port, due);
            if let Some(checked) = &mut self.collector.checked {
                checked.entered(tag, self.inputs.ports[s.port].number(), time, bytes);
            }
            return self.send_until(time).map(|()| true).map_err(Stop::Failure);
        }
        self.data += u64::from(self.agent.as_ref().is_some_and(|agent| agent.counts()(bytes)));
        let rx = RxFrame { bytes, orig_len: frame.orig_len, tag };
        let port = self.inputs.ports[s.port];
        let more = self.switch.rx(port, time, rx).map_err(|e| Stop::Failure(Failure::input(e)))?;
        if let Some(checked) = &mut self.collector.checked {
            checked.entered(tag, port.number(), time, bytes);
        }
        self.ports[s.port].count(frame.orig_len, Duration::from_ps(s.delay) + more);
        Ok(true)
    }

    /// Has senders send what may go up to `until`, if they obey PFC.
    fn send_until(&mut self, until: Time) -> Result<(), Failure> {
        let Some(mut senders) = self.senders.take() else { return Ok(()) };
        let sent = senders.send_until(until, self);
        self.senders = Some(senders);
        sent?;
        self.collector.outputs.flush(self.switch.time())
    }

    /// Has senders send what they still hold, for as long as the drain allows.
    fn send_rest(&mut self) -> Result<(), Failure> {
        let Some(mut senders) = self.senders.take() else { return Ok(()) };
        let sent = senders.send_rest(self.last + self.plan.drain, self);
        self.senders = Some(senders);
        sent?;
        self.collector.outputs.flush(self.switch.time())
    }

    fn advance(&mut self, until: Time) -> Result<(), Failure> {
        // Nothing that a control plane does comes earlier than a step behind its cause.
        while let Some(agent) = &mut self.agent {
            let to = until.min(self.switch.time() + agent.step());
            timeline::advance(&mut self.timelines, &mut self.switch, to, &mut self.collector)?;
            if let Some(told) = &mut self.collector.told {
                agent.listen_to(&mut self.switch, told)?;
            }
            if to >= until {
                return self.collector.outputs.flush(until);
            }
        }
        timeline::advance(&mut self.timelines, &mut self.switch, until, &mut self.collector)?;
        self.collector.outputs.flush(until)
    }

    /// Lets the switch empty itself but for timers, for as long as the drain allows.
    fn drain(&mut self) -> Result<(), Failure> {
        let end = self.last + self.plan.drain;
        while self.switch.is_busy()
            && let Some(next) = self.switch.next_time().filter(|t| *t <= end)
        {
            // Delayed frames may lie behind the drain's end only if the line was oversubscribed; they go on.
            self.advance(next)?;
            if self.plan.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.collector.outputs.flush(Time::MAX)
    }

    fn finish(mut self, feed: &mut Frames, damage: Option<CaptureError>) -> Done<'a> {
        if let Some(checked) = &mut self.collector.checked {
            checked.monitor.settled(&self.switch);
        }
        self.timelines.iter_mut().for_each(|recorder| recorder.end(&mut self.switch));
        let coverage = self.plan.points.as_ref().map(|points| {
            let mut coverage = Coverage::new(points);
            self.switch.executor_mut().take_coverage(&mut coverage);
            coverage
        });
        let (plan, now) = (self.plan, self.switch.time());
        let obeyed =
            self.senders.as_ref().map_or(Value::Null, |s| obey::json(s, 0, |port| plan.port_name(port), now));
        let hot_flows = self.agent.as_ref().map_or(Value::Null, |agent| agent.json(self.data));
        let wall = wall(self.progress.seconds(), feed.sent());
        let reports = feed.reports().to_vec();
        let Session { inputs, switch, collector, ports, last, timelines, .. } = self;
        let run = Drained {
            inputs,
            reports,
            collector,
            ports,
            obeyed,
            hot_flows,
            coverage,
            damage,
            last,
            wall,
            timelines,
        };
        Done::of(plan, &switch, run)
    }
}

impl<E: Executor> Receiver for Session<'_, E> {
    type Error = Failure;

    fn time(&self) -> Time {
        self.switch.time()
    }

    fn next_time(&self) -> Option<Time> {
        self.switch.next_time()
    }

    fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), Failure> {
        let mut ears = Ears { inner: &mut self.collector, heard };
        timeline::advance(&mut self.timelines, &mut self.switch, until, &mut ears)
    }

    fn take(&mut self, Sent { sender, at, frame }: &Sent) -> Result<(), Failure> {
        let rx = RxFrame { bytes: &frame.bytes, orig_len: frame.orig_len, tag: frame.tag };
        self.switch.rx(self.inputs.ports[*sender], *at, rx).map_err(Failure::input)?;
        self.ports[*sender].count(frame.orig_len, Duration::ZERO);
        self.last = self.last.max(*at);
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.plan.stop.load(Ordering::Relaxed)
    }
}

/// The `wall` key.
pub(super) fn wall(seconds: f64, packets: u64) -> Value {
    json!({ "seconds": seconds, "packets_per_second": packets as f64 / seconds.max(1e-9) })
}

/// What is known of a run beside its switch.
pub(super) struct Drained<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) reports: Vec<InputReport>,
    pub(super) collector: Collector<'a>,
    pub(super) ports: Vec<PortLoad>,
    /// What senders that obey PFC held back; `null` if they do not.
    pub(super) obeyed: Value,
    /// The `hot_flows` key; `null` without a control plane.
    pub(super) hot_flows: Value,
    pub(super) coverage: Option<Coverage>,
    pub(super) damage: Option<CaptureError>,
    pub(super) last: Time,
    pub(super) wall: Value,
    pub(super) timelines: Option<Recorder>,
}

impl<'a> Done<'a> {
    /// Takes the results out of a switch.
    pub(super) fn of<E: Executor>(plan: &Plan<'_>, switch: &Switch<E>, run: Drained<'a>) -> Done<'a> {
        let queues = switch
            .queues()
            .filter(|(_, _, s)| s.enqueued.packets + s.dropped().packets > 0)
            .map(|(port, queue, s)| {
                json!({
                    "dev_port": port, "queue": queue,
                    "enqueued": s.enqueued.packets, "enqueued_bytes": s.enqueued.bytes.get(),
                    "dropped": s.dropped().packets, "dropped_bytes": s.dropped().bytes.get(),
                    "max_cells": s.max_cells.0,
                })
            })
            .collect();
        let view = switch.flow(switch.time());
        let (flow, flow_pools) =
            view.as_ref().map_or((Value::Null, Vec::new()), |v| (flow::buffer(v), flow::pools(v)));
        let cells = view.as_ref().map_or(plan.placement.chip.tm.cells.0, |v| v.config.size.0);
        Done {
            obeyed: run.obeyed,
            hot_flows: run.hot_flows,
            words: flow::words(switch),
            stalled: switch.stalled(),
            queues,
            buffer: json!({ "pool": "buffer", "cells": cells, "max_cells": switch.max_used_cells() }),
            flow,
            flow_pools,
            totals: switch.totals().clone(),
            held: switch.held(),
            state: switch.state(),
            pipes: switch.pipe_states().cloned().collect(),
            readings: switch.readings().to_vec(),
            conserved: switch.is_conserved(),
            overtaxed: switch.overtaxed(),
            crowded: switch.crowded(),
            wall: run.wall,
            reports: run.reports,
            inputs: run.inputs,
            collector: run.collector,
            ports: run.ports,
            damage: run.damage,
            coverage: run.coverage,
            last: run.last,
            timelines: run.timelines,
        }
    }
}

/// The bytes of a packet to send, with the addresses of its turn.
pub(super) fn bytes_of<'f>(plan: &Plan<'_>, s: &Sending<'f>, scratch: &'f mut Vec<u8>) -> &'f [u8] {
    match plan.rewrite {
        Some(rewrite) if s.turn > 0 => {
            scratch.clear();
            scratch.extend_from_slice(s.frame.data);
            rewrite.apply(scratch, s.turn as u32);
            scratch
        }
        _ => s.frame.data,
    }
}

impl PortLoad {
    /// Counts a packet of so many bytes that waited for the wire.
    pub(super) fn count(&mut self, orig_len: u32, waited: Duration) {
        self.packets += 1;
        self.wire_bytes += wire_len(orig_len);
        self.at_end = waited;
        if !waited.is_zero() {
            self.delayed += 1;
            self.most = self.most.max(waited);
        }
    }
}

/// Why no next packet was sent.
enum Stop {
    Damage(CaptureError),
    Failure(Failure),
}

impl Done<'_> {
    /// Refuses what the contract calls bad input: damage, and with `--strict` a cut tail.
    pub(crate) fn check_inputs(&self, strict: bool, interrupted: bool) -> Result<(), Failure> {
        if let Some(e) = &self.damage {
            let t = &self.totals;
            let used = match t.received {
                0 => "no packet came before it".to_owned(),
                n => format!(
                    "the {n} packets before it were replayed: {} out, {} dropped, {} absorbed, {} held; no file is \
                     kept",
                    t.sent,
                    t.dropped,
                    t.absorbed,
                    self.held.total()
                ),
            };
            let Failure::Input { text, help } = bad(e) else { return Err(bad(e)) };
            return Err(Failure::Input { text: format!("{text}\n  = note: {used}"), help });
        }
        match self.cut_tails().next() {
            Some(text) if strict && !interrupted => {
                Err(Failure::with_help(text, "without --strict the records before it are replayed"))
            }
            _ => Ok(()),
        }
    }

    /// The captures that end inside a record.
    pub(crate) fn cut_tails(&self) -> impl Iterator<Item = String> + '_ {
        let pairs = self.inputs.sources.iter().zip(&self.reports);
        pairs.filter_map(|(s, r)| r.truncated.map(|t| tail(&s.name, t)))
    }

    /// Peculiarities of the captures.
    pub(crate) fn oddities(&self) -> impl Iterator<Item = String> + '_ {
        self.inputs.sources.iter().zip(&self.reports).flat_map(|(s, r)| {
            r.oddities.iter().map(|(oddity, t)| {
                format!("{}: {oddity}: {} records, first is record {}", s.name, t.count, t.first_record)
            })
        })
    }
}

fn tail(name: &str, t: TruncatedTail) -> String {
    format!(
        "{name}: ends inside record {} at byte {}: {} of at least {} bytes are there",
        t.record, t.offset, t.found, t.needed
    )
}
