//! A two-ToR network under load: messages of all hosts of one ToR to those of the other.

use sluice_asic::chip::ChipSpec;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::Time;
use sluice_fabric::deploy::{Defaults, Files, deploy};
use sluice_fabric::network::{LinkFrame, Network, Observer, SwitchId};
use sluice_fabric::topology::built;
use sluice_pcaps::conweave::{Header, read};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, udp};
use sluice_pipeline::control::ControlState;
use sluice_pipeline::ir::Program;
use sluice_pipeline::switch::{Left, QueueEvent, RxFrame, SwitchConfig};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// DATA, and with [`REROUTED`] of epoch 1 behind TAIL.
pub(crate) const DATA: u8 = 1;
pub(crate) const REROUTED: u8 = 2;

/// A frame of a flow; with [`DATA`] as ConWeave's ToRs send it, with 0 as a host does.
pub(crate) fn frame(src: Ipv4Addr, dst: Ipv4Addr, port: u16, psn: u32, what: u8, payload: usize) -> Vec<u8> {
    let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, psn);
    let headers = roce::Headers { bth, extension: roce::Extension::None };
    let builder = FrameBuilder::new(MacAddr::from_u64(2), MacAddr::from_u64(4));
    let builder = builder.ipv4(ipv4::Header { ecn: 2, ..ipv4::Header::new(src, dst) });
    let mut frame = Vec::new();
    builder
        .roce(udp::Header::new(port, roce::PORT), headers)
        .build(Payload::Zeros(payload), &mut frame)
        .unwrap();
    if what & DATA != 0 {
        let phase = u8::from(what & REROUTED != 0);
        Header { path: 2, opcode: 1, phase, epoch: 1, ts_tx: 121, ts_tail: 120, ..Header::default() }
            .put(&mut frame);
    }
    frame
}

struct NoFiles;

impl Files for NoFiles {
    type Error = String;

    fn entries(&self, name: &str, _: &Program, _: &mut ControlState) -> Result<(), String> {
        Err(format!("no file {name}"))
    }

    fn buffer(&self, name: &str, _: &ChipSpec) -> Result<BufferFile, String> {
        Err(format!("no file {name}"))
    }
}

/// What a run showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Offered load in percent of the paths.
    pub(crate) percent: u64,
    pub(crate) data: u64,
    pub(crate) delivered: u64,
    pub(crate) tails: u64,
    pub(crate) rerouted: u64,
    /// Packets that waited in reorder queues.
    pub(crate) waited: u64,
    /// Most queues that held packets at once, at the ToR and at one port.
    pub(crate) queues: u64,
    pub(crate) queues_of_port: u64,
    /// Most bytes of cells in reorder queues of the ToR.
    pub(crate) memory: u64,
    /// Share of the recirculation line, in millionths.
    pub(crate) recirculation_ppm: u64,
    /// Bytes on the line of control packets, in millionths of DATA's.
    pub(crate) control_ppm: u64,
    /// Packets that came to a host behind a later one of their flow, and those that the program counted.
    pub(crate) out_of_order: u64,
    pub(crate) counted: u64,
}

#[derive(Default)]
struct Watch {
    load: Load,
    /// Cells in reorder queues of the second ToR.
    depth: BTreeMap<(u16, u8), u64>,
    held: u64,
    data_bytes: u64,
    control_bytes: u64,
    last: BTreeMap<(Ipv4Addr, Ipv4Addr, u16), u32>,
}

const FIRST_REORDER_QUEUE: u8 = 2;
const CELL: u64 = 176;

impl Watch {
    fn set_depth(&mut self, event: &QueueEvent, cells: u64) {
        let before = self.depth.insert((event.port, event.qid), cells).unwrap_or(0);
        self.held = self.held + cells - before;
        let used = |only: Option<u16>| {
            let holds =
                |((port, _), cells): &(&(u16, u8), &u64)| **cells > 0 && only.is_none_or(|o| o == *port);
            self.depth.iter().filter(holds).count() as u64
        };
        let (all, of_port) = (used(None), used(Some(event.port)));
        let load = &mut self.load;
        load.queues = load.queues.max(all);
        load.queues_of_port = load.queues_of_port.max(of_port);
        load.memory = load.memory.max(self.held * CELL);
    }
}

impl Observer for Watch {
    fn on_link(&mut self, from: SwitchId, sent: &LinkFrame, head: &[u8], tail: &[u8]) {
        let Some(seen) = read(&[head, tail].concat()) else { return };
        let (bytes, h) = (u64::from(sent.left.bytes) + 24, seen.header);
        match (from, h.opcode) {
            (SwitchId(0), 1) => {
                self.data_bytes += bytes;
                self.load.tails += u64::from(h.tail);
                self.load.rerouted += u64::from(h.phase == 1);
            }
            (SwitchId(1), 2 | 3) => self.control_bytes += bytes,
            _ => {}
        }
    }

    fn delivered(&mut self, at: SwitchId, _: &Left, head: &[u8], tail: &[u8]) {
        let Some(seen) = read(&[head, tail].concat()).filter(|_| at == SwitchId(1)) else { return };
        self.load.delivered += 1;
        let last = self.last.entry((seen.src, seen.dst, seen.src_port)).or_default();
        self.load.out_of_order += u64::from(seen.psn < *last);
        *last = seen.psn.max(*last);
    }

    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        if at == SwitchId(1) && event.qid >= FIRST_REORDER_QUEUE {
            self.load.waited += 1;
            // What the packet found, and itself.
            self.set_depth(event, u64::from(event.depth.0) + PACKET.div_ceil(CELL));
        }
    }

    fn dequeued(&mut self, at: SwitchId, event: &QueueEvent) {
        if at == SwitchId(1) && event.qid >= FIRST_REORDER_QUEUE {
            self.set_depth(event, u64::from(event.depth.0));
        }
    }
}

/// Payload of a packet, its bytes with ConWeave's header, and packets of a message.
const PAYLOAD: usize = 4096;
const PACKET: u64 = PAYLOAD as u64 + 14 + 20 + 8 + 12 + 4 + 4;
const MESSAGE: u32 = 64;
/// How long hosts send.
const TIME_NS: u64 = 60_000;
const HOSTS: u8 = 4;

/// Four hosts at 400G send messages of 64 packets at the line's rate to hosts and ports drawn at random; pauses between
/// messages make the load.
pub(crate) fn run(percent: u64) -> Load {
    let plan = built("two-tor:spines=4,hosts=4").unwrap();
    let defaults = Defaults {
        program: "conweave".to_owned(),
        params: Vec::new(),
        chip: ChipSpec::tofino2(),
        port_speed: None,
        buffer: None,
        config: SwitchConfig::default(),
    };
    let deployment = deploy(&plan, &defaults, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut network = Network::new(deployment.network).unwrap_or_else(|e| panic!("{e}"));
    let mut watch = Watch { load: Load { percent, ..Load::default() }, ..Watch::default() };
    let mut draw = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |n: u64| {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        (draw >> 33) % n
    };
    // A packet takes 84 ns of a 400G line.
    let packet_ps = (PACKET - 4 + 24) * 20;
    for host in 1..=HOSTS {
        let port = network.setup(SwitchId(0)).unwrap().front(u16::from(host) - 1).unwrap();
        let src = Ipv4Addr::new(10, 0, 0, host);
        let mut psn = 0;
        let mut ps = random(4_000) * 1000;
        while ps < TIME_NS * 1000 {
            let dst = Ipv4Addr::new(10, 0, 1, 1 + random(u64::from(HOSTS)) as u8);
            let flow = 49_152 + random(4) as u16;
            for _ in 0..MESSAGE {
                psn += 1;
                // Nobody reads the payload.
                let bytes = frame(src, dst, flow, psn, 0, 16);
                let rx = RxFrame { bytes: &bytes, orig_len: (PACKET - 4) as u32, tag: 0 };
                network.inject(SwitchId(0), port, Time::from_ps(ps), rx).unwrap();
                watch.load.data += 1;
                ps += packet_ps;
            }
            let message = packet_ps * u64::from(MESSAGE);
            let pause = message * (100 - percent) / percent;
            ps += pause / 2 + random(pause.max(1));
        }
    }
    network.advance(Time::from_nanos(TIME_NS), &mut watch).unwrap();
    let recirculated = network.switch(SwitchId(1)).unwrap().totals().recirculated;
    network.drain(Time::from_nanos(4 * TIME_NS), &mut watch).unwrap();
    assert!(network.totals().is_conserved());
    let tor = network.switch(SwitchId(1)).unwrap();
    let program = &network.setup(SwitchId(1)).unwrap().placed.program;
    let unsorted = program.counters.iter().find(|(_, c)| c.name == "unsorted").unwrap().0;
    let cells = tor.state_of(0).unwrap().counters[unsorted].iter();
    let mut load = watch.load;
    load.counted = cells.map(|c| c.packets).sum();
    load.recirculation_ppm = recirculated * crate::laps::ON_LINE * 20_000 / TIME_NS;
    load.control_ppm = watch.control_bytes * 1_000_000 / watch.data_bytes.max(1);
    load
}

#[test]
fn under_load_flows_move_and_hosts_see_order() {
    let load = run(60);
    assert!(load.tails > 0 && load.waited > 0 && load.queues > 0, "{load:?}");
    assert!(load.out_of_order == 0 || load.counted > 0, "{load:?}");
    assert!(load.control_ppm < 20_000, "{load:?}");
}
