//! Headers and metadata of a leaf, and its ingress parser.

use super::Knows;
use sluice_build::net::ether_type::{IPV4, IPV6};
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::net::{Ethernet, Ipv4, Ipv6, L4Ports};
use sluice_build::*;

/// Per-packet metadata of ingress
#[derive(Header, Debug)]
pub(crate) struct Meta {
    /// 1 if the IPv4 header checksum is wrong
    pub(crate) bad_checksum: Bits<1>,
    /// 1 if a route gave an uplink group or a port
    pub(crate) routed: Bits<1>,
    /// 1 for packets that the packet generator made
    pub(crate) made: Bits<1>,
    /// Uplink group that the route selects; 0 = none
    pub(crate) group: Bits<16>,
    /// CRC-32 of the flow's addresses, protocol and ports
    pub(crate) flow: Bits<32>,
    /// Number that picks the candidate among the group's members that are up
    pub(crate) draw: Bits<16>,
    /// Generation of the group in bits 31 to 16; bits 15 to 0 are 0
    pub(crate) generation: Bits<32>,
    /// Member for a new flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0
    pub(crate) candidate: Bits<32>,
    /// Number, within the group, of the member that the packet takes
    pub(crate) member: Bits<16>,
    /// TCP or UDP source port; 0 for fragments and other protocols
    pub(crate) src_port: Bits<16>,
    /// TCP or UDP destination port; 0 for fragments and other protocols
    pub(crate) dst_port: Bits<16>,
}

/// Headers and metadata of ingress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    pub(crate) ethernet: Hdr<Ethernet>,
    pub(crate) ipv4: Hdr<Ipv4>,
    pub(crate) ipv6: Hdr<Ipv6>,
    pub(crate) l4: Hdr<L4Ports>,
    pub(crate) m: Meta,
    pub(crate) port: tna::Ingress,
}

/// Declares the headers and the ingress parser: Ethernet, IPv4 or IPv6, and the TCP or UDP ports, which are copied to
/// metadata if `knows` includes the flow. Also returns the parser state that extracts Ethernet, the first header of
/// a packet.
#[stage_program]
pub(super) fn headers<'b>(ig: &GressBuilder<'b>, knows: Knows) -> (Headers, StateRef<'b>) {
    let (ethernet, ipv4, ipv6) = (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<Ipv6>());
    let l4 = ig.header::<L4Ports>();
    let m = ig.metadata::<Meta>();
    let port = ig.intrinsic::<tna::Ingress>();
    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    /// The ports of fragments are not parsed, so that all fragments of a datagram belong to one flow
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
