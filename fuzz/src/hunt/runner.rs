//! One input through two devices: the engine's, which properties look at and which counts what it reaches, and the
//! reference interpreter's, which must do the same.

use super::corpus::Echo;
use super::digest::Digest;
use super::echo::{Heard, echoes};
use super::input::Input;
use super::memory::{Memory, restore, scopes};
use super::obey::Queue;
use super::subject::{Subject, SubjectError};
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

/// Time that a device gets to empty itself after the last packet.
pub(crate) const DRAIN: Duration = Duration::from_millis(10);
/// When a drain first looks whether the device is empty; each time later it waits twice as long.
const FIRST_STEP: Duration = Duration::from_micros(1);

/// Time for the way of a generated packet through the device, with laps.
const SETTLE: Duration = Duration::from_micros(20);

/// What came of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What does not hold.
    pub violations: Vec<Violation>,
    /// What was reached.
    pub coverage: Coverage,
    /// Points reached for the first time, by the piece that did.
    pub new: Vec<(u32, u32)>,
    /// Points that few packets had reached before, and fixed entries that none had found, by the piece that did.
    pub few: Vec<(u32, u32)>,
    /// What left because of pieces that reached something new.
    pub echoes: Vec<Echo>,
    /// Why packets ended, with how many did.
    pub ends: Vec<(Reason, u64)>,
}

/// Packets below which a point counts as seldom reached.
const SELDOM: u64 = 256;

/// Notes reads of invalid headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads(Option<String>);

impl Reads {
    /// The first one, which is forgotten.
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

/// What a run is given beside the device: who else sees what leaves and ends, and memory.
pub(crate) struct Beside<'m> {
    pub(crate) monitor: Option<&'m mut Monitor>,
    pub(crate) heard: Option<&'m mut Vec<Heard>>,
    /// Of another run, to write over.
    pub(crate) memory: Memory,
    /// Laps through recirculation ports after which the run is stopped.
    pub(crate) laps: u64,
    /// Passes and queues are watched: the device then lets nothing in ahead of time.
    pub(crate) watched: bool,
}

impl Default for Beside<'_> {
    fn default() -> Self {
        Beside { monitor: None, heard: None, memory: Memory::default(), laps: u64::MAX, watched: false }
    }
}

/// Digests what leaves and ends; others look too, if there are any.
struct Watch<'m> {
    digest: Digest,
    monitor: Option<&'m mut Monitor>,
    heard: Option<&'m mut Vec<Heard>>,
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
        if let Some(monitor) = &mut self.monitor {
            monitor.left(packet, head, tail);
        }
        if let Some(heard) = &mut self.heard {
            let (time, port) = (packet.first_bit.as_ps() / 1000, packet.egress_port);
            heard.push(Heard { time, port, bytes: [head, tail].concat(), tag: packet.tag });
        }
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.digest.lost(packet, head, tail);
        if let Some(monitor) = &mut self.monitor {
            monitor.ended(packet, head, tail);
        }
    }
}

/// What a device did with an input.
pub(crate) struct Ran {
    /// It was busy for so long that it was stopped: how far it came means nothing.
    pub(crate) cut: bool,
    /// Laps through recirculation ports.
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
    /// An engine by steps, if the first one runs generated code.
    steps: Option<Engine>,
    monitor: Monitor,
    /// Of the engine's device, of the interpreter's, and of that by steps.
    memory: [Memory; 3],
    /// What a piece reaches.
    step: Coverage,
    /// Packets sent so far.
    pub packets: u64,
    /// Whether the reference interpreter runs inputs that reach nothing new, too.
    pub compare: bool,
}

impl<'s> Runner<'s> {
    /// A runner of a subject.
    ///
    /// # Errors
    /// When the engine does not take the program.
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

    /// Runs an input. What is new is new against `known`.
    ///
    /// # Errors
    /// When the device cannot be made.
    pub fn run(&mut self, input: &Input, known: &Coverage) -> Result<Outcome, SubjectError> {
        let result = catch_unwind(AssertUnwindSafe(|| self.all(input, known)));
        self.packets += input.shots.len() as u64;
        result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let packets = self.packets;
            *self = Runner { packets, ..Runner::new(self.subject)? };
            let violation = Violation { property: "no_panic", tag: None, time: Time::ORIGIN, text };
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
        let mut seen = |engine: &mut &mut Engine, piece: u32| {
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
        // Another size of batches: results do not depend on it.
        let config = SwitchConfig { max_batch: 1, ..subject.config.clone() };
        let mut heard = Vec::new();
        let beside = Beside {
            heard: (!outcome.new.is_empty()).then_some(&mut heard),
            memory: std::mem::take(&mut memory[1]),
            // Here as careful as can be: the others' ways through the device must come to the same.
            watched: true,
            ..Beside::default()
        };
        let expected =
            send(subject, program, control, config, &mut *reference, input, beside, &mut |_, _| {})?;
        outcome.echoes = echoes(heard, input, &outcome.new.iter().map(|(piece, _)| *piece).collect());
        let mut add = |property, text| {
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

/// What differs between what an engine's device did and what the interpreter's did. That one was stopped is a failure of
/// its own.
fn difference(subject: &Subject<'_>, found: &Ran, expected: &Ran) -> Option<String> {
    if found.cut || expected.cut {
        return None;
    }
    if found.digest != expected.digest || found.ends != expected.ends {
        return Some(ends_text(subject, &found.ends, &expected.ends));
    }
    states_text(&subject.program, &found.memory.device.states, &expected.memory.device.states)
}

/// What the interpreter must know of the device.
pub(crate) fn options(subject: &Subject<'_>) -> Options {
    let cycles = [0, 1].map(|g: usize| subject.placement.gresses[g].parser.cycles.clone());
    Options { parser_cycles: cycles, origin: Origin::of(&subject.placement.chip) }
}

/// Sends an input through a device with a program that lies where the subject's does; `seen` is called after each
/// piece, and when the device is empty.
#[expect(clippy::too_many_arguments, reason = "what a device is made of, and who looks")]
pub(crate) fn send<E: Executor>(
    subject: &Subject<'_>,
    program: &Arc<Program>,
    control: &ControlState,
    config: SwitchConfig,
    executor: E,
    input: &Input,
    Beside { mut monitor, heard, memory, laps, watched }: Beside<'_>,
    seen: &mut dyn FnMut(&mut E, u32),
) -> Result<Ran, SubjectError> {
    let Subject { placement, ports, .. } = subject;
    let Memory { device, control: again } = memory;
    let entries = again.unwrap_or_else(|| control.clone());
    let made = Switch::with_memory(program, placement, ports, entries, executor, config, device);
    let mut switch = made.map_err(|e| SubjectError::Device(e.to_string()))?;
    let mut watch = Watch { digest: Digest::default(), monitor: None, heard, watched };
    // As in a replay, time begins with the first packet.
    let first = input.shots.first().map_or(0, |s| s.at);
    let time = |ns: u64| Time::ORIGIN + Duration::from_nanos(ns.saturating_sub(first));
    let mut refused = None;
    for (at, op) in &input.ops {
        refused = refused.or(switch.control(time(*at), op.clone()).err());
    }
    let mut queue = Queue::new(subject, input, &switch);
    let (mut last, mut changed) = (Time::ORIGIN, 0);
    for (tag, shot) in (0u64..).zip(&input.shots) {
        last = time(shot.at);
        let orig_len = shot.bytes.len() as u32;
        let due = input.ops.iter().take_while(|(at, _)| *at <= shot.at).count();
        // Queues and ports change when packets leave, not where they go.
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
    // After everything that happens with the last packet.
    let end = last + Duration::from_nanos(1);
    // Generators would go on for ever; the run ends without them, so that nothing is under way when states are compared.
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
    // Looked at only at times that do not depend on batches.
    let mut step = FIRST_STEP;
    while switch.is_busy() && step <= DRAIN {
        refused = refused.or(switch.advance(end + step, &mut watch).err());
        step = step + step;
        if switch.totals().recirculated > laps {
            return Ok(stopped(&watch, switch, control, input));
        }
    }
    // What generators made last needs no longer than this.
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

/// What a run that was stopped has done.
fn stopped<E: Executor>(watch: &Watch<'_>, switch: Switch<E>, control: &ControlState, input: &Input) -> Ran {
    let (cut, laps) = (true, switch.totals().recirculated);
    Ran { cut, laps, digest: watch.digest, memory: left(switch, control, input), ends: Vec::new() }
}

/// What a device leaves that began with these entries.
fn left<E: Executor>(switch: Switch<E>, first: &ControlState, input: &Input) -> Memory {
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

/// A state without its large arrays.
fn rest(s: &State) -> impl PartialEq + '_ {
    (&s.params, &s.ages, &s.meters, &s.busy, &s.randoms)
}

/// The first cell that differs.
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
