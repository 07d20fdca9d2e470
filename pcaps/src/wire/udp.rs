//! The UDP header (RFC 768).

use super::WireError;
use super::error::split;

/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// A checked view of a datagram.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; HEADER_LEN],
    rest: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks that there is a header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        split("UDP", bytes).map(|(header, rest)| Self { header, rest })
    }

    /// Returns the source port.
    pub fn source_port(&self) -> u16 {
        self.u16(0)
    }

    /// Returns the destination port.
    pub fn destination_port(&self) -> u16 {
        self.u16(2)
    }

    /// Returns the length of header and payload, bytes, from the header's length field.
    pub fn length(&self) -> u16 {
        self.u16(4)
    }

    /// Returns the checksum, as found; 0 for none.
    pub fn checksum(&self) -> u16 {
        self.u16(6)
    }

    /// Returns the bytes after the header up to the length field. It is shorter if the bytes end before.
    pub fn payload(&self) -> &'a [u8] {
        self.rest.get(..usize::from(self.length()).saturating_sub(HEADER_LEN)).unwrap_or(self.rest)
    }

    /// Returns the header as a value.
    pub fn header(&self) -> Header {
        Header {
            source_port: self.source_port(),
            destination_port: self.destination_port(),
            length: self.length(),
            checksum: self.checksum(),
        }
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.header[at], self.header[at + 1]])
    }
}

/// A UDP header.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Bytes of header and payload.
    pub length: u16,
    /// Checksum; 0 for none.
    pub checksum: u16,
}

impl Header {
    /// Creates a header between two ports; the rest is for [`FrameBuilder`](super::FrameBuilder) to fill in.
    pub const fn new(source_port: u16, destination_port: u16) -> Self {
        Self { source_port, destination_port, length: HEADER_LEN as u16, checksum: 0 }
    }

    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..2].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.length.to_be_bytes());
        bytes[6..].copy_from_slice(&self.checksum.to_be_bytes());
        bytes
    }
}
