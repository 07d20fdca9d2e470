//! The header that ICMP (RFC 792) and ICMPv6 (RFC 4443) share.

use super::WireError;
use super::error::split;

/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// ICMP type of an echo request.
pub const ECHO_REQUEST: u8 = 8;
/// ICMP type of an echo reply.
pub const ECHO_REPLY: u8 = 0;
/// ICMPv6 type of an echo request.
pub const V6_ECHO_REQUEST: u8 = 128;
/// ICMPv6 type of an echo reply.
pub const V6_ECHO_REPLY: u8 = 129;

/// A checked view of a message.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks that there is a header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        split("ICMP", bytes).map(|(header, payload)| Self { header, payload })
    }

    /// Returns the type of the message.
    pub fn kind(&self) -> u8 {
        self.header[0]
    }

    /// Returns the code within the type.
    pub fn code(&self) -> u8 {
        self.header[1]
    }

    /// Returns the checksum, as found.
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// Returns the four bytes whose meaning the type gives: identifier and sequence of an echo.
    pub fn rest(&self) -> [u8; 4] {
        let [_, _, _, _, rest @ ..] = *self.header;
        rest
    }

    /// Returns the bytes after the header.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the header as a value.
    pub fn header(&self) -> Header {
        Header { kind: self.kind(), code: self.code(), checksum: self.checksum(), rest: self.rest() }
    }
}

/// An ICMP or ICMPv6 header.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Type of the message.
    pub kind: u8,
    /// Code within the type.
    pub code: u8,
    /// Checksum.
    pub checksum: u16,
    /// The four bytes whose meaning the type gives.
    pub rest: [u8; 4],
}

impl Header {
    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let ([c, d], [e, f, g, h]) = (self.checksum.to_be_bytes(), self.rest);
        [self.kind, self.code, c, d, e, f, g, h]
    }
}
