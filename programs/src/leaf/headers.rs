//! Headers and metadata of a leaf, and its ingress parser.

use super::Knows;
use sluice_build::net::ether_type::{IPV4, IPV6};
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::net::{Ethernet, Ipv4, Ipv6, L4Ports};
use sluice_build::*;

/// Per-packet metadata of ingress
#[derive(Header, Debug)]
pub(crate) struct Meta {
    /// 1 when the IPv4 header checksum is wrong
    pub(crate) bad_checksum: Bits<1>,
    /// 1 when a route was found
    pub(crate) routed: Bits<1>,
    /// 1 for packets of the packet generator
    pub(crate) made: Bits<1>,
    /// Uplink group that the route gives; 0 for none
    pub(crate) group: Bits<16>,
    /// Hash of the flow's five-tuple
    pub(crate) flow: Bits<32>,
    /// Picks a candidate among the group's members that are up
    pub(crate) draw: Bits<16>,
    /// Generation of the group's members, in bits 31 to 16
    pub(crate) generation: Bits<32>,
    /// Generation and number of the member that a new flowlet takes
    pub(crate) candidate: Bits<32>,
    /// Number of the member that the packet takes
    pub(crate) member: Bits<16>,
    /// Ports of an unfragmented TCP or UDP packet, else 0
    pub(crate) src_port: Bits<16>,
    /// As above
    pub(crate) dst_port: Bits<16>,
}

/// What ingress parses and keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    pub(crate) ethernet: Hdr<Ethernet>,
    pub(crate) ipv4: Hdr<Ipv4>,
    pub(crate) ipv6: Hdr<Ipv6>,
    pub(crate) l4: Hdr<L4Ports>,
    pub(crate) m: Meta,
    pub(crate) port: tna::Ingress,
}

/// Declares the headers and the ingress parser: Ethernet, IPv4 or IPv6, and the ports, which are kept where
/// flows are known. The state is the one in which
/// a packet's bytes begin.
#[stage_program]
pub(super) fn headers<'b>(ig: &GressBuilder<'b>, knows: Knows) -> (Headers, StateRef<'b>) {
    let (ethernet, ipv4, ipv6) = (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<Ipv6>());
    let l4 = ig.header::<L4Ports>();
    let m = ig.metadata::<Meta>();
    let port = ig.intrinsic::<tna::Ingress>();
    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    /// None of a datagram's fragments shows its ports, so that all of them are one flow
    let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, ipv4.whole()).select(list![
        ipv4.ihl,
        ipv4.flags,
        ipv4.frag_offset,
        ipv4.protocol
    ]);
    let parse_ipv6 = ig.state().extract(ipv6).select(ipv6.next_header);
    let parse_l4 = ig.state().extract(l4);
    if knows.flow() {
        parse_l4.set(m.src_port, l4.src_port).set(m.dst_port, l4.dst_port);
    }
    start.on(IPV4, parse_ipv4).on(IPV6, parse_ipv6);
    const MORE_FRAGMENTS: u64 = 1;
    for protocol in [TCP, UDP] {
        parse_ipv4.on_tuple([(5, 0xf), (0, MORE_FRAGMENTS), (0, 0x1fff), (protocol, 0xff)], parse_l4);
        parse_ipv6.on(protocol, parse_l4);
    }
    (Headers { ethernet, ipv4, ipv6, l4, m, port }, start)
}
