//! The program with its default entries on a Tofino 2, without traffic manager and time.
//!
//! The reference interpreter runs every packet, and so does the fast engine where the program fits the chip:
//! both have to agree on every output.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{DevPort, FrontPort, PortKind, PortMap};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_exec::reference::{Options, Phv, Reference};
use sluice_ir::Program;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, ipv6, udp};
use sluice_place::Placement;
use sluice_programs::catalogue;
use std::sync::OnceLock;

pub(crate) const ROUTER: MacAddr = MacAddr::from_u64(0x02_00_00_00_00_01);
pub(crate) const SENDER: MacAddr = MacAddr::from_u64(0x02_00_00_00_01_00);

/// MAC address of the neighbour on a front-panel port in the default entries.
pub(crate) fn neighbor(front: u16) -> MacAddr {
    MacAddr::from_u64(0x02_00_00_00_02_00 + u64::from(front))
}

/// Fate of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Sent on a front-panel port, with these bytes.
    Out(u16, Vec<u8>),
    /// Sent on the CPU port, with these bytes.
    Cpu(Vec<u8>),
    /// Dropped for this reason.
    Dropped(String),
    /// Refused by a parser.
    ParserError,
}

impl Fate {
    /// Returns the front-panel port of a packet that was sent on one.
    pub(crate) fn port(&self) -> u16 {
        match self {
            Fate::Out(port, _) => *port,
            other => panic!("expected a packet on a front-panel port, found {other:?}"),
        }
    }
}

pub(crate) struct Device {
    pub(crate) program: Program,
    pub(crate) ports: PortMap,
    control: ControlState,
    reference: Reference,
    /// State after the last ingress pass.
    ingress: Phv,
    packets: PacketStore,
    /// `None` if the program fits no chip.
    placement: Option<Placement>,
    engine: Option<(Engine, PacketStore)>,
}

/// Placed once, because placing takes long and most tests use the default program.
static DEFAULT: OnceLock<Option<Placement>> = OnceLock::new();

/// `key=value` pairs as users give them.
pub(crate) fn sets(texts: &[&str]) -> Vec<(String, String)> {
    let pairs = texts.iter().map(|t| t.split_once('=').unwrap());
    pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

impl Device {
    pub(crate) fn new() -> Device {
        Device::with(&[])
    }

    pub(crate) fn with(params: &[&str]) -> Device {
        let catalogue = catalogue();
        let shipped = catalogue.get("l3-ecmp").unwrap();
        let program = shipped.build(&sets(params)).unwrap();
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let mut control = ControlState::new(&program);
        for op in shipped.default_setup(&program, &ports).unwrap().ops {
            control.apply(&program, op).unwrap();
        }
        let reference = Reference::new(&program, &control, Options::default());
        let ingress = Phv::new(&program);
        let packets = PacketStore::new(HeadLayout::default());
        let fitted = || place(&program, &ChipSpec::tofino2()).ok();
        let placement = if params.is_empty() { DEFAULT.get_or_init(fitted).clone() } else { fitted() };
        let engine = None;
        let mut device = Device { program, ports, control, reference, ingress, packets, placement, engine };
        device.restart();
        device
    }

    /// Resets both executors, and their counters to zero.
    fn restart(&mut self) {
        self.reference = Reference::new(&self.program, &self.control, Options::default());
        self.engine = self.placement.as_ref().map(|placement| {
            let engine = Engine::new(&self.program, placement, &self.control).unwrap();
            (engine, PacketStore::new(HeadLayout::default()))
        });
    }

    pub(crate) fn apply(&mut self, op: ControlOp) {
        self.control.apply(&self.program, op).unwrap();
        self.restart();
    }

    fn dev_port(&self, front: u16) -> u16 {
        self.ports.front(FrontPort(front)).unwrap().dev_port.number()
    }

    /// Returns a field after the last packet's ingress pass.
    pub(crate) fn field(&self, name: &str) -> u128 {
        self.ingress.field(self.program.field_named(Gress::Ingress, name).unwrap())
    }

    /// Returns packets and bytes of one counter cell.
    pub(crate) fn count(&self, name: &str, index: usize) -> (u64, u64) {
        if let Some((engine, _)) = &self.engine {
            assert_eq!(engine.state(), self.reference.state());
        }
        let found = self.program.counters.iter().find(|(_, c)| c.name == name);
        let cell = self.reference.state().counters[found.unwrap().0][index];
        (cell.packets, cell.bytes)
    }

    pub(crate) fn count_front(&self, name: &str, front: u16) -> (u64, u64) {
        self.count(name, self.dev_port(front).into())
    }

    /// Runs a pass on both executors, the engine's on a packet of the same handle.
    fn pass(&mut self, gress: Gress, pass: &mut Pass) -> Option<Fate> {
        let mut batch = [*pass];
        self.reference.run(gress, &mut batch, &mut self.packets);
        if let Some((engine, packets)) = &mut self.engine {
            let mut again = [*pass];
            engine.run(gress, &mut again, packets);
            let (found, wanted) = (again[0].output, batch[0].output);
            assert_eq!(found.verdict, wanted.verdict, "{gress}");
            if wanted.verdict == Verdict::Forward {
                assert_eq!((found.port, found.qid), (wanted.port, wanted.qid), "{gress}");
                assert_eq!(packets.captured(pass.packet), self.packets.captured(pass.packet), "{gress}");
            }
        }
        *pass = batch[0];
        match pass.output.verdict {
            Verdict::Forward => None,
            Verdict::Label(label) => Some(Fate::Dropped(self.program.labels[label].name.clone())),
            Verdict::ParserError(_) => Some(Fate::ParserError),
            other => panic!("{gress}: {other:?}"),
        }
    }

    /// Sends a frame to a front-panel port.
    pub(crate) fn send(&mut self, front: u16, frame: &[u8]) -> Fate {
        let packet = self.packets.insert(frame, 0);
        if let Some((_, packets)) = &mut self.engine {
            assert_eq!(packets.insert(frame, 0), packet);
        }
        let input = PassIn { port: self.dev_port(front), ..PassIn::default() };
        let mut pass = Pass::new(packet, input);
        let dropped = self.pass(Gress::Ingress, &mut pass);
        self.ingress = self.reference.phv().clone();
        let fate = dropped.unwrap_or_else(|| {
            let port = pass.output.port;
            let mut pass = Pass::new(packet, PassIn { port, ..PassIn::default() });
            self.pass(Gress::Egress, &mut pass).unwrap_or_else(|| {
                let (head, tail) = self.packets.captured(packet);
                let bytes = [head, tail].concat();
                match self.ports.dev(DevPort::new(port).unwrap()).unwrap().kind {
                    PortKind::Front(front) => Fate::Out(front.0, bytes),
                    PortKind::Cpu => Fate::Cpu(bytes),
                    PortKind::Recirculation => panic!("recirculated"),
                }
            })
        });
        self.packets.remove(packet);
        if let Some((_, packets)) = &mut self.engine {
            packets.remove(packet);
        }
        fate
    }
}

/// Returns a frame of this length.
pub(crate) fn frame(builder: FrameBuilder, len: usize) -> Vec<u8> {
    let mut out = Vec::new();
    builder.build_len(len, &mut out).unwrap();
    out
}

/// Returns a frame to the router, from the usual sender.
pub(crate) fn inbound() -> FrameBuilder {
    FrameBuilder::new(ROUTER, SENDER)
}

/// Returns a frame from the router to the neighbour on a port.
pub(crate) fn outbound(front: u16) -> FrameBuilder {
    FrameBuilder::new(neighbor(front), ROUTER)
}

pub(crate) fn ip4(src: [u8; 4], dst: [u8; 4]) -> ipv4::Header {
    ipv4::Header::new(src.into(), dst.into())
}

pub(crate) fn ip6(src: &str, dst: &str) -> ipv6::Header {
    ipv6::Header::new(src.parse().unwrap(), dst.parse().unwrap())
}

pub(crate) fn ports(src: u16, dst: u16) -> udp::Header {
    udp::Header::new(src, dst)
}
