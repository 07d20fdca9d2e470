//! The VXLAN overlay header, and the parser of a leaf.

use super::Params;
use super::feedback::Known;
use crate::leaf::Leaf;
use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::UDP;
use sluice_build::net::{Ethernet, Ipv4, Udp};
use sluice_build::*;

/// First two bytes of the leaves' own addresses: leaf n is 10.255.n/256.n%256.
pub(super) const OVERLAY_NET: u64 = 0x0aff;
/// VXLAN's UDP port (RFC 7348).
pub(super) const VXLAN: u64 = 4789;
/// ECN field "congestion experienced".
const CE: u64 = 3;
/// Added to every congestion value in headers and tables, so that 0 can mean "no value".
pub(super) const TOLD: u64 = 8;

/// VXLAN (RFC 7348 §5) with CONGA's fields in its reserved bytes
#[derive(Header, Debug)]
pub(super) struct Overlay {
    /// 0x08: the VXLAN network identifier is valid
    pub(super) flags: Bits<8>,
    /// Bits 7 to 4, LBTag: the sending leaf's uplink that the packet took; bits 3 to 0, FB_LBTag: the uplink that
    /// `feedback` is about
    pub(super) tags: Bits<8>,
    /// Largest congestion of the links that the packet passed after its leaf, 8 to 15
    pub(super) ce: Bits<8>,
    /// Congestion from the receiving leaf over its uplink in bits 3 to 0 of `tags`, 8 to 15; 0 = no feedback
    pub(super) feedback: Bits<8>,
    /// VXLAN network identifier
    pub(super) vni: Bits<24>,
    /// Reserved; 0
    pub(super) reserved: Bits<8>,
}

/// Bridged header from ingress to egress
#[derive(Header, Debug)]
pub(super) struct Bridge {
    /// Number of the leaf to which the packet is encapsulated; 0 = none
    pub(super) leaf: Bits<16>,
    /// Outer UDP source port: 49152 + 14 bits of the flow hash
    pub(super) entropy: Bits<16>,
    /// DSCP of the packet, which is copied to the outer header (RFC 2983 §4)
    pub(super) dscp: Bits<6>,
    /// ECN field of the packet, which is copied to the outer header (RFC 6040 §4.1)
    pub(super) ecn: Bits<2>,
    /// Uplinks, as the field `tags` of the VXLAN header
    pub(super) tags: Bits<8>,
    /// Congestion, as the field `feedback` of the VXLAN header
    pub(super) feedback: Bits<8>,
}

/// Resubmit header of a generated packet
#[derive(Header, Debug)]
pub(super) struct Found {
    /// Output of the uplink's filter in eighths of the uplink's rate; later the congestion, 8 to 15
    pub(super) level: Bits<32>,
}

/// Metadata of the overlay
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// 1 if the outer IPv4 header checksum is wrong
    bad_outer: Bits<1>,
}

/// The headers that `conga` adds to those of every leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    outer_ethernet: Hdr<Ethernet>,
    pub(super) outer: Hdr<Ipv4>,
    outer_udp: Hdr<Udp>,
    pub(super) overlay: Hdr<Overlay>,
    pub(super) bridge: Hdr<Bridge>,
    pub(super) found: Hdr<Found>,
    pub(super) bad_outer: Bits<1>,
}

/// Declares the parser of a leaf: a packet from another leaf's address has the overlay, then the headers of every leaf.
#[stage_program]
pub(super) fn declare<'b>(ig: &GressBuilder<'b>, first: StateRef<'b>) -> Headers {
    let (outer_ethernet, outer, outer_udp) =
        (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<Udp>());
    let (overlay, bridge, found) = (ig.header::<Overlay>(), ig.header::<Bridge>(), ig.header::<Found>());
    let t = ig.metadata::<Meta>();
    let flag = ig.intrinsic::<tna::Resubmitted>();
    let enter = ig.state().select(flag.resubmit_flag);
    let parse_found = ig.state().extract(found);
    let peek_ethernet = ig.state().select(lookahead::<16>(96));
    let peek_outer = ig.state().select(list![lookahead::<8>(112), lookahead::<8>(184), lookahead::<16>(208)]);
    let parse_outer = ig.state().extract(outer_ethernet);
    let parse_outer_ipv4 = ig.state().extract(outer).verify_checksum(t.bad_outer, outer.whole());
    let parse_outer_udp = ig.state().extract(outer_udp).select(outer_udp.dst_port);
    let parse_overlay = ig.state().extract(overlay);
    enter.on(1, parse_found).otherwise(peek_ethernet);
    parse_found.otherwise(first);
    peek_ethernet.on(IPV4, peek_outer).otherwise(first);
    const PLAIN: u64 = 0x45;
    peek_outer.on_tuple([(PLAIN, 0xff), (UDP, 0xff), (OVERLAY_NET, 0xffff)], parse_outer).otherwise(first);
    parse_outer.otherwise(parse_outer_ipv4);
    parse_outer_ipv4.otherwise(parse_outer_udp);
    parse_outer_udp.on(VXLAN, parse_overlay);
    parse_overlay.otherwise(first);
    ig.start(enter);
    Headers { outer_ethernet, outer, outer_udp, overlay, bridge, found, bad_outer: t.bad_outer }
}

/// Fills the bridged header for egress, and decapsulates packets from other leaves.
#[stage_program]
pub(super) fn wrap(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, known: &Known, p: &Params) {
    let (ipv4, ipv6, m, t) = (leaf.h.ipv4, leaf.h.ipv6, leaf.m, known.t);
    let Headers { outer_ethernet, outer, outer_udp, overlay, bridge, .. } = h;
    // From 49152 on, as RFC 7348 recommends.
    let entropy = ig
        .hash::<16>(HashAlgorithm::Identity)
        .inputs(list![constant::<2>(3), m.flow.slice::<31, 18, 14>()])
        .build();
    let tags = if p.wide_tags() {
        list![constant::<1>(0), m.member.slice::<2, 0, 3>(), constant::<1>(0), t.turn.slice::<2, 0, 3>()]
    } else {
        list![constant::<2>(0), m.member.slice::<1, 0, 2>(), constant::<2>(0), t.turn.slice::<1, 0, 2>()]
    };
    let tags = ig.hash::<8>(HashAlgorithm::Identity).inputs(tags).build();
    let tell_egress = ig.action(|a| {
        bridge.leaf = m.group;
        bridge.entropy = entropy.get();
        bridge.tags = tags.get();
    });
    let like_ipv4 = ig.action(|a| {
        bridge.dscp = ipv4.dscp;
        bridge.ecn = ipv4.ecn;
    });
    // In IPv6 these fields cross a byte boundary, and no VLIW instruction moves them into one byte.
    let dscp_of_ipv6 = ig.hash::<6>(HashAlgorithm::Identity).inputs(list![ipv6.dscp]).build();
    let ecn_of_ipv6 = ig.hash::<2>(HashAlgorithm::Identity).inputs(list![ipv6.ecn]).build();
    let like_ipv6 = ig.action(|a| {
        bridge.dscp = dscp_of_ipv6.get();
        bridge.ecn = ecn_of_ipv6.get();
    });
    let mark_ipv4 = ig.action(|a| ipv4.ecn = CE);
    let mark_ipv6 = ig.action(|a| ipv6.ecn = CE);
    /// Removes the VXLAN overlay of a packet from another leaf
    let unwrap = ig.action(|a| {
        outer_ethernet.set_invalid();
        outer.set_invalid();
        outer_udp.set_invalid();
        overlay.set_invalid();
    });
    ig.control(|c| {
        tell_egress.call();
        if outer.is_valid() {
            // CE of the outer header is copied to the inner one if that is ECN-capable (RFC 6040 §4.2).
            if outer.ecn == CE {
                if ipv4.is_valid() && ipv4.ecn != 0 {
                    mark_ipv4.call();
                } else if ipv6.is_valid() && ipv6.ecn != 0 {
                    mark_ipv6.call();
                }
            }
            unwrap.call();
        } else if ipv4.is_valid() {
            like_ipv4.call();
        } else if ipv6.is_valid() {
            like_ipv6.call();
        }
    });
}
