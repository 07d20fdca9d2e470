//! UDP over IPv4, 64-256 B, 10,000 flows, `l3-ecmp` with as many routes as asked for; the floor, and what drives
//! executors and devices.

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::units::Time;
use sluice_control::{ControlOp, ControlState, Then};
use sluice_exec::packet::{HeadLayout, Packet, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_ir::{ActionCall, KeyValue, Program};
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::generate::{FlowMix, Pace, Prefix};
use sluice_pcaps::wire::MacAddr;
use sluice_place::{Placement, place};
use sluice_switch::{Left, Lost, Mode, RxFrame, Sink, Switch, SwitchConfig};
use std::net::{IpAddr, Ipv4Addr};

/// A placed program with its entries, and frames for it.
pub(crate) struct Workload {
    /// `l3-ecmp`.
    pub(crate) program: Program,
    /// On Tofino 2.
    pub(crate) placement: Placement,
    /// Default entries and the routes.
    pub(crate) control: ControlState,
    /// Ports of the chip.
    pub(crate) ports: PortMap,
    /// Frames with their first bit's time in ps, back to back at 400 Gb/s.
    pub(crate) frames: Vec<(u64, Vec<u8>)>,
}

/// The n-th of the workload's routes: /24s below 20.0.0.0/6, which no default entry covers.
fn route(n: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x1400_0000 + (n << 8))
}

impl Workload {
    /// `packets` frames over 10,000 flows to `routes` routes.
    pub(crate) fn new(packets: u64, routes: u32) -> Workload {
        let catalogue = sluice_programs::catalogue();
        let stage = catalogue.get("l3-ecmp").expect("a shipped program");
        let size = (routes + 16).max(12_288).to_string();
        let program = stage.build(&[("ipv4_routes".to_owned(), size)]).expect("the program builds");
        let chip = ChipSpec::tofino2();
        let placement = place(&program, &chip).expect("the program fits");
        let ports = PortMap::default_for(&chip).expect("the default port map");
        let mut control = ControlState::new(&program);
        let setup = stage.default_setup(&program, &ports).expect("the default entries");
        for op in setup.ops.into_iter().chain((0..routes).map(|n| route_op(&program, n))) {
            control.apply(&program, op).expect("the entries fit");
        }
        Workload { program, placement, control, ports, frames: frames(packets, routes) }
    }
}

fn route_op(program: &Program, n: u32) -> ControlOp {
    let table = program.table_named("ipv4_route").expect("the route table");
    let action = program.action_named("ipv4_set_group").expect("its action");
    let prefix = KeyValue::Lpm { value: u128::from(u32::from(route(n))), len: 24 };
    let then = Then::Call(ActionCall { action, args: vec![u128::from(1 + n % 3)] });
    ControlOp::InsertEntry { table, key: vec![KeyValue::Exact(0), prefix], priority: 0, then }
}

fn frames(packets: u64, routes: u32) -> Vec<(u64, Vec<u8>)> {
    let prefix = |address: Ipv4Addr, len| Prefix::new(IpAddr::V4(address), len).expect("a prefix");
    let v6 = Prefix::new("2001:db8::".parse().expect("an address"), 32).expect("a prefix");
    let mix = FlowMix {
        packets,
        flows: 10_000,
        size: 64..=256,
        pace: Pace::BackToBack { bits_per_second: 400_000_000_000 },
        start: CaptureTime::default(),
        seed: 1,
        destination_mac: MacAddr([2, 0, 0, 0, 0, 1]),
        source_mac: MacAddr([2, 0, 0, 0, 0, 2]),
        source_v4: prefix(Ipv4Addr::new(10, 200, 0, 0), 16),
        source_v6: v6,
        destinations: (0..routes.max(1)).map(|n| prefix(route(n), 24)).collect(),
        ipv6_percent: 0,
        tcp_percent: 0,
        vlan_percent: 0,
        vlan_id: 1,
    };
    let mut generator = mix.frames().expect("a mix that exists");
    let start = CaptureTime::default();
    let mut list = Vec::new();
    while let Some((time, frame)) = generator.next_frame() {
        list.push((time.ps_since(start).unwrap_or(0), frame.to_vec()));
    }
    list
}

/// The floor: headers read, checksum summed, header written back. Returns a sum so that nothing is left out.
pub(crate) fn floor(frames: &mut [(u64, Vec<u8>)]) -> u64 {
    let mut total = 0u64;
    for (_, frame) in frames {
        let Some(header) = frame.get_mut(14..34) else { continue };
        let sum: u32 = header.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
        header[8] = header[8].wrapping_sub(1);
        header[10..12].fill(0);
        let new: u32 = header.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
        let folded = (new & 0xffff) + (new >> 16);
        header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        frame[..12].rotate_left(6);
        total = total.wrapping_add(u64::from(sum));
    }
    total
}

/// Packets in an arena, ready for the engine.
pub(crate) struct Loaded {
    store: PacketStore,
    packets: Vec<Packet>,
    batch: Vec<Pass>,
}

impl Loaded {
    /// Copies the frames into an arena.
    pub(crate) fn new(frames: &[(u64, Vec<u8>)]) -> Loaded {
        let mut store = PacketStore::new(HeadLayout::default());
        let packets = frames.iter().map(|(_, f)| store.insert(f, 0)).collect();
        Loaded { store, packets, batch: Vec::with_capacity(64) }
    }

    /// Both passes of every packet, `size` at a time. Returns how many went on to a port.
    pub(crate) fn run(&mut self, executor: &mut dyn Executor, size: usize) -> u64 {
        let mut sent = 0;
        for chunk in self.packets.chunks(size) {
            self.batch.clear();
            let input = PassIn { port: 8, ..PassIn::default() };
            self.batch.extend(chunk.iter().map(|&p| Pass::new(p, input)));
            executor.run(Gress::Ingress, &mut self.batch, &mut self.store);
            self.batch.retain(|p| p.output.verdict == Verdict::Forward);
            for pass in &mut self.batch {
                let input = PassIn { port: pass.output.port, qid: pass.output.qid, ..PassIn::default() };
                *pass = Pass::new(pass.packet, input);
            }
            executor.run(Gress::Egress, &mut self.batch, &mut self.store);
            sent += self.batch.len() as u64;
        }
        sent
    }
}

/// Counts what leaves a switch.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    /// Packets sent.
    pub(crate) sent: u64,
    /// Packets lost.
    pub(crate) lost: u64,
}

impl Sink for Counting {
    fn sent(&mut self, _: &Left, _: &[u8], _: &[u8]) {
        self.sent += 1;
    }

    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {
        self.lost += 1;
    }

    fn watches(&self) -> bool {
        false
    }
}

/// A switch for the workload.
pub(crate) fn switch(w: &Workload, executor: Box<dyn Executor>, mode: Mode) -> Switch<'static> {
    let config = SwitchConfig { mode, ..SwitchConfig::default() };
    Switch::new(&w.program, &w.placement, &w.ports, w.control.clone(), executor, config).expect("a switch")
}

/// Sends all frames through a switch by front-panel port 0.
#[inline(never)]
pub(crate) fn drive(switch: &mut Switch<'_>, frames: &[(u64, Vec<u8>)]) -> Counting {
    let mut sink = Counting::default();
    let port = DevPort::new(8).expect("a dev_port");
    for (tag, (time, frame)) in (0..).zip(frames) {
        let rx = RxFrame { bytes: frame, orig_len: frame.len() as u32, tag };
        switch.rx(port, Time::from_ps(*time), rx).expect("the port exists");
        if tag % 64 == 63 {
            switch.advance(Time::from_ps(*time), &mut sink).expect("no control operations");
        }
    }
    while let Some(next) = switch.next_time() {
        switch.advance(next, &mut sink).expect("no control operations");
    }
    sink
}
