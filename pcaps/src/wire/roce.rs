//! RoCEv2 (InfiniBand Architecture, annex A17): the transport headers after UDP, and the invariant CRC that ends every
//! packet.
//!
//! The invariant CRC covers the fields that no router may change. Fields that routers do change count as ones: IPv4
//! type of service, time to live and checksum; IPv6 traffic class, flow label and hop limit; the UDP checksum; and the
//! fifth byte of the base transport header, which holds the congestion bits (model: buffer §4.6).

mod ack;

pub use ack::{ACK_LEN, Acknowledgements};

use super::error::split;
use super::{Crc32, WireError, ipv4, ipv6, udp};
use std::net::Ipv4Addr;

/// UDP destination port.
pub const PORT: u16 = 4791;
/// Bytes of the base transport header (BTH).
pub const BTH_LEN: usize = 12;
/// Bytes of the invariant CRC.
pub const ICRC_LEN: usize = 4;
/// Largest queue pair number and packet sequence number.
pub const MAX_U24: u32 = 0x00ff_ffff;
/// The default partition, full member.
pub const DEFAULT_PARTITION: u16 = 0xffff;

/// Opcodes: the upper three bits are the transport, the lower five the operation.
pub mod opcode {
    /// Reliable connection: first packet of a SEND.
    pub const RC_SEND_FIRST: u8 = 0x00;
    /// Reliable connection: neither first nor last packet of a SEND.
    pub const RC_SEND_MIDDLE: u8 = 0x01;
    /// Reliable connection: last packet of a SEND.
    pub const RC_SEND_LAST: u8 = 0x02;
    /// Reliable connection: only packet of a SEND.
    pub const RC_SEND_ONLY: u8 = 0x04;
    /// Reliable connection: first packet of an RDMA WRITE.
    pub const RC_WRITE_FIRST: u8 = 0x06;
    /// Reliable connection: neither first nor last packet of an RDMA WRITE.
    pub const RC_WRITE_MIDDLE: u8 = 0x07;
    /// Reliable connection: last packet of an RDMA WRITE.
    pub const RC_WRITE_LAST: u8 = 0x08;
    /// Reliable connection: only packet of an RDMA WRITE.
    pub const RC_WRITE_ONLY: u8 = 0x0a;
    /// Reliable connection: RDMA READ request.
    pub const RC_READ_REQUEST: u8 = 0x0c;
    /// Reliable connection: acknowledgement.
    pub const RC_ACKNOWLEDGE: u8 = 0x11;
    /// Unreliable connection: only packet of a SEND.
    pub const UC_SEND_ONLY: u8 = 0x24;
    /// Congestion notification packet.
    pub const CNP: u8 = 0x81;
}

/// Checked view of the bytes after the UDP header, which have room for the base transport header and the invariant CRC.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; BTH_LEN],
    payload: &'a [u8],
    icrc: [u8; ICRC_LEN],
}

impl<'a> View<'a> {
    /// Checks the length.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        const PROTOCOL: &str = "RoCEv2";
        let (header, after) = split(PROTOCOL, bytes)?;
        let short = WireError::Short { protocol: PROTOCOL, found: bytes.len(), expected: BTH_LEN + ICRC_LEN };
        let (payload, &icrc) = after.split_last_chunk().ok_or(short)?;
        Ok(Self { header, payload, icrc })
    }

    /// Returns the opcode; see [`opcode`].
    pub fn opcode(&self) -> u8 {
        self.header[0]
    }

    /// Returns the number of the destination queue pair.
    pub fn destination_qp(&self) -> u32 {
        self.u24(5)
    }

    /// Returns the packet sequence number.
    pub fn psn(&self) -> u32 {
        self.u24(9)
    }

    /// Returns the bytes between the base transport header and the invariant CRC: extension headers, payload, padding.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the invariant CRC, as found.
    pub fn icrc(&self) -> u32 {
        u32::from_le_bytes(self.icrc)
    }

    /// Returns the base transport header as a value.
    pub fn header(&self) -> Bth {
        let [opcode, flags, a, b, congestion, .., request, _, _, _] = *self.header;
        Bth {
            opcode,
            solicited: flags & 0x80 != 0,
            migrated: flags & 0x40 != 0,
            pad: flags >> 4 & 3,
            version: flags & 0xf,
            partition: u16::from_be_bytes([a, b]),
            fecn: congestion & 0x80 != 0,
            becn: congestion & 0x40 != 0,
            reserved6: congestion & 0x3f,
            destination_qp: self.destination_qp(),
            ack_request: request & 0x80 != 0,
            reserved7: request & 0x7f,
            psn: self.psn(),
        }
    }

    fn u24(&self, at: usize) -> u32 {
        u32::from_be_bytes([0, self.header[at], self.header[at + 1], self.header[at + 2]])
    }
}

/// A base transport header. Bits that a field does not hold are cut off.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Bth {
    /// Opcode; see [`opcode`].
    pub opcode: u8,
    /// Solicited event.
    pub solicited: bool,
    /// Migration state.
    pub migrated: bool,
    /// Bytes of padding after the payload, 0 to 3.
    pub pad: u8,
    /// Transport version, 4 bits.
    pub version: u8,
    /// Partition key.
    pub partition: u16,
    /// Forward congestion notification.
    pub fecn: bool,
    /// Backward congestion notification.
    pub becn: bool,
    /// The six bits after the congestion bits, outside the invariant CRC.
    pub reserved6: u8,
    /// Number of the destination queue pair, 24 bits.
    pub destination_qp: u32,
    /// True if the sender requests an acknowledgement.
    pub ack_request: bool,
    /// The seven bits after the acknowledgement request, inside the invariant CRC.
    pub reserved7: u8,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
}

impl Bth {
    /// Creates a header in the default partition.
    pub const fn new(opcode: u8, destination_qp: u32, psn: u32) -> Self {
        Self {
            opcode,
            solicited: false,
            migrated: false,
            pad: 0,
            version: 0,
            partition: DEFAULT_PARTITION,
            fecn: false,
            becn: false,
            reserved6: 0,
            destination_qp,
            ack_request: false,
            reserved7: 0,
            psn,
        }
    }

    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; BTH_LEN] {
        let bit = |flag: bool, place: u8| u8::from(flag) << place;
        let [p, q] = self.partition.to_be_bytes();
        let [_, a, b, c] = self.destination_qp.to_be_bytes();
        let [_, x, y, z] = self.psn.to_be_bytes();
        let flags = bit(self.solicited, 7) | bit(self.migrated, 6) | (self.pad & 3) << 4 | self.version & 0xf;
        let congestion = bit(self.fecn, 7) | bit(self.becn, 6) | self.reserved6 & 0x3f;
        let request = bit(self.ack_request, 7) | self.reserved7 & 0x7f;
        [self.opcode, flags, p, q, congestion, a, b, c, request, x, y, z]
    }
}

/// Extension headers between the base transport header and the payload.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Extension {
    /// No extension header.
    #[default]
    None,
    /// RDMA extended transport header: of the first or only packet of an RDMA WRITE, and of a READ request.
    Reth {
        /// Virtual address.
        address: u64,
        /// Remote key.
        key: u32,
        /// Bytes of the whole message.
        length: u32,
    },
    /// Acknowledgement extended transport header.
    Aeth {
        /// Kind of acknowledgement and its credits or code.
        syndrome: u8,
        /// Message sequence number, 24 bits.
        msn: u32,
    },
    /// The 16 reserved bytes of a congestion notification packet.
    Cnp,
}

/// Most bytes of an extension.
const EXTENSION_LEN: usize = 16;

impl Extension {
    /// Returns the bytes on the wire.
    pub const fn byte_len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Reth { .. } | Self::Cnp => EXTENSION_LEN,
            Self::Aeth { .. } => 4,
        }
    }

    /// Returns the bytes on the wire, of which [`byte_len`](Self::byte_len) count.
    fn to_bytes(self) -> [u8; EXTENSION_LEN] {
        let mut bytes = [0; EXTENSION_LEN];
        match self {
            Self::None | Self::Cnp => {}
            Self::Reth { address, key, length } => {
                bytes[..8].copy_from_slice(&address.to_be_bytes());
                bytes[8..12].copy_from_slice(&key.to_be_bytes());
                bytes[12..].copy_from_slice(&length.to_be_bytes());
            }
            Self::Aeth { syndrome, msn } => {
                bytes[..4].copy_from_slice(&(u32::from(syndrome) << 24 | msn & MAX_U24).to_be_bytes());
            }
        }
        bytes
    }
}

/// The transport headers of a packet.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Headers {
    /// Base transport header; its padding is for [`FrameBuilder`](super::FrameBuilder) to fill in.
    pub bth: Bth,
    /// Extension headers.
    pub extension: Extension,
}

impl Headers {
    /// Returns a congestion notification packet to a queue pair (model: buffer §4.6).
    pub const fn cnp(destination_qp: u32) -> Self {
        let bth = Bth { becn: true, ..Bth::new(opcode::CNP, destination_qp, 0) };
        Self { bth, extension: Extension::Cnp }
    }

    /// Returns the bytes on the wire.
    pub const fn byte_len(self) -> usize {
        BTH_LEN + self.extension.byte_len()
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bth.to_bytes());
        out.extend_from_slice(&self.extension.to_bytes()[..self.extension.byte_len()]);
    }
}

/// Returns the invariant CRC of a packet, which is given from its IP header on and without the four bytes of the CRC
/// itself.
///
/// # Errors
/// Fails for bytes that are not an IPv4 or IPv6 packet, or that end inside the base transport header.
pub fn icrc(packet: &[u8]) -> Result<u32, WireError> {
    let (start, len) = invariant(packet)?;
    Ok(start.with(&packet[len..]).finish())
}

/// InfiniBand's local route header, which RoCE does not have, counts as eight bytes of ones.
const MASK_START: [u8; 8] = [0xff; 8];
/// Length of the largest IP header, UDP and base transport headers.
const MOST: usize = 60 + udp::HEADER_LEN + BTH_LEN;

/// Returns the CRC of the headers up to the base transport header, with ones for the fields that may change, and their
/// length.
pub(super) fn invariant(packet: &[u8]) -> Result<(Crc32, usize), WireError> {
    let (headers, len) = masked(packet)?;
    Ok((Crc32::new().with(&MASK_START).with(&headers[..len]), len))
}

/// Returns the headers up to the base transport header, with ones for the fields that may change, and their length.
fn masked(packet: &[u8]) -> Result<([u8; MOST], usize), WireError> {
    const PROTOCOL: &str = "RoCEv2";
    let version = packet.first().map_or(0, |first| first >> 4);
    let ip_len = match version {
        4 => usize::from(packet[0] & 0xf) * 4,
        6 => ipv6::HEADER_LEN,
        found => {
            let (found, expected) = (found.into(), "4 or 6");
            return Err(WireError::Field { protocol: PROTOCOL, field: "IP version", found, expected });
        }
    };
    let len = ip_len.max(ipv4::HEADER_LEN) + udp::HEADER_LEN + BTH_LEN;
    let covered = packet.get(..len).ok_or(WireError::Short {
        protocol: PROTOCOL,
        found: packet.len(),
        expected: len,
    })?;
    let mut masked = [0; MOST];
    masked[..len].copy_from_slice(covered);
    if version == 4 {
        for at in [1, 8, 10, 11] {
            masked[at] = 0xff;
        }
    } else {
        masked[0] |= 0x0f;
        for at in [1, 2, 3, 7] {
            masked[at] = 0xff;
        }
    }
    for behind in [BTH_LEN + 2, BTH_LEN + 1, BTH_LEN - 4] {
        masked[len - behind] = 0xff;
    }
    Ok((masked, len))
}

/// Byte of an Ethernet frame with IPv4 without options at which the base transport header begins.
const BTH_AT: usize = 14 + ipv4::HEADER_LEN + udp::HEADER_LEN;
/// Bytes that [`dissect`] needs from a frame's beginning.
pub const REACH: usize = BTH_AT + BTH_LEN;

/// The fields of a RoCEv2 frame that tell flows and packets apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dissected {
    /// IPv4 source.
    pub src: Ipv4Addr,
    /// IPv4 destination.
    pub dst: Ipv4Addr,
    /// UDP source port.
    pub src_port: u16,
    /// ECN codepoint.
    pub ecn: u8,
    /// Packet sequence number.
    pub psn: u32,
    /// The base transport header as found: programs use its reserved bits.
    pub bth: [u8; BTH_LEN],
}

/// Dissects an untagged RoCEv2 frame over IPv4 without options, which may be cut off after the first [`REACH`] bytes. Returns
/// `None` for any other frame, and for a shorter one.
#[must_use]
pub fn dissect(frame: &[u8]) -> Option<Dissected> {
    let byte = |at: usize| frame.get(at).copied();
    let word = |at: usize| Some(u16::from_be_bytes([byte(at)?, byte(at + 1)?]));
    let address = |at: usize| Some(Ipv4Addr::new(byte(at)?, byte(at + 1)?, byte(at + 2)?, byte(at + 3)?));
    let roce =
        word(12)? == 0x0800 && byte(14)? == 0x45 && byte(23)? == ipv4::PROTOCOL_UDP && word(36)? == PORT;
    if !roce {
        return None;
    }
    let bth: [u8; BTH_LEN] = frame.get(BTH_AT..REACH)?.try_into().ok()?;
    Some(Dissected {
        src: address(26)?,
        dst: address(30)?,
        src_port: word(34)?,
        ecn: byte(15)? & 3,
        psn: u32::from_be_bytes([0, bth[9], bth[10], bth[11]]),
        bth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FrameBuilder, MacAddr, Payload, ethernet};

    /// A congestion notification packet captured from a ConnectX-4 Lx, published in scapy's tests
    /// (model: buffer §7).
    const CAPTURED_CNP: [u8; 74] = [
        0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32, 0x08, 0x00, 0x45,
        0xc2, //
        0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01, 0x0a,
        0x00, //
        0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff, 0xff, 0x40,
        0x00, //
        0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, //
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
    ];

    #[test]
    fn icrc_of_a_captured_cnp() {
        let (covered, stored) = CAPTURED_CNP[14..].split_last_chunk().unwrap();
        assert_eq!(icrc(covered).unwrap().to_le_bytes(), *stored);
    }

    #[test]
    fn a_captured_cnp_is_built_byte_for_byte() {
        let ip = ipv4::Header {
            dscp: 48,
            ecn: 2,
            identification: 0x718c,
            ..ipv4::Header::new([10, 0, 17, 1].into(), [10, 0, 18, 1].into())
        };
        let mut frame = Vec::new();
        FrameBuilder::new(MacAddr::from_u64(0xe4_1d_2d_ab_2b_c2), MacAddr::from_u64(0x7c_fe_90_64_3b_32))
            .ipv4(ip)
            .roce(udp::Header::new(0, PORT), Headers::cnp(0x118))
            .build(Payload::Zeros(0), &mut frame)
            .unwrap();
        assert_eq!(frame, CAPTURED_CNP);
    }

    /// The SEND of an unreliable connection published in scapy's tests: its CRC is 78 f3 53 f3 (model: buffer §7).
    #[test]
    fn icrc_of_a_captured_send() {
        let mac = MacAddr::from_u64(0x24_8a_07_a8_fa_22);
        let ip = ipv4::Header {
            ecn: 1,
            identification: 1144,
            ..ipv4::Header::new([192, 168, 0, 7].into(), [192, 168, 0, 7].into())
        };
        let bth = Bth { migrated: true, ..Bth::new(opcode::UC_SEND_ONLY, 211, 13_571_856) };
        let headers = Headers { bth, extension: Extension::None };
        let payload = b"F0\x81\x8b\xe2\x895\xd9\x0e\x9a\x95PT\x01\xbe\x88^P";
        let mut frame = Vec::new();
        FrameBuilder::new(mac, mac)
            .ipv4(ip)
            .roce(udp::Header::new(49_152, PORT), headers)
            .build(Payload::Bytes(payload), &mut frame)
            .unwrap();
        let packet = ipv4::View::new(ethernet::View::new(&frame).unwrap().payload()).unwrap();
        assert_eq!((packet.total_len(), packet.checksum()), (64, 0xb4d5));
        let datagram = udp::View::new(packet.payload()).unwrap();
        assert_eq!((datagram.length(), datagram.checksum()), (44, 0));
        let view = View::new(datagram.payload()).unwrap();
        assert_eq!(view.icrc().to_le_bytes(), [0x78, 0xf3, 0x53, 0xf3]);
        assert_eq!(view.header(), Bth { pad: 2, ..bth });
        assert_eq!(view.payload(), [&payload[..], &[0, 0]].concat());
    }

    #[test]
    fn what_routers_change_is_not_covered() {
        let packet = &CAPTURED_CNP[14..70];
        let whole = icrc(packet).unwrap();
        for at in 0..packet.len() {
            let mut changed = packet.to_vec();
            changed[at] ^= 1;
            let free = [1, 8, 10, 11, 26, 27, 32].contains(&at);
            // The header length gives the places of the other fields, so it is not changed.
            if at != 0 {
                assert_eq!(icrc(&changed).unwrap() == whole, free, "byte {at}");
            }
        }
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        assert!(matches!(icrc(&[]), Err(WireError::Field { field: "IP version", found: 0, .. })));
        assert!(matches!(icrc(&CAPTURED_CNP[14..50]), Err(WireError::Short { found: 36, expected: 40, .. })));
        assert!(matches!(View::new(&[0; 15]), Err(WireError::Short { found: 15, expected: 16, .. })));
    }
}
