//! A switch that runs a telemetry program; single passes on both engines; chains of switches.
//!
//! On a chain no packet returns, so one switch runs to its end before the next one begins.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, PassOut, State, Verdict};
use sluice_exec::reference::{Options, Reference};
use sluice_ir::{KeyValue, Program};
use sluice_place::Placement;
use sluice_programs::catalogue;
use sluice_switch::{Left, Lost, PassEvent, QueueEvent, RxFrame, Sink, Switch, SwitchConfig};
use std::collections::BTreeMap;

/// The data plane's clock at time zero, in ns: the device's default.
pub(crate) const ORIGIN_NS: u64 = 1_000_000_000;

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    pub(crate) ports: PortMap,
    pub(crate) control: ControlState,
    pub(crate) config: SwitchConfig,
    setup: Vec<ControlOp>,
    /// Control-plane changes during the run.
    pub(crate) later: Vec<(Time, ControlOp)>,
}

pub(crate) fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

impl Node {
    pub(crate) fn new(name: &str, chip: &ChipSpec, sets: &[(&str, &str)]) -> Node {
        let sets: Vec<(String, String)> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let catalogue = catalogue();
        let stage = catalogue.get(name).unwrap();
        let program = stage.build(&sets).unwrap_or_else(|e| panic!("{e}"));
        let placement =
            place(&program, chip).unwrap_or_else(|e| panic!("{}: {}\n{e}", chip.name, e.reason()));
        let ports = PortMap::default_for(chip).unwrap();
        let setup = stage.default_setup(&program, &ports).unwrap();
        let mut control = ControlState::new(&program);
        for op in setup.ops.clone() {
            control.apply(&program, op).unwrap();
        }
        let dev = |front: FrontPort| ports.front(front).unwrap().dev_port.number();
        let port_speeds: Vec<(u16, BitRate)> =
            setup.port_speeds.iter().map(|&(front, speed)| (dev(front), speed)).collect();
        let config = SwitchConfig { port_speeds, ..SwitchConfig::default() };
        Node { program, placement, ports, control, config, setup: setup.ops, later: Vec::new() }
    }

    /// Returns the same node without the default entries of these tables.
    pub(crate) fn without(mut self, tables: &[&str]) -> Node {
        self.control = ControlState::new(&self.program);
        let ids: Vec<_> = tables.iter().map(|t| self.program.table_named(t).unwrap()).collect();
        let kept =
            |op: &&ControlOp| !matches!(op, ControlOp::InsertEntry { table, .. } if ids.contains(table));
        for op in self.setup.iter().filter(kept) {
            self.control.apply(&self.program, op.clone()).unwrap();
        }
        self
    }

    pub(crate) fn dev(&self, front: u16) -> u16 {
        self.ports.front(FrontPort(front)).unwrap().dev_port.number()
    }

    pub(crate) fn apply(&mut self, op: ControlOp) {
        self.control.apply(&self.program, op).unwrap();
    }

    /// Adds an entry that runs an action.
    pub(crate) fn entry(
        &mut self,
        table: &str,
        key: Vec<KeyValue>,
        priority: u32,
        action: &str,
        args: &[u128],
    ) {
        use sluice_control::Then;
        use sluice_ir::ActionCall;
        let table = self.program.table_named(table).unwrap();
        let action = self.program.action_named(action).unwrap();
        let then = Then::Call(ActionCall { action, args: args.to_vec() });
        self.apply(ControlOp::InsertEntry { table, key, priority, then });
    }

    pub(crate) fn default(&mut self, table: &str, action: &str, args: &[u128]) {
        use sluice_ir::ActionCall;
        let table = self.program.table_named(table).unwrap();
        let action = self.program.action_named(action).unwrap();
        self.apply(ControlOp::SetDefault { table, call: ActionCall { action, args: args.to_vec() } });
    }

    fn reference(&self) -> Reference {
        let parser_cycles = Gress::ALL.map(|g| self.placement.gress(g).parser.cycles.clone());
        Reference::new(&self.program, &self.control, Options { parser_cycles, ..Options::default() })
    }

    fn engine(&self) -> Engine {
        Engine::new(&self.program, &self.placement, &self.control).unwrap()
    }

    /// Runs the frames on both engines and two batch sizes, whose results must agree.
    pub(crate) fn run(&self, frames: &[Frame]) -> Story {
        let told = self.story(self.reference(), 1, frames);
        for batch in [1, 7, 64] {
            assert!(self.story(self.engine(), batch, frames) == told, "engine, batch {batch}");
        }
        told
    }

    fn story(&self, executor: impl Executor + 'static, max_batch: usize, frames: &[Frame]) -> Story {
        let config = SwitchConfig { max_batch, ..self.config.clone() };
        let control = self.control.clone();
        let mut switch =
            Switch::new(&self.program, &self.placement, &self.ports, control, Box::new(executor), config)
                .unwrap();
        for (time, op) in &self.later {
            switch.control(*time, op.clone()).unwrap();
        }
        let mut story = Story::default();
        for f in frames {
            let port = self.ports.front(FrontPort(f.front)).unwrap().dev_port;
            let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag: f.tag };
            switch.rx(port, f.time, rx).unwrap();
            story.arrived.insert(f.tag, f.bytes.len() as u32);
        }
        while let Some(next) = switch.next_time() {
            switch.advance(next, &mut story).unwrap();
            assert!(switch.is_conserved());
        }
        story.counters =
            switch.state().counters.values().map(|c| c.iter().map(|c| c.packets).collect()).collect();
        story.sorted()
    }

    /// Returns a counter's value after a run.
    pub(crate) fn counter(&self, story: &Story, name: &str) -> Vec<u64> {
        let at = self.program.counters.values().position(|c| c.name == name).unwrap();
        story.counters[at].clone()
    }
}

/// A frame for a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) front: u16,
    pub(crate) time: Time,
    pub(crate) bytes: Vec<u8>,
    pub(crate) tag: u64,
}

pub(crate) fn at(front: u16, nanos: u64, bytes: &[u8], tag: u64) -> Frame {
    Frame { front, time: Time::from_nanos(nanos), bytes: bytes.to_vec(), tag }
}

/// All events of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Story {
    pub(crate) sent: Vec<(Left, Vec<u8>)>,
    pub(crate) lost: Vec<(Lost, Vec<u8>)>,
    pub(crate) passes: Vec<PassEvent>,
    pub(crate) enqueued: Vec<QueueEvent>,
    pub(crate) dequeued: Vec<QueueEvent>,
    pub(crate) counters: Vec<Vec<u64>>,
    /// Bytes of each packet as it was received.
    pub(crate) arrived: BTreeMap<u64, u32>,
}

impl Story {
    fn sorted(mut self) -> Story {
        self.sent.sort_by_key(|(l, _)| (l.first_bit, l.egress_port, l.tag));
        self.lost.sort_by_key(|(l, _)| (l.time, l.tag));
        self.passes.sort_by_key(|p| (p.entered, p.tag, p.gress as u8, p.pipe));
        self.enqueued.sort_by_key(|e| (e.time, e.tag, e.port));
        self.dequeued.sort_by_key(|e| (e.time, e.tag, e.port));
        self
    }

    /// Returns the packets that were sent on this dev_port.
    pub(crate) fn out(&self, dev: u16) -> Vec<&(Left, Vec<u8>)> {
        self.sent.iter().filter(|(l, _)| l.egress_port == dev).collect()
    }

    /// Returns the egress pass of the packet that was received under this tag; of copies with the tag, the first.
    pub(crate) fn egress(&self, tag: u64) -> &PassEvent {
        self.passes.iter().find(|p| p.tag == tag && p.gress == Gress::Egress).unwrap()
    }

    pub(crate) fn dequeue(&self, tag: u64) -> &QueueEvent {
        self.dequeued.iter().find(|e| e.tag == tag).unwrap()
    }
}

impl Sink for Story {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.sent.push((*packet, [head, tail].concat()));
    }

    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.lost.push((*packet, [head, tail].concat()));
    }

    fn pass(&mut self, event: &PassEvent) {
        self.passes.push(*event);
    }

    fn enqueued(&mut self, event: &QueueEvent) {
        self.enqueued.push(*event);
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        self.dequeued.push(*event);
    }
}

/// Converts a time to the data plane's timestamps.
pub(crate) fn stamp(time: Time) -> u64 {
    ORIGIN_NS + time.as_ps() / 1_000
}

/// Returns the next switch's frames: those sent on one port, a link delay later.
pub(crate) fn over_link(story: &Story, dev: u16, to_front: u16, delay: Duration) -> Vec<Frame> {
    let frame = |(left, bytes): &&(Left, Vec<u8>)| Frame {
        front: to_front,
        time: left.first_bit + delay,
        bytes: bytes.clone(),
        tag: left.tag,
    };
    story.out(dev).iter().map(frame).collect()
}

/// One gress on both engines, which have to agree on every packet and on all state.
pub(crate) struct Bench {
    reference: (Reference, PacketStore),
    engine: (Engine, PacketStore),
}

impl Bench {
    pub(crate) fn new(node: &Node) -> Bench {
        let store = || PacketStore::new(HeadLayout::default());
        Bench { reference: (node.reference(), store()), engine: (node.engine(), store()) }
    }

    /// Fate of the packet.
    pub(crate) fn pass(&mut self, gress: Gress, bytes: &[u8], input: PassIn) -> (PassOut, Vec<u8>) {
        let run = |executor: &mut dyn Executor, store: &mut PacketStore| {
            let mut pass = [Pass::new(store.insert(bytes, 0), input)];
            executor.run(gress, &mut pass, store);
            let bytes = [store.head(pass[0].packet), store.tail(pass[0].packet)].concat();
            store.remove(pass[0].packet);
            executor.made().clear();
            (pass[0].output, bytes)
        };
        let told = run(&mut self.reference.0, &mut self.reference.1);
        assert_eq!(run(&mut self.engine.0, &mut self.engine.1), told);
        assert!(self.engine.0.state() == self.reference.0.state(), "the engines remember different things");
        told
    }

    /// The packet as egress sends it.
    pub(crate) fn egress(&mut self, bytes: &[u8], input: PassIn) -> Vec<u8> {
        let (out, bytes) = self.pass(Gress::Egress, bytes, input);
        assert_eq!(out.verdict, Verdict::Forward);
        bytes
    }

    pub(crate) fn state(&self) -> &State {
        self.reference.0.state()
    }

    pub(crate) fn state_mut(&mut self) -> [&mut State; 2] {
        [self.reference.0.state_mut(), self.engine.0.state_mut()]
    }
}
