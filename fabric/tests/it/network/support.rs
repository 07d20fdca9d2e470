//! A program whose packets name the port of every hop, networks that run it, and a recorder of all events.

use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{Duration, Time};
use sluice_build::*;
use sluice_fabric::network::{
    End, Entered, LinkFrame, LinkSetup, Network, NetworkSetup, Observer, Placed, SwitchId, SwitchSetup,
};
use sluice_ir::Program;
use sluice_switch::{Left, Lost, PassEvent, QueueEvent, RxFrame};
use std::sync::{Arc, OnceLock};

/// In the place of the MAC addresses: a port and a queue (bits 9 to 15) for each of six hops.
#[derive(Header, Debug)]
#[allow(dead_code, reason = "what follows is the payload's business")]
struct Path {
    /// This hop
    hop: Bits<16>,
    /// The next one
    second: Bits<16>,
    /// After that
    third: Bits<16>,
    /// After that
    fourth: Bits<16>,
    /// After that
    fifth: Bits<16>,
    /// The last one
    sixth: Bits<16>,
    /// EtherType of what follows
    ether_type: Bits<16>,
}

/// The first bytes of an IPv4 header, up to the code point
#[derive(Header, Debug)]
#[allow(dead_code, reason = "fields that no statement names")]
struct Front {
    /// Version and length
    version_ihl: Bits<8>,
    /// Differentiated services code point
    dscp: Bits<6>,
    /// Explicit congestion notification
    ecn: Bits<2>,
}

#[stage_program]
fn ingress(ig: &GressBuilder<'_>) {
    let (path, front) = (ig.header::<Path>(), ig.header::<Front>());
    let tm = ig.intrinsic::<tna::ForTm>();
    let parse_path = ig.state().extract(path).select(path.ether_type);
    let parse_front = ig.state().extract(front);
    parse_path.on(0x0800, parse_front);
    ig.start(parse_path);
    let set_class = class_action(ig);
    /// DSCP to queue and traffic class
    let class =
        ig.table([exact(front.dscp)]).actions([set_class]).default_with(set_class, [0, 0]).size(64).build();
    /// By dev_port asked for
    let asked = ig.counter(512, CounterKind::PacketsAndBytes);
    ig.control(|c| {
        tm.ucast_egress_port = path.hop.slice::<8, 0, 9>();
        asked.count(path.hop.slice::<8, 0, 9>());
        path.hop = path.second;
        path.second = path.third;
        path.third = path.fourth;
        path.fourth = path.fifth;
        path.fifth = path.sixth;
        if front.is_valid() {
            class.apply();
        }
    });
    ig.deparser().emit(path).emit(front);
}

fn program() -> Program {
    let b = Builder::new("hops", "Goes where the packet says, hop by hop");
    ingress(&b.ingress());
    b.finish(&()).unwrap_or_else(|d| panic!("{}", d[0]))
}

/// The program on a Tofino 2.
pub(crate) fn placed() -> &'static Arc<Placed> {
    static PLACED: OnceLock<Arc<Placed>> = OnceLock::new();
    PLACED.get_or_init(|| {
        Placed::new(program(), &ChipSpec::tofino2()).unwrap_or_else(|e| panic!("{}", e.reason()))
    })
}

/// Returns the dev_port of a front-panel port.
pub(crate) fn dev(front: u16) -> u16 {
    switch("any").front(front).unwrap().number()
}

pub(crate) fn switch(name: &str) -> SwitchSetup {
    SwitchSetup::new(name, placed()).unwrap()
}

/// Returns `count` switches without links.
pub(crate) fn switches(count: u32) -> NetworkSetup {
    let mut setup = NetworkSetup::default();
    for n in 0..count {
        setup.switch(switch(&format!("s{n}")));
    }
    setup
}

/// Returns switches in a row; port 1 of each is linked to port 0 of the next.
pub(crate) fn chain(count: u32, delay: Duration) -> NetworkSetup {
    let mut setup = switches(count);
    for n in 1..count {
        setup.link(LinkSetup::new(End::new(SwitchId(n - 1), 1), End::new(SwitchId(n), 0), delay));
    }
    setup
}

/// Returns a frame that the hops send on these front-panel ports.
pub(crate) fn frame(hops: &[u16], len: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; len.max(14)];
    bytes[..12].fill(0xff);
    for (i, hop) in hops.iter().enumerate() {
        bytes[2 * i..2 * i + 2].copy_from_slice(&dev(*hop).to_be_bytes());
    }
    bytes[12..14].copy_from_slice(&0x88b5u16.to_be_bytes());
    bytes
}

/// A frame to inject into a network.
#[derive(Clone, Debug)]
pub(crate) struct Into {
    pub(crate) switch: u32,
    pub(crate) front: u16,
    pub(crate) ps: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Injects frames, which must be in order of time; tags count them from 0.
pub(crate) fn inject(network: &mut Network, frames: &[Into]) {
    for (tag, f) in (0..).zip(frames) {
        let id = SwitchId(f.switch);
        let port = network.setup(id).unwrap().front(f.front).unwrap();
        let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag };
        network.inject(id, port, Time::from_ps(f.ps), rx).unwrap();
    }
}

/// An event that an observer got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Entered(Entered),
    OnLink(LinkFrame, Vec<u8>),
    Delivered(Left, Vec<u8>),
    Lost(Lost, Vec<u8>),
    Pass(PassEvent),
    Enqueued(QueueEvent),
    Dequeued(QueueEvent),
}

/// Records all events with their switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorder {
    pub(crate) seen: Vec<(SwitchId, Seen)>,
}

impl Recorder {
    pub(crate) fn delivered(&self) -> impl Iterator<Item = (SwitchId, &Left, &[u8])> {
        self.seen.iter().filter_map(|(at, seen)| match seen {
            Seen::Delivered(left, bytes) => Some((*at, left, bytes.as_slice())),
            _ => None,
        })
    }

    pub(crate) fn on_links(&self) -> impl Iterator<Item = (SwitchId, &LinkFrame)> {
        self.seen.iter().filter_map(|(at, seen)| match seen {
            Seen::OnLink(frame, _) => Some((*at, frame)),
            _ => None,
        })
    }

    pub(crate) fn lost(&self) -> impl Iterator<Item = (SwitchId, &Lost)> {
        self.seen.iter().filter_map(|(at, seen)| match seen {
            Seen::Lost(lost, _) => Some((*at, lost)),
            _ => None,
        })
    }

    pub(crate) fn entered(&self) -> impl Iterator<Item = (SwitchId, &Entered)> {
        self.seen.iter().filter_map(|(at, seen)| match seen {
            Seen::Entered(entered) => Some((*at, entered)),
            _ => None,
        })
    }

    /// Returns the events of one switch.
    pub(crate) fn of(&self, id: SwitchId) -> Recorder {
        Recorder { seen: self.seen.iter().filter(|(at, _)| *at == id).cloned().collect() }
    }
}

impl Observer for Recorder {
    fn entered(&mut self, at: SwitchId, frame: &Entered, _: &[u8]) {
        self.seen.push((at, Seen::Entered(*frame)));
    }

    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        self.seen.push((from, Seen::OnLink(*frame, [head, tail].concat())));
    }

    fn delivered(&mut self, from: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        self.seen.push((from, Seen::Delivered(*frame, [head, tail].concat())));
    }

    fn lost(&mut self, at: SwitchId, packet: &Lost, head: &[u8], tail: &[u8]) {
        self.seen.push((at, Seen::Lost(*packet, [head, tail].concat())));
    }

    fn pass(&mut self, at: SwitchId, event: &PassEvent) {
        self.seen.push((at, Seen::Pass(*event)));
    }

    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        self.seen.push((at, Seen::Enqueued(*event)));
    }

    fn dequeued(&mut self, at: SwitchId, event: &QueueEvent) {
        self.seen.push((at, Seen::Dequeued(*event)));
    }
}
