//! TCP header (RFC 9293). The view reads options; the builder emits none.

use super::WireError;
use super::error::split;

/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;

/// Flag: the sender has finished sending.
pub const FIN: u8 = 0x01;
/// Flag: synchronise sequence numbers.
pub const SYN: u8 = 0x02;
/// Flag: reset.
pub const RST: u8 = 0x04;
/// Flag: push.
pub const PSH: u8 = 0x08;
/// Flag: the acknowledgement number counts.
pub const ACK: u8 = 0x10;
/// Flag: echo of a mark (RFC 3168 §6.1).
pub const ECE: u8 = 0x40;
/// Flag: congestion window reduced (RFC 3168 §6.1).
pub const CWR: u8 = 0x80;

/// A checked view of a segment: a data offset that the bytes hold.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; HEADER_LEN],
    options: &'a [u8],
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks the data offset.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        const PROTOCOL: &str = "TCP";
        let (header, after): (&[u8; HEADER_LEN], _) = split(PROTOCOL, bytes)?;
        let words = header[12] >> 4;
        let Some(option_len) = usize::from(words * 4).checked_sub(HEADER_LEN) else {
            let (found, expected) = (words.into(), "5 to 15 words");
            return Err(WireError::Field { protocol: PROTOCOL, field: "data offset", found, expected });
        };
        let short =
            WireError::Short { protocol: PROTOCOL, found: bytes.len(), expected: HEADER_LEN + option_len };
        let (options, payload) = after.split_at_checked(option_len).ok_or(short)?;
        Ok(Self { header, options, payload })
    }

    /// Returns the source port.
    pub fn source_port(&self) -> u16 {
        self.u16(0)
    }

    /// Returns the destination port.
    pub fn destination_port(&self) -> u16 {
        self.u16(2)
    }

    /// Returns the sequence number.
    pub fn sequence(&self) -> u32 {
        self.u32(4)
    }

    /// Returns the acknowledgement number.
    pub fn acknowledgement(&self) -> u32 {
        self.u32(8)
    }

    /// Returns the flags, CWR highest.
    pub fn flags(&self) -> u8 {
        self.header[13]
    }

    /// Returns the window.
    pub fn window(&self) -> u16 {
        self.u16(14)
    }

    /// Returns the checksum, as found.
    pub fn checksum(&self) -> u16 {
        self.u16(16)
    }

    /// Returns the urgent pointer.
    pub fn urgent(&self) -> u16 {
        self.u16(18)
    }

    /// Returns the option bytes.
    pub fn options(&self) -> &'a [u8] {
        self.options
    }

    /// Returns the bytes after the header.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the header as a value, without its options.
    pub fn header(&self) -> Header {
        Header {
            source_port: self.source_port(),
            destination_port: self.destination_port(),
            sequence: self.sequence(),
            acknowledgement: self.acknowledgement(),
            flags: self.flags(),
            window: self.window(),
            checksum: self.checksum(),
            urgent: self.urgent(),
        }
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.header[at], self.header[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) << 16 | u32::from(self.u16(at + 2))
    }
}

/// A TCP header without options.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Flags, CWR highest.
    pub flags: u8,
    /// Window.
    pub window: u16,
    /// Checksum.
    pub checksum: u16,
    /// Urgent pointer.
    pub urgent: u16,
}

impl Header {
    /// Creates a segment with [`ACK`] and the largest window; the rest is for [`FrameBuilder`] to fill in.
    ///
    /// [`FrameBuilder`]: super::FrameBuilder
    pub const fn new(source_port: u16, destination_port: u16) -> Self {
        Self {
            source_port,
            destination_port,
            sequence: 0,
            acknowledgement: 0,
            flags: ACK,
            window: u16::MAX,
            checksum: 0,
            urgent: 0,
        }
    }

    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..2].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.acknowledgement.to_be_bytes());
        bytes[12] = (HEADER_LEN as u8 / 4) << 4;
        bytes[13] = self.flags;
        bytes[14..16].copy_from_slice(&self.window.to_be_bytes());
        bytes[16..18].copy_from_slice(&self.checksum.to_be_bytes());
        bytes[18..].copy_from_slice(&self.urgent.to_be_bytes());
        bytes
    }
}
