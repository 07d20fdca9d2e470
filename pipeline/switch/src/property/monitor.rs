//! Monitor: remembers received packets and calls the properties.

use super::{Departed, Ended, Entered, Finding, Origin, Property, Settled};
use crate::flow_control::set_ecn;
use crate::{Left, Lost, Switch};
use sluice_asic::units::Time;
use sluice_exec::pass::State;
use sluice_ir::Program;

/// A violation of a property.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Name of the property.
    pub property: String,
    /// Packet at which it was found; `None` at the end of the run.
    pub tag: Option<u64>,
    /// Time at which it was found.
    pub time: Time,
    /// Sentence that says how the property is violated.
    pub text: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tag {
            Some(tag) => write!(f, "{}: packet {tag}: {}", self.property, self.text),
            None => write!(f, "{}: {}", self.property, self.text),
        }
    }
}

/// Position of a packet's bytes, and its arrival.
#[derive(Clone, Copy, Debug)]
struct Came {
    port: u16,
    time: Time,
    at: usize,
    len: usize,
}

/// Properties with the packets that they need. Tags are numbers from 0. The bytes of all received packets are
/// kept until the next run.
pub struct Monitor {
    program: Program,
    properties: Vec<Box<dyn Property>>,
    came: Vec<Came>,
    bytes: Vec<u8>,
    scratch: Vec<u8>,
    /// Scratch memory: a packet without the device's mark.
    unmarked: Vec<u8>,
    violations: Vec<Violation>,
}

/// Largest number of violations kept per run.
const MOST: usize = 100;

impl Monitor {
    /// Makes a monitor for a run of `program`.
    #[must_use]
    pub fn new(program: &Program, properties: Vec<Box<dyn Property>>) -> Monitor {
        Monitor {
            program: program.clone(),
            properties,
            came: Vec::new(),
            bytes: Vec::new(),
            scratch: Vec::new(),
            unmarked: Vec::new(),
            violations: Vec::new(),
        }
    }

    /// Returns the violations so far, in order of time.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Handles a packet that enters. Its `tag` must be the number of packets that entered before it.
    pub fn entered(&mut self, tag: u64, port: u16, time: Time, bytes: &[u8]) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.came.push(Came { port, time, at, len: bytes.len() });
        let entered = Entered { tag, packet: Origin { port, time, bytes } };
        ask(&mut self.properties, &mut self.violations, (Some(tag), time), |p| p.entered(&entered));
    }

    /// Handles a change by the control plane.
    pub fn changed(&mut self) {
        self.properties.iter_mut().for_each(|p| p.changed());
    }

    /// Handles a run in which the control plane changes queues, ports or shapers; called before the first packet.
    pub fn disturbed(&mut self) {
        self.properties.iter_mut().for_each(|p| p.disturbed());
    }

    /// Handles a packet that was sent.
    pub fn left(&mut self, left: &Left, head: &[u8], tail: &[u8]) {
        let whole = whole(&mut self.scratch, head, tail);
        let of_device =
            Departed { left: *left, bytes: whole, from: origin(&self.came, &self.bytes, left.tag) };
        let mut of_program = of_device;
        if let Some(field) = left.marked {
            self.unmarked.clear();
            self.unmarked.extend_from_slice(whole);
            set_ecn(&mut self.unmarked, field);
            of_program.bytes = &self.unmarked;
        }
        let at = (Some(left.tag), left.first_bit);
        ask(&mut self.properties, &mut self.violations, at, |p| {
            p.left(if p.judges_device() { &of_device } else { &of_program })
        });
    }

    /// Handles a packet that ended inside.
    pub fn ended(&mut self, lost: &Lost, head: &[u8], tail: &[u8]) {
        let bytes = whole(&mut self.scratch, head, tail);
        let from = origin(&self.came, &self.bytes, lost.tag);
        let ended = Ended { lost: *lost, reason: lost.reason.name(&self.program), bytes, from };
        ask(&mut self.properties, &mut self.violations, (Some(lost.tag), lost.time), |p| p.ended(&ended));
    }

    /// Handles the end of the run.
    pub fn settled(&mut self, switch: &Switch<'_>) {
        let states: Vec<&State> = switch.pipe_states().collect();
        let settled = Settled {
            program: &self.program,
            control: switch.control_state(),
            totals: switch.totals(),
            held: switch.held().total(),
            busy: switch.is_busy(),
            conserved: switch.is_conserved(),
            states: &states,
        };
        ask(&mut self.properties, &mut self.violations, (None, switch.time()), |p| p.settled(&settled));
    }

    /// Forgets packets and violations, for a run with these new properties.
    pub fn restart(&mut self, properties: Vec<Box<dyn Property>>) {
        self.properties = properties;
        self.came.clear();
        self.bytes.clear();
        self.violations.clear();
    }
}

fn origin<'a>(came: &[Came], bytes: &'a [u8], tag: u64) -> Option<Origin<'a>> {
    let came = came.get(usize::try_from(tag).ok()?)?;
    let bytes = bytes.get(came.at..came.at + came.len)?;
    Some(Origin { port: came.port, time: came.time, bytes })
}

fn whole<'a>(scratch: &'a mut Vec<u8>, head: &'a [u8], tail: &[u8]) -> &'a [u8] {
    if tail.is_empty() {
        return head;
    }
    scratch.clear();
    scratch.extend_from_slice(head);
    scratch.extend_from_slice(tail);
    scratch
}

fn ask(
    properties: &mut [Box<dyn Property>],
    violations: &mut Vec<Violation>,
    (tag, time): (Option<u64>, Time),
    mut asked: impl FnMut(&mut dyn Property) -> Finding,
) {
    for property in properties {
        if let Err(text) = asked(property.as_mut())
            && violations.len() < MOST
        {
            violations.push(Violation { property: property.name().to_owned(), tag, time, text });
        }
    }
}
