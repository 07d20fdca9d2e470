//! Headers and metadata of `hpcc-int`'s egress, and its parser.

use super::Params;
use crate::forwarding::routed::PLAIN_IPV4;
use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::UDP;
use sluice_build::net::{Ethernet, Ipv4, Udp};
use sluice_build::*;

/// Largest number of hops in a header (model: int §1.8).
pub(super) const MAX_HOPS: usize = 5;

/// INT header word that all hops share
#[derive(Header, Debug)]
pub(super) struct Common {
    /// nHop in the upper 4 bits, pathID in the lower 12
    pub(super) word: Bits<16>,
}

/// Record of a hop: port speed code (4 bits), time (24), bytes sent (20), queue length (16)
#[derive(Header, Debug)]
pub(super) struct Hop {
    /// B (speed code), TS (ns), and the upper 4 bits of txBytes (128-byte units)
    pub(super) hi: Bits<32>,
    /// Lower 16 bits of txBytes, and qLen (cells)
    pub(super) lo: Bits<32>,
}

/// Per-packet metadata of egress
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// 1 for an acknowledgement or a congestion notification, which carries a copy of the records back
    pub(super) reply: Bits<1>,
    /// 1 if nHop is above 5
    pub(super) malformed: Bits<1>,
    /// Outcome for the INT header: index of the counter `events`
    pub(super) event: Bits<8>,
    /// Speed code of the port, in the upper 4 bits; with layout=ns3 in the lower 3
    pub(super) code: Bits<32>,
    /// Number of this switch, 12 bits, which is combined with pathID
    pub(super) switch_id: Bits<16>,
    /// Bytes by which the IP packet is too long for a record; 0 = not too long
    pub(super) excess: Bits<16>,
    /// Length of the packet in bytes
    pub(super) length: Bits<32>,
    /// Bytes that the port sent before the packet, modulo 2^32
    pub(super) sent: Bits<32>,
    /// Queue depth in cells when the packet was dequeued
    pub(super) depth: Bits<32>,
    /// Depth of the packet's queue when it last sent, in cells
    pub(super) earlier: Bits<32>,
    /// Change of the depth of the packet's queue since it last sent, in cells
    pub(super) change: Bits<32>,
    /// First word of the record under construction
    pub(super) hi: Bits<32>,
    /// Second word of the record under construction
    pub(super) lo: Bits<32>,
    /// Upper 4 bits of txBytes
    pub(super) top: Bits<32>,
    /// Updated word of nHop and pathID
    pub(super) word: Bits<16>,
    /// Ones' complement of the old word of nHop and pathID, for the checksum update (RFC 1624)
    pub(super) old_word: Bits<16>,
    /// Ones' complement of the old UDP checksum, for the checksum update (RFC 1624)
    pub(super) old_checksum: Bits<16>,
    /// Twice the bytes by which the packet grows, because both UDP length and pseudo header contain the length
    pub(super) growth: Bits<16>,
}

/// Headers and metadata of egress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    pub(super) ethernet: Hdr<Ethernet>,
    pub(super) ipv4: Hdr<Ipv4>,
    pub(super) udp: Hdr<Udp>,
    pub(super) summed_udp: Hdr<Udp>,
    pub(super) common: Hdr<Common>,
    pub(super) hops: HdrStack<Hop, MAX_HOPS>,
    pub(super) pushed: Hdr<Hop>,
    pub(super) m: Meta,
}

/// First byte of the InfiniBand header of replies: acknowledgements and congestion notifications.
const REPLIES: [u64; 2] = [0x11, 0x81];

/// Declares headers and the egress parser, which ends after the records in the packet.
#[stage_program]
pub(super) fn headers(eg: &GressBuilder<'_>, p: &Params) -> Headers {
    let (ethernet, ipv4, udp) = (eg.header::<Ethernet>(), eg.header::<Ipv4>(), eg.header::<Udp>());
    /// Replaces `udp` if the UDP checksum must be updated
    let summed_udp = eg.header::<Udp>();
    let common = eg.header::<Common>();
    let hops = eg.stack::<Hop, MAX_HOPS>();
    /// Record that this switch adds
    let pushed = eg.header::<Hop>();
    let m = eg.metadata::<Meta>();

    let parse_udp = parse_to_udp(eg, ethernet, ipv4, udp);
    let parse_common = eg.state().extract(common).select(common.word);
    /// nHop is above 5: nothing after it is parsed
    let malformed = eg.state().set(m.malformed, 1);
    /// InfiniBand header, after the last record
    let opcode = eg.state().select(lookahead::<8>(0));
    let reply = eg.state().set(m.reply, 1);
    parse_udp.on(u64::from(p.udp_port), parse_common);
    for byte in REPLIES {
        opcode.on(byte, reply);
    }
    let mut before = parse_common.on_masked(0, 0xf000, opcode);
    for (hop, header) in (1..).zip(hops.iter()) {
        let parse_hop = eg.state().extract(header).select(common.word).on_masked(hop << 12, 0xf000, opcode);
        if hop == 1 {
            for count in 1..=MAX_HOPS as u64 {
                before = before.on_masked(count << 12, 0xf000, parse_hop);
            }
            before.otherwise(malformed);
        } else {
            before.otherwise(parse_hop);
        }
        before = parse_hop;
    }
    Headers { ethernet, ipv4, udp, summed_udp, common, hops, pushed, m }
}

/// Declares the parser up to UDP of an unfragmented IPv4 packet. Returns the state that selects by UDP port.
#[stage_program]
pub(super) fn parse_to_udp<'b>(
    eg: &GressBuilder<'b>,
    ethernet: Hdr<Ethernet>,
    ipv4: Hdr<Ipv4>,
    udp: Hdr<Udp>,
) -> StateRef<'b> {
    let start = eg.state().extract(ethernet).select(ethernet.ether_type);
    let peek_ipv4 = eg.state().select(lookahead::<8>(0));
    let parse_ipv4 = eg.state().extract(ipv4).select(list![ipv4.flags, ipv4.frag_offset, ipv4.protocol]);
    let parse_udp = eg.state().extract(udp).select(udp.dst_port);
    start.on(IPV4, peek_ipv4);
    peek_ipv4.on(PLAIN_IPV4, parse_ipv4);
    parse_ipv4.on_tuple([(0, 1), (0, 0x1fff), (UDP, 0xff)], parse_udp);
    eg.start(start);
    parse_udp
}
