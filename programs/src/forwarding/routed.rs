//! Routing with ECMP: longest prefix to a port, or to a group of ports, of which a hash of the flow picks one.
//!
//! IPv4 without options and IPv6 are routed and their TTL is decremented. Anything else, including ARP and IPv4 with
//! options, is sent unchanged to one port.

use super::{classes, elsewhere};
use sluice_build::net::ether_type::{IPV4, IPV6};
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::net::{Ethernet, Ipv4, Ipv6, L4Ports};
use sluice_build::*;

/// First byte of an IPv4 header without options.
pub(crate) const PLAIN_IPV4: u64 = 0x45;

/// Reasons for which routing drops a packet: the values of [`RouteMeta::refused`].
pub(crate) mod refused {
    /// No matching route, or a route whose action is `unreachable`.
    pub(crate) const NO_ROUTE: u64 = 1;
    /// The TTL or hop limit is 0 or 1.
    pub(crate) const TTL: u64 = 2;
    /// The IPv4 header checksum is wrong.
    pub(crate) const CHECKSUM: u64 = 3;
}

/// Routing of one packet
#[derive(Header, Debug)]
pub(crate) struct RouteMeta {
    /// 1 if the IPv4 header checksum is wrong
    pub(crate) bad_checksum: Bits<1>,
    /// Drop reason: 1 = no route, 2 = TTL or hop limit 0 or 1, 3 = wrong IPv4 header checksum; 0 = not dropped
    pub(crate) refused: Bits<16>,
    /// TCP or UDP source port; 0 for fragments and other protocols
    pub(crate) src_port: Bits<16>,
    /// TCP or UDP destination port; 0 for fragments and other protocols
    pub(crate) dst_port: Bits<16>,
    /// ECMP group that the route selects; 0 = none
    pub(crate) group: Bits<16>,
    /// CRC-16 of the flow's addresses, protocol and ports
    pub(crate) flow: Bits<16>,
}

/// Table sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Routes of each IP version.
    pub(crate) routes: u32,
    /// ECMP groups; there is room for eight ports per group on average.
    pub(crate) groups: u32,
}

/// Largest number of ports in a group: one selector word (model: chip §3.5).
const WAYS: u32 = 120;

/// Headers and metadata of ingress.
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
    let no_route = ig.drop_label("No matching route, or a route whose action is `unreachable`");
    let ttl_expired = ig.drop_label("The TTL or hop limit is 0 or 1");
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
    /// IPv4 longest prefix to egress port or ECMP group
    let ipv4_route = ig
        .table([lpm(ipv4.dst)])
        .actions([ipv4_to, ipv4_spread, unreachable])
        .default(unreachable)
        .size(sizes.routes)
        .build();
    /// IPv6 longest prefix to egress port or ECMP group
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

/// Declares the table of ECMP groups, in which a hash of the flow picks the port.
#[stage_program]
fn ways(ig: &GressBuilder<'_>, h: Routed, sizes: Sizes) -> TableRef {
    let Routed { ipv4, ipv6, m, tm, .. } = h;
    /// Flow hash of IPv4: addresses, protocol and ports
    let ipv4_flow = ig
        .hash::<16>("crc_16")
        .inputs(list![ipv4.src, ipv4.dst, ipv4.protocol, m.src_port, m.dst_port])
        .build();
    /// Flow hash of IPv6: addresses, next header and ports
    let ipv6_flow = ig
        .hash::<16>("crc_16")
        .inputs(list![ipv6.src, ipv6.dst, ipv6.next_header, m.src_port, m.dst_port])
        .build();
    let hash_ipv4 = ig.action(|a| m.flow = ipv4_flow.get());
    let hash_ipv6 = ig.action(|a| m.flow = ipv6_flow.get());
    /// The flow hash, unchanged, as the selector's input
    let way_hash = ig.hash::<16>(HashAlgorithm::Identity).inputs(list![m.flow]).build();
    /// Egress ports of all ECMP groups
    let ways = ig
        .profile((8 * sizes.groups).max(2 * WAYS))
        .selector(SelectorMode::Fair, way_hash, sizes.groups, WAYS)
        .build();
    let take = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
    /// ECMP group to the egress port that the flow hash picks
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
    /// IPv4 with options is not parsed further, and so is not routed
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
