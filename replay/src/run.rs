//! Replays through one switch: injects packets of the inputs in order of time, runs the switch, and drains it.

use crate::captures::{CaptureOutputs, Captures};
use crate::collector::{Collector, Origin};
use crate::control_plane::{ControlPlaneReport, end_of_step, listen_to_switch};
use crate::error::{Error, Passes};
use crate::executor::{ExecutorFactory, ExecutorRequest};
use crate::held_back::HeldBackReport;
use crate::inputs::Inputs;
use crate::options::{Checks, Options};
use crate::outcome::{InputOutcome, Outcome, PortLoad, RunParts};
use crate::progress::{Progress, Run, Status};
use crate::rate_search::{Attempt, RateSearch, TrialCounts, search};
use crate::read_ahead::Frames;
use crate::timeline::{self, Recorder, TimelineRequest};
use crate::trace::{Trace, select};
use crate::view::SwitchView;
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::QosMaps;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::control_plane::ControlPlane;
use sluice_control::ControlOp;
use sluice_exec::cover::Coverage;
use sluice_fabric::network::{SwitchId, SwitchSetup};
use sluice_fabric::senders::{Ears, Heard as HeardPause, Receiver, Senders, Sent, Waiting};
use sluice_pcaps::capture::{CaptureError, CaptureTime};
use sluice_pcaps::replay::{Feed, Pace, Rewrite, Schedule, Sending};
use sluice_switch::{Mode, RxFrame, Switch, SwitchConfig};
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of packets that are injected before the switch runs up to the last of them. In functional mode, more packets
/// fill the egress batches better.
const STRIDE: u64 = 64;
const FUNCTIONAL_STRIDE: u64 = 256;

/// A replay of inputs through one switch, before it runs. It may run more than once.
#[derive(Clone, Copy)]
pub struct Replay<'a> {
    /// Program with its placement, ports, entries and settings of the switch.
    pub switch: &'a SwitchSetup,
    /// Operations during the run, by time since the first packet.
    pub changes: &'a [(Duration, ControlOp)],
    /// Properties to check and points to count.
    pub checks: &'a Checks,
    /// Captures and the ports that they go into.
    pub inputs: &'a Inputs,
    /// All other settings.
    pub options: &'a Options,
    /// Stops the run early if the caller sets it. The results are those of the packets until then.
    pub stop: &'a AtomicBool,
}

/// Outputs and participants of a run in addition to the switch. All are optional.
#[derive(Default)]
pub struct Attached<'a> {
    /// Writers of captures.
    pub captures: Captures,
    /// A timeline to record.
    pub timeline: Option<TimelineRequest<'a>>,
    /// A control plane.
    pub control_plane: Option<&'a mut dyn ControlPlane>,
    /// Receives reports of progress.
    pub progress: Option<&'a mut dyn Progress>,
}

/// A replay whose switch is made and whose inputs are open. Nothing has run yet.
pub struct Prepared<'a> {
    replay: Replay<'a>,
    schedule: Schedule,
    attempt: Option<Attempt>,
    view: SwitchView<'a>,
    switch: Switch<'static>,
    feed: Feed<'static>,
    trace: Option<Trace>,
}

impl<'a> Replay<'a> {
    /// Makes the switch and opens the inputs.
    ///
    /// # Errors
    /// If the executor or the switch cannot be made, or if an input cannot be opened or read as often as needed.
    pub fn prepare(&self, executors: &mut ExecutorFactory<'_>) -> Result<Prepared<'a>, Error> {
        self.prepare_at(self.options.schedule, None, executors)
    }

    /// Searches for the highest rate without loss, with a new switch for each trial. All input ports have the same rate
    /// on the wire. The result is at most `resolution` below the lowest rate with loss; `None`: 1/1000 of the line
    /// rate.
    ///
    /// # Errors
    /// Those of [`Replay::prepare`] and [`Prepared::run`]; also if the inputs have no packets, or if the stop flag is
    /// set.
    pub fn find_rate(
        &self,
        resolution: Option<BitRate>,
        executors: &mut ExecutorFactory<'_>,
        progress: &mut dyn Progress,
    ) -> Result<RateSearch, Error> {
        let view = self.view();
        let places = self.inputs.places();
        let line = places.iter().map(|(_, port)| view.speed_of(port.number())).min();
        let queue_limit = self.switch.config.queues.limit;
        search(self.inputs, (line, resolution), queue_limit, &mut |attempt| {
            let schedule = Schedule { pace: Pace::Bits(attempt.rate), ..self.options.schedule };
            let prepared = self.prepare_at(schedule, Some(attempt), executors)?;
            let outcome = prepared.run(Attached { progress: Some(&mut *progress), ..Attached::default() })?;
            if outcome.interrupted {
                return Err(Error::Interrupted);
            }
            Ok(TrialCounts::of(&outcome))
        })
    }

    fn view(&self) -> SwitchView<'a> {
        let changes = self.changes.iter().map(|(at, op)| (*at, op));
        SwitchView::new(self.switch, self.options, self.checks, &self.switch.config.port_speeds, changes)
    }

    fn prepare_at(
        &self,
        schedule: Schedule,
        attempt: Option<Attempt>,
        executors: &mut ExecutorFactory<'_>,
    ) -> Result<Prepared<'a>, Error> {
        if schedule.turns != 1 {
            self.inputs.check_repeatable(Passes::Turns)?;
        }
        let trace =
            self.options.trace.then(|| Trace::default().filtered(self.options.trace_filter.as_ref(), 0));
        let (points, tracer) = (self.checks.points.as_ref(), trace.as_ref().map(Trace::tracer));
        let executor = executors(ExecutorRequest { switch: self.switch, points, tracer })?;
        let SwitchSetup { placed, ports, control, config, .. } = self.switch;
        let mut config = SwitchConfig { count_hits: true, ..config.clone() };
        if self.options.trace {
            // Batches are off, because a batch would report the steps of several packets as one pass.
            config.max_batch = 1;
        }
        let (program, placement) = (&placed.program, &placed.placement);
        let mut switch = Switch::new(program, placement, ports, control.clone(), executor, config)?;
        for (at, op) in self.changes {
            switch.control(Time::ORIGIN + *at, op.clone())?;
        }
        let view = self.view();
        // Frames take time on the wire only in timed mode, or if the pace is the line rate.
        let takes_time = view.is_timed() || schedule.pace == Pace::LineRate;
        let line = |_, port: DevPort| {
            if takes_time { view.speed_of(port.number()) } else { BitRate::from_bps(0) }
        };
        let feed = self.inputs.feed(schedule, line)?;
        Ok(Prepared { replay: *self, schedule, attempt, view, switch, feed, trace })
    }
}

impl<'a> Prepared<'a> {
    /// Returns the time zero of the run: the earliest first timestamp of all inputs.
    #[must_use]
    pub fn origin(&self) -> CaptureTime {
        self.feed.origin()
    }

    /// Runs to the end of the inputs, or until the stop flag is set, and completes the captures.
    ///
    /// # Errors
    /// If an input is damaged, or cut with [`Options::strict`], if the switch refuses a packet or an operation, or if a
    /// writer fails. Captures are incomplete then.
    pub fn run(mut self, attached: Attached<'_>) -> Result<Outcome<'a>, Error> {
        let inputs = self.replay.inputs;
        let captures = CaptureOutputs::new(&self.view, self.feed.stamps(), attached.captures)?;
        let recorder = attached.timeline.map(|request| Recorder::start(request, &mut self.switch));
        let collector = Collector::new(self.view.clone(), inputs.names(), captures, self.trace)
            .for_control_plane(attached.control_plane.is_some());
        let mut progress = attached.progress;
        if let Some(progress) = &mut progress {
            progress.begin(&Run { trial: self.attempt, schedule: self.schedule, bytes: inputs.bytes() });
        }
        let senders = senders(&self.view, inputs, &self.switch);
        let counts = attached.control_plane.as_ref().map(|plane| plane.counts());
        let session = Session {
            view: self.view,
            inputs,
            stop: self.replay.stop,
            switch: self.switch,
            collector,
            scratch: Vec::new(),
            last: Time::ORIGIN,
            loads: inputs.places().iter().map(|(_, port)| PortLoad::new(*port)).collect(),
            progress,
            senders,
            recorder,
            control_plane: attached.control_plane,
            counts,
            counted: 0,
        };
        session.run(Frames::new(self.feed, inputs.may_wait()), self.schedule)
    }
}

/// Returns senders that obey PFC frames, with the PFC settings and priority maps of the switch; `None` if senders
/// ignore PFC frames.
fn senders(view: &SwitchView<'_>, inputs: &Inputs, switch: &Switch<'_>) -> Option<Senders> {
    let cable = view.options.pfc_cable?;
    let flow = switch.flow(Time::ORIGIN);
    let (pfc, maps) =
        flow.map_or((PfcConfig::default(), QosMaps::azure()), |f| (f.config.pfc, f.config.maps));
    let sender = |(_, port): &(SwitchId, DevPort)| ((0, *port), view.speed_of(port.number()), pfc, maps);
    Some(Senders::new(inputs.places().iter().map(sender), cable))
}

/// A run in progress.
struct Session<'a, 'r> {
    view: SwitchView<'a>,
    inputs: &'a Inputs,
    stop: &'a AtomicBool,
    switch: Switch<'static>,
    collector: Collector<'a>,
    /// Buffer for a packet whose addresses change.
    scratch: Vec<u8>,
    last: Time,
    loads: Vec<PortLoad>,
    progress: Option<&'r mut dyn Progress>,
    /// Senders that obey PFC frames; `None` if senders ignore them.
    senders: Option<Senders>,
    recorder: Option<Recorder<'r>>,
    control_plane: Option<&'r mut dyn ControlPlane>,
    /// The control plane's test for frames, and the number of frames that passed it.
    counts: Option<fn(&[u8]) -> bool>,
    counted: u64,
}

impl<'a> Session<'a, '_> {
    fn run(mut self, mut frames: Frames, schedule: Schedule) -> Result<Outcome<'a>, Error> {
        let mut damage = None;
        let stride = match self.view.config().mode {
            Mode::Timed => STRIDE,
            Mode::Functional => FUNCTIONAL_STRIDE,
        };
        let mut until_stride = stride;
        while !(frames.may_end() && self.is_stopped()) {
            match self.send_next(&mut frames) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Stop::Damage(e)) => {
                    damage = Some(e);
                    break;
                }
                Err(Stop::Error(e)) => return Err(e),
            }
            until_stride -= 1;
            if until_stride == 0 {
                until_stride = stride;
                if self.senders.is_none() {
                    self.advance(self.last)?;
                    if let Some(progress) = &mut self.progress {
                        progress.tick(&Status {
                            now: self.last,
                            sent: frames.sent(),
                            read: &|| frames.read(),
                        });
                    }
                }
            }
        }
        // One step over all gaps: the drain goes from event to event, so it would skip no rounds of packet generators.
        if self.senders.is_none() && !self.is_stopped() {
            self.advance(self.last)?;
        }
        self.send_rest()?;
        self.drain()?;
        if let Some(progress) = &mut self.progress {
            progress.end();
        }
        self.finish(&mut frames, schedule, damage)
    }

    /// Sends the next packet; returns false if there is none.
    #[inline]
    fn send_next(&mut self, frames: &mut Frames) -> Result<bool, Stop> {
        let tag = frames.sent();
        let Some(s) = frames.next_frame().map_err(Stop::Damage)? else { return Ok(false) };
        let frame = s.frame;
        let bytes = bytes_of(self.view.options.rewrite, &s, &mut self.scratch);
        let time = Time::from_ps(s.time);
        self.last = time;
        self.collector
            .origins
            .note(tag, Origin { input: s.input as u32, record: frame.record, offset: frame.offset });
        let (_, port) = self.inputs.places()[s.port];
        if let Some(senders) = &mut self.senders {
            let due = Waiting { due: time, tag, bytes: bytes.to_vec(), orig_len: frame.orig_len };
            senders.queue(s.port, due);
            if let Some(check) = &mut self.collector.check {
                check.entered(tag, port.number(), time, bytes);
            }
            return self.send_until(time).map(|()| true).map_err(Stop::Error);
        }
        if let Some(counts) = self.counts {
            self.counted += u64::from(counts(bytes));
        }
        let rx = RxFrame { bytes, orig_len: frame.orig_len, tag };
        let more = self.switch.rx(port, time, rx).map_err(|e| Stop::Error(e.into()))?;
        if let Some(check) = &mut self.collector.check {
            check.entered(tag, port.number(), time, bytes);
        }
        self.loads[s.port].count(frame.orig_len, Duration::from_ps(s.delay) + more);
        Ok(true)
    }

    /// Sends the packets that senders may send up to `until`.
    fn send_until(&mut self, until: Time) -> Result<(), Error> {
        let Some(mut senders) = self.senders.take() else { return Ok(()) };
        let sent = senders.send_until(until, self);
        self.senders = Some(senders);
        sent?;
        self.collector.captures.flush(self.switch.time())
    }

    /// Sends the packets that senders still hold, until the end of the drain.
    fn send_rest(&mut self) -> Result<(), Error> {
        let Some(mut senders) = self.senders.take() else { return Ok(()) };
        let sent = senders.send_rest(self.last + self.view.options.drain, self);
        self.senders = Some(senders);
        sent?;
        self.collector.captures.flush(self.switch.time())
    }

    /// Runs the switch up to `until`, and writes the captures up to then.
    fn advance(&mut self, until: Time) -> Result<(), Error> {
        self.run_switch(until, None)?;
        self.collector.captures.flush(until)
    }

    /// Runs the switch up to `until`. PFC frames to senders are added to `pauses`.
    fn run_switch(&mut self, until: Time, mut pauses: Option<&mut Vec<HeardPause>>) -> Result<(), Error> {
        loop {
            // Steps are one latency of the control plane, because an operation takes effect at least one latency after
            // its cause.
            let to = match &self.control_plane {
                None => until,
                Some(plane) => {
                    end_of_step(self.switch.time(), plane.latency(), until, || self.next_message())
                }
            };
            let (recorder, switch) = (&mut self.recorder, &mut self.switch);
            match &mut pauses {
                None => timeline::advance(recorder, switch, to, &mut self.collector)?,
                Some(heard) => {
                    let mut ears = Ears { inner: &mut self.collector, heard };
                    timeline::advance(recorder, switch, to, &mut ears)?;
                }
            }
            let Collector { heard, check, .. } = &mut self.collector;
            if let (Some(plane), Some(heard)) = (&mut self.control_plane, heard) {
                let mut changes = |time, op: &ControlOp| {
                    if let Some(check) = check {
                        check.changes_at(time, op);
                    }
                };
                listen_to_switch(&mut **plane, &mut self.switch, heard, &mut changes)?;
            }
            if to >= until {
                return Ok(());
            }
        }
    }

    /// Returns the time before which the switch sends the control plane nothing.
    fn next_message(&self) -> Option<Time> {
        let times = [self.switch.next_time(), self.switch.next_idle()];
        times.into_iter().flatten().min()
    }

    /// Runs until the switch is empty except for timers, or until the end of the drain.
    fn drain(&mut self) -> Result<(), Error> {
        let end = self.last + self.view.options.drain;
        while self.switch.is_busy()
            && let Some(next) = self.switch.next_time().filter(|t| *t <= end)
        {
            // Delayed frames may be later than the end of the drain only if the line was oversubscribed; they still run.
            self.advance(next)?;
            if self.is_stopped() {
                break;
            }
        }
        self.collector.captures.flush(Time::MAX)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn finish(
        mut self,
        frames: &mut Frames,
        schedule: Schedule,
        damage: Option<CaptureError>,
    ) -> Result<Outcome<'a>, Error> {
        if let Some(check) = &mut self.collector.check {
            check.monitor.settled(&self.switch);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.end(&mut self.switch)?;
        }
        let coverage = self.view.checks.points.as_ref().map(|points| {
            let mut coverage = Coverage::new(points);
            self.switch.executor_mut().take_coverage(&mut coverage);
            coverage
        });
        let now = self.switch.time();
        let name = |port| self.view.port_name(port);
        let held_back = self.senders.as_ref().map(|s| HeldBackReport::of(s, SwitchId(0), name, now));
        let interrupted = self.is_stopped();
        let inputs = self.inputs.all().iter().zip(frames.reports());
        let Collector { captures, mut trace, spans, latency, unparsed, check, .. } = self.collector;
        select(&mut trace.iter_mut().collect::<Vec<_>>());
        let run = RunParts {
            schedule,
            inputs: inputs.map(|(input, report)| InputOutcome::of(input, report)).collect(),
            loads: self.loads,
            latency,
            unparsed,
            violations: check.map_or(Vec::new(), |check| check.monitor.violations().to_vec()),
            trace,
            spans,
            held_back,
            control_plane: self.control_plane.map(|plane| ControlPlaneReport::of(plane, self.counted)),
            coverage,
            last: self.last,
            sent: frames.sent(),
            interrupted,
            view: self.view,
        };
        let outcome = Outcome::of(&self.switch, run);
        outcome.check_inputs(damage)?;
        captures.finish(&outcome.port_counts())?;
        Ok(outcome)
    }
}

impl Receiver for Session<'_, '_> {
    type Error = Error;

    fn time(&self) -> Time {
        self.switch.time()
    }

    fn next_time(&self) -> Option<Time> {
        self.switch.next_time()
    }

    fn run_until(&mut self, until: Time, heard: &mut Vec<HeardPause>) -> Result<(), Error> {
        self.run_switch(until, Some(heard))
    }

    fn take(&mut self, Sent { sender, at, frame }: &Sent) -> Result<(), Error> {
        let rx = RxFrame { bytes: &frame.bytes, orig_len: frame.orig_len, tag: frame.tag };
        self.switch.rx(self.inputs.places()[*sender].1, *at, rx)?;
        self.loads[*sender].count(frame.orig_len, Duration::ZERO);
        self.last = self.last.max(*at);
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.is_stopped()
    }
}

/// Returns the bytes of a packet to send, with the addresses changed for its turn.
#[inline]
pub(crate) fn bytes_of<'f>(rewrite: Option<Rewrite>, s: &Sending<'f>, scratch: &'f mut Vec<u8>) -> &'f [u8] {
    match rewrite {
        Some(rewrite) if s.turn > 0 => {
            scratch.clear();
            scratch.extend_from_slice(s.frame.data);
            rewrite.apply(scratch, s.turn as u32);
            scratch
        }
        _ => s.frame.data,
    }
}

/// Reason why the next packet was not sent.
enum Stop {
    Damage(CaptureError),
    Error(Error),
}
