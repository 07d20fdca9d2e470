//! Routing: longest prefix to a port or to a group of equal ways, of which a hash of the flow picks one.
//!
//! IPv4 without options and IPv6 are routed and have their TTL lowered; anything else, ARP and IPv4 with options among
//! it, goes to one port as it is.

use super::{classes, elsewhere};
use sluice_build::net::ether_type::{IPV4, IPV6};
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::net::{Ethernet, Ipv4, Ipv6, L4Ports};
use sluice_build::*;

/// First byte of an IPv4 header without options.
pub(crate) const PLAIN_IPV4: u64 = 0x45;

/// Why routing drops a packet, as [`RouteMeta::refused`] has it.
pub(crate) mod refused {
    /// No route covers the destination.
    pub(crate) const NO_ROUTE: u64 = 1;
    /// TTL or hop limit used up.
    pub(crate) const TTL: u64 = 2;
    /// The IPv4 header checksum is wrong.
    pub(crate) const CHECKSUM: u64 = 3;
}

/// What routing knows of a packet
#[derive(Header, Debug)]
pub(crate) struct RouteMeta {
    /// 1 when the IPv4 header checksum is wrong
    pub(crate) bad_checksum: Bits<1>,
    /// Why the packet is dropped; 0 for no reason
    pub(crate) refused: Bits<16>,
    /// Ports of an unfragmented TCP or UDP packet, else 0
    pub(crate) src_port: Bits<16>,
    /// As above
    pub(crate) dst_port: Bits<16>,
    /// Group of equal ways; 0 for none
    pub(crate) group: Bits<16>,
    /// Hash of the flow
    pub(crate) flow: Bits<16>,
}

/// Table sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Routes of each IP version.
    pub(crate) routes: u32,
    /// Groups of equal ways, of eight ways each on average.
    pub(crate) groups: u32,
}

/// Most ways of a group: a selector word (model: chip §3.5).
const WAYS: u32 = 120;

/// What ingress parses and keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routed {
    pub(crate) ethernet: Hdr<Ethernet>,
    pub(crate) ipv4: Hdr<Ipv4>,
    pub(crate) ipv6: Hdr<Ipv6>,
    pub(crate) l4: Hdr<L4Ports>,
    pub(crate) m: RouteMeta,
    pub(crate) tm: tna::ForTm,
}

/// Declares headers, the ingress parser and routing; the caller emits the headers.
#[stage_program]
pub(crate) fn route(ig: &GressBuilder<'_>, sizes: Sizes) -> Routed {
    let h = headers(ig);
    let Routed { ipv4, ipv6, m, tm, .. } = h;
    let no_route = ig.drop_label("No route covers the destination");
    let ttl_expired = ig.drop_label("TTL or hop limit is used up");
    let ipv4_checksum = ig.drop_label("The IPv4 header checksum is wrong");

    let ipv4_to = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        ipv4.ttl -= 1;
    });
    let ipv4_spread = ig.action(|a, group: Arg<16>| {
        m.group = group;
        ipv4.ttl -= 1;
    });
    let ipv6_to = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        ipv6.hop_limit -= 1;
    });
    let ipv6_spread = ig.action(|a, group: Arg<16>| {
        m.group = group;
        ipv6.hop_limit -= 1;
    });
    let unreachable = ig.action(|a| {
        m.refused = refused::NO_ROUTE;
        drop(no_route);
    });
    let expire = ig.action(|a| {
        m.refused = refused::TTL;
        drop(ttl_expired);
    });
    let refuse = ig.action(|a| {
        m.refused = refused::CHECKSUM;
        drop(ipv4_checksum);
    });
    /// Longest prefix to port or group
    let ipv4_route = ig
        .table([lpm(ipv4.dst)])
        .actions([ipv4_to, ipv4_spread, unreachable])
        .default(unreachable)
        .size(sizes.routes)
        .build();
    /// Longest prefix to port or group
    let ipv6_route = ig
        .table([lpm(ipv6.dst)])
        .actions([ipv6_to, ipv6_spread, unreachable])
        .default(unreachable)
        .size(sizes.routes)
        .build();
    let group = ways(ig, h, sizes);
    let elsewhere = elsewhere(ig);
    let [ipv4_class, ipv6_class] = classes(ig, ipv4.dscp, ipv6.dscp, 0);

    ig.control(|c| {
        if ipv4.is_valid() {
            ipv4_class.apply();
            if m.bad_checksum {
                refuse.call();
            } else if ipv4.ttl <= 1 {
                expire.call();
            } else {
                ipv4_route.apply();
            }
        } else if ipv6.is_valid() {
            ipv6_class.apply();
            if ipv6.hop_limit <= 1 {
                expire.call();
            } else {
                ipv6_route.apply();
            }
        } else {
            elsewhere.apply();
        }
        if m.group != 0 {
            group.apply();
        }
    });
    h
}

/// The table of groups: a hash of the flow picks a way.
#[stage_program]
fn ways(ig: &GressBuilder<'_>, h: Routed, sizes: Sizes) -> TableRef {
    let Routed { ipv4, ipv6, m, tm, .. } = h;
    /// What tells IPv4 flows apart
    let ipv4_flow = ig
        .hash::<16>("crc_16")
        .inputs(list![ipv4.src, ipv4.dst, ipv4.protocol, m.src_port, m.dst_port])
        .build();
    /// What tells IPv6 flows apart
    let ipv6_flow = ig
        .hash::<16>("crc_16")
        .inputs(list![ipv6.src, ipv6.dst, ipv6.next_header, m.src_port, m.dst_port])
        .build();
    let hash_ipv4 = ig.action(|a| m.flow = ipv4_flow.get());
    let hash_ipv6 = ig.action(|a| m.flow = ipv6_flow.get());
    /// The hash as it is
    let way_hash = ig.hash::<16>(HashAlgorithm::Identity).inputs(list![m.flow]).build();
    /// Ways of all groups
    let ways = ig
        .profile((8 * sizes.groups).max(2 * WAYS))
        .selector(SelectorMode::Fair, way_hash, sizes.groups, WAYS)
        .build();
    let take = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// Group to the port that the flow's hash picks
    let group = ig.table([exact(m.group)]).actions([take]).size(sizes.groups).profile(ways).build();
    ig.control(|c| {
        if ipv4.is_valid() {
            hash_ipv4.call();
        } else if ipv6.is_valid() {
            hash_ipv6.call();
        }
    });
    group
}

#[stage_program]
fn headers(ig: &GressBuilder<'_>) -> Routed {
    let (ethernet, l4) = (ig.header::<Ethernet>(), ig.header::<L4Ports>());
    let (ipv4, ipv6) = (ig.header::<Ipv4>(), ig.header::<Ipv6>());
    let m = ig.metadata::<RouteMeta>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    /// Options are not parsed: such packets are not routed
    let peek_ipv4 = ig.state().select(lookahead::<8>(0));
    let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, ipv4.whole()).select(list![
        ipv4.flags,
        ipv4.frag_offset,
        ipv4.protocol
    ]);
    let parse_ipv6 = ig.state().extract(ipv6).select(ipv6.next_header);
    let parse_l4 = ig.state().extract(l4).set(m.src_port, l4.src_port).set(m.dst_port, l4.dst_port);
    start.on(IPV4, peek_ipv4).on(IPV6, parse_ipv6);
    peek_ipv4.on(PLAIN_IPV4, parse_ipv4);
    const MORE_FRAGMENTS: u64 = 1;
    for protocol in [TCP, UDP] {
        parse_ipv4.on_tuple([(0, MORE_FRAGMENTS), (0, 0x1fff), (protocol, 0xff)], parse_l4);
        parse_ipv6.on(protocol, parse_l4);
    }
    ig.start(start);
    Routed { ethernet, ipv4, ipv6, l4, m, tm }
}
