//! Headers and metadata of `ecmp` and `wcmp`, and the ingress parser.

use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::net::{Ethernet, Ipv4, L4Ports};
use sluice_build::*;

/// Per-packet metadata of ingress
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// 1 if the IPv4 header checksum is wrong
    pub(super) bad_checksum: Bits<1>,
    /// 1 if the packet arrived on a port to the north
    pub(super) from_north: Bits<1>,
    /// Group of ports that the route selects
    pub(super) group: Bits<16>,
    /// Flow hash after seed and rotation, if computed whole
    pub(super) flow_hash: Bits<16>,
    /// High byte of a flow hash that is computed in halves
    pub(super) hash_high: Bits<8>,
    /// Low byte of a flow hash that is computed in halves
    pub(super) hash_low: Bits<8>,
    /// TCP or UDP source port; 0 for fragments and other protocols
    pub(super) src_port: Bits<16>,
    /// TCP or UDP destination port; 0 for fragments and other protocols
    pub(super) dst_port: Bits<16>,
}

/// Headers and metadata of ingress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    pub(super) ethernet: Hdr<Ethernet>,
    pub(super) ipv4: Hdr<Ipv4>,
    pub(super) l4: Hdr<L4Ports>,
    pub(super) m: Meta,
    pub(super) port: tna::Ingress,
}

/// Declares the headers and the ingress parser: Ethernet, IPv4 without options, and the ports.
#[stage_program]
pub(super) fn headers(ig: &GressBuilder<'_>) -> Headers {
    let (ethernet, ipv4, l4) = (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<L4Ports>());
    let m = ig.metadata::<Meta>();
    let port = ig.intrinsic::<tna::Ingress>();
    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, ipv4.whole()).select(list![
        ipv4.ihl,
        ipv4.flags,
        ipv4.frag_offset,
        ipv4.protocol
    ]);
    let parse_l4 = ig.state().extract(l4).set(m.src_port, l4.src_port).set(m.dst_port, l4.dst_port);
    start.on(IPV4, parse_ipv4);
    const MORE_FRAGMENTS: u64 = 1;
    for protocol in [TCP, UDP] {
        parse_ipv4.on_tuple([(5, 0xf), (0, MORE_FRAGMENTS), (0, 0x1fff), (protocol, 0xff)], parse_l4);
    }
    ig.start(start);
    Headers { ethernet, ipv4, l4, m, port }
}
