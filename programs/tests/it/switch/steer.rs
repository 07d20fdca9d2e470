//! A program whose packets choose their handling: the source address contains port, queue and the action of egress.

use crate::switch::world::World;
use sluice_build::net::Ethernet;
use sluice_build::*;
use sluice_ir::Program;
use std::sync::OnceLock;

/// EtherType of packets that egress drops.
pub(crate) const DROPPED: u16 = 0x9001;
/// EtherType of packets from which egress removes four bytes, as an 802.1Q tag.
pub(crate) const SHORTENED: u16 = 0x8100;

/// Choices of a packet.
pub(crate) fn frame(dev_port: u16, qid: u8, ether_type: u16, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; len.max(18)];
    let source = u64::from(qid) << 16 | u64::from(dev_port);
    bytes[6..12].copy_from_slice(&source.to_be_bytes()[2..]);
    bytes[12..14].copy_from_slice(&ether_type.to_be_bytes());
    bytes
}

/// A counter, so that executors have something to remember.
#[stage_program]
fn ingress(ig: &GressBuilder<'_>) {
    let eth = ig.header::<Ethernet>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let start = ig.state().extract(eth);
    ig.start(start);
    /// Packets and bytes by the dev_port that they request
    let asked = ig.counter(512, CounterKind::PacketsAndBytes);
    ig.control(|c| {
        tm.ucast_egress_port = eth.src.slice::<8, 0, 9>();
        tm.qid = eth.src.slice::<22, 16, 7>();
        asked.count(eth.src.slice::<8, 0, 9>());
    });
    ig.deparser().emit(eth);
}

#[stage_program]
fn egress(eg: &GressBuilder<'_>) {
    use sluice_build::net::Vlan;
    let (eth, vlan) = (eg.header::<Ethernet>(), eg.header::<Vlan>());
    let start = eg.state().extract(eth).select(eth.ether_type);
    let tagged = eg.state().extract(vlan);
    start.on(u64::from(SHORTENED), tagged);
    eg.start(start);
    /// The packet's EtherType requests the drop
    let asked_for = eg.drop_label("The packet requests the drop by its EtherType");
    eg.control(|c| {
        if eth.ether_type == u64::from(DROPPED) {
            drop(asked_for);
        } else if vlan.is_valid() {
            eth.ether_type = vlan.ether_type;
            vlan.set_invalid();
        }
    });
    eg.deparser().emit(eth).emit(vlan);
}

fn program() -> Program {
    let b = Builder::new("steer", "Goes where the source address says");
    ingress(&b.ingress());
    egress(&b.egress());
    b.finish(&()).unwrap_or_else(|d| panic!("{}", d[0]))
}

pub(crate) fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| World::new(program(), Vec::new()))
}
