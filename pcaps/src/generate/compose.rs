//! Frames of a flow: link layer, addresses, protocol. All generators of flows use it.

use std::net::IpAddr;

use super::random::mix;
use super::tuples::Tuple;
use super::{GenerateError, Prefix};
use crate::wire::roce::{self, Bth, Extension, Headers, opcode};
use crate::wire::{
    FrameBuilder, MacAddr, Payload, WireError, arp, ethernet, ipv4, ipv6, tcp, udp, vlan, vxlan,
};

/// Header fields that all frames of a trace share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope {
    /// Destination MAC address: the router's.
    pub destination_mac: MacAddr,
    /// Source MAC address.
    pub source_mac: MacAddr,
    /// Service VLAN tag, before the customer tag.
    pub service_tag: Option<vlan::Tag>,
    /// VLAN tag.
    pub tag: Option<vlan::Tag>,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Explicit congestion notification, 0 to 3.
    pub ecn: u8,
    /// Time to live or hop limit.
    pub ttl: u8,
}

impl Envelope {
    /// Returns the envelope of untagged best-effort frames between two stations, with time to live 64.
    pub const fn new(destination_mac: MacAddr, source_mac: MacAddr) -> Self {
        Self { destination_mac, source_mac, service_tag: None, tag: None, dscp: 0, ecn: 0, ttl: 64 }
    }

    /// Checks that the values fit their fields.
    pub(super) fn check(&self) -> Result<(), GenerateError> {
        GenerateError::check("dscp", self.dscp.into(), 0, 63)?;
        GenerateError::check("ecn", self.ecn.into(), 0, 3)?;
        for (field, tag) in [("vlan", self.tag), ("qinq", self.service_tag)] {
            let Some(tag) = tag else { continue };
            GenerateError::check(field, tag.vid.into(), 0, vlan::MAX_VID.into())?;
            GenerateError::check("pcp", tag.pcp.into(), 0, 7)?;
        }
        Ok(())
    }

    /// Returns a frame with the tags.
    #[inline]
    pub(super) fn link(&self) -> FrameBuilder {
        self.tagged(FrameBuilder::new(self.destination_mac, self.source_mac))
    }

    fn tagged(&self, mut builder: FrameBuilder) -> FrameBuilder {
        if let Some(tag) = self.service_tag {
            builder = builder.service_vlan(tag);
        }
        if let Some(tag) = self.tag {
            builder = builder.vlan(tag);
        }
        builder
    }

    /// Returns an IP packet on the link; of IPv6 if either address is.
    #[inline]
    pub(super) fn ip(
        &self,
        source: IpAddr,
        destination: IpAddr,
        flow_label: u32,
        identification: u16,
    ) -> FrameBuilder {
        let Self { dscp, ecn, ttl, .. } = *self;
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let base = ipv4::Header::new(source, destination);
                self.link().ipv4(ipv4::Header { dscp, ecn, ttl, identification, ..base })
            }
            _ => {
                let of = |address: IpAddr| match address {
                    IpAddr::V4(address) => address.to_ipv6_mapped(),
                    IpAddr::V6(address) => address,
                };
                let base = ipv6::Header::new(of(source), of(destination));
                self.link().ipv6(ipv6::Header { dscp, ecn, flow_label, hop_limit: ttl, ..base })
            }
        }
    }
}

/// Kind of traffic of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// UDP datagrams of zeros.
    Udp,
    /// TCP segments of zeros with consecutive sequence numbers; no handshake.
    Tcp,
    /// RoCEv2 messages over reliable connections, one queue pair per flow.
    Roce(RoceMessages),
    /// RoCEv2 congestion notification packets, one queue pair per flow.
    Cnp,
    /// UDP inside VXLAN; lengths are those of the outer frame.
    Vxlan(Overlay),
    /// ARP of IPv4 addresses; flows have no ports.
    Arp(ArpKind),
}

/// The messages of RoCEv2 flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoceMessages {
    /// Operation.
    pub operation: RoceOperation,
    /// Most payload bytes of a packet: 256, 512, 1024, 2048 or 4096.
    pub mtu: u32,
    /// Bytes of a message, up to 2^31. A SEND or WRITE takes as many packets as the message needs.
    pub message: u32,
}

/// Operations of reliable connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoceOperation {
    /// RDMA WRITE: first, middle and last packets, or only-packets. The RETH is in the first packet.
    Write,
    /// SEND: likewise, without RETH.
    Send,
    /// RDMA READ requests, whose sequence numbers leave room for the responses.
    Read,
    /// Acknowledgements.
    Ack,
}

/// The tunnel of VXLAN flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// First network identifier.
    pub vni: u32,
    /// Number of network identifiers; flow n has the first one plus n modulo this number.
    pub networks: u32,
    /// Outer source addresses; each flow draws one and keeps it.
    pub source: Prefix,
    /// Outer destination addresses, of the same family.
    pub destination: Prefix,
    /// MAC addresses inside: destination and source.
    pub inner_macs: [MacAddr; 2],
}

/// Kinds of ARP packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArpKind {
    /// Broadcast requests.
    Request,
    /// Replies to the envelope's destination.
    Reply,
    /// Broadcast announcements of the sender's own address.
    Gratuitous,
}

impl Kind {
    /// Checks that packets can carry the values.
    pub(super) fn check(&self) -> Result<(), GenerateError> {
        match self {
            Self::Udp | Self::Tcp | Self::Cnp | Self::Arp(_) => Ok(()),
            Self::Roce(messages) => {
                if ![256, 512, 1024, 2048, 4096].contains(&messages.mtu) {
                    let expected = "256, 512, 1024, 2048 or 4096";
                    return Err(GenerateError::text("mtu", &messages.mtu.to_string(), expected));
                }
                GenerateError::check("message", messages.message.into(), 0, 1 << 31)
            }
            Self::Vxlan(overlay) => {
                let most = u64::from(vxlan::MAX_VNI);
                GenerateError::check("vni", overlay.vni.into(), 0, most)?;
                GenerateError::check("vnis", overlay.networks.into(), 1, most + 1 - u64::from(overlay.vni))?;
                if overlay.source.network().is_ipv4() != overlay.destination.network().is_ipv4() {
                    return Err(GenerateError::MixedFamilies);
                }
                Ok(())
            }
        }
    }

    /// Returns the destination port that the protocol fixes.
    pub const fn fixed_port(&self) -> Option<u16> {
        match self {
            Self::Roce(_) | Self::Cnp => Some(roce::PORT),
            Self::Udp | Self::Tcp | Self::Vxlan(_) | Self::Arp(_) => None,
        }
    }

    /// Returns true if a flow's next frame depends on earlier ones.
    pub(super) const fn is_stateful(&self) -> bool {
        matches!(self, Self::Tcp | Self::Roce(_))
    }
}

/// A flow: its number, five-tuple and progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct GeneratedFlow {
    pub(super) number: u64,
    pub(super) tuple: Tuple,
    /// TCP: bytes sent. RoCEv2: packets sent.
    pub(super) progress: u32,
}

/// Writes frames of flows.
#[derive(Debug, Clone, Default)]
pub(super) struct Composer {
    /// The frame inside a tunnel.
    inner: Vec<u8>,
    /// Frames written; numbers IPv4 packets.
    frames: u64,
}

impl Composer {
    /// Writes a flow's next frame into `out` and returns the flow's progress after it. The frame has `len` bytes, or
    /// the length of its headers if that is more. The lengths of RoCEv2 and ARP frames do not depend on `len`.
    #[inline]
    pub(super) fn write(
        &mut self,
        envelope: &Envelope,
        kind: &Kind,
        flow: GeneratedFlow,
        len: u32,
        out: &mut Vec<u8>,
    ) -> Result<u32, WireError> {
        let GeneratedFlow { number, tuple, progress } = flow;
        let identification = self.frames as u16;
        self.frames += 1;
        let ip = || envelope.ip(tuple.source, tuple.destination, tuple.flow_label, identification);
        let ports = udp::Header::new(tuple.source_port, tuple.destination_port);
        match kind {
            Kind::Udp => {
                ip().udp(ports).build_len(len as usize, out)?;
                Ok(progress)
            }
            Kind::Tcp => {
                let base = tcp::Header::new(tuple.source_port, tuple.destination_port);
                let builder = ip().tcp(tcp::Header { sequence: progress, ..base });
                builder.build_len(len as usize, out)?;
                Ok(progress.wrapping_add((out.len() - builder.header_len()) as u32))
            }
            Kind::Roce(messages) => {
                let (headers, payload) = messages.packet(number, progress);
                ip().roce(ports, headers).build(Payload::Zeros(payload as usize), out)?;
                Ok(progress.wrapping_add(1))
            }
            Kind::Cnp => {
                ip().roce(ports, Headers::cnp(queue_pair(number))).build(Payload::Zeros(0), out)?;
                Ok(progress)
            }
            Kind::Vxlan(overlay) => {
                self.tunnel(envelope, overlay, flow, identification, len, out)?;
                Ok(progress)
            }
            Kind::Arp(kind) => {
                arp_frame(envelope, *kind, &tuple, out)?;
                Ok(progress)
            }
        }
    }

    fn tunnel(
        &mut self,
        envelope: &Envelope,
        overlay: &Overlay,
        GeneratedFlow { number, tuple, .. }: GeneratedFlow,
        identification: u16,
        len: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let draw = mix(number);
        let outer = envelope.ip(
            overlay.source.address(draw.into()),
            overlay.destination.address(mix(draw).into()),
            tuple.flow_label,
            identification,
        );
        // RFC 7348 §4.1: the source port spreads inner flows over the dynamic ports.
        let spread = mix(draw ^ u64::from(tuple.source_port) << 16 ^ u64::from(tuple.destination_port));
        let ports = udp::Header::new(49_152 | spread as u16 >> 2, vxlan::PORT);
        let vni = overlay.vni + (number % u64::from(overlay.networks)) as u32;
        let outer = outer.vxlan(ports, vxlan::Header { vni });
        let [destination, source] = overlay.inner_macs;
        // RFC 6040: the outer header initially copies the congestion field of the inner header. Here it copies the
        // class as well.
        let inside = Envelope {
            dscp: envelope.dscp,
            ecn: envelope.ecn,
            ttl: envelope.ttl,
            ..Envelope::new(destination, source)
        };
        inside
            .ip(tuple.source, tuple.destination, tuple.flow_label, identification)
            .udp(udp::Header::new(tuple.source_port, tuple.destination_port))
            .build_len((len as usize).saturating_sub(outer.header_len()), &mut self.inner)?;
        outer.build(Payload::Bytes(&self.inner), out)
    }
}

/// Returns the queue pair of a flow. Queue pairs are distinct, and none is a reserved one.
fn queue_pair(flow: u64) -> u32 {
    (0x100 + flow) as u32 & roce::MAX_U24
}

impl RoceMessages {
    /// Returns the number of packets of one message, at least 1.
    pub(super) const fn packets(self) -> u32 {
        let packets = self.message.div_ceil(self.mtu);
        if packets == 0 { 1 } else { packets }
    }

    /// Returns headers and payload length of packet number `index` of a flow.
    pub(super) fn packet(self, flow: u64, index: u32) -> (Headers, u32) {
        let packets = self.packets();
        let (number, place) = (index / packets, index % packets);
        let qp = queue_pair(flow);
        // First sequence number of the flow: the low bits of any mixture are random enough.
        let start = mix(flow ^ 0x5053_4e00) as u32;
        let reth = |number: u32| Extension::Reth {
            address: (flow + 1) << 36 | (u64::from(number) * u64::from(self.message)) & 0xf_ffff_ffff,
            key: qp,
            length: self.message,
        };
        let bth = |opcode, steps: u32, ack_request| Bth {
            ack_request,
            ..Bth::new(opcode, qp, start.wrapping_add(steps) & roce::MAX_U24)
        };
        let is_last = place + 1 == packets;
        let payload = if is_last { self.message - place * self.mtu } else { self.mtu };
        let place_of = |first, middle, last, only| match (place, is_last) {
            (0, true) => only,
            (0, false) => first,
            (_, true) => last,
            (_, false) => middle,
        };
        match self.operation {
            RoceOperation::Write => {
                let opcode = place_of(
                    opcode::RC_WRITE_FIRST,
                    opcode::RC_WRITE_MIDDLE,
                    opcode::RC_WRITE_LAST,
                    opcode::RC_WRITE_ONLY,
                );
                let extension = if place == 0 { reth(number) } else { Extension::None };
                (Headers { bth: bth(opcode, index, is_last), extension }, payload)
            }
            RoceOperation::Send => {
                let opcode = place_of(
                    opcode::RC_SEND_FIRST,
                    opcode::RC_SEND_MIDDLE,
                    opcode::RC_SEND_LAST,
                    opcode::RC_SEND_ONLY,
                );
                (Headers { bth: bth(opcode, index, is_last), extension: Extension::None }, payload)
            }
            RoceOperation::Read => {
                let bth = bth(opcode::RC_READ_REQUEST, index.wrapping_mul(packets), true);
                (Headers { bth, extension: reth(index) }, 0)
            }
            RoceOperation::Ack => {
                let bth = bth(opcode::RC_ACKNOWLEDGE, index, false);
                // An acknowledgement without information on credits.
                let extension =
                    Extension::Aeth { syndrome: 0x1f, msn: index.wrapping_add(1) & roce::MAX_U24 };
                (Headers { bth, extension }, 0)
            }
        }
    }
}

fn arp_frame(envelope: &Envelope, kind: ArpKind, tuple: &Tuple, out: &mut Vec<u8>) -> Result<(), WireError> {
    // IPv6 addresses were refused before.
    let (IpAddr::V4(sender_ip), IpAddr::V4(target_ip)) = (tuple.source, tuple.destination) else {
        let (field, found, expected) = ("protocol type", 0x86dd, "IPv4 addresses");
        return Err(WireError::Field { protocol: "ARP", field, found, expected });
    };
    let sender_mac = envelope.source_mac;
    let (operation, destination, target_mac, target_ip) = match kind {
        ArpKind::Request => (arp::REQUEST, MacAddr::BROADCAST, MacAddr::default(), target_ip),
        ArpKind::Reply => (arp::REPLY, envelope.destination_mac, envelope.destination_mac, target_ip),
        ArpKind::Gratuitous => (arp::REQUEST, MacAddr::BROADCAST, MacAddr::default(), sender_ip),
    };
    envelope
        .tagged(FrameBuilder::new(destination, sender_mac))
        .arp(arp::Packet { operation, sender_mac, sender_ip, target_mac, target_ip })
        .build_len(ethernet::MIN_FRAME_LEN as usize, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opcodes(operation: RoceOperation, message: u32, count: u32) -> Vec<(u8, u32, u32, bool)> {
        let messages = RoceMessages { operation, mtu: 1024, message };
        let of = |index| {
            let (Headers { bth, .. }, payload) = messages.packet(7, index);
            (bth.opcode, bth.psn, payload, bth.ack_request)
        };
        let start = of(0).1;
        (0..count)
            .map(of)
            .map(|(opcode, psn, payload, ack)| {
                (opcode, psn.wrapping_sub(start) & roce::MAX_U24, payload, ack)
            })
            .collect()
    }

    #[test]
    fn writes_are_cut_at_the_mtu() {
        let expected = [(6, 0, 1024, false), (7, 1, 1024, false), (8, 2, 452, true), (6, 3, 1024, false)];
        assert_eq!(opcodes(RoceOperation::Write, 2500, 4), expected);
        assert_eq!(opcodes(RoceOperation::Write, 1024, 2), [(10, 0, 1024, true), (10, 1, 1024, true)]);
        assert_eq!(opcodes(RoceOperation::Write, 0, 1), [(10, 0, 0, true)]);
    }

    #[test]
    fn sends_reads_and_acknowledgements() {
        assert_eq!(opcodes(RoceOperation::Send, 1025, 2), [(0, 0, 1024, false), (2, 1, 1, true)]);
        assert_eq!(opcodes(RoceOperation::Read, 2500, 2), [(12, 0, 0, true), (12, 3, 0, true)]);
        assert_eq!(opcodes(RoceOperation::Ack, 2500, 2), [(17, 0, 0, false), (17, 1, 0, false)]);
    }

    #[test]
    fn only_the_first_packet_says_where_to() {
        let messages = RoceMessages { operation: RoceOperation::Write, mtu: 256, message: 600 };
        let reth = |index| messages.packet(0, index).0.extension;
        assert_eq!(reth(0), Extension::Reth { address: 1 << 36, key: 0x100, length: 600 });
        assert_eq!((reth(1), reth(2)), (Extension::None, Extension::None));
        assert_eq!(reth(3), Extension::Reth { address: 1 << 36 | 600, key: 0x100, length: 600 });
    }
}
