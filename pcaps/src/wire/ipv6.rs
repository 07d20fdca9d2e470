//! The fixed IPv6 header (RFC 8200). Extension headers are payload.

use std::net::Ipv6Addr;

use super::WireError;
use super::error::split;

/// Bytes of the fixed header.
pub const HEADER_LEN: usize = 40;
/// Largest flow label.
pub const MAX_FLOW_LABEL: u32 = 0x000f_ffff;

/// Next-header number of ICMPv6.
pub const NEXT_ICMPV6: u8 = 58;

/// A checked view of a packet: version 6.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; HEADER_LEN],
    rest: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks the version.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (header, rest): (&[u8; HEADER_LEN], _) = split("IPv6", bytes)?;
        let found = u64::from(header[0] >> 4);
        if found != 6 {
            return Err(WireError::Field { protocol: "IPv6", field: "version", found, expected: "6" });
        }
        Ok(Self { header, rest })
    }

    /// Returns the differentiated services code point, 0 to 63.
    pub fn dscp(&self) -> u8 {
        self.traffic_class() >> 2
    }

    /// Returns the explicit congestion notification, 0 to 3.
    pub fn ecn(&self) -> u8 {
        self.traffic_class() & 3
    }

    /// Returns the flow label, 20 bits.
    pub fn flow_label(&self) -> u32 {
        u32::from_be_bytes([0, self.header[1], self.header[2], self.header[3]]) & MAX_FLOW_LABEL
    }

    /// Returns the length after the fixed header, bytes, from the header's length field.
    pub fn payload_len(&self) -> u16 {
        u16::from_be_bytes([self.header[4], self.header[5]])
    }

    /// Returns the protocol of the next header.
    pub fn next_header(&self) -> u8 {
        self.header[6]
    }

    /// Returns the hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.header[7]
    }

    /// Returns the source address.
    pub fn source(&self) -> Ipv6Addr {
        Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|index| self.header[8 + index]))
    }

    /// Returns the destination address.
    pub fn destination(&self) -> Ipv6Addr {
        Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|index| self.header[24 + index]))
    }

    /// Returns the bytes after the fixed header up to the payload length. It is shorter if the bytes end before.
    pub fn payload(&self) -> &'a [u8] {
        self.rest.get(..usize::from(self.payload_len())).unwrap_or(self.rest)
    }

    /// Returns the header as a value.
    pub fn header(&self) -> Header {
        Header {
            dscp: self.dscp(),
            ecn: self.ecn(),
            flow_label: self.flow_label(),
            payload_len: self.payload_len(),
            next_header: self.next_header(),
            hop_limit: self.hop_limit(),
            source: self.source(),
            destination: self.destination(),
        }
    }

    fn traffic_class(&self) -> u8 {
        self.header[0] << 4 | self.header[1] >> 4
    }
}

/// A fixed IPv6 header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Differentiated services code point, 0 to 63; higher bits are cut off.
    pub dscp: u8,
    /// Explicit congestion notification, 0 to 3; higher bits are cut off.
    pub ecn: u8,
    /// Flow label, 0 to [`MAX_FLOW_LABEL`]; higher bits are cut off.
    pub flow_label: u32,
    /// Bytes after the fixed header.
    pub payload_len: u16,
    /// Protocol of the next header.
    pub next_header: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
}

impl Header {
    /// Creates a header with hop limit 64; the rest is for [`FrameBuilder`](super::FrameBuilder) to fill in.
    pub const fn new(source: Ipv6Addr, destination: Ipv6Addr) -> Self {
        Self {
            dscp: 0,
            ecn: 0,
            flow_label: 0,
            payload_len: 0,
            next_header: 0,
            hop_limit: 64,
            source,
            destination,
        }
    }

    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let class = u32::from(self.dscp << 2 | self.ecn & 3);
        let first = 6 << 28 | class << 20 | self.flow_label & MAX_FLOW_LABEL;
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&first.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
        bytes[6] = self.next_header;
        bytes[7] = self.hop_limit;
        bytes[8..24].copy_from_slice(&self.source.octets());
        bytes[24..].copy_from_slice(&self.destination.octets());
        bytes
    }
}
