//! A shipped program with its default entries on a chip, and frames for it.

use crate::placed::place;
use crate::switch::world::{Frame, Recorder, Seen, World, drain};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, FrontPort, PortMap};
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::{Cells, Time};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::pass::Executor;
use sluice_ir::{Program, text};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, udp};
use sluice_place::verify;
use sluice_programs::catalogue;
use sluice_switch::property::{Monitor, general_and};
use sluice_switch::{BufferSetup, QueueSetup, RxFrame, Switch, SwitchConfig};

/// A world with the device that its setup requests.
pub(crate) struct Bench {
    pub(crate) world: World,
    pub(crate) config: SwitchConfig,
    /// The default entries.
    ops: Vec<ControlOp>,
}

impl Bench {
    /// Returns a program with parameters on a chip.
    pub(crate) fn new(name: &str, sets: &[&str], chip: &ChipSpec) -> Bench {
        Bench::broken(name, sets, chip, &[])
    }

    /// Returns a program whose text is changed: each pair is an old text, which occurs once, and its replacement.
    pub(crate) fn broken(name: &str, sets: &[&str], chip: &ChipSpec, changes: &[(&str, &str)]) -> Bench {
        let catalogue = catalogue();
        let shipped = catalogue.get(name).unwrap();
        let pairs = sets.iter().map(|t| t.split_once('=').unwrap());
        let sets: Vec<(String, String)> = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let mut program = shipped.build(&sets).unwrap_or_else(|e| panic!("{e}"));
        if !changes.is_empty() {
            program = changed(&program, changes);
        }
        let placement = place(&program, chip).unwrap_or_else(|e| panic!("{}: {}", chip.name, e.reason()));
        assert!(verify(&program, &placement).is_empty());
        let ports = PortMap::default_for(chip).unwrap();
        let setup = shipped.default_setup(&program, &ports).unwrap();
        let mut control = ControlState::new(&program);
        for op in &setup.ops {
            control.apply(&program, op.clone()).unwrap();
        }
        let speed = |(front, rate): &(FrontPort, _)| (ports.front(*front).unwrap().dev_port.number(), *rate);
        let config = SwitchConfig {
            port_speeds: setup.port_speeds.iter().map(speed).collect(),
            // Queues large enough for the packets of the tests.
            queues: QueueSetup { limit: Cells(100_000), ..QueueSetup::default() },
            ..SwitchConfig::default()
        };
        Bench { world: World { program, placement, ports, control }, config, ops: setup.ops }
    }

    /// Returns the names of the program's properties that fail in a run of these frames, each with its reason.
    pub(crate) fn violations(&self, name: &str, frames: &[Frame], after: u64) -> Vec<(String, String)> {
        let (switch, seen) = self.run(frames, after);
        let shipped = catalogue();
        let properties = general_and(shipped.get(name).unwrap().properties(&self.world.program));
        let mut monitor = Monitor::new(&self.world.program, properties);
        for (tag, f) in (0..).zip(frames) {
            monitor.entered(tag, self.port(f.front).number(), Time::from_ps(f.ps), &f.bytes);
        }
        for event in &seen.seen {
            match event {
                Seen::Sent(left, bytes) => monitor.left(left, bytes, &[]),
                Seen::Lost(lost, bytes) => monitor.ended(lost, bytes, &[]),
                _ => {}
            }
        }
        monitor.settled(&switch);
        monitor.violations().iter().map(|v| (v.property.clone(), v.text.clone())).collect()
    }

    /// Writes the register values of the default entries, which a switch does itself.
    pub(crate) fn settle(&self, executor: &mut dyn Executor) {
        let state = executor.state_mut();
        for op in &self.ops {
            if let ControlOp::WriteRegister { register, index: Some(i), value: Some(value) } = op {
                *state.registers[*register].get_mut(*i as usize).unwrap() = *value;
            }
        }
    }

    pub(crate) fn with(mut self, op: ControlOp) -> Bench {
        self.world.control.apply(&self.world.program, op).unwrap();
        self
    }

    /// Returns the world under Tofino 2's shared buffer, with changes of its profile.
    pub(crate) fn under_buffer(mut self, changes: &[(&str, &str)]) -> Bench {
        let mut text = BufferFile::text_of("tofino2").unwrap().to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "nothing to change: {from}");
            text = text.replace(from, to);
        }
        let file = BufferFile::parse("test", &text).unwrap();
        self.config.buffer = Some(BufferSetup { file, seed: 1 });
        self
    }

    pub(crate) fn switch(&self) -> Switch<'static> {
        self.world.switch(self.world.engine(), self.config.clone())
    }

    pub(crate) fn port(&self, front: u16) -> DevPort {
        self.world.ports.front(FrontPort(front)).unwrap().dev_port
    }

    /// Passes the frames to a switch in order of time, and runs it for this time after the last one.
    pub(crate) fn run(&self, frames: &[Frame], after: u64) -> (Switch<'static>, Recorder) {
        let mut switch = self.switch();
        let mut seen = Recorder::default();
        self.send(&mut switch, frames, &mut seen);
        let end = frames.last().map_or(0, |f| f.ps) + after;
        switch.advance(Time::from_ps(end), &mut seen).unwrap();
        assert!(switch.is_conserved());
        (switch, seen)
    }

    pub(crate) fn send(&self, switch: &mut Switch<'_>, frames: &[Frame], seen: &mut Recorder) {
        for (tag, f) in (0..).zip(frames) {
            let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag };
            switch.rx(self.port(f.front), Time::from_ps(f.ps), rx).unwrap();
            switch.advance(Time::from_ps(f.ps), seen).unwrap();
        }
    }

    pub(crate) fn drain(&self, switch: &mut Switch<'_>, seen: &mut Recorder) {
        drain(switch, seen);
        assert!(switch.held().total() == 0 && switch.is_conserved());
    }

    /// Returns the times at which packets of a queue were dequeued, in ps, in order.
    pub(crate) fn dequeued(&self, seen: &Recorder, front: u16, queue: u8) -> Vec<u64> {
        let port = self.port(front).number();
        let of = |s: &Seen| match s {
            Seen::Dequeued(e) if e.port == port && e.qid == queue => Some(e.time.as_ps()),
            _ => None,
        };
        let mut times: Vec<u64> = seen.seen.iter().filter_map(of).collect();
        times.sort_unstable();
        times
    }

    /// Returns the frames sent on a port, in order of time.
    pub(crate) fn sent(&self, seen: &Recorder, front: u16) -> Vec<(u64, Vec<u8>)> {
        let port = self.port(front).number();
        let all = seen.sent().filter(|(left, _)| left.egress_port == port);
        let mut list: Vec<(u64, Vec<u8>)> =
            all.map(|(left, bytes)| (left.first_bit.as_ps(), bytes.to_vec())).collect();
        list.sort();
        list
    }

    /// Returns a counter summed over all pipes.
    pub(crate) fn count(&self, switch: &Switch<'_>, name: &str) -> u64 {
        let (counter, _) = self.world.program.counters.iter().find(|(_, c)| c.name == name).unwrap();
        switch.state().counters[counter].iter().map(|c| c.packets).sum()
    }

    /// Returns the drop reasons, each with its number of packets.
    pub(crate) fn losses(&self, seen: &Recorder) -> std::collections::BTreeMap<String, u64> {
        let mut all = std::collections::BTreeMap::new();
        for lost in seen.lost() {
            *all.entry(lost.reason.name(&self.world.program).to_owned()).or_default() += 1;
        }
        all
    }
}

/// Returns the program with another text.
fn changed(program: &Program, changes: &[(&str, &str)]) -> Program {
    let mut text = text::print(program);
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from} in\n{text}");
        text = text.replace(from, to);
    }
    text::parse(&text).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

/// Returns an IPv4/UDP frame of `len` bytes.
pub(crate) fn packet(to: [u8; 4], dscp: u8, ecn: u8, id: u16, len: usize) -> Vec<u8> {
    let ip =
        ipv4::Header { dscp, ecn, identification: id, ..ipv4::Header::new([10, 8, 0, 1].into(), to.into()) };
    let mut out = Vec::new();
    FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2))
        .ipv4(ip)
        .udp(udp::Header::new(40_000, 4791))
        .build_len(len, &mut out)
        .unwrap();
    out
}

/// Returns a PFC frame that pauses priorities.
pub(crate) fn pfc(priorities: u8, quanta: u16) -> Vec<u8> {
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 0x01, 0x01, 0, priorities];
    for priority in 0..8 {
        let time = if priorities >> priority & 1 != 0 { quanta } else { 0 };
        frame.extend(time.to_be_bytes());
    }
    frame.resize(60, 0);
    frame
}

/// Returns equal frames from a port, this many ps apart.
pub(crate) fn train(from: u16, start: u64, gap: u64, count: u64, bytes: &[u8]) -> Vec<Frame> {
    (0..count).map(|n| Frame::new(from, start + n * gap, bytes.to_vec())).collect()
}

pub(crate) fn in_order(mut frames: Vec<Frame>) -> Vec<Frame> {
    frames.sort_by_key(|f| (f.ps, f.front));
    frames
}
