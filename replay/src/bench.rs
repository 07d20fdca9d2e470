//! [`Bench`]: one switch with a program of a catalogue, packets in and packets out, for tests and small experiments.

use crate::control_plane::{Heard, end_of_step, listen_to_switch};
use crate::property_check::PropertyCheck;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, FrontPort, PortError, PortMap};
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::control_plane::{ControlPlane, ControlPlaneError, ControlPlaneRequest};
use sluice_catalogue::{Catalogue, ProgramError, SetupError, UnknownProgram};
use sluice_control::{ControlError, ControlOp};
use sluice_exec::engine::LowerError;
use sluice_fabric::network::{Placed, SwitchSetup};
use sluice_ir::Program;
use sluice_place::{NoFit, Placement};
use sluice_switch::property::{Monitor, Property, Violation, general_and};
use sluice_switch::{Digest, IdleEntry, Left, Lost, RxFrame, Sink, Switch, SwitchError};
use thiserror::Error;

/// Longest time that [`Bench::finish`] waits for packets inside the switch.
const DRAIN: Duration = Duration::from_millis(10);

/// A packet that the switch sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Number of the received packet, from 0, that it is or that it was copied from.
    pub number: u64,
    /// Time of its first bit on the output line.
    pub time: Time,
    /// dev_port on which it was sent.
    pub port: u16,
    /// The same port as a front-panel port; `None` if it is another port, such as the CPU's.
    pub front: Option<u16>,
    /// Queue of the port.
    pub queue: u8,
    /// Its bytes, without FCS, before padding.
    pub bytes: Vec<u8>,
}

/// A packet that ended inside the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostPacket {
    /// Number of the received packet, from 0, that it is or that it was copied from.
    pub number: u64,
    /// Time of its end.
    pub time: Time,
    /// Name of the reason, for example `no_route`.
    pub reason: String,
    /// True if the program absorbed it on purpose, false if it was dropped.
    pub absorbed: bool,
}

/// Results of a [`Bench`], each list in order of time.
#[derive(Clone, Debug, Default)]
pub struct BenchRun {
    /// Sent packets.
    pub sent: Vec<SentPacket>,
    /// Packets that ended inside.
    pub lost: Vec<LostPacket>,
    /// Digests for the control plane: time and data.
    pub digests: Vec<(Time, Vec<u8>)>,
    /// Violations of the program's properties and of the general ones.
    pub violations: Vec<Violation>,
}

impl BenchRun {
    /// Sorts the lists by time.
    fn sort(&mut self) {
        self.sent.sort_by_key(|packet| packet.time);
        self.lost.sort_by_key(|packet| packet.time);
        self.digests.sort();
    }
}

/// Reason for which a bench cannot be set up, or refuses a packet or an operation.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The catalogue has no such program.
    #[error(transparent)]
    Unknown(#[from] UnknownProgram),
    /// The program cannot be built with these parameters.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The program does not fit the chip.
    #[error("{0}")]
    NoFit(Box<NoFit>),
    /// The chip has no such ports.
    #[error(transparent)]
    Ports(#[from] PortError),
    /// The program's default setup cannot be made.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The control plane refuses an operation.
    #[error(transparent)]
    Control(#[from] Box<ControlError>),
    /// The engine cannot run the program.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The switch refuses its setup or an operation.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// The switch has no such front-panel port.
    #[error("the switch has no front-panel port {0}")]
    NoSuchPort(u16),
    /// The bench has already run beyond the packet's time.
    #[error(
        "a packet at {at} comes too late, because the bench has run to {now}; send packets in order of time"
    )]
    Late {
        /// Time of the packet.
        at: Duration,
        /// Time up to which the bench has run.
        now: Duration,
    },
    /// The program has no control plane.
    #[error("program `{0}` has no control plane")]
    NoControlPlane(String),
    /// The control plane refuses its settings.
    #[error(transparent)]
    ControlPlane(#[from] ControlPlaneError),
}

/// One switch with a program of a catalogue: a test sends packets, lets time pass and looks at what happened.
///
/// The switch has the ports of its chip, the program's default setup and an engine. The program's properties and the
/// general ones are checked all the time.
///
/// ```
/// use sluice_asic::chip::ChipSpec;
/// use sluice_asic::units::Duration;
/// use sluice_replay::Bench;
///
/// # fn main() -> Result<(), sluice_replay::BenchError> {
/// let catalogue = sluice_programs::catalogue();
/// let mut bench = Bench::new(&catalogue, "ecn-mark", &[], &ChipSpec::tofino2())?;
/// for n in 0..3 {
///     bench.send(Duration::from_micros(n), 0, &[n as u8; 60])?;
/// }
/// let run = bench.finish()?;
/// // The default setup of `ecn-mark` sends frames that are not IPv4 to front-panel port 16.
/// assert_eq!(run.sent.iter().map(|packet| packet.front).collect::<Vec<_>>(), [Some(16); 3]);
/// assert!(run.lost.is_empty() && run.violations.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Bench {
    catalogue: Catalogue,
    setup: SwitchSetup,
    switch: Switch<'static>,
    log: Log,
    plane: Option<Box<dyn ControlPlane>>,
    /// Number of received packets.
    received: u64,
    /// Number of violations that were taken.
    judged: usize,
}

impl Bench {
    /// Builds a program of the catalogue with parameters as key and value, places it on a chip, and sets up a switch with the
    /// program's default setup.
    ///
    /// # Errors
    /// If there is no such program, if it is refused or does not fit, or if its default setup is refused.
    pub fn new(
        catalogue: &Catalogue,
        program: &str,
        params: &[(&str, &str)],
        chip: &ChipSpec,
    ) -> Result<Bench, BenchError> {
        let stage = catalogue.get(program)?;
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let program = stage.build(&params.iter().map(owned).collect::<Vec<_>>())?;
        let placed = Placed::new(program, chip).map_err(BenchError::NoFit)?;
        let mut setup = SwitchSetup::new("switch", &placed)?;
        let defaults = stage.default_setup(&placed.program, &setup.ports)?;
        setup.apply(defaults.ops)?;
        let speeds = defaults.port_speeds.into_iter();
        let speeds = speeds.filter_map(|(front, rate)| Some((setup.front(front.0)?.number(), rate)));
        setup.config.port_speeds = speeds.collect();
        let properties = general_and(stage.properties(&placed.program));
        Bench::of(catalogue, setup, properties)
    }

    /// Makes a switch of this setup, which is checked for these properties.
    ///
    /// # Errors
    /// If the switch refuses its setup.
    pub fn of(
        catalogue: &Catalogue,
        setup: SwitchSetup,
        properties: Vec<Box<dyn Property>>,
    ) -> Result<Bench, BenchError> {
        let Placed { program, placement } = setup.placed.as_ref();
        let engine = catalogue.engine(program, placement, &setup.control)?;
        let (control, config) = (setup.control.clone(), setup.config.clone());
        let switch = Switch::new(program, placement, &setup.ports, control, Box::new(engine), config)?;
        let monitor = Monitor::new(program, properties);
        let (ports, run) = (setup.ports.clone(), BenchRun::default());
        let check = PropertyCheck::new(monitor, Vec::new());
        let log = Log { program: program.clone(), ports, check, run, heard: Heard::default() };
        Ok(Bench { catalogue: catalogue.clone(), setup, switch, log, plane: None, received: 0, judged: 0 })
    }

    /// Starts the control plane that comes with the program, with settings as users write them after `--control-plane=`.
    ///
    /// # Errors
    /// If the program has no control plane, or the control plane refuses the settings.
    pub fn start_control_plane(&mut self, settings: &str) -> Result<(), BenchError> {
        let program = self.program();
        let request = ControlPlaneRequest { program, settings, hosts: None };
        let started = self.catalogue.get(&program.name)?.control_plane(&request);
        let none = || BenchError::NoControlPlane(program.name.clone());
        self.set_control_plane(started.ok_or_else(none)??);
        Ok(())
    }

    /// Passes digests and idle entries from here on to this control plane, which has switch 0 alone.
    pub fn set_control_plane(&mut self, plane: Box<dyn ControlPlane>) {
        self.plane = Some(plane);
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.setup.placed.program
    }

    /// Returns the placement of the program, from which a report is made.
    #[must_use]
    pub fn placement(&self) -> &Placement {
        &self.setup.placed.placement
    }

    /// Returns the ports of the switch.
    #[must_use]
    pub fn ports(&self) -> &PortMap {
        &self.setup.ports
    }

    /// Returns the setup with which the switch began.
    #[must_use]
    pub const fn setup(&self) -> &SwitchSetup {
        &self.setup
    }

    /// Returns what happened since the start, or since the last call, and forgets it.
    pub fn take(&mut self) -> BenchRun {
        let mut run = std::mem::take(&mut self.log.run);
        run.violations = self.log.check.monitor.violations().get(self.judged..).unwrap_or_default().to_vec();
        self.judged += run.violations.len();
        run.sort();
        run
    }

    /// Returns the switch, for its counters, queues and registers.
    #[must_use]
    pub fn switch(&self) -> &Switch<'_> {
        &self.switch
    }

    /// Applies operations of the control plane at a time since the start, or now if that time is over.
    /// [`Ops`](sluice_catalogue::setup::Ops) makes them.
    ///
    /// # Errors
    /// If the switch refuses an operation. Some are refused only when their time comes, by a later call.
    pub fn control(
        &mut self,
        at: Duration,
        ops: impl IntoIterator<Item = ControlOp>,
    ) -> Result<(), BenchError> {
        let time = (Time::ORIGIN + at).max(self.switch.time());
        for op in ops {
            self.log.check.changes_at(time, &op);
            self.switch.control(time, op)?;
        }
        Ok(())
    }

    /// Applies operations of the control plane at once: packets that have not yet entered a gress see their effect.
    ///
    /// # Errors
    /// If the switch refuses an operation; those before it are applied.
    pub fn apply(&mut self, ops: impl IntoIterator<Item = ControlOp>) -> Result<(), BenchError> {
        for op in ops {
            self.log.check.changes_at(self.switch.time(), &op);
            self.switch.apply(op)?;
        }
        Ok(())
    }

    /// Sends a frame without FCS into a front-panel port; its first bit is on the wire at this time since the start. A frame
    /// that would overlap with the one before on the same wire comes later.
    ///
    /// # Errors
    /// If there is no such port, or if the bench has run beyond this time.
    pub fn send(&mut self, at: Duration, port: u16, frame: &[u8]) -> Result<(), BenchError> {
        let dev_port = self.setup.front(port).ok_or(BenchError::NoSuchPort(port))?;
        let time = Time::ORIGIN + at;
        if time < self.switch.time() {
            return Err(BenchError::Late { at, now: self.switch.time().since_origin() });
        }
        if self.plane.is_some() {
            self.run_until(at)?;
        }
        let tag = self.received;
        self.received += 1;
        self.log.check.entered(tag, dev_port.number(), time, frame);
        self.switch.rx(dev_port, time, RxFrame { bytes: frame, orig_len: frame.len() as u32, tag })?;
        Ok(())
    }

    /// Lets time pass up to this time since the start.
    ///
    /// # Errors
    /// If the switch refuses an operation of the control plane.
    pub fn run_until(&mut self, at: Duration) -> Result<(), BenchError> {
        let until = Time::ORIGIN + at;
        let Bench { switch, log, plane, .. } = self;
        while switch.time() < until {
            let Some(plane) = plane else { return Ok(switch.advance(until, log)?) };
            let next = || [switch.next_time(), switch.next_idle()].into_iter().flatten().min();
            let to = end_of_step(switch.time(), plane.latency(), until, next);
            switch.advance(to, log)?;
            let mut changed = |time, op: &ControlOp| log.check.changes_at(time, op);
            listen_to_switch(plane.as_mut(), switch, &mut log.heard, &mut changed)?;
        }
        Ok(())
    }

    /// Lets time pass until the switch is empty, at most 10 ms, and returns what happened since the start, or since the last
    /// [`Bench::take`].
    ///
    /// # Errors
    /// As [`Bench::run_until`].
    pub fn finish(mut self) -> Result<BenchRun, BenchError> {
        let start = self.switch.time().since_origin();
        let mut step = Duration::from_micros(1);
        self.run_until(start + step)?;
        while self.switch.is_busy() && step < DRAIN {
            step = (step + step).min(DRAIN);
            self.run_until(start + step)?;
        }
        self.log.check.monitor.settled(&self.switch);
        Ok(self.take())
    }
}

/// Sink that records what a switch does.
struct Log {
    program: Program,
    ports: PortMap,
    check: PropertyCheck,
    run: BenchRun,
    /// Messages that the control plane has not yet received.
    heard: Heard,
}

impl Sink for Log {
    fn watches(&self) -> bool {
        false
    }

    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.check.monitor.left(packet, head, tail);
        let port = packet.egress_port;
        let front = DevPort::new(port).and_then(|port| self.ports.dev(port)?.front());
        self.run.sent.push(SentPacket {
            number: packet.tag,
            time: packet.first_bit,
            port,
            front: front.map(|FrontPort(number)| number),
            queue: packet.qid,
            bytes: [head, tail].concat(),
        });
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.check.monitor.ended(packet, head, tail);
        let reason = packet.reason.name(&self.program).to_owned();
        let Lost { tag: number, time, absorbed, .. } = *packet;
        self.run.lost.push(LostPacket { number, time, reason, absorbed });
    }

    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.run.digests.push((digest.time, data.to_vec()));
        self.heard.digest(digest, data);
    }

    fn idle(&mut self, entry: &IdleEntry) {
        self.heard.idle(entry);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn bench(program: &str, params: &[(&str, &str)]) -> Result<Bench, BenchError> {
        Bench::new(&sluice_programs::catalogue(), program, params, &ChipSpec::tofino2())
    }

    #[test]
    fn mistakes_of_a_caller_are_errors() {
        let error = |found: Result<Bench, BenchError>| found.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error(bench("ecn-marks", &[])).starts_with("there is no program `ecn-marks`"));
        assert!(error(bench("ecn-mark", &[("kmin", "no")])).contains("parameter `kmin` is `no`"));
        let mut bench = bench("ecn-mark", &[]).unwrap();
        let refused = bench.send(Duration::ZERO, 999, &[0; 60]).unwrap_err().to_string();
        assert_eq!(refused, "the switch has no front-panel port 999");
        bench.run_until(Duration::from_micros(2)).unwrap();
        let refused = bench.send(Duration::from_micros(1), 0, &[0; 60]).unwrap_err().to_string();
        assert!(refused.starts_with("a packet at 1us comes too late, because the bench has run to 2us"));
        let refused = bench.start_control_plane("").unwrap_err().to_string();
        assert_eq!(refused, "program `ecn-mark` has no control plane");
    }

    #[test]
    fn operations_take_effect_at_their_time() {
        let mut bench = bench("ecn-mark", &[]).unwrap();
        let down = |up| ControlOp::Device(sluice_control::DeviceOp::SetPort { port: 264, up });
        // Front-panel port 16 is dev_port 264. While it is down, the packet waits or is dropped.
        bench.control(Duration::from_micros(10), [down(false)]).unwrap();
        for n in [0, 20] {
            bench.send(Duration::from_micros(n), 0, &[0; 60]).unwrap();
        }
        let run = bench.finish().unwrap();
        let sent: Vec<(u64, Option<u16>)> = run.sent.iter().map(|p| (p.number, p.front)).collect();
        assert_eq!(sent, [(0, Some(16))]);
    }
}
