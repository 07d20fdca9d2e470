//! A program whose packets name their port in the source address; the DSCP is their class.

use crate::switch::world::{Frame, World};
use sluice_asic::port::{DevPort, FrontPort};
use sluice_asic::tm::buffer::BufferFile;
use sluice_build::net::ether_type::IPV4;
use sluice_build::net::{Ethernet, Ipv4};
use sluice_build::*;
use sluice_ir::Program;
use sluice_switch::{BufferSetup, Switch, SwitchConfig};
use std::sync::OnceLock;

#[stage_program]
fn ingress(ig: &GressBuilder<'_>) {
    let (eth, ipv4) = (ig.header::<Ethernet>(), ig.header::<Ipv4>());
    let tm = ig.intrinsic::<tna::ForTm>();
    let parse_ethernet = ig.state().extract(eth).select(eth.ether_type);
    let parse_ipv4 = ig.state().extract(ipv4);
    parse_ethernet.on(IPV4, parse_ipv4);
    ig.start(parse_ethernet);
    let set_class = class_action(ig);
    /// DSCP to queue and traffic class
    let class =
        ig.table([exact(ipv4.dscp)]).actions([set_class]).default_with(set_class, [0, 0]).size(64).build();
    /// Packets and bytes by the dev_port that they request
    let asked = ig.counter(512, CounterKind::PacketsAndBytes);
    ig.control(|c| {
        tm.ucast_egress_port = eth.src.slice::<8, 0, 9>();
        asked.count(eth.src.slice::<8, 0, 9>());
        if ipv4.is_valid() {
            class.apply();
        }
    });
    ig.deparser().emit(eth).emit(ipv4);
}

fn program() -> Program {
    let b = Builder::new("aim", "Goes where the source address says");
    ingress(&b.ingress());
    b.finish(&()).unwrap_or_else(|d| panic!("{}", d[0]))
}

pub(crate) fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| World::new(program(), Vec::new()))
}

/// Returns an IPv4 packet of `len` bytes to a front-panel port.
pub(crate) fn packet(to: u16, dscp: u8, ecn: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len.max(60)];
    bytes[6..12].copy_from_slice(&u64::from(world().dev_port(to)).to_be_bytes()[2..]);
    bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, dscp << 2 | ecn]);
    let total = (bytes.len() - 14) as u16;
    bytes[16..18].copy_from_slice(&total.to_be_bytes());
    bytes[22] = 64;
    let sum = !checksum(&bytes);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// Returns the ones' complement sum over a frame's IPv4 header: 0xffff if the checksum is valid.
pub(crate) fn checksum(frame: &[u8]) -> u16 {
    let words = frame[14..34].chunks(2);
    let mut sum: u32 = words.map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
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

/// Returns the wire time of a frame at 400G, in ps.
pub(crate) fn line(len: usize) -> u64 {
    (len.max(60) as u64 + 24) * 20
}

/// Sends a train of equal packets from a port, back to back at 400G.
pub(crate) fn train(from: u16, start: u64, count: u64, bytes: &[u8]) -> Vec<Frame> {
    (0..count).map(|n| Frame::new(from, start + n * line(bytes.len()), bytes.to_vec())).collect()
}

/// Returns Tofino 2's profile with changes.
pub(crate) fn config(changes: &[(&str, &str)]) -> SwitchConfig {
    let mut text = BufferFile::text_of("tofino2").unwrap().to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "nothing to change: {from}");
        text = text.replace(from, to);
    }
    let file = BufferFile::parse("test", &text).unwrap();
    SwitchConfig { buffer: Some(BufferSetup { file, seed: 1 }), ..SwitchConfig::default() }
}

pub(crate) fn switch(config: SwitchConfig) -> Switch<'static> {
    world().switch(world().engine(), config)
}

pub(crate) fn port(front: u16) -> DevPort {
    world().ports.front(FrontPort(front)).unwrap().dev_port
}
