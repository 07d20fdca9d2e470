//! Egress: a leaf encapsulates packets for other leaves, a spine raises the congestion that packets carry.

use super::Params;
use super::headers::{Bridge, Overlay, TOLD, VXLAN};
use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::UDP;
use sluice_build::net::{Ethernet, Ipv4, Udp};
use sluice_build::*;
use sluice_ir::MeterKind;

/// Declares egress of a leaf.
#[stage_program]
pub(super) fn wrap(eg: &GressBuilder<'_>, p: &Params) {
    let bridge = eg.header::<Bridge>();
    let (outer_ethernet, outer, outer_udp) =
        (eg.header::<Ethernet>(), eg.header::<Ipv4>(), eg.header::<Udp>());
    let overlay = eg.header::<Overlay>();
    let port = eg.intrinsic::<tna::Egress>();
    let start = eg.state().extract(bridge);
    eg.start(start);
    /// Packets and bytes sent, by dev_port
    let ports_out = eg.counter(512, CounterKind::PacketsAndBytes);
    let no_leaf = eg.drop_label("The table `leaf_address` has no address for the destination's leaf");
    let unknown = eg.action(|a| drop(no_leaf));
    /// Encapsulates the packet in VXLAN, from this leaf's address to the destination leaf's
    let wrap_for = eg.action(|a, dst: Arg<32>, src: Arg<32>| {
        outer_ethernet.set_valid();
        outer_ethernet.dst = 0x02_ff_00_00_00_02;
        outer_ethernet.src = 0x02_ff_00_00_00_01;
        outer_ethernet.ether_type = IPV4;
        outer.set_valid();
        outer.version = 4;
        outer.ihl = 5;
        outer.dscp = bridge.dscp;
        outer.ecn = bridge.ecn;
        outer.ttl = 64;
        outer.protocol = UDP;
        outer.src = src;
        outer.dst = dst;
        outer_udp.set_valid();
        outer_udp.src_port = bridge.entropy;
        outer_udp.dst_port = VXLAN;
        overlay.set_valid();
        overlay.flags = 8;
        overlay.tags = bridge.tags;
        overlay.ce = TOLD;
        overlay.feedback = bridge.feedback;
        overlay.vni = 1;
        overlay.reserved = 0;
    });
    /// Destination leaf to the outer addresses: its own as destination, this leaf's as source
    let leaf_address =
        eg.table([exact(bridge.leaf)]).actions([wrap_for, unknown]).default(unknown).size(p.leaves).build();
    /// Sets the outer lengths: the packet's without the bridged header (7 bytes), plus VXLAN, UDP and IPv4
    let measure = eg.action(|a| {
        outer.total_len = port.pkt_length + (20 + 8 + 8 - 7);
        outer_udp.length = port.pkt_length + (8 + 8 - 7);
    });
    eg.control(|c| {
        ports_out.count(port.egress_port);
        if bridge.leaf != 0 {
            leaf_address.apply();
            measure.call();
        }
    });
    eg.deparser()
        .checksum(outer, outer.checksum, outer.summed())
        .emit(outer_ethernet)
        .emit(outer)
        .emit(outer_udp)
        .emit(overlay);
}

/// Load of the link on which a spine sends the packet
#[derive(Header, Debug)]
struct Link {
    /// Bytes that the packet takes on the line, including FCS, preamble and inter-frame gap
    bytes: Bits<16>,
    /// Congestion of the link: eighths of its rate, at most 7, plus 8
    level: Bits<8>,
}

/// Declares egress of a spine.
#[stage_program]
pub(super) fn raise(eg: &GressBuilder<'_>, p: &Params) {
    let (ethernet, ipv4, udp) = (eg.header::<Ethernet>(), eg.header::<Ipv4>(), eg.header::<Udp>());
    let overlay = eg.header::<Overlay>();
    let t = eg.metadata::<Link>();
    let port = eg.intrinsic::<tna::Egress>();
    let start = eg.state().extract(ethernet).select(list![ethernet.ether_type, lookahead::<8>(0)]);
    let parse_ipv4 = eg.state().extract(ipv4).select(ipv4.protocol);
    let parse_udp = eg.state().extract(udp).select(udp.dst_port);
    let parse_overlay = eg.state().extract(overlay);
    const PLAIN: u64 = 0x45;
    start.on_tuple([(IPV4, 0xffff), (PLAIN, 0xff)], parse_ipv4);
    parse_ipv4.on(UDP, parse_udp);
    parse_udp.on(VXLAN, parse_overlay);
    eg.start(start);
    /// Packets and bytes sent, by dev_port
    let ports_out = eg.counter(512, CounterKind::PacketsAndBytes);
    let link = super::dre::estimator("400G".parse().unwrap_or_default(), p.tau);
    /// Load of each link in eighths of its rate, by dev_port: bytes sent, decayed with time constant tau
    let dre = eg.meter(MeterKind::Lpf, cells(512).lpf(link.spec()));
    /// Adds FCS, preamble and inter-frame gap, 24 bytes, to the length
    let measure = eg.action(|a| t.bytes = port.pkt_length + 24);
    let clamp = eg.action(|a| t.level = t.level.min(7));
    let tell = eg.action(|a| t.level = t.level | TOLD);
    let raise = eg.action(|a| overlay.ce = overlay.ce.max(t.level));
    eg.control(|c| {
        ports_out.count(port.egress_port);
        measure.call();
        t.level = dre.execute(port.egress_port).with(t.bytes);
        if overlay.is_valid() {
            clamp.call();
            tell.call();
            raise.call();
        }
    });
    eg.deparser().emit(ethernet).emit(ipv4).emit(udp).emit(overlay);
}
