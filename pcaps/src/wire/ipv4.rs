//! IPv4 header (RFC 791). The view reads options; the builder emits none.

use std::net::Ipv4Addr;

use super::error::split;
use super::{Checksum, WireError};

/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;

/// Protocol number of ICMP.
pub const PROTOCOL_ICMP: u8 = 1;
/// Protocol number of TCP.
pub const PROTOCOL_TCP: u8 = 6;
/// Protocol number of UDP.
pub const PROTOCOL_UDP: u8 = 17;

/// A checked view of a packet: version 4, and a header length that the bytes hold.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; HEADER_LEN],
    options: &'a [u8],
    rest: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks version and header length.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        const PROTOCOL: &str = "IPv4";
        let (header, after): (&[u8; HEADER_LEN], _) = split(PROTOCOL, bytes)?;
        let field = |field, found: u8, expected| {
            Err(WireError::Field { protocol: PROTOCOL, field, found: found.into(), expected })
        };
        if header[0] >> 4 != 4 {
            return field("version", header[0] >> 4, "4");
        }
        let words = header[0] & 0xf;
        let Some(option_len) = usize::from(words * 4).checked_sub(HEADER_LEN) else {
            return field("header length", words, "5 to 15 words");
        };
        let short =
            WireError::Short { protocol: PROTOCOL, found: bytes.len(), expected: HEADER_LEN + option_len };
        let (options, rest) = after.split_at_checked(option_len).ok_or(short)?;
        Ok(Self { header, options, rest })
    }

    /// Returns the differentiated services code point, 0 to 63.
    pub fn dscp(&self) -> u8 {
        self.header[1] >> 2
    }

    /// Returns the explicit congestion notification, 0 to 3.
    pub fn ecn(&self) -> u8 {
        self.header[1] & 3
    }

    /// Returns the length of header and payload, bytes, from the header's length field.
    pub fn total_len(&self) -> u16 {
        self.u16(2)
    }

    /// Returns the identification of fragments.
    pub fn identification(&self) -> u16 {
        self.u16(4)
    }

    /// Returns true if the packet must not be fragmented.
    pub fn dont_fragment(&self) -> bool {
        self.header[6] & 0x40 != 0
    }

    /// Returns true if more fragments follow.
    pub fn more_fragments(&self) -> bool {
        self.header[6] & 0x20 != 0
    }

    /// Returns the place of the fragment, in units of 8 bytes.
    pub fn fragment_offset(&self) -> u16 {
        self.u16(6) & 0x1fff
    }

    /// Returns the time to live.
    pub fn ttl(&self) -> u8 {
        self.header[8]
    }

    /// Returns the protocol of the payload.
    pub fn protocol(&self) -> u8 {
        self.header[9]
    }

    /// Returns the header checksum, as found.
    pub fn checksum(&self) -> u16 {
        self.u16(10)
    }

    /// Returns true if the header checksum is correct.
    pub fn checksum_ok(&self) -> bool {
        Checksum::new().with(self.header).with(self.options).finish() == 0
    }

    /// Returns the source address.
    pub fn source(&self) -> Ipv4Addr {
        Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|index| self.header[12 + index]))
    }

    /// Returns the destination address.
    pub fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|index| self.header[16 + index]))
    }

    /// Returns the option bytes.
    pub fn options(&self) -> &'a [u8] {
        self.options
    }

    /// Returns the bytes after the header up to the total length, without Ethernet padding. It is shorter if the bytes
    /// end before.
    pub fn payload(&self) -> &'a [u8] {
        let len = usize::from(self.total_len()).saturating_sub(HEADER_LEN + self.options.len());
        self.rest.get(..len).unwrap_or(self.rest)
    }

    /// Returns the header as a value, without its options.
    pub fn header(&self) -> Header {
        Header {
            dscp: self.dscp(),
            ecn: self.ecn(),
            total_len: self.total_len(),
            identification: self.identification(),
            dont_fragment: self.dont_fragment(),
            more_fragments: self.more_fragments(),
            fragment_offset: self.fragment_offset(),
            ttl: self.ttl(),
            protocol: self.protocol(),
            checksum: self.checksum(),
            source: self.source(),
            destination: self.destination(),
        }
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.header[at], self.header[at + 1]])
    }
}

/// An IPv4 header without options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Differentiated services code point, 0 to 63; higher bits are cut off.
    pub dscp: u8,
    /// Explicit congestion notification, 0 to 3; higher bits are cut off.
    pub ecn: u8,
    /// Bytes of header and payload.
    pub total_len: u16,
    /// Identification of fragments.
    pub identification: u16,
    /// True if the packet must not be fragmented.
    pub dont_fragment: bool,
    /// True if more fragments follow.
    pub more_fragments: bool,
    /// Place of the fragment, in units of 8 bytes; higher bits than 13 are cut off.
    pub fragment_offset: u16,
    /// Time to live.
    pub ttl: u8,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Header checksum; see [`with_checksum`](Self::with_checksum).
    pub checksum: u16,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
}

impl Header {
    /// Creates a header with time to live 64 that must not be fragmented; the rest is for [`FrameBuilder`] to fill in.
    ///
    /// [`FrameBuilder`]: super::FrameBuilder
    pub const fn new(source: Ipv4Addr, destination: Ipv4Addr) -> Self {
        Self {
            dscp: 0,
            ecn: 0,
            total_len: HEADER_LEN as u16,
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            ttl: 64,
            protocol: 0,
            checksum: 0,
            source,
            destination,
        }
    }

    /// Returns the header with its correct checksum.
    #[must_use]
    pub fn with_checksum(mut self) -> Self {
        self.checksum = 0;
        self.checksum = Checksum::new().with(&self.to_bytes()).finish();
        self
    }

    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let flags = u16::from(self.dont_fragment) << 14 | u16::from(self.more_fragments) << 13;
        let mut bytes = [0; HEADER_LEN];
        bytes[0] = 0x45;
        bytes[1] = self.dscp << 2 | self.ecn & 3;
        bytes[2..4].copy_from_slice(&self.total_len.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.identification.to_be_bytes());
        bytes[6..8].copy_from_slice(&(flags | self.fragment_offset & 0x1fff).to_be_bytes());
        bytes[8] = self.ttl;
        bytes[9] = self.protocol;
        bytes[10..12].copy_from_slice(&self.checksum.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.source.octets());
        bytes[16..].copy_from_slice(&self.destination.octets());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_versions_and_lengths_are_refused() {
        let mut bytes = Header::new(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST).to_bytes();
        bytes[0] = 0x65;
        assert!(matches!(View::new(&bytes), Err(WireError::Field { field: "version", found: 6, .. })));
        bytes[0] = 0x44;
        assert!(matches!(View::new(&bytes), Err(WireError::Field { field: "header length", found: 4, .. })));
        bytes[0] = 0x46;
        assert!(matches!(View::new(&bytes), Err(WireError::Short { found: 20, expected: 24, .. })));
    }

    #[test]
    fn padding_is_no_payload() {
        let mut header = Header::new(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST);
        header.total_len = 23;
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend_from_slice(&[1, 2, 3, 0, 0, 0]);
        assert_eq!(View::new(&bytes).unwrap().payload(), [1, 2, 3]);
        header.total_len = 5;
        bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        assert!(View::new(&bytes).unwrap().payload().is_empty());
    }
}
