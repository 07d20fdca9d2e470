//! Plain routing for programs that are about something else: longest prefix to a port, DSCP to a queue.
//!
//! IPv4 without options and IPv6 are routed and have their TTL lowered; anything else, ARP and IPv4 with options
//! among it, goes to one port as it is. What may not live here: what such a program does besides.

use crate::setup::{Ops, SetupError, front_port, ipv4_prefix, ipv6_prefix};
use sluice_asic::port::PortMap;
use sluice_pipeline::build::net::ether_type::{IPV4, IPV6};
use sluice_pipeline::build::net::protocol::{TCP, UDP};
use sluice_pipeline::build::net::{Ethernet, Ipv4, Ipv6, L4Ports};
use sluice_pipeline::build::*;
use sluice_pipeline::ir::KeyValue;
use std::net::{Ipv4Addr, Ipv6Addr};

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
}

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
pub(crate) fn route(ig: &GressBuilder<'_>, routes: u32) -> Routed {
    let h = headers(ig);
    let Routed { ipv4, ipv6, m, tm, .. } = h;
    let no_route = ig.drop_label("No route covers the destination");
    let ttl_expired = ig.drop_label("TTL or hop limit is used up");
    let ipv4_checksum = ig.drop_label("The IPv4 header checksum is wrong");

    let ipv4_to = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        ipv4.ttl -= 1;
    });
    let ipv6_to = ig.action(|a, port: Arg<9>| {
        tm.ucast_egress_port = port;
        ipv6.hop_limit -= 1;
    });
    let other_to = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
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
    /// Longest prefix to port
    let ipv4_route =
        ig.table([lpm(ipv4.dst)]).actions([ipv4_to, unreachable]).default(unreachable).size(routes).build();
    /// Longest prefix to port
    let ipv6_route =
        ig.table([lpm(ipv6.dst)]).actions([ipv6_to, unreachable]).default(unreachable).size(routes).build();
    /// The port of all that is not routed; the control plane sets it
    let other = ig.table([]).actions([other_to]).default_with(other_to, [0x1ff]).build();
    let to_queue = ig.action(|a, qid: Arg<7>| tm.qid = qid);
    /// Code point to the queue of the egress port; queue 0 without an entry
    let ipv4_queue =
        ig.table([exact(ipv4.dscp)]).actions([to_queue]).default_with(to_queue, [0]).size(64).build();
    /// Code point to the queue of the egress port; queue 0 without an entry
    let ipv6_queue =
        ig.table([exact(ipv6.dscp)]).actions([to_queue]).default_with(to_queue, [0]).size(64).build();

    ig.control(|c| {
        if ipv4.is_valid() {
            ipv4_queue.apply();
            if m.bad_checksum {
                refuse.call();
            } else if ipv4.ttl <= 1 {
                expire.call();
            } else {
                ipv4_route.apply();
            }
        } else if ipv6.is_valid() {
            ipv6_queue.apply();
            if ipv6.hop_limit <= 1 {
                expire.call();
            } else {
                ipv6_route.apply();
            }
        } else {
            other.apply();
        }
    });
    h
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

/// Where default entries send packets, as front-panel ports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultRoutes {
    /// 10.1.0.0/16 and 2001:db8:1::/48.
    pub(crate) near: u16,
    /// 10.9.9.9 and 2001:db8:9::9.
    pub(crate) host: u16,
    /// Anything else.
    pub(crate) far: u16,
}

/// The entries under which any capture flows.
pub(crate) fn default_routes(
    ops: &mut Ops<'_>,
    ports: &PortMap,
    to: DefaultRoutes,
) -> Result<(), SetupError> {
    let near: u128 = front_port(ports, to.near)?.1.into();
    let host: u128 = front_port(ports, to.host)?.1.into();
    let far: u128 = front_port(ports, to.far)?.1.into();
    let v4 = |net: [u8; 4], len| [ipv4_prefix(Ipv4Addr::from(net), len)];
    ops.entry("ipv4_route", v4([0; 4], 0), "ipv4_to", [far])?;
    ops.entry("ipv4_route", v4([10, 1, 0, 0], 16), "ipv4_to", [near])?;
    ops.entry("ipv4_route", v4([10, 9, 9, 9], 32), "ipv4_to", [host])?;
    let v6 =
        |net: u16, last: u16, len| [ipv6_prefix(Ipv6Addr::new(0x2001, 0xdb8, net, 0, 0, 0, 0, last), len)];
    ops.entry("ipv6_route", [ipv6_prefix(Ipv6Addr::UNSPECIFIED, 0)], "ipv6_to", [far])?;
    ops.entry("ipv6_route", v6(1, 0, 48), "ipv6_to", [near])?;
    ops.entry("ipv6_route", v6(9, 9, 128), "ipv6_to", [host])?;
    ops.default("other", "other_to", [far])?;
    // Class selectors 1 to 7 have queues of their own.
    for class in 1..8u128 {
        for table in ["ipv4_queue", "ipv6_queue"] {
            ops.entry(table, [KeyValue::Exact(class << 3)], "to_queue", [class])?;
        }
    }
    Ok(())
}
