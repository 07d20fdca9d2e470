//! The main loop of a network's run: injects packets of the inputs in order of time, runs the network, and drains it.

use super::switch_observer::SwitchObserver;
use super::{NetworkOutcome, NetworkReplay, coverage};
use crate::collector::{Collector, Latency, Origin, Origins};
use crate::control_plane::{ControlPlaneReport, end_of_step, listen_to_network};
use crate::error::Error;
use crate::held_back::HeldBackReport;
use crate::inputs::Inputs;
use crate::options::Options;
use crate::outcome::{InputOutcome, Outcome, PortLoad, RunParts};
use crate::progress::{InputProgress, Progress, Status};
use crate::run::bytes_of;
use crate::timeline::{Merge, TimelineRequest};
use crate::trace::select;
use crate::view::SwitchView;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::control_plane::ControlPlane;
use sluice_fabric::network::Network;
use sluice_fabric::senders::{Heard, Receiver, Senders, Sent, Waiting};
use sluice_pcaps::capture::CaptureError;
use sluice_pcaps::replay::{Feed, Schedule};
use sluice_switch::RxFrame;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of packets whose origin and time of entry are remembered.
pub(super) const REMEMBERED: usize = 1 << 17;
/// Number of packets that are injected before the network runs up to the last of them.
const STRIDE: u64 = 16_384;
/// The same number if senders obey PFC frames: captures are written after at most this number of packets.
const PATIENT_STRIDE: u64 = 64;
/// Simulated time of one step of the drain; the stop flag is checked after each step.
const DRAIN_STEP: Duration = Duration::from_micros(100);

/// A packet on its way through the network.
#[derive(Clone, Copy, Debug)]
struct Known {
    tag: u64,
    /// Index into the inputs' places.
    place: usize,
    orig_len: u32,
    /// Wait for the line before the packet was injected.
    delay: Duration,
    entered: Time,
}

/// A run in progress.
pub(super) struct Session<'a, 'r> {
    options: &'a Options,
    inputs: &'a Inputs,
    threads: usize,
    stop: &'a AtomicBool,
    views: Vec<SwitchView<'a>>,
    network: Network,
    observers: Vec<SwitchObserver<'r>>,
    origins: Arc<Mutex<Origins>>,
    progress: Option<&'r mut dyn Progress>,
    /// The most recent packets by tag, for their latency.
    known: Vec<Known>,
    latency: Latency,
    loads: Vec<PortLoad>,
    last: Time,
    scratch: Vec<u8>,
    pub(super) control_plane: Option<&'r mut dyn ControlPlane>,
    /// Senders that obey PFC frames; `None` if senders ignore them.
    pub(super) senders: Option<Senders>,
    timeline: Option<Merge<'r>>,
}

impl<'a: 'r, 'r> Session<'a, 'r> {
    pub(super) fn new(
        replay: &NetworkReplay<'a>,
        views: Vec<SwitchView<'a>>,
        network: Network,
        observers: Vec<SwitchObserver<'r>>,
        origins: Arc<Mutex<Origins>>,
        progress: Option<&'r mut dyn Progress>,
    ) -> Self {
        let NetworkReplay { options, inputs, threads, stop, .. } = *replay;
        let none =
            Known { tag: u64::MAX, place: 0, orig_len: 0, delay: Duration::ZERO, entered: Time::ORIGIN };
        Session {
            options,
            inputs,
            threads,
            stop,
            views,
            network,
            observers,
            origins,
            progress,
            known: vec![none; REMEMBERED],
            latency: Latency::new(),
            loads: inputs.places().iter().map(|(_, port)| PortLoad::new(*port)).collect(),
            last: Time::ORIGIN,
            scratch: Vec::new(),
            control_plane: None,
            senders: None,
            timeline: None,
        }
    }

    /// Records a timeline.
    pub(super) fn record(&mut self, request: TimelineRequest<'r>) {
        self.network.watch(request.every);
        self.timeline = Some(Merge::new(request.rows, self.views.len()));
    }

    pub(super) fn run(mut self, mut feed: Feed<'_>, schedule: Schedule) -> Result<NetworkOutcome<'a>, Error> {
        let mut damage = None;
        while damage.is_none() && !self.is_stopped() {
            let more = self.inject(&mut feed, &mut damage)?;
            if self.senders.is_none() {
                self.advance(self.last)?;
            }
            self.flush(self.network.time())?;
            if let Some(progress) = &mut self.progress {
                let read = || {
                    let (turns, bytes) = feed.progress();
                    InputProgress { turns, bytes }
                };
                progress.tick(&Status { now: self.last, sent: feed.sent(), read: &read });
            }
            if !more {
                break;
            }
        }
        self.send_rest()?;
        self.drain()?;
        if let Some(progress) = &mut self.progress {
            progress.end();
        }
        self.finish(&mut feed, schedule, damage)
    }

    /// Injects the next packets; returns false if there are no more.
    fn inject(&mut self, feed: &mut Feed<'_>, damage: &mut Option<CaptureError>) -> Result<bool, Error> {
        // With PFC, a pause may arrive between any two packets, so the network runs up to every packet.
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
            let bytes = bytes_of(self.options.rewrite, &s, &mut self.scratch);
            let time = Time::from_ps(s.time);
            self.last = time;
            let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
            origins.note(tag, Origin { input: s.input as u32, record: frame.record, offset: frame.offset });
            drop(origins);
            let (delay, orig_len) = (Duration::from_ps(s.delay), frame.orig_len);
            self.known[tag as usize % REMEMBERED] =
                Known { tag, place: s.port, orig_len, delay, entered: time };
            if let Some(senders) = &mut self.senders {
                senders.queue(s.port, Waiting { due: time, tag, bytes: bytes.to_vec(), orig_len });
                self.send_until(time)?;
                continue;
            }
            let (switch, port) = self.inputs.places()[s.port];
            self.network.inject(switch, port, time, RxFrame { bytes, orig_len, tag })?;
        }
        Ok(true)
    }

    /// Sends the packets that senders may send up to `until`.
    fn send_until(&mut self, until: Time) -> Result<(), Error> {
        let Some(mut senders) = self.senders.take() else { return Ok(()) };
        let sent = senders.send_until(until, self);
        self.senders = Some(senders);
        sent
    }

    /// Sends the packets that senders still hold, until the end of the drain.
    fn send_rest(&mut self) -> Result<(), Error> {
        let Some(mut senders) = self.senders.take() else { return Ok(()) };
        let sent = senders.send_rest(self.last + self.options.drain, self);
        self.senders = Some(senders);
        sent
    }

    /// Returns the latency of the control plane; `None` without one.
    fn latency(&self) -> Option<Duration> {
        self.control_plane.as_ref().map(|plane| plane.latency().max(Duration::from_ps(1)))
    }

    /// Runs up to and including `until`, in steps of the control plane's latency, so that its operations take effect in
    /// time.
    fn advance(&mut self, until: Time) -> Result<(), Error> {
        loop {
            let to = match self.latency() {
                None => until,
                Some(latency) => {
                    end_of_step(self.network.time(), latency, until, || self.network.next_time())
                }
            };
            self.network.advance_parallel(to, self.threads, &mut self.observers)?;
            self.note();
            self.listen()?;
            if to >= until {
                return Ok(());
            }
        }
    }

    /// Runs until the network is empty except for timers, or until the end of the drain.
    fn drain(&mut self) -> Result<(), Error> {
        let end = self.last + self.options.drain;
        while self.network.is_busy()
            && !self.is_stopped()
            && let Some(next) = self.network.next_time().filter(|t| *t <= end)
        {
            let step = self.latency().map_or(DRAIN_STEP, |latency| latency.min(DRAIN_STEP));
            let until = (next + step).min(end);
            self.network.drain_parallel(until, self.threads, &mut self.observers)?;
            self.note();
            self.listen()?;
            if self.network.is_busy() {
                // Packets are left, so all events up to `until` have happened.
                self.flush_rows(until)?;
            }
        }
        self.flush(Time::MAX)
    }

    /// Passes messages between the switches and the control plane.
    fn listen(&mut self) -> Result<(), Error> {
        match &mut self.control_plane {
            Some(plane) => listen_to_network(&mut **plane, &mut self.network, &mut self.observers),
            None => Ok(()),
        }
    }

    /// Writes the captures and timeline rows up to `until`.
    fn flush(&mut self, until: Time) -> Result<(), Error> {
        self.observers.iter_mut().try_for_each(|o| o.collector.captures.flush(until))?;
        self.flush_rows(until)
    }

    fn flush_rows(&mut self, until: Time) -> Result<(), Error> {
        let Some(timeline) = &mut self.timeline else { return Ok(()) };
        for (switch, observer) in self.network.ids().zip(&mut self.observers) {
            timeline.add(switch, observer.rows.drain(..));
        }
        // The last rows are added at the end of the run.
        if until == Time::MAX { Ok(()) } else { timeline.flush(until) }
    }

    /// Records packets that entered and packets that left: loads of the ports, latencies over the network.
    fn note(&mut self) {
        for observer in &mut self.observers {
            for frame in observer.entered.drain(..) {
                let known = &mut self.known[frame.tag as usize % REMEMBERED];
                if known.tag == frame.tag {
                    known.entered = frame.time;
                    let waited = known.delay + frame.waited;
                    // Senders that obey PFC frames count these waits themselves.
                    let waited = if self.senders.is_some() { Duration::ZERO } else { waited };
                    self.loads[known.place].count(known.orig_len, waited);
                }
            }
        }
        for observer in &mut self.observers {
            for (tag, first_bit) in observer.left.drain(..) {
                let known = &self.known[tag as usize % REMEMBERED];
                if known.tag == tag {
                    self.latency.record(first_bit.saturating_since(known.entered).as_ps());
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn finish(
        mut self,
        feed: &mut Feed<'_>,
        schedule: Schedule,
        mut damage: Option<CaptureError>,
    ) -> Result<NetworkOutcome<'a>, Error> {
        if let Some(timeline) = &mut self.timeline {
            self.network.look(|id, row| timeline.add(id, [row.into()]));
            timeline.flush(Time::MAX)?;
        }
        let (now, interrupted, sent) = (self.network.time(), self.is_stopped(), feed.sent());
        let counted = self.observers.iter().map(|o| o.counted).sum();
        let control_plane = self.control_plane.map(|plane| ControlPlaneReport::of(plane, counted));
        let reports = feed.reports();
        let mut switches = Vec::with_capacity(self.observers.len());
        let mut captures = Vec::with_capacity(self.observers.len());
        for ((id, observer), view) in self.network.ids().zip(self.observers).zip(&self.views) {
            let Some(switch) = self.network.switch(id) else { continue };
            let inputs = self.inputs.all().iter().zip(reports).filter(|(i, _)| i.place().0 == id);
            let loads = self.inputs.places().iter().zip(&self.loads).filter(|(place, _)| place.0 == id);
            let (collector, violations) = observer.end(switch);
            let Collector { captures: written, trace, spans, latency, unparsed, .. } = collector;
            let name = |port| view.port_name(port);
            let run = RunParts {
                view: view.clone(),
                schedule,
                inputs: inputs.map(|(input, report)| InputOutcome::of(input, report)).collect(),
                loads: loads.map(|(_, load)| *load).collect(),
                latency,
                unparsed,
                violations,
                trace,
                spans,
                held_back: self.senders.as_ref().map(|s| HeldBackReport::of(s, id, name, now)),
                control_plane: None,
                coverage: None,
                last: self.last,
                sent,
                interrupted,
            };
            captures.push(written);
            switches.push(Outcome::of(switch, run));
        }
        // The run ended at the damage, so damage of any input is an error of the whole run.
        switches.iter().try_for_each(|outcome| outcome.check_inputs(damage.take()))?;
        for (captures, outcome) in captures.into_iter().zip(&switches) {
            captures.finish(&outcome.port_counts())?;
        }
        select(&mut switches.iter_mut().filter_map(|outcome| outcome.trace.as_mut()).collect::<Vec<_>>());
        let coverage = coverage::take(&mut self.network, &self.views);
        let (network, latency) = (self.network, self.latency);
        Ok(NetworkOutcome { network, switches, latency, control_plane, coverage, sent, interrupted })
    }
}

impl<'a: 'r, 'r> Receiver for Session<'a, 'r> {
    type Error = Error;

    fn time(&self) -> Time {
        self.network.time()
    }

    fn next_time(&self) -> Option<Time> {
        self.network.next_time()
    }

    fn run_until(&mut self, until: Time, heard: &mut Vec<Heard>) -> Result<(), Error> {
        self.advance(until)?;
        self.observers.iter_mut().for_each(|o| heard.append(&mut o.pauses));
        Ok(())
    }

    fn take(&mut self, Sent { sender, at, frame }: &Sent) -> Result<(), Error> {
        let (switch, port) = self.inputs.places()[*sender];
        let rx = RxFrame { bytes: &frame.bytes, orig_len: frame.orig_len, tag: frame.tag };
        self.network.inject(switch, port, *at, rx)?;
        self.last = self.last.max(*at);
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.is_stopped()
    }
}
