//! The loop: takes packets from the feed, injects them in order of time, lets the network run, drains it. What may not
//! live here: what is made of the results.

use super::super::Plan;
use super::super::inputs::Inputs;
use super::super::progress::Progress;
use super::super::run::{Done, Drained, PortLoad, bytes_of, wall};
use super::super::sink::{Latency, Origin, Origins};
use super::agent::Agent;
use super::{REMEMBERED, Seat};
use crate::args::ReplayArgs;
use crate::fail::Failure;
use serde_json::Value;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::network::{Network, SwitchId};
use sluice_fabric::story::Watcher;
use sluice_pcaps::capture::CaptureError;
use sluice_pcaps::replay::Feed;
use sluice_pipeline::switch::RxFrame;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Packets between two times that the network is let run.
const STRIDE: u64 = 16_384;
/// The network is drained so much at a time, so that an interrupt does not wait for long.
const DRAIN_STEP: Duration = Duration::from_micros(100);

/// A packet on its way through the network.
#[derive(Clone, Copy, Debug)]
struct Known {
    tag: u64,
    /// Index into the inputs' ports.
    port: usize,
    orig_len: u32,
    /// How long it waited for the line before it was injected.
    delay: Duration,
    entered: Time,
}

/// A replay under way.
pub(super) struct Drive<'a> {
    args: &'a ReplayArgs,
    plans: &'a [Plan<'a>],
    inputs: &'a Inputs,
    network: Network,
    seats: Vec<Seat<'a>>,
    origins: Arc<Mutex<Origins>>,
    progress: Progress,
    /// The last packets by tag, for their latency.
    known: Vec<Known>,
    latency: Latency,
    loads: Vec<PortLoad>,
    last: Time,
    scratch: Vec<u8>,
    agent: Option<Agent>,
}

/// A finished replay.
pub(super) struct Finished<'a> {
    pub(super) network: Network,
    /// What each switch has to say.
    pub(super) switches: Vec<Done<'a>>,
    /// From first bit in to first bit out of the network.
    pub(super) latency: Latency,
    /// By switch, the network's numbers of the packets that properties were asked about.
    pub(super) asked: Vec<Vec<u64>>,
    pub(super) wall: Value,
    /// What watched the flow of `--story`, at each switch.
    pub(super) watchers: Vec<Watcher>,
    /// The `hot_flows` key.
    pub(super) hot_flows: Value,
}

impl Finished<'_> {
    pub(super) fn conserved(&self) -> bool {
        self.network.totals().is_conserved() && self.switches.iter().all(|done| done.conserved)
    }

    /// Whether a property did not hold somewhere.
    pub(super) fn broken(&self) -> bool {
        let monitors = self.switches.iter().filter_map(|done| done.collector.monitor.as_ref());
        monitors.into_iter().any(|monitor| !monitor.violations().is_empty())
    }
}

impl<'a> Drive<'a> {
    pub(super) fn new(
        args: &'a ReplayArgs,
        plans: &'a [Plan<'a>],
        inputs: &'a Inputs,
        network: Network,
        seats: Vec<Seat<'a>>,
        origins: Arc<Mutex<Origins>>,
        progress: Progress,
    ) -> Drive<'a> {
        let none =
            Known { tag: u64::MAX, port: 0, orig_len: 0, delay: Duration::ZERO, entered: Time::ORIGIN };
        Drive {
            args,
            plans,
            inputs,
            network,
            seats,
            origins,
            progress,
            known: vec![none; REMEMBERED],
            latency: Latency::new(),
            loads: vec![PortLoad::default(); inputs.ports.len()],
            last: Time::ORIGIN,
            scratch: Vec::new(),
            agent: None,
        }
    }

    /// The same with a control plane.
    pub(super) fn with(self, agent: Option<Agent>) -> Drive<'a> {
        Drive { agent, ..self }
    }

    /// Runs to the end of the feed, or until the user interrupts, and takes the results out.
    pub(super) fn run(
        mut self,
        mut feed: Feed<'_>,
        own: &'a [Inputs],
        stop: &AtomicBool,
    ) -> Result<Finished<'a>, Failure> {
        let mut damage = None;
        while damage.is_none() && !stop.load(Ordering::Relaxed) {
            let more = self.inject(&mut feed, &mut damage)?;
            self.advance(self.last)?;
            self.progress.tick(self.last, &feed);
            if !more {
                break;
            }
        }
        self.drain(stop)?;
        self.progress.clear();
        Ok(self.finish(&mut feed, damage, own))
    }

    /// Injects the next packets; false if there are no more.
    fn inject(&mut self, feed: &mut Feed<'_>, damage: &mut Option<CaptureError>) -> Result<bool, Failure> {
        let Some(plan) = self.plans.first() else { return Ok(false) };
        let origins = Arc::clone(&self.origins);
        let mut origins = origins.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..STRIDE {
            let tag = feed.sent();
            let s = match feed.next_frame() {
                Ok(Some(s)) => s,
                Ok(None) => return Ok(false),
                Err(e) => {
                    *damage = Some(e);
                    return Ok(false);
                }
            };
            let frame = s.frame;
            let bytes = bytes_of(plan, &s, &mut self.scratch);
            let time = Time::from_ps(s.time);
            self.last = time;
            origins.note(tag, Origin { input: s.input as u32, record: frame.record, offset: frame.offset });
            let (delay, orig_len) = (Duration::from_ps(s.delay), frame.orig_len);
            self.known[tag as usize % REMEMBERED] =
                Known { tag, port: s.port, orig_len, delay, entered: time };
            let (switch, port) = (SwitchId(self.inputs.switches[s.port]), self.inputs.ports[s.port]);
            let rx = RxFrame { bytes, orig_len, tag };
            self.network.inject(switch, port, time, rx).map_err(Failure::input)?;
        }
        Ok(true)
    }

    fn advance(&mut self, until: Time) -> Result<(), Failure> {
        loop {
            let step = self.agent.as_ref().map_or(until, |a| until.min(self.network.time() + a.step()));
            let result = self.network.advance_parallel(step, self.args.threads, &mut self.seats);
            result.map_err(Failure::input)?;
            self.note();
            self.listen()?;
            if step >= until {
                return self.flush(until);
            }
        }
    }

    /// Lets the network empty itself but for timers, for as long as the drain allows.
    fn drain(&mut self, stop: &AtomicBool) -> Result<(), Failure> {
        let Some(plan) = self.plans.first() else { return Ok(()) };
        let end = self.last + plan.drain;
        while self.network.is_busy()
            && !stop.load(Ordering::Relaxed)
            && let Some(next) = self.network.next_time().filter(|t| *t <= end)
        {
            let step = self.agent.as_ref().map_or(DRAIN_STEP, |a| a.step().min(DRAIN_STEP));
            let until = (next + step).min(end);
            let result = self.network.drain_parallel(until, self.args.threads, &mut self.seats);
            result.map_err(Failure::input)?;
            self.note();
            self.listen()?;
        }
        self.flush(Time::MAX)
    }

    /// Lets the control plane hear what was said.
    fn listen(&mut self) -> Result<(), Failure> {
        match &mut self.agent {
            Some(agent) => agent.listen(&mut self.network, &mut self.seats),
            None => Ok(()),
        }
    }

    fn flush(&mut self, until: Time) -> Result<(), Failure> {
        self.seats.iter_mut().try_for_each(|seat| seat.collector.outputs.flush(until))
    }

    /// Takes what came in and what left: latencies over the network, loads of the ports.
    fn note(&mut self) {
        for seat in &mut self.seats {
            for frame in seat.entered.drain(..) {
                let known = &mut self.known[frame.tag as usize % REMEMBERED];
                if known.tag == frame.tag {
                    known.entered = frame.time;
                    self.loads[known.port].count(known.orig_len, known.delay + frame.waited);
                }
            }
        }
        for seat in &mut self.seats {
            for (tag, first_bit) in seat.left.drain(..) {
                let known = &self.known[tag as usize % REMEMBERED];
                if known.tag == tag {
                    self.latency.record(first_bit.saturating_since(known.entered).as_ps());
                }
            }
        }
    }

    fn finish(self, feed: &mut Feed<'_>, damage: Option<CaptureError>, own: &'a [Inputs]) -> Finished<'a> {
        let wall = wall(self.progress.seconds(), feed.sent());
        let reports = feed.reports().to_vec();
        let data = self.seats.iter().map(|seat| seat.data).sum();
        let hot_flows = self.agent.as_ref().map_or(Value::Null, |agent| agent.json(data));
        let mut watchers = Vec::new();
        let mut damage = damage;
        let mut switches = Vec::with_capacity(self.seats.len());
        let mut asked = Vec::with_capacity(self.seats.len());
        for ((id, mut seat), (plan, inputs)) in
            self.network.ids().zip(self.seats).zip(self.plans.iter().zip(own))
        {
            let Some(switch) = self.network.switch(id) else { continue };
            let mine = self.inputs.sources.iter().zip(&reports).filter(|(s, _)| s.switch == id.0);
            let loads = self.inputs.switches.iter().zip(&self.loads).filter(|(s, _)| **s == id.0);
            watchers.extend(seat.watcher.take());
            let (collector, tags) = seat.end(switch);
            asked.push(tags);
            let run = Drained {
                inputs,
                reports: mine.map(|(_, r)| *r).collect(),
                collector,
                ports: loads.map(|(_, load)| *load).collect(),
                // Wherever the capture goes in, the run has ended with it.
                damage: damage.take(),
                last: self.last,
                wall: Value::Null,
                obeyed: Value::Null,
                hot_flows: Value::Null,
                coverage: None,
                timelines: None,
            };
            switches.push(Done::of(plan, switch, run));
        }
        let (network, latency) = (self.network, self.latency);
        Finished { network, switches, latency, asked, wall, watchers, hot_flows }
    }
}
