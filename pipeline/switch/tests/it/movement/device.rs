//! The switch around both executors, and everything that comes out of it.

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::Time;
use sluice_control::{ControlOp, ControlState, DeviceState};
use sluice_exec::engine::Engine;
use sluice_exec::pass::{Count, Executor};
use sluice_exec::reference::{Options, Reference};
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify;
use sluice_place::{Placement, place, verify as verify_placement};
use sluice_switch::{
    BufferSetup, Digest, GhostEvent, Left, Lost, Mode, PassEvent, RxFrame, Sink, Switch, SwitchConfig, Totals,
};

/// A program on a chip.
pub(crate) struct World {
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    pub(crate) ports: PortMap,
    pub(crate) control: Vec<ControlOp>,
    /// Operations during the run.
    pub(crate) later: Vec<(Time, ControlOp)>,
    /// Time until which it runs even if no packet is inside.
    pub(crate) lasts: Time,
    pub(crate) config: SwitchConfig,
}

/// A frame on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) port: u16,
    pub(crate) time: Time,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn frame(port: u16, nanos: u64, bytes: &[u8]) -> Frame {
    Frame { port, time: Time::from_nanos(nanos), bytes: bytes.to_vec() }
}

/// Everything that a switch did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Story {
    pub(crate) sent: Vec<(Left, Vec<u8>)>,
    pub(crate) lost: Vec<(Lost, Vec<u8>)>,
    pub(crate) passes: Vec<PassEvent>,
    pub(crate) digests: Vec<(Digest, Vec<u8>)>,
    pub(crate) updates: Vec<GhostEvent>,
    pub(crate) totals: Totals,
    pub(crate) counters: Vec<Vec<Count>>,
    pub(crate) held: u64,
    pub(crate) busy: bool,
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

    fn ghost(&mut self, event: &GhostEvent) {
        self.updates.push(*event);
    }

    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.digests.push((*digest, data.to_vec()));
    }
}

impl Story {
    /// Returns the sent packets, as dev_port and bytes.
    pub(crate) fn out(&self) -> Vec<(u16, &[u8])> {
        self.sent.iter().map(|(l, b)| (l.egress_port, b.as_slice())).collect()
    }

    /// Returns the passes of one gress.
    pub(crate) fn passes(&self, gress: Gress) -> Vec<&PassEvent> {
        self.passes.iter().filter(|p| p.gress == gress).collect()
    }

    /// Sorts the calls, because calls of different ports and pipes are in no order; then stories can be compared.
    fn sorted(mut self) -> Story {
        self.sent.sort_by_key(|(l, b)| (l.first_bit, l.egress_port, l.tag, b.clone()));
        self.lost.sort_by_key(|(l, b)| (l.time, l.tag, l.reason, b.clone()));
        self.passes.sort_by_key(|p| (p.entered, p.pipe, p.gress, p.tag));
        self.updates.sort_by_key(|u| (u.entered, u.pipe));
        self.digests.sort_by_key(|(d, b)| (d.time, d.tag, b.clone()));
        self
    }
}

impl World {
    pub(crate) fn new(chip: &ChipSpec, source: &str) -> World {
        World::of(chip, text::parse(source).unwrap_or_else(|e| panic!("{e}")))
    }

    pub(crate) fn of(chip: &ChipSpec, program: Program) -> World {
        let findings = verify::verify(&program);
        assert!(findings.is_empty(), "{}", findings.iter().map(ToString::to_string).collect::<String>());
        assert_eq!(text::parse(&text::print(&program)).map(|p| text::print(&p)), Ok(text::print(&program)));
        let placement = place(&program, chip).unwrap_or_else(|e| panic!("{}\n{e:?}", e.reason()));
        assert_eq!(verify_placement(&program, &placement), []);
        let ports = PortMap::default_for(chip).unwrap();
        World {
            program,
            placement,
            ports,
            control: Vec::new(),
            later: Vec::new(),
            lasts: Time::ORIGIN,
            config: SwitchConfig::default(),
        }
    }

    pub(crate) fn with(mut self, op: ControlOp) -> World {
        self.control.push(op);
        self
    }

    /// Returns a timed switch with nothing set up.
    pub(crate) fn switch(&self) -> Switch<'static> {
        let (reference, config) = (self.reference(), self.config.clone());
        Switch::new(&self.program, &self.placement, &self.ports, self.control(), Box::new(reference), config)
            .unwrap()
    }

    fn control(&self) -> ControlState {
        let mut control = ControlState::new(&self.program);
        for op in &self.control {
            control.apply(&self.program, op.clone()).unwrap();
        }
        control
    }

    fn reference(&self) -> Reference {
        let cycles = Gress::ALL.map(|g| self.placement.gress(g).parser.cycles.clone());
        Reference::new(
            &self.program,
            &self.control(),
            Options { parser_cycles: cycles, ..Options::default() },
        )
    }

    /// Runs the frames, passed in a few at a time, until `end`.
    fn story(
        &self,
        executor: impl Executor + 'static,
        config: SwitchConfig,
        frames: &[Frame],
        end: Time,
    ) -> Story {
        let mut switch = Switch::new(
            &self.program,
            &self.placement,
            &self.ports,
            self.control(),
            Box::new(executor),
            config,
        )
        .unwrap();
        for (time, op) in &self.later {
            switch.control(*time, op.clone()).unwrap();
        }
        let mut story = Story::default();
        for (i, f) in frames.iter().enumerate() {
            let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag: i as u64 };
            switch.rx(DevPort::new(f.port).unwrap(), f.time, rx).unwrap();
            if i % 5 == 4 {
                switch.advance(f.time, &mut story).unwrap();
                assert!(switch.is_conserved());
            }
        }
        switch.advance(self.lasts, &mut story).unwrap();
        while switch.is_busy()
            && let Some(next) = switch.next_time().filter(|t| *t <= end)
        {
            switch.advance(next, &mut story).unwrap();
            assert!(switch.is_conserved());
        }
        story.totals = switch.totals().clone();
        story.counters = switch.state().counters.values().map(|cells| cells.to_vec()).collect();
        story.held = switch.held().total();
        story.busy = switch.is_busy();
        if let Some(view) = switch.flow(switch.time()).filter(|_| story.held == 0) {
            assert_eq!(view.buffer.total().current().get(), 0);
        }
        story.sorted()
    }

    /// Returns the story that both executors tell at every batch size.
    pub(crate) fn run_as(&self, mode: Mode, frames: &[Frame], end: Time) -> Story {
        let config = |max_batch| SwitchConfig { mode, max_batch, ..self.config.clone() };
        let told = self.story(self.reference(), config(1), frames, end);
        for batch in [1, 7, 64] {
            let engine = Engine::new(&self.program, &self.placement, &self.control()).unwrap();
            same(&self.story(engine, config(batch), frames, end), &told, &format!("engine, batch {batch}"));
            let reference = self.story(self.reference(), config(batch), frames, end);
            same(&reference, &told, &format!("reference, batch {batch}"));
        }
        if mode == Mode::Timed {
            self.run_under_a_buffer(frames, end, &told);
        }
        told
    }

    /// Runs the frames under the chip's shared buffer, whose classes choose queues. The story must be the same at any
    /// batch size. Unless the control plane changes the device, as many packets must end in each way as without the
    /// buffer.
    fn run_under_a_buffer(&self, frames: &[Frame], end: Time, told: &Story) {
        let file = BufferFile::shipped(&self.placement.chip.name).unwrap().unwrap();
        let setup = BufferSetup { file, seed: 1 };
        let runs = [1, 64].map(|max_batch| {
            let engine = Engine::new(&self.program, &self.placement, &self.control()).unwrap();
            let config = SwitchConfig { max_batch, buffer: Some(setup.clone()), ..self.config.clone() };
            self.story(engine, config, frames, end)
        });
        same(&runs[1], &runs[0], "under a buffer, batch 64");
        if self.control().device != DeviceState::default() {
            return;
        }
        let count = |s: &Story| (s.sent.len(), s.lost.len(), s.digests.len(), s.totals.created, s.held);
        assert_eq!(count(&runs[0]), count(told));
    }

    pub(crate) fn run(&self, frames: &[Frame]) -> Story {
        self.run_as(Mode::Timed, frames, Time::from_nanos(1_000_000))
    }

    pub(crate) fn run_functional(&self, frames: &[Frame]) -> Story {
        self.run_as(Mode::Functional, frames, Time::from_nanos(1_000_000))
    }
}

/// Reports the place where two stories differ, because whole stories are too long to print.
fn same(found: &Story, told: &Story, what: &str) {
    let first = |a: &[String], b: &[String]| {
        let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
        format!("{at} of {} and {}: {:?} instead of {:?}", a.len(), b.len(), a.get(at), b.get(at))
    };
    let lines = |s: &Story| {
        let passes = s.passes.iter().map(|p| format!("{p:?}"));
        let ends = s.sent.iter().map(|p| format!("{p:?}")).chain(s.lost.iter().map(|p| format!("{p:?}")));
        passes.chain(ends).collect::<Vec<String>>()
    };
    assert!(
        found == told,
        "{what}: {}\n{:?}\n{:?}",
        first(&lines(found), &lines(told)),
        found.totals,
        told.totals
    );
}
