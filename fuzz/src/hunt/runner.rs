//! Runs one input through two devices: one with the engine, which counts coverage and which the properties observe, and one
//! with the reference interpreter, whose results must be equal.

use super::corpus::Response;
use super::digest::Digest;
use super::input::Input;
use super::memory::{Memory, restore, scopes};
use super::obey::Queue;
use super::responses::{SentFrame, responses};
use super::subject::{Subject, SubjectError};
use super::visible::VisibleDigest;
use sluice_asic::port::DevPort;
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, ControlState, DeviceOp};
use sluice_exec::cover::Coverage;
use sluice_exec::engine::{Engine, LowerError};
use sluice_exec::pass::{Executor, State};
use sluice_exec::reference::{Event, Options, Reference, Tracer};
use sluice_ir::Program;
use sluice_ir::meter_array::Origin;
use sluice_switch::property::{Monitor, Violation};
use sluice_switch::{self as switch, IdleEntry, Left, Lost, Reason, RxFrame, Sink, Switch, SwitchConfig};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Longest time for a device to become empty after the last packet.
pub(crate) const DRAIN: Duration = Duration::from_millis(10);
/// Time of a drain's first check whether the device is empty; each further wait is twice as long.
const FIRST_STEP: Duration = Duration::from_micros(1);

/// Time that a generated packet takes through the device, recirculations included.
const SETTLE: Duration = Duration::from_micros(20);

/// Result of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Violations of properties.
    pub violations: Vec<Violation>,
    /// Coverage points that the input reached.
    pub coverage: Coverage,
    /// Pairs of a piece and a point that the piece was the first to reach.
    pub new: Vec<(u32, u32)>,
    /// Pairs of a piece and a point that the piece reached: one with fewer than `SELDOM` packets so far, or an unmatched
    /// constant entry.
    pub few: Vec<(u32, u32)>,
    /// Frames that the device sent because of pieces that reached a new point.
    pub responses: Vec<Response>,
    /// Reasons for which packets ended, each with the number of packets.
    pub ends: Vec<(Reason, u64)>,
}

/// Number of packets below which a point counts as rarely reached.
const SELDOM: u64 = 256;

/// Tracer that records the first read of an invalid header.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads(Option<String>);

impl Reads {
    /// Returns the recorded read and forgets it.
    pub(crate) fn take(&mut self) -> Option<String> {
        self.0.take()
    }
}

impl Tracer for Reads {
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        if let Event::ReadInvalid { field, .. } = event
            && self.0.is_none()
        {
            self.0 =
                Some(format!("`{}` was read while its header was not valid", program.fields[*field].name));
        }
    }

    fn watches_reads(&self) -> bool {
        true
    }
}

/// Further arguments of a run: observers, recycled memory and a limit.
pub(crate) struct Beside<'m> {
    /// Properties that observe the run.
    pub(crate) monitor: Option<&'m mut Monitor>,
    /// List to which sent frames are added.
    pub(crate) heard: Option<&'m mut Vec<SentFrame>>,
    /// Digest of bytes, ports, fates and order, which the run fills.
    pub(crate) visible: Option<&'m mut VisibleDigest>,
    /// Memory of an earlier run, which is overwritten.
    pub(crate) memory: Memory,
    /// Recirculations after which the run is stopped.
    pub(crate) laps: u64,
    /// True if passes and queues are observed: the device then admits no packet ahead of time.
    pub(crate) watched: bool,
}

impl Default for Beside<'_> {
    fn default() -> Self {
        Beside {
            monitor: None,
            heard: None,
            visible: None,
            memory: Memory::default(),
            laps: u64::MAX,
            watched: false,
        }
    }
}

/// Sink that digests sent and dropped packets and passes them on to the observers.
struct Watch<'m> {
    digest: Digest,
    monitor: Option<&'m mut Monitor>,
    heard: Option<&'m mut Vec<SentFrame>>,
    visible: Option<&'m mut VisibleDigest>,
    watched: bool,
}

impl Sink for Watch<'_> {
    fn watches(&self) -> bool {
        self.watched
    }

    fn digest(&mut self, digest: &switch::Digest, data: &[u8]) {
        self.digest.told(digest, data);
    }

    fn idle(&mut self, entry: &IdleEntry) {
        self.digest.idle(entry);
    }

    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.digest.left(packet, head, tail);
        if let Some(visible) = &mut self.visible {
            visible.left(packet, head, tail);
        }
        if let Some(monitor) = &mut self.monitor {
            monitor.left(packet, head, tail);
        }
        if let Some(heard) = &mut self.heard {
            let (time, port) = (packet.first_bit.as_ps() / 1000, packet.egress_port);
            heard.push(SentFrame { time, port, bytes: [head, tail].concat(), tag: packet.tag });
        }
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.digest.lost(packet, head, tail);
        if let Some(visible) = &mut self.visible {
            visible.lost(packet);
        }
        if let Some(monitor) = &mut self.monitor {
            monitor.ended(packet, head, tail);
        }
    }
}

/// Results of one device for an input.
pub(crate) struct Ran {
    /// True if the run was stopped before the device was empty: after `Beside::laps` recirculations, or at the end of the
    /// drain. The results are incomplete and must not be compared.
    pub(crate) cut: bool,
    /// Recirculations of all packets together.
    pub(crate) laps: u64,
    pub(crate) digest: Digest,
    pub(crate) memory: Memory,
    pub(crate) ends: Vec<(Reason, u64)>,
}

/// Runs inputs, one after the other.
pub struct Runner<'s> {
    subject: &'s Subject<'s>,
    program: Arc<Program>,
    engine: Engine,
    reference: Reference<Reads>,
    /// Engine that runs by steps; `None` if `engine` does not run generated code.
    steps: Option<Engine>,
    monitor: Monitor,
    /// Recycled memory of the devices with the engine, the interpreter and the engine by steps.
    memory: [Memory; 3],
    /// Coverage of the current piece.
    step: Coverage,
    /// Packets sent so far.
    pub packets: u64,
    /// True if the reference interpreter also runs inputs that reach no new point.
    pub compare: bool,
}

impl<'s> Runner<'s> {
    /// Returns a runner for a subject.
    ///
    /// # Errors
    /// If the engine cannot lower the program.
    pub fn new(subject: &'s Subject<'s>) -> Result<Runner<'s>, SubjectError> {
        let Subject { program, placement, control, points, catalogue, .. } = subject;
        let refused = |e: LowerError| SubjectError::Device(e.to_string());
        let engine = catalogue.covered(program, placement, control, points.clone()).map_err(refused)?;
        let reference = Reference::traced(program, control, options(subject), Reads::default());
        let steps = engine.runs_generated().then(|| Engine::new(program, placement, control));
        let steps = steps.transpose().map_err(refused)?;
        let monitor = Monitor::new(program, subject.properties(false));
        Ok(Runner {
            subject,
            program: Arc::new(program.clone()),
            engine,
            reference,
            steps,
            monitor,
            memory: Default::default(),
            step: Coverage::new(points),
            packets: 0,
            compare: true,
        })
    }

    /// Runs an input. A point is new if it is not in `known`.
    ///
    /// # Errors
    /// If the device cannot be built.
    pub fn run(&mut self, input: &Input, known: &Coverage) -> Result<Outcome, SubjectError> {
        let result = catch_unwind(AssertUnwindSafe(|| self.all(input, known)));
        self.packets += input.shots.len() as u64;
        result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let packets = self.packets;
            *self = Runner { packets, ..Runner::new(self.subject)? };
            let violation =
                Violation { property: "no_panic".to_owned(), tag: None, time: Time::ORIGIN, text };
            Ok(Outcome {
                violations: vec![violation],
                coverage: Coverage::new(&self.subject.points),
                ..Outcome::default()
            })
        })
    }

    fn all(&mut self, input: &Input, known: &Coverage) -> Result<Outcome, SubjectError> {
        let Runner { subject, program, engine, reference, steps, monitor, memory, step, .. } = self;
        let control = &subject.control;
        monitor.restart(subject.properties(input.obeys));
        let mut outcome = Outcome { coverage: Coverage::new(&subject.points), ..Outcome::default() };
        let config = subject.config.clone();
        let mut seen = |engine: &mut dyn Executor, piece: u32| {
            step.clear();
            engine.take_coverage(step);
            let new = |n: &u32| known.count(*n) == 0 && outcome.coverage.count(*n) == 0;
            outcome.new.extend(step.reached().filter(new).map(|n| (piece, n)));
            let seldom = step.reached().filter(|n| known.count(*n) < SELDOM);
            let entries = step.found().filter(|n| !known.has(*n) && !outcome.coverage.has(*n));
            outcome.few.extend(seldom.chain(entries).map(|n| (piece, n)));
            outcome.coverage.merge(step);
        };
        let beside =
            Beside { monitor: Some(monitor), memory: std::mem::take(&mut memory[0]), ..Beside::default() };
        let found = send(subject, program, control, config, &mut *engine, input, beside, &mut seen)?;
        outcome.violations = monitor.violations().to_vec();
        outcome.ends.clone_from(&found.ends);
        if !input.ops.is_empty() {
            restore(program, control, engine, input);
        }
        if !self.compare && outcome.new.is_empty() {
            memory[0] = found.memory;
            return Ok(outcome);
        }
        // Results must not depend on the batch size, so the interpreter uses another one.
        let config = SwitchConfig { max_batch: 1, ..subject.config.clone() };
        let mut heard = Vec::new();
        let beside = Beside {
            heard: (!outcome.new.is_empty()).then_some(&mut heard),
            memory: std::mem::take(&mut memory[1]),
            // Observed, so that no packet is admitted ahead of time: results must not depend on that.
            watched: true,
            ..Beside::default()
        };
        let expected =
            send(subject, program, control, config, &mut *reference, input, beside, &mut |_, _| {})?;
        outcome.responses = responses(heard, input, &outcome.new.iter().map(|(piece, _)| *piece).collect());
        let mut add = |property: &str, text| {
            let property = property.to_owned();
            outcome.violations.push(Violation { property, tag: None, time: Time::ORIGIN, text });
        };
        if let Some(text) = reference.tracer_mut().take() {
            add("no_invalid_headers", text);
        }
        if let Some(text) = difference(subject, &found, &expected) {
            add("engines_agree", text);
        }
        if let Some(steps) = steps {
            let config = subject.config.clone();
            let beside = Beside { memory: std::mem::take(&mut memory[2]), ..Beside::default() };
            let ran = send(subject, program, control, config, &mut *steps, input, beside, &mut |_, _| {})?;
            if let Some(text) = difference(subject, &ran, &expected) {
                add("engines_agree", format!("by steps: {text}"));
            }
            if !input.ops.is_empty() {
                restore(program, control, steps, input);
            }
            memory[2] = ran.memory;
        }
        if !input.ops.is_empty() {
            restore(program, control, reference, input);
        }
        [memory[0], memory[1]] = [found.memory, expected.memory];
        Ok(outcome)
    }
}

/// Describes the first difference between the results of the engine and of the interpreter; `None` if they are equal or one
/// of the runs was stopped.
fn difference(subject: &Subject<'_>, found: &Ran, expected: &Ran) -> Option<String> {
    if found.cut || expected.cut {
        return None;
    }
    if found.digest != expected.digest || found.ends != expected.ends {
        return Some(ends_text(subject, &found.ends, &expected.ends));
    }
    states_text(&subject.program, &found.memory.device.states, &expected.memory.device.states)
}

/// Returns the device's properties on which the interpreter's results depend.
pub(crate) fn options(subject: &Subject<'_>) -> Options {
    let cycles = [0, 1].map(|g: usize| subject.placement.gresses[g].parser.cycles.clone());
    let chip = &subject.placement.chip;
    Options { parser_cycles: cycles, writes_once: !chip.parser.clear_on_write, origin: Origin::of(chip) }
}

/// Sends an input through a device with `program`, placed as the subject's program is. Calls `seen` after each piece and when
/// the device is empty.
#[expect(clippy::too_many_arguments, reason = "the parts of a device, and the observers of its run")]
pub(crate) fn send(
    subject: &Subject<'_>,
    program: &Arc<Program>,
    control: &ControlState,
    config: SwitchConfig,
    executor: &mut dyn Executor,
    input: &Input,
    Beside { mut monitor, heard, visible, memory, laps, watched }: Beside<'_>,
    seen: &mut dyn FnMut(&mut dyn Executor, u32),
) -> Result<Ran, SubjectError> {
    let Subject { placement, ports, .. } = subject;
    let Memory { device, control: again } = memory;
    let entries = again.unwrap_or_else(|| control.clone());
    let made = Switch::with_memory(program, placement, ports, entries, Box::new(executor), config, device);
    let mut switch = made.map_err(|e| SubjectError::Device(e.to_string()))?;
    let mut watch = Watch { digest: Digest::default(), monitor: None, heard, visible, watched };
    // As in a replay, time starts with the first packet.
    let first = input.shots.first().map_or(0, |s| s.at);
    let time = |ns: u64| Time::ORIGIN + Duration::from_nanos(ns.saturating_sub(first));
    let mut refused = None;
    for (at, op) in &input.ops {
        refused = refused.or(switch.control(time(*at), op.clone()).err());
    }
    let disturbs = |(_, op): &(u64, ControlOp)| matches!(op, ControlOp::Device(_));
    if let Some(monitor) = monitor.as_deref_mut().filter(|_| input.ops.iter().any(disturbs)) {
        monitor.disturbed();
    }
    let mut queue = Queue::new(subject, input, &switch);
    let (mut last, mut changed) = (Time::ORIGIN, 0);
    for (tag, shot) in (0u64..).zip(&input.shots) {
        last = time(shot.at);
        let orig_len = shot.bytes.len() as u32;
        let due = input.ops.iter().take_while(|(at, _)| *at <= shot.at).count();
        // Changes of queues and ports do not change the verdict on packets, so the monitor is notified of others alone.
        let entries = |(_, op): &(u64, ControlOp)| !matches!(op, ControlOp::Device(_));
        if let Some(monitor) = monitor.as_deref_mut().filter(|_| input.ops[changed..due].iter().any(entries))
        {
            monitor.changed();
        }
        changed = due;
        let frame = RxFrame { bytes: &shot.bytes, orig_len, tag };
        if let Some(monitor) = monitor.as_deref_mut() {
            monitor.entered(tag, shot.port, last, &shot.bytes);
        }
        if let Some(queue) = &mut queue {
            watch.monitor = monitor.take();
            refused = refused.or(queue.send(&mut switch, &mut watch, (tag, last, shot)).err());
            monitor = watch.monitor.take();
        } else if let Some(port) = DevPort::new(shot.port) {
            refused = refused.or(switch.rx(port, last, frame).err());
        }
        let next = input.shots.get(tag as usize + 1);
        if next.is_none_or(|next| next.piece != shot.piece) {
            watch.monitor = monitor.take();
            refused = refused.or(switch.advance(last, &mut watch).err());
            monitor = watch.monitor.take();
            seen(switch.executor_mut(), shot.piece);
            if switch.totals().recirculated > laps {
                return Ok(stopped(&watch, switch, control, input));
            }
        }
    }
    watch.monitor = monitor.take();
    // After all events at the last packet's time.
    let end = last + Duration::from_nanos(1);
    // Packet generators never end. The run disables them, so that no packet is inside when states are compared.
    for (&(pipe, app), _) in control.device.apps.iter().filter(|(_, set)| set.enabled) {
        let off = ControlOp::Device(DeviceOp::EnablePktgenApp { pipe, app, enabled: false });
        refused = refused.or(switch.control(end, off).err());
    }
    for op in input.release() {
        refused = refused.or(switch.control(end, ControlOp::Device(op)).err());
    }
    if let Some(queue) = &mut queue {
        refused = refused.or(queue.rest(&mut switch, &mut watch, end + DRAIN).err());
    }
    let end = end.max(switch.time());
    // Checks only at times that do not depend on batches.
    let mut step = FIRST_STEP;
    while switch.is_busy() && step <= DRAIN {
        refused = refused.or(switch.advance(end + step, &mut watch).err());
        step = step + step;
        if switch.totals().recirculated > laps {
            return Ok(stopped(&watch, switch, control, input));
        }
    }
    // The last generated packets leave within this time.
    refused = refused.or(switch.advance(switch.time() + SETTLE, &mut watch).err());
    seen(switch.executor_mut(), input.shots.last().map_or(0, |s| s.piece));
    if let Some(monitor) = &mut watch.monitor {
        monitor.settled(&switch);
    }
    match refused {
        Some(e) => Err(SubjectError::Device(e.to_string())),
        None => Ok(Ran {
            cut: switch.is_busy(),
            laps: switch.totals().recirculated,
            digest: watch.digest,
            ends: switch.totals().reasons().filter(|(_, n)| *n > 0).collect(),
            memory: left(switch, control, input),
        }),
    }
}

/// Returns the results of a stopped run.
fn stopped(watch: &Watch<'_>, switch: Switch<'_>, control: &ControlState, input: &Input) -> Ran {
    let (cut, laps) = (true, switch.totals().recirculated);
    Ran { cut, laps, digest: watch.digest, memory: left(switch, control, input), ends: Vec::new() }
}

/// Takes the memory out of a device and restores the entries `first`, with which the run began.
fn left(switch: Switch<'_>, first: &ControlState, input: &Input) -> Memory {
    let (device, mut control) = switch.into_parts();
    control.restore(first, &scopes(input));
    Memory { device, control: Some(control) }
}

fn ends_text(subject: &Subject<'_>, engine: &[(Reason, u64)], reference: &[(Reason, u64)]) -> String {
    let list = |ends: &[(Reason, u64)]| {
        let names: Vec<String> =
            ends.iter().map(|(r, n)| format!("{} {n}", r.name(&subject.program))).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    format!(
        "engine and reference interpreter differ in what leaves; lost by the engine: {}; by the reference: {}",
        list(engine),
        list(reference)
    )
}

/// Returns the parts of a state other than registers and counters.
fn rest(s: &State) -> impl PartialEq + '_ {
    (&s.params, &s.ages, &s.meters, &s.busy, &s.randoms)
}

/// Describes the first difference between the states of the engine and of the reference; `None` if they are equal.
fn states_text(program: &Program, engine: &[State], reference: &[State]) -> Option<String> {
    for (pipe, (e, r)) in engine.iter().zip(reference).enumerate() {
        for (register, data) in program.registers.iter() {
            let (a, b) = (&e.registers[register], &r.registers[register]);
            if let Some(i) = a.difference(b) {
                let (a, b, name) = (&a[i], &b[i], &data.name);
                return Some(format!(
                    "{name}[{i}] of pipe {pipe}: {a:?} in the engine, {b:?} in the reference"
                ));
            }
        }
        for (counter, data) in program.counters.iter() {
            let (a, b) = (&e.counters[counter], &r.counters[counter]);
            if let Some(i) = a.difference(b) {
                let (a, b, name) = (&a[i], &b[i], &data.name);
                return Some(format!(
                    "{name}[{i}] of pipe {pipe}: {a:?} in the engine, {b:?} in the reference"
                ));
            }
        }
        if rest(e) != rest(r) {
            return Some(format!("meters, ages or random streams of pipe {pipe} differ"));
        }
    }
    None
}
