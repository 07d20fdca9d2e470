//! A program on a chip with its default entries, and packets with times for it: pass by pass, or through a switch.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::salu::State as Element;
use sluice_control::{ControlOp, ControlState};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_exec::reference::Reference;
use sluice_ir::Program;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, tcp};
use sluice_place::{Placement, verify};
use sluice_programs::catalogue;

pub(crate) fn sets(texts: &[&str]) -> Vec<(String, String)> {
    let pairs = texts.iter().map(|t| t.split_once('=').unwrap());
    pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

/// A packet: when it enters ingress in ns, and its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) ns: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Fate of a packet: front-panel port, or its drop reason.
pub(crate) type Fate = Result<u16, String>;

pub(crate) struct World {
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    pub(crate) control: ControlState,
    pub(crate) ports: PortMap,
}

impl World {
    pub(crate) fn on(chip: &ChipSpec, name: &str, params: &[&str]) -> World {
        let catalogue = catalogue();
        let shipped = catalogue.get(name).unwrap();
        let program = shipped.build(&sets(params)).unwrap_or_else(|e| panic!("{e}"));
        let placement = place(&program, chip).unwrap_or_else(|e| panic!("{}: {}", chip.name, e.reason()));
        assert!(verify(&program, &placement).is_empty());
        let ports = PortMap::default_for(chip).unwrap();
        let mut control = ControlState::new(&program);
        for op in shipped.default_setup(&program, &ports).unwrap().ops {
            // Packets that are passed by hand do not use the packet generator.
            if !matches!(op, ControlOp::Device(_)) {
                control.apply(&program, op).unwrap();
            }
        }
        World { program, placement, control, ports }
    }

    pub(crate) fn new(name: &str, params: &[&str]) -> World {
        World::on(&ChipSpec::tofino2(), name, params)
    }

    pub(crate) fn apply(&mut self, op: ControlOp) {
        self.control.apply(&self.program, op).unwrap();
    }

    pub(crate) fn dev_port(&self, front: u16) -> u16 {
        self.ports.front(FrontPort(front)).unwrap().dev_port.number()
    }

    fn front(&self, dev_port: u16) -> u16 {
        (0..64)
            .find(|f| self.ports.front(FrontPort(*f)).is_some_and(|p| p.dev_port.number() == dev_port))
            .unwrap()
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(&self.program, &self.placement, &self.control).unwrap()
    }

    /// Returns a cell of a counter.
    pub(crate) fn counted(&self, engine: &Engine, name: &str, cell: usize) -> u64 {
        let found = self.program.counters.iter().find(|(_, c)| c.name == name).unwrap().0;
        engine.state().counters[found][cell].packets
    }

    /// Runs all packets on the engine in one order; returns ports and reasons.
    pub(crate) fn run(&self, executor: &mut dyn Executor, packets: &[Packet], batch: usize) -> Vec<Fate> {
        self.run_from(self.dev_port(0), executor, packets, batch)
    }

    /// Runs the same packets from another dev_port.
    pub(crate) fn run_from(
        &self,
        port: u16,
        executor: &mut dyn Executor,
        packets: &[Packet],
        batch: usize,
    ) -> Vec<Fate> {
        let fates = self.bytes(port, executor, packets, batch);
        fates.into_iter().map(|fate| fate.map(|(port, _)| port)).collect()
    }

    fn bytes(
        &self,
        port: u16,
        executor: &mut dyn Executor,
        packets: &[Packet],
        batch: usize,
    ) -> Vec<Result<(u16, Vec<u8>), String>> {
        let mut store = PacketStore::new(HeadLayout::default());
        let mut fates = Vec::new();
        for packets in packets.chunks(batch) {
            let pass = |p: &Packet| {
                let input = PassIn { port, mac_tstamp: p.ns, global_tstamp: p.ns, ..PassIn::default() };
                Pass::new(store.insert(&p.bytes, 0), input)
            };
            let mut passes: Vec<Pass> = packets.iter().map(pass).collect();
            executor.run(Gress::Ingress, &mut passes, &mut store);
            for pass in passes {
                fates.push(match pass.output.verdict {
                    Verdict::Forward => {
                        let (head, tail) = store.captured(pass.packet);
                        Ok((self.front(pass.output.port), [head, tail].concat()))
                    }
                    Verdict::Label(label) => Err(self.program.labels[label].name.clone()),
                    other => Err(format!("{other:?}")),
                });
                store.remove(pass.packet);
            }
        }
        fates
    }

    /// Runs on the reference and on the engine in batches of 1, 7 and 64: bytes, ports and all state must agree.
    pub(crate) fn agreed(&self, packets: &[Packet]) -> Vec<Fate> {
        let mut reference = Reference::new(&self.program, &self.control, Default::default());
        let port = self.dev_port(0);
        let wanted = self.bytes(port, &mut reference, packets, 1);
        for batch in [1, 7, 64] {
            let mut engine = self.engine();
            assert_eq!(self.bytes(port, &mut engine, packets, batch), wanted, "batch {batch}");
            assert_eq!(engine.state(), reference.state(), "batch {batch}");
        }
        wanted.into_iter().map(|fate| fate.map(|(port, _)| port)).collect()
    }
}

impl World {
    /// Runs a story on the reference and on engines with batches of 1, 7 and 64 packets: results must be equal,
    /// registers and counters included. (Filters of the reference tick as on a Tofino 2.)
    pub(crate) fn alike<T: PartialEq + std::fmt::Debug>(
        &self,
        mut story: impl FnMut(&mut dyn Executor, usize) -> T,
    ) -> T {
        let mut reference = Reference::new(&self.program, &self.control, Default::default());
        let wanted = story(&mut reference, 1);
        for batch in [1, 7, 64] {
            let mut engine = self.engine();
            assert_eq!(story(&mut engine, batch), wanted, "batch {batch}");
            let (found, wanted) = (engine.state(), reference.state());
            assert!(
                found.registers == wanted.registers && found.counters == wanted.counters,
                "batch {batch}"
            );
        }
        wanted
    }

    /// Writes elements of a register from the first on.
    pub(crate) fn write(
        &self,
        executor: &mut dyn Executor,
        register: &str,
        elements: impl IntoIterator<Item = Element>,
    ) {
        let register = self.program.register_named(register).unwrap();
        for (at, element) in elements.into_iter().enumerate() {
            let Some(place) = executor.state_mut().registers[register].get_mut(at) else { break };
            *place = element;
        }
    }

    /// Writes one element of a register.
    pub(crate) fn write_at(
        &self,
        executor: &mut dyn Executor,
        register: &str,
        index: usize,
        element: Element,
    ) {
        let register = self.program.register_named(register).unwrap();
        *executor.state_mut().registers[register].get_mut(index).unwrap() = element;
    }
}

/// Name of the n-th of several registers or tables, from 0.
pub(crate) fn numbered(name: &str, n: usize) -> String {
    if n == 0 { name.to_owned() } else { format!("{name}_{n}") }
}

/// Returns a frame of TCP flow `flow` to 10.`network`.0.1: 40 bytes of headers and this payload.
pub(crate) fn frame(flow: u32, network: u8, payload: usize) -> Vec<u8> {
    let [a, b, c, d] = flow.to_be_bytes();
    let ip = ipv4::Header::new([172, 16, a, b].into(), [10, network, 0, 1].into());
    let ports = tcp::Header::new(u16::from_be_bytes([c, d]), 80);
    let mut out = Vec::new();
    let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ipv4(ip).tcp(ports);
    builder.build_len(54 + payload, &mut out).unwrap();
    out
}

/// Returns packets of one flow to 10.7.0.1 at these times.
pub(crate) fn flow(flow: u32, times: impl IntoIterator<Item = u64>) -> Vec<Packet> {
    times.into_iter().map(|ns| Packet { ns, bytes: frame(flow, 7, 100) }).collect()
}

/// Draws for tests, the same everywhere (PCG-like: splitmix64 of a counter).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 += 1;
        sluice_asic::hash::splitmix64(self.0)
    }

    /// Returns a number drawn evenly from 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an exponential gap with this mean.
    pub(crate) fn gap(&mut self, mean: f64) -> u64 {
        (-(1.0 - self.unit()).ln() * mean) as u64
    }
}

/// Returns how often each of ports 8 and up was taken.
pub(crate) fn by_port(fates: &[Fate], uplinks: usize) -> Vec<u64> {
    let mut counts = vec![0; uplinks];
    for fate in fates {
        counts[usize::from(*fate.as_ref().unwrap()) - 8] += 1;
    }
    counts
}

/// Returns the entry of a frame's flow in a table of this size.
pub(crate) fn slot(frame: &[u8], entries: u32) -> u32 {
    // Addresses, protocol, ports.
    let key = [&frame[26..34], &frame[23..24], &frame[34..38]].concat();
    crc_32(&key) & (entries - 1)
}

/// Returns frames of two flows to these networks that share one entry in a table of this size.
pub(crate) fn colliding(entries: u32, networks: [u8; 2]) -> [Vec<u8>; 2] {
    let first = frame(0, networks[0], 100);
    let wanted = slot(&first, entries);
    let other = (1..).map(|n| frame(n, networks[1], 100)).find(|f| slot(f, entries) == wanted).unwrap();
    [first, other]
}

/// Returns CRC-32 of Ethernet, which is the flow hash.
fn crc_32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}
