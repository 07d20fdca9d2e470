//! Ingress and egress of `conweave-spine`.

use super::Params;
use crate::conweave::headers::{Bth, ROCE, opcode};
use crate::forwarding::class;
use crate::marking::marking;
use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::UDP;
use sluice_build::net::{Ethernet, Ipv4, Udp};
use sluice_build::*;

/// Per-packet metadata of ingress
#[derive(Header, Debug)]
struct Meta {
    /// 1 if the IPv4 header checksum is wrong
    bad_checksum: Bits<1>,
    /// Group of links to the ToR
    group: Bits<16>,
    /// UDP source port; 0 for fragments and other protocols
    src_port: Bits<16>,
    /// UDP destination port; 0 for fragments and other protocols
    dst_port: Bits<16>,
}

/// Declares all of ingress.
#[stage_program]
pub(super) fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let (ethernet, ipv4, udp) = (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<Udp>());
    let bth = ig.header::<Bth>();
    let m = ig.metadata::<Meta>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let parse_ethernet = ig.state().extract(ethernet).select(list![ethernet.ether_type, lookahead::<8>(0)]);
    let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, ipv4.whole()).select(list![
        ipv4.flags,
        ipv4.frag_offset,
        ipv4.protocol
    ]);
    let parse_udp = ig
        .state()
        .extract(udp)
        .set(m.src_port, udp.src_port)
        .set(m.dst_port, udp.dst_port)
        .select(udp.dst_port);
    let parse_bth = ig.state().extract(bth);
    const WITHOUT_OPTIONS: u64 = 0x45;
    const MORE_FRAGMENTS: u64 = 1;
    parse_ethernet.on_tuple([(IPV4, 0xffff), (WITHOUT_OPTIONS, 0xff)], parse_ipv4);
    parse_ipv4.on_tuple([(0, MORE_FRAGMENTS), (0, 0x1fff), (UDP, 0xff)], parse_udp);
    parse_udp.on(ROCE, parse_bth);
    ig.start(parse_ethernet);

    let no_route = ig.drop_label("No route matches the destination");
    let no_port = ig.drop_label("No port for this destination MAC, and no default port");
    let bad_checksum = ig.drop_label("The IPv4 header checksum is wrong");
    let ttl_expired = ig.drop_label("The TTL is 0 or 1");
    let to_group = ig.action(|a, group: Arg<16>| m.group = group);
    let unreachable = ig.action(|a| drop(no_route));
    /// IPv4 longest prefix to the group of links to its ToR
    let route = ig.table([lpm(ipv4.dst)]).actions([to_group]).default(unreachable).size(p.routes).build();
    let bridge_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    let nowhere = ig.action(|a| drop(no_port));
    /// Destination MAC to port, for frames that are not IPv4 without options
    let l2 = ig.table([exact(ethernet.dst)]).actions([bridge_to]).default(nowhere).size(1024).build();
    /// Flow hash: addresses, protocol and ports
    let flow_hash = ig
        .hash::<51>("crc_64")
        .inputs(list![ipv4.src, ipv4.dst, ipv4.protocol, m.src_port, m.dst_port])
        .build();
    let ecmp_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// Links of all groups
    let ecmp_ports = ig.profile(p.groups * 4);
    let ecmp_ports = ecmp_ports.selector(SelectorMode::Resilient, flow_hash, p.groups, 32).build();
    /// Group to the link that the flow hash picks
    let ecmp = ig.table([exact(m.group)]).actions([ecmp_to]).size(p.groups).profile(ecmp_ports).build();
    let class = class(ig, ipv4.dscp);
    let path_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// Group and PathID to a link, for DATA
    let by_path = ig.table([exact(m.group), exact(bth.path)]).actions([path_to]).size(p.groups * 16).build();
    ig.control(|c| {
        if ipv4.is_valid() {
            if m.bad_checksum {
                drop(bad_checksum);
            } else if ipv4.ttl <= 1 {
                drop(ttl_expired);
            } else {
                ipv4.ttl -= 1;
                class.apply();
                route.apply();
                ecmp.apply();
                if bth.is_valid() && bth.cw_opcode == opcode::DATA {
                    by_path.apply();
                }
            }
        } else {
            l2.apply();
        }
    });
    ig.deparser().checksum(ipv4, ipv4.checksum, ipv4.summed()).emit(ethernet).emit(ipv4).emit(udp).emit(bth);
}

/// Declares egress, which marks packets.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>) {
    let (ethernet, ipv4) = (eg.header::<Ethernet>(), eg.header::<Ipv4>());
    let port = eg.intrinsic::<tna::Egress>();
    let parse_ethernet = eg.state().extract(ethernet).select(list![ethernet.ether_type, lookahead::<8>(0)]);
    let parse_ipv4 = eg.state().extract(ipv4);
    const WITHOUT_OPTIONS: u64 = 0x45;
    parse_ethernet.on_tuple([(IPV4, 0xffff), (WITHOUT_OPTIONS, 0xff)], parse_ipv4);
    eg.start(parse_ethernet);
    let marks = marking(eg, port.deq_qdepth);
    eg.control(|c| marks.mark(c, ipv4));
    eg.deparser().checksum(ipv4, ipv4.checksum, ipv4.summed()).emit(ethernet).emit(ipv4);
}
