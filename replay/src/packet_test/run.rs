//! A packet test on a switch.

use super::{Call, CellCheck, Command, Pattern, Script};
use crate::Error;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, PortError, PortMap};
use sluice_asic::units::Duration;
use sluice_control::named::{self, NamedCall, NamedEntry};
use sluice_control::{ArrayRef, ControlOp, ControlState};
use sluice_exec::pass::Executor;
use sluice_fabric::network::{Placed, SwitchSetup};
use sluice_ir::Program;
use sluice_switch::{Left, Lost, Mode, RxFrame, Sink, Switch};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Bytes that the counters of a packet test have more for each packet than those of a switch: the FCS.
const FCS: i16 = 4;

/// Returns a program whose counters of bytes count the FCS, as the vendor's model does.
#[must_use]
pub fn counting_fcs(mut program: Program) -> Program {
    for counter in program.counters.values_mut() {
        counter.cell.adjust += FCS;
    }
    program
}

/// The most microseconds that a packet may stay in the switch before the next line.
const SETTLING: u32 = 1000;

/// A packet test and the switch on which it runs.
#[derive(Clone, Debug)]
pub struct PacketTest {
    script: Script,
    setup: SwitchSetup,
    /// True if the ports are those of the chip, which have front-panel numbers.
    has_fronts: bool,
}

/// A line of a test that did not come true.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failed {
    /// The line, from 1.
    pub line: u32,
    /// The difference: the packet or value found, and the one expected.
    pub text: String,
}

/// Results of a packet test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestRun {
    /// Number of lines that check something.
    pub checks: usize,
    /// Lines that did not come true, in order.
    pub failed: Vec<Failed>,
    /// Sent packets in the order of the packets that came in: line of the packet that came in, dev_port, bytes.
    pub sent: Vec<(u32, u16, Vec<u8>)>,
    /// Packets that ended inside: line of the packet that came in, and the reason.
    pub lost: Vec<(u32, String)>,
}

impl PacketTest {
    /// Prepares a test for a placed program, usually one of [`counting_fcs`]. The switch has front-panel ports at all dev_ports that the test names.
    ///
    /// # Errors
    /// If the chip cannot have such ports.
    pub fn new(script: Script, placed: &Arc<Placed>, chip: &ChipSpec) -> Result<PacketTest, PortError> {
        let mut ports = BTreeSet::new();
        for step in &script.steps {
            match &step.command {
                Command::Packet { port, .. } | Command::Expect { port: Some(port), .. } => {
                    ports.extend(DevPort::new(*port));
                }
                _ => {}
            }
        }
        let mut setup = SwitchSetup::new("switch", placed)?;
        setup.ports = PortMap::with_wires(chip, ports)?;
        // Meters take time, which functional mode has not.
        let needs_time = !placed.program.meters.is_empty();
        setup.config.mode = if needs_time { Mode::Timed } else { Mode::Functional };
        Ok(PacketTest { script, setup, has_fronts: false })
    }

    /// Returns the test on a switch with these ports and entries, in place of wires and empty tables.
    #[must_use]
    pub fn on(mut self, ports: PortMap, control: ControlState) -> PacketTest {
        (self.setup.ports, self.setup.control, self.has_fronts) = (ports, control, true);
        self
    }

    /// Returns the switch, from which an executor is made.
    #[must_use]
    pub fn setup(&self) -> &SwitchSetup {
        &self.setup
    }

    /// Runs the test. A line that the switch refuses, such as an entry that does not suit the program, has failed.
    ///
    /// # Errors
    /// If the switch cannot be set up.
    pub fn run(&self, executor: Box<dyn Executor>) -> Result<TestRun, Error> {
        let setup = &self.setup;
        let Placed { program, placement } = setup.placed.as_ref();
        let (control, config) = (setup.control.clone(), setup.config.clone());
        let switch = Switch::new(program, placement, &setup.ports, control, executor, config)?;
        let mut running = Running {
            program,
            switch,
            log: Log::default(),
            expected: BTreeMap::new(),
            run: TestRun::default(),
            ports: self.has_fronts.then_some(&setup.ports),
        };
        for (number, step) in self.script.steps.iter().enumerate() {
            running.log.line = step.line;
            if let Err(text) = running.step(number, step.line, &step.command) {
                running.run.failed.push(Failed { line: step.line, text });
            }
        }
        Ok(running.finish())
    }
}

/// A test under way.
struct Running<'a> {
    program: &'a Program,
    switch: Switch<'static>,
    log: Log,
    /// Expected packets of each port, with their lines.
    expected: BTreeMap<Option<u16>, VecDeque<(u32, &'a Pattern)>>,
    run: TestRun,
    /// The ports of the chip; `None` for wires.
    ports: Option<&'a PortMap>,
}

impl<'a> Running<'a> {
    fn step(&mut self, number: usize, line: u32, command: &'a Command) -> Result<(), String> {
        match command {
            Command::Add { table, number: given, keys, call } => {
                let keys = keys.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                // Without a priority, the earlier entry wins.
                let priority = given.unwrap_or(number as u32);
                let entry = NamedEntry { table, keys, priority, call: named(call) };
                let is_member =
                    self.program.profiles.values().any(|profile| {
                        profile.name == *table || profile.name.ends_with(&format!(".{table}"))
                    });
                match given {
                    Some(member) if is_member => {
                        self.control(named::set_member(self.program, table, *member, &entry.call))
                    }
                    _ => {
                        let op = named::insert(self.program, &entry).map(|op| self.in_place(op));
                        self.control(op)
                    }
                }
            }
            Command::AddValue { set, keys } => {
                let keys: Vec<_> = keys.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                self.control(named::insert_value(self.program, set, &keys))
            }
            Command::SetDefault { table, call } => {
                self.control(named::set_default(self.program, table, &named(call)))
            }
            Command::Packet { port, bytes } => self.packet(*port, bytes),
            Command::Expect { port, pattern } => {
                self.run.checks += 1;
                self.expected.entry(*port).or_default().push_back((line, pattern));
                Ok(())
            }
            Command::Check { array, index, part, value } => {
                self.run.checks += 1;
                self.check(array, *index, *part, *value)
            }
            Command::Wait => Ok(()),
        }
    }

    /// Returns the operation that changes the entry which an insertion would double.
    fn in_place(&self, op: ControlOp) -> ControlOp {
        let ControlOp::InsertEntry { table, key, priority, then } = op else { return op };
        match self.switch.control_state().tables[table]
            .entries()
            .find(|(_, e)| e.key == key && e.priority == priority)
        {
            Some((entry, _)) => ControlOp::ModifyEntry { table, entry, then },
            None => ControlOp::InsertEntry { table, key, priority, then },
        }
    }

    fn control(&mut self, op: Result<ControlOp, named::NameError>) -> Result<(), String> {
        let op = op.map_err(|error| {
            let help = if error.help.is_empty() { String::new() } else { format!("; {}", error.help) };
            format!("{error}{help}")
        })?;
        self.switch.control(self.switch.time(), op).map_err(|error| error.to_string())?;
        self.settle()
    }

    /// Lets everything that is under way end.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..SETTLING {
            let until = self.switch.time() + Duration::from_micros(1);
            self.switch.advance(until, &mut self.log).map_err(|error| error.to_string())?;
            if !self.switch.is_busy() {
                break;
            }
        }
        Ok(())
    }

    fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<(), String> {
        let dev_port = DevPort::new(port).ok_or_else(|| format!("there is no dev_port {port}"))?;
        let frame = RxFrame { bytes, orig_len: bytes.len() as u32, tag: self.log.line.into() };
        self.switch.rx(dev_port, self.switch.time(), frame).map_err(|error| error.to_string())?;
        self.settle()
    }

    fn check(&mut self, array: &str, index: u32, part: CellCheck, expected: u64) -> Result<(), String> {
        let array = match part {
            CellCheck::Packets | CellCheck::Bytes => {
                named::counter(self.program, array).map(ArrayRef::Counter)
            }
            CellCheck::Low | CellCheck::High => named::register(self.program, array).map(ArrayRef::Register),
        };
        let array = array.map_err(|error| error.to_string())?;
        let before = self.switch.readings().len();
        self.control(Ok(ControlOp::Read { array, index: Some(index) }))?;
        let pipes = self.switch.readings().get(before..).unwrap_or_default();
        let [first, second] = pipes.iter().fold([0, 0], |[a, b], reading| match array {
            ArrayRef::Counter(_) => [a + reading.values[0], b + reading.values[1]],
            // Tests send into one pipe; the other pipes keep the initial value.
            ArrayRef::Register(_) if reading.pipe == 0 => reading.values,
            ArrayRef::Register(_) => [a, b],
        });
        let found = match part {
            CellCheck::Packets | CellCheck::Low => first,
            CellCheck::High | CellCheck::Bytes => second,
        };
        if found == expected { Ok(()) } else { Err(format!("found {found:#x}, expected {expected:#x}")) }
    }

    /// Returns the name of a port: `port 2`, or `port 19 (dev:288)` on the ports of a chip.
    fn port(&self, number: u16) -> String {
        let ports = DevPort::new(number).zip(self.ports);
        match ports.and_then(|(port, ports)| ports.dev(port)) {
            Some(port) => format!("port {port}"),
            None => format!("port {number}"),
        }
    }

    /// Holds the sent packets against the expected ones: on each port in order.
    fn finish(mut self) -> TestRun {
        let mut unexpected = Vec::new();
        for (line, port, bytes) in &self.log.sent {
            let of_port = self.expected.get_mut(&Some(*port)).and_then(VecDeque::pop_front);
            let expected = of_port.or_else(|| self.expected.get_mut(&None).and_then(VecDeque::pop_front));
            match expected {
                Some((_, pattern)) if pattern.matches(bytes) => {}
                Some((expect, pattern)) => unexpected.push(Failed {
                    line: expect,
                    text: format!("found {} (of line {line}), expected {pattern}", hex(bytes)),
                }),
                None => unexpected.push(Failed {
                    line: *line,
                    text: format!(
                        "a packet that no line expects left by {}: {}",
                        self.port(*port),
                        hex(bytes)
                    ),
                }),
            }
        }
        for (port, missing) in &self.expected {
            let port = port.map_or("any port".to_owned(), |port| self.port(port));
            for (line, pattern) in missing {
                unexpected.push(Failed {
                    line: *line,
                    text: format!("no packet left by {port}; expected {pattern}"),
                });
            }
        }
        let mut run = self.run;
        run.failed.extend(unexpected);
        run.failed.sort();
        run.sent = self.log.sent;
        let lost = self.log.lost.iter();
        run.lost = lost.map(|(line, lost)| (*line, lost.reason.name(self.program).to_owned())).collect();
        run
    }
}

fn named(call: &Call) -> NamedCall<'_> {
    let args = call.args.iter().map(|(name, value)| (name.as_deref(), value.as_str())).collect();
    NamedCall { action: &call.action, args }
}

/// Returns bytes as text, in groups of four.
fn hex(bytes: &[u8]) -> String {
    let groups =
        bytes.chunks(4).map(|four| four.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    groups.collect::<Vec<_>>().join(" ")
}

/// Sink that records what a switch does.
#[derive(Default)]
struct Log {
    /// Line that is being run.
    line: u32,
    sent: Vec<(u32, u16, Vec<u8>)>,
    lost: Vec<(u32, Lost)>,
}

impl Sink for Log {
    fn watches(&self) -> bool {
        false
    }

    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.sent.push((packet.tag as u32, packet.egress_port, [head, tail].concat()));
    }

    fn lost(&mut self, packet: &Lost, _: &[u8], _: &[u8]) {
        self.lost.push((packet.tag as u32, *packet));
    }
}
