//! A program, its placement and entries; a run of frames through a switch; a recorder of all that happens.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::Time;
use sluice_control::{ControlOp, ControlState};
use sluice_exec::engine::Engine;
use sluice_exec::pass::Executor;
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_place::Placement;
use sluice_switch::{Left, Lost, PassEvent, QueueEvent, RxFrame, Sink, Switch, SwitchConfig};
use std::sync::OnceLock;

/// A program on a Tofino 2 with its entries.
pub(crate) struct World {
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    pub(crate) ports: PortMap,
    pub(crate) control: ControlState,
}

impl World {
    pub(crate) fn new(program: Program, ops: Vec<ControlOp>) -> World {
        let chip = ChipSpec::tofino2();
        let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{}", e.reason()));
        let ports = PortMap::default_for(&chip).unwrap();
        let mut control = ControlState::new(&program);
        for op in ops {
            control.apply(&program, op).unwrap();
        }
        World { program, placement, ports, control }
    }

    /// `l3-ecmp` with its default entries.
    pub(crate) fn l3_ecmp() -> &'static World {
        static WORLD: OnceLock<World> = OnceLock::new();
        WORLD.get_or_init(|| {
            let catalogue = sluice_programs::catalogue();
            let stage = catalogue.get("l3-ecmp").unwrap();
            let program = stage.build(&[]).unwrap();
            let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
            let ops = stage.default_setup(&program, &ports).unwrap().ops;
            World::new(program, ops)
        })
    }

    pub(crate) fn dev_port(&self, front: u16) -> u16 {
        self.ports.front(FrontPort(front)).unwrap().dev_port.number()
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(&self.program, &self.placement, &self.control).unwrap()
    }

    pub(crate) fn reference(&self) -> Reference {
        let parser_cycles = [0, 1].map(|g: usize| self.placement.gresses[g].parser.cycles.clone());
        Reference::new(&self.program, &self.control, Options { parser_cycles, ..Options::default() })
    }

    pub(crate) fn switch(&self, executor: impl Executor + 'static, config: SwitchConfig) -> Switch<'static> {
        let control = self.control.clone();
        Switch::new(&self.program, &self.placement, &self.ports, control, Box::new(executor), config).unwrap()
    }
}

/// A frame for the switch: front-panel port, first bit in ps, bytes, bytes that were not captured.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) front: u16,
    pub(crate) ps: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) missing: u32,
}

impl Frame {
    pub(crate) fn new(front: u16, ps: u64, bytes: Vec<u8>) -> Frame {
        Frame { front, ps, bytes, missing: 0 }
    }
}

/// An event of a sink, ordered independently of the order of the calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Pass(PassEvent),
    Enqueued(QueueEvent),
    Dequeued(QueueEvent),
    Sent(Left, Vec<u8>),
    Lost(Lost, Vec<u8>),
}

impl Seen {
    /// Packet, kind, time: unique within a run.
    fn key(&self) -> (u64, u8, Time) {
        match self {
            Seen::Pass(e) => (e.tag, e.gress as u8, e.entered),
            Seen::Enqueued(e) => (e.tag, 2, e.time),
            Seen::Dequeued(e) => (e.tag, 3, e.time),
            Seen::Sent(e, _) => (e.tag, 4, e.first_bit),
            Seen::Lost(e, _) => (e.tag, 5, e.time),
        }
    }
}

/// Keeps all events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorder {
    pub(crate) seen: Vec<Seen>,
    /// True if it keeps only sent packets and ends of packets.
    pub(crate) content: bool,
}

impl Recorder {
    pub(crate) fn sent(&self) -> impl Iterator<Item = (&Left, &[u8])> {
        self.seen.iter().filter_map(|s| match s {
            Seen::Sent(left, bytes) => Some((left, bytes.as_slice())),
            _ => None,
        })
    }

    pub(crate) fn lost(&self) -> impl Iterator<Item = &Lost> {
        self.seen.iter().filter_map(|s| match s {
            Seen::Lost(lost, _) => Some(lost),
            _ => None,
        })
    }

    /// Returns the events for a sink that keeps only sent packets and ends of packets.
    pub(crate) fn ends(mut self) -> Recorder {
        self.seen.retain(|s| matches!(s, Seen::Sent(..) | Seen::Lost(..)));
        self
    }

    pub(crate) fn sorted(mut self) -> Recorder {
        self.seen.sort_by_key(Seen::key);
        self
    }
}

impl Sink for Recorder {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.seen.push(Seen::Sent(*packet, [head, tail].concat()));
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.seen.push(Seen::Lost(*packet, [head, tail].concat()));
    }

    fn watches(&self) -> bool {
        !self.content
    }

    fn pass(&mut self, event: &PassEvent) {
        self.seen.push(Seen::Pass(*event));
    }

    fn enqueued(&mut self, event: &QueueEvent) {
        self.seen.push(Seen::Enqueued(*event));
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        self.seen.push(Seen::Dequeued(*event));
    }
}

/// Passes the frames (in order of time) to the switch and runs it until it is empty, `step` frames between advances.
pub(crate) fn run(world: &World, switch: &mut Switch<'_>, frames: &[Frame], step: usize) -> Recorder {
    run_for(Recorder::default(), world, switch, frames, step)
}

/// Does the same as [`run`], with this sink.
pub(crate) fn run_for(
    mut sink: Recorder,
    world: &World,
    switch: &mut Switch<'_>,
    frames: &[Frame],
    step: usize,
) -> Recorder {
    for (tag, frame) in (0..).zip(frames) {
        let port = world.ports.front(FrontPort(frame.front)).unwrap().dev_port;
        let orig_len = frame.bytes.len() as u32 + frame.missing;
        switch.rx(port, Time::from_ps(frame.ps), RxFrame { bytes: &frame.bytes, orig_len, tag }).unwrap();
        if tag as usize % step == step - 1 {
            // No frame arrives before the next frame's time, so the switch may run up to just before it.
            let next = frames.get(tag as usize + 1).map_or(frame.ps, |f| f.ps);
            switch.advance(Time::from_ps(next.saturating_sub(1)), &mut sink).unwrap();
            assert!(switch.is_conserved());
        }
    }
    drain(switch, &mut sink);
    sink
}

/// Runs until no event is left.
pub(crate) fn drain(switch: &mut Switch<'_>, sink: &mut Recorder) {
    while let Some(next) = switch.next_time() {
        switch.advance(next, sink).unwrap();
        assert!(switch.is_conserved());
    }
}
