//! A placed program with its default entries, run by both executors.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_exec::reference::Reference;
use sluice_ir::Program;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, tcp, udp};
use sluice_place::{Placement, verify};
use sluice_programs::catalogue;

/// Key of a flow: source, destination, protocol, ports, TTL.
pub(crate) type Key = [u8; 14];

/// Fate of a packet: dev_port and bytes, or its drop reason.
pub(crate) type Fate = Result<(u16, Vec<u8>), String>;

pub(crate) struct World {
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    pub(crate) control: ControlState,
    pub(crate) ports: PortMap,
}

pub(crate) fn sets(texts: &[&str]) -> Vec<(String, String)> {
    let pairs = texts.iter().map(|t| t.split_once('=').unwrap());
    pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

impl World {
    pub(crate) fn new(name: &str, params: &[&str], chip: &ChipSpec) -> World {
        let catalogue = catalogue();
        let shipped = catalogue.get(name).unwrap();
        let program = shipped.build(&sets(params)).unwrap_or_else(|e| panic!("{e}"));
        let placement = place(&program, chip).unwrap_or_else(|e| panic!("{}: {}", chip.name, e.reason()));
        assert!(verify(&program, &placement).is_empty());
        let ports = PortMap::default_for(chip).unwrap();
        let mut control = ControlState::new(&program);
        for op in shipped.default_setup(&program, &ports).unwrap().ops {
            control.apply(&program, op).unwrap();
        }
        World { program, placement, control, ports }
    }

    pub(crate) fn apply(&mut self, op: ControlOp) {
        self.control.apply(&self.program, op).unwrap();
    }

    pub(crate) fn dev_port(&self, front: u16) -> u16 {
        self.ports.front(FrontPort(front)).unwrap().dev_port.number()
    }

    /// Sends all frames to one front-panel port, on the reference and on the engine in batches of 1, 7 and 64; all
    /// four must agree.
    pub(crate) fn send(&self, front: u16, frames: &[Vec<u8>]) -> Vec<Fate> {
        let mut reference = Reference::new(&self.program, &self.control, Default::default());
        let wanted = self.run(&mut reference, front, frames, 1);
        for batch in [1, 7, 64] {
            let mut engine = Engine::new(&self.program, &self.placement, &self.control).unwrap();
            assert_eq!(self.run(&mut engine, front, frames, batch), wanted, "batch {batch}");
            assert_eq!(engine.state(), reference.state(), "batch {batch}");
        }
        wanted
    }

    fn run(&self, executor: &mut dyn Executor, front: u16, frames: &[Vec<u8>], batch: usize) -> Vec<Fate> {
        let mut store = PacketStore::new(HeadLayout::default());
        let mut fates = Vec::new();
        for frames in frames.chunks(batch) {
            let port = self.dev_port(front);
            let pass = |f: &Vec<u8>| Pass::new(store.insert(f, 0), PassIn { port, ..PassIn::default() });
            let mut passes: Vec<Pass> = frames.iter().map(pass).collect();
            executor.run(Gress::Ingress, &mut passes, &mut store);
            let sent = passes.iter().filter(|p| p.output.verdict == Verdict::Forward);
            let onward = |p: &Pass| {
                Pass::new(p.packet, PassIn { port: p.output.port, qid: p.output.qid, ..PassIn::default() })
            };
            let mut egress: Vec<Pass> = sent.map(onward).collect();
            executor.run(Gress::Egress, &mut egress, &mut store);
            for pass in passes {
                fates.push(match pass.output.verdict {
                    Verdict::Forward => {
                        let (head, tail) = store.captured(pass.packet);
                        Ok((pass.output.port, [head, tail].concat()))
                    }
                    Verdict::Label(label) => Err(self.program.labels[label].name.clone()),
                    other => Err(format!("{other:?}")),
                });
                store.remove(pass.packet);
            }
        }
        fates
    }
}

/// Returns the frame of a key, with this TTL.
pub(crate) fn frame(key: &Key, ttl: u8) -> Vec<u8> {
    let address = |at: usize| -> [u8; 4] { key[at..at + 4].try_into().unwrap() };
    let half = |at: usize| u16::from_be_bytes([key[at], key[at + 1]]);
    let ip = ipv4::Header { ttl, ..ipv4::Header::new(address(0).into(), address(4).into()) };
    let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ipv4(ip);
    let builder = match key[8] {
        6 => builder.tcp(tcp::Header::new(half(9), half(11))),
        _ => builder.udp(udp::Header::new(half(9), half(11))),
    };
    let mut out = Vec::new();
    builder.build_len(90, &mut out).unwrap();
    out
}

/// Returns `n` keys to 10.`network`.0.0/16, TTL 64.
pub(crate) fn keys(count: u32, network: u8) -> Vec<Key> {
    let key = |n: u32| {
        let bits = sluice_asic::hash::splitmix64(u64::from(n)).to_be_bytes();
        let [a, b, c, d, e, f, g, h] = bits;
        let protocol = if a & 1 == 0 { 6 } else { 17 };
        [172, a, b, c, 10, network, d, e, protocol, f, g, 0x1f, h, 64]
    };
    (0..count).map(key).collect()
}
