//! The loop: takes packets from the feed, injects them in order of time, lets the network run, drains it. What may not
//! live here: what is made of the results.

use super::super::Plan;
use super::super::inputs::Inputs;
use super::super::obey;
use super::super::progress::Progress;
use super::super::run::{Done, Drained, PortLoad, bytes_of, wall};
use super::super::sink::{Latency, Origin, Origins};
use super::super::trace::joined;
use super::agent::Agent;
use super::{Bench, Network, REMEMBERED, Seat};
use crate::args::ReplayArgs;
use crate::fail::Failure;
use crate::timeline::NetworkFiles;
use serde_json::Value;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::network::SwitchId;
use sluice_fabric::senders::{Heard, Receiver, Senders, Sent, Waiting};
use sluice_fabric::story::Watcher;
use sluice_pcaps::capture::CaptureError;
use sluice_pcaps::replay::Feed;
use sluice_pipeline::switch::RxFrame;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Packets between two times that the network is let run.
const STRIDE: u64 = 16_384;
/// As above, where senders wait for each other: what is written waits for no more than this.
const PATIENT_STRIDE: u64 = 64;
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
    /// Senders that obey PFC, if they do.
    senders: Option<Senders>,
    /// Files of timelines, if any are asked for.
    timelines: Option<NetworkFiles>,
    stop: &'a AtomicBool,
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
    /// Files of timelines, to be completed.
    pub(super) timelines: Option<NetworkFiles>,
}

impl Finished<'_> {
    pub(super) fn conserved(&self) -> bool {
        self.network.totals().is_conserved() && self.switches.iter().all(|done| done.conserved)
    }

    /// The traces of all switches as one, in order of time.
    pub(super) fn take_trace(&mut self) -> String {
        let taken = self.network.ids().zip(&mut self.switches).filter_map(|(id, done)| {
            let trace = done.collector.trace.take()?;
            Some((self.network.setup(id)?.name.as_str(), trace))
        });
        joined(&taken.collect::<Vec<_>>())
    }

    /// Whether a property did not hold somewhere.
    pub(super) fn broken(&self) -> bool {
        let all = self.switches.iter().filter_map(|done| done.collector.checked.as_ref());
        all.into_iter().any(|checked| !checked.monitor.violations().is_empty())
    }
}

impl<'a> Drive<'a> {
    pub(super) fn new(
        bench: &Bench<'a>,
        network: Network,
        seats: Vec<Seat<'a>>,
        origins: Arc<Mutex<Origins>>,
        progress: Progress,
    ) -> Drive<'a> {
        let Bench { args, plans, inputs, stop, .. } = *bench;
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
            senders: None,
            timelines: None,
            stop,
        }
    }

    /// The same with a control plane.
    pub(super) fn with(self, agent: Option<Agent>) -> Drive<'a> {
        Drive { agent, ..self }
    }

    /// The same with senders that obey PFC.
    pub(super) fn obeying(self, senders: Option<Senders>) -> Drive<'a> {
        Drive { senders, ..self }
    }

    /// The same with timelines drawn.
    pub(super) fn watched(mut self, timelines: Option<NetworkFiles>) -> Drive<'a> {
        if let Some(files) = &timelines {
            self.network.watch(files.every());
        }
        Drive { timelines, ..self }
    }

    /// Runs to the end of the feed, or until the user interrupts, and takes the results out.
    pub(super) fn run(mut self, mut feed: Feed<'_>, own: &'a [Inputs]) -> Result<Finished<'a>, Failure> {
        let mut damage = None;
        while damage.is_none() && !self.stopped() {
            let more = self.inject(&mut feed, &mut damage)?;
            if self.senders.is_none() {
                self.advance(self.last)?;
            }
            self.flush(self.network.time())?;
            self.progress.tick(self.last, feed.sent(), || feed.progress());
            if !more {
                break;
            }
        }
        self.send_rest()?;
        self.drain()?;
        self.progress.clear();
        Ok(self.finish(&mut feed, damage, own))
    }

    /// Injects the next packets; false if there are no more.
    fn inject(&mut self, feed: &mut Feed<'_>, damage: &mut Option<CaptureError>) -> Result<bool, Failure> {
        let Some(plan) = self.plans.first() else { return Ok(false) };
        // One that waits for pauses must look at the switches between any two.
        let stride = if self.senders.is_some() { PATIENT_STRIDE } else { STRIDE };
        for _ in 0..stride {
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
            let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
            origins.note(tag, Origin { input: s.input as u32, record: frame.record, offset: frame.offset });
            drop(origins);
            let (delay, orig_len) = (Duration::from_ps(s.delay), frame.orig_len);
            self.known[tag as usize % REMEMBERED] =
                Known { tag, port: s.port, orig_len, delay, entered: time };
            if let Some(senders) = &mut self.senders {
                senders.queue(s.port, Waiting { due: time, tag, bytes: bytes.to_vec(), orig_len });
                self.send_until(time)?;
                continue;
            }
            let (switch, port) = (SwitchId(self.inputs.switches[s.port]), self.inputs.ports[s.port]);
            let rx = RxFrame { bytes, orig_len, tag };
            self.network.inject(switch, port, time, rx).map_err(Failure::input)?;
        }
        Ok(true)
    }

    /// Has senders send what may go up to `until`, if they obey PFC.
    fn send_until(&mut self, until: Time) -> Result<(), Failure> {
        let Some(mut senders) = self.senders.take() else { return Ok(()) };
        let sent = senders.send_until(until, self);
        self.senders = Some(senders);
        sent
    }

    /// Has senders send what they still hold, for as long as the drain allows.
    fn send_rest(&mut self) -> Result<(), Failure> {
        let (Some(plan), Some(mut senders)) = (self.plans.first(), self.senders.take()) else {
            return Ok(());
        };
        let sent = senders.send_rest(self.last + plan.drain, self);
        self.senders = Some(senders);
        sent
    }

    /// Runs up to and including `until`; the control plane hears what is said as soon as it can act upon it.
    fn advance(&mut self, until: Time) -> Result<(), Failure> {
        loop {
            let step = self.agent.as_ref().map_or(until, |a| until.min(self.network.time() + a.step()));
            let result = self.network.advance_parallel(step, self.args.threads, &mut self.seats);
            result.map_err(Failure::input)?;
            self.note();
            self.listen()?;
            if step >= until {
                return Ok(());
            }
        }
    }

    /// Lets the network empty itself but for timers, for as long as the drain allows.
    fn drain(&mut self) -> Result<(), Failure> {
        let Some(plan) = self.plans.first() else { return Ok(()) };
        let end = self.last + plan.drain;
        while self.network.is_busy()
            && !self.stopped()
            && let Some(next) = self.network.next_time().filter(|t| *t <= end)
        {
            let step = self.agent.as_ref().map_or(DRAIN_STEP, |a| a.step().min(DRAIN_STEP));
            let until = (next + step).min(end);
            let result = self.network.drain_parallel(until, self.args.threads, &mut self.seats);
            result.map_err(Failure::input)?;
            self.note();
            self.listen()?;
            if self.network.is_busy() {
                // Everything up to there has happened: something is left, and it is later.
                self.flush_levels(until)?;
            }
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

    /// Writes what happened up to a time.
    fn flush(&mut self, until: Time) -> Result<(), Failure> {
        self.seats.iter_mut().try_for_each(|seat| seat.collector.outputs.flush(until))?;
        self.flush_levels(until)
    }

    fn flush_levels(&mut self, until: Time) -> Result<(), Failure> {
        let Some(files) = &mut self.timelines else { return Ok(()) };
        for (switch, seat) in self.seats.iter_mut().enumerate() {
            files.take(switch, seat.levels.drain(..));
        }
        // The last rows are told at the end.
        if until == Time::MAX { Ok(()) } else { files.flush(until) }
    }

    /// Takes what came in and what left: latencies over the network, loads of the ports.
    fn note(&mut self) {
        for seat in &mut self.seats {
            for frame in seat.entered.drain(..) {
                let known = &mut self.known[frame.tag as usize % REMEMBERED];
                if known.tag == frame.tag {
                    known.entered = frame.time;
                    let waited = known.delay + frame.waited;
                    // A sender that obeys PFC has its own account of who waited.
                    let waited = if self.senders.is_some() { Duration::ZERO } else { waited };
                    self.loads[known.port].count(known.orig_len, waited);
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

    fn finish(
        mut self,
        feed: &mut Feed<'_>,
        damage: Option<CaptureError>,
        own: &'a [Inputs],
    ) -> Finished<'a> {
        if let Some(files) = &mut self.timelines {
            self.network.look(|id, row| files.take(id.0 as usize, [row.into()]));
        }
        let now = self.network.time();
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
                obeyed: self
                    .senders
                    .as_ref()
                    .map_or(Value::Null, |s| obey::json(s, id.0, |port| plan.port_name(port), now)),
                hot_flows: Value::Null,
                coverage: None,
                timelines: None,
            };
            switches.push(Done::of(plan, switch, run));
        }
        let (network, latency, timelines) = (self.network, self.latency, self.timelines);
        Finished { network, switches, latency, asked, wall, watchers, hot_flows, timelines }
    }
}

impl Receiver for Drive<'_> {
    type Error = Failure;

    fn time(&self) -> Time {
        self.network.time()
    }

    fn next_time(&self) -> Option<Time> {
        self.network.next_time()
    }

    fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), Failure> {
        self.advance(until)?;
        self.seats.iter_mut().for_each(|seat| heard.append(&mut seat.pauses));
        Ok(())
    }

    fn take(&mut self, Sent { sender, at, frame }: &Sent) -> Result<(), Failure> {
        let (switch, port) = (SwitchId(self.inputs.switches[*sender]), self.inputs.ports[*sender]);
        let rx = RxFrame { bytes: &frame.bytes, orig_len: frame.orig_len, tag: frame.tag };
        self.network.inject(switch, port, *at, rx).map_err(Failure::input)?;
        self.last = self.last.max(*at);
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
