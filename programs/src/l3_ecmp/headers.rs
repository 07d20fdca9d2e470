//! Headers and metadata of `l3-ecmp`, and the ingress parser.

pub(super) use sluice_build::net::ether_type::VLAN;
use sluice_build::net::ether_type::{ARP, IPV4, IPV6};
use sluice_build::net::protocol::{TCP, UDP};
use sluice_build::net::{Ethernet, Ipv4, Ipv6, L4Ports, Vlan};
use sluice_build::*;

/// Bridged header from ingress to egress: the 802.1Q tag for ports that send the VLAN tagged
#[derive(Header, Debug)]
pub(super) struct Bridge {
    /// Priority code point
    pub(super) pcp: Bits<3>,
    /// Drop eligible indicator
    pub(super) dei: Bits<1>,
    /// VLAN of the frame at egress
    pub(super) vid: Bits<12>,
}

/// Per-packet metadata of ingress
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// 1 if the frame is ARP
    pub(super) arp: Bits<1>,
    /// 1 if the IPv4 header checksum is wrong
    pub(super) bad_checksum: Bits<1>,
    /// 1 if the packet goes to the CPU
    pub(super) punt: Bits<1>,
    /// 1 if a route gave a group or a next hop
    pub(super) routed: Bits<1>,
    /// VLAN on which the packet arrived
    pub(super) vid: Bits<12>,
    /// Routing table (VRF) of the VLAN
    pub(super) vrf: Bits<8>,
    /// ECMP or WCMP group that the route selects; 0 = none
    pub(super) group: Bits<16>,
    /// Next hop; 0 = none
    pub(super) nexthop: Bits<16>,
    /// TCP or UDP source port; 0 for fragments and other protocols
    pub(super) src_port: Bits<16>,
    /// TCP or UDP destination port; 0 for fragments and other protocols
    pub(super) dst_port: Bits<16>,
}

/// Headers and metadata of ingress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    pub(super) bridge: Hdr<Bridge>,
    pub(super) ethernet: Hdr<Ethernet>,
    pub(super) vlan: Hdr<Vlan>,
    pub(super) ipv4: Hdr<Ipv4>,
    pub(super) ipv4_options: Hdr<Ipv4>,
    pub(super) ipv6: Hdr<Ipv6>,
    pub(super) l4: Hdr<L4Ports>,
    pub(super) m: Meta,
    pub(super) port: tna::Ingress,
}

/// Declares the headers and the ingress parser: Ethernet, one 802.1Q tag, IPv4 or IPv6, and the ports.
#[stage_program]
pub(super) fn headers(ig: &GressBuilder<'_>) -> Headers {
    let (bridge, ethernet, vlan) = (ig.header::<Bridge>(), ig.header::<Ethernet>(), ig.header::<Vlan>());
    let (ipv4, ipv6, l4) = (ig.header::<Ipv4>(), ig.header::<Ipv6>(), ig.header::<L4Ports>());
    /// Replaces `ipv4` in packets with options: the deparser does not update its checksum
    let ipv4_options = ig.header::<Ipv4>();
    let m = ig.metadata::<Meta>();
    let port = ig.intrinsic::<tna::Ingress>();

    let start = ig.state().extract(ethernet).select(ethernet.ether_type);
    let parse_vlan = ig.state().extract(vlan).select(vlan.ether_type);
    /// ARP is not parsed further: the frame goes to the CPU unchanged
    let parse_arp = ig.state().set(m.arp, 1);
    /// Options are not parsed. The ports of fragments are not parsed either, not even the first fragment's, so that
    /// all fragments of a datagram take one path
    let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, ipv4.whole()).select(list![
        ipv4.ihl,
        ipv4.flags,
        ipv4.frag_offset,
        ipv4.protocol
    ]);
    let parse_ipv6 = ig.state().extract(ipv6).select(ipv6.next_header);
    let parse_l4 = ig.state().extract(l4).set(m.src_port, l4.src_port).set(m.dst_port, l4.dst_port);

    start.on(VLAN, parse_vlan);
    for state in [start, parse_vlan] {
        state.on(IPV4, parse_ipv4).on(IPV6, parse_ipv6).on(ARP, parse_arp);
    }
    const MORE_FRAGMENTS: u64 = 1;
    for protocol in [TCP, UDP] {
        parse_ipv4.on_tuple([(5, 0xf), (0, MORE_FRAGMENTS), (0, 0x1fff), (protocol, 0xff)], parse_l4);
        parse_ipv6.on(protocol, parse_l4);
    }
    ig.start(start);
    Headers { bridge, ethernet, vlan, ipv4, ipv4_options, ipv6, l4, m, port }
}
