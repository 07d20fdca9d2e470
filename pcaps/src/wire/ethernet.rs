//! Ethernet II (IEEE 802.3): header, frame check sequence, and the bytes that the wire adds to a frame.

use super::error::split;
use super::{Crc32, MacAddr, WireError};

/// Bytes of the header.
pub const HEADER_LEN: usize = 14;
/// Shortest frame in bytes, without FCS; shorter frames are padded when sent.
pub const MIN_FRAME_LEN: u32 = 60;
/// Bytes of the frame check sequence.
pub const FCS_LEN: u32 = 4;
/// Bytes of preamble, start delimiter and inter-packet gap around every frame.
pub const GAP_LEN: u32 = 20;

/// EtherType of IPv4.
pub const TYPE_IPV4: u16 = 0x0800;
/// EtherType of ARP.
pub const TYPE_ARP: u16 = 0x0806;
/// EtherType of a VLAN tag (802.1Q).
pub const TYPE_VLAN: u16 = 0x8100;
/// EtherType of IPv6.
pub const TYPE_IPV6: u16 = 0x86dd;
/// EtherType of a service VLAN tag (802.1ad), the outer one of two.
pub const TYPE_SERVICE_VLAN: u16 = 0x88a8;
/// EtherType of MAC control frames: pause and PFC.
pub const TYPE_MAC_CONTROL: u16 = 0x8808;

/// A checked view of a frame.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks that there is a header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        split("Ethernet", bytes).map(|(header, payload)| Self { header, payload })
    }

    /// Returns the destination address.
    pub fn destination(&self) -> MacAddr {
        let [a, b, c, d, e, f, ..] = *self.header;
        MacAddr([a, b, c, d, e, f])
    }

    /// Returns the source address.
    pub fn source(&self) -> MacAddr {
        let [_, _, _, _, _, _, a, b, c, d, e, f, ..] = *self.header;
        MacAddr([a, b, c, d, e, f])
    }

    /// Returns the EtherType of the payload.
    pub fn ethertype(&self) -> u16 {
        u16::from_be_bytes([self.header[12], self.header[13]])
    }

    /// Returns the bytes after the header.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the header as a value.
    pub fn header(&self) -> Header {
        Header { destination: self.destination(), source: self.source(), ethertype: self.ethertype() }
    }
}

/// An Ethernet header.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Destination address.
    pub destination: MacAddr,
    /// Source address.
    pub source: MacAddr,
    /// EtherType of the payload.
    pub ethertype: u16,
}

impl Header {
    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..6].copy_from_slice(&self.destination.0);
        bytes[6..12].copy_from_slice(&self.source.0);
        bytes[12..].copy_from_slice(&self.ethertype.to_be_bytes());
        bytes
    }
}

/// Returns the bytes that a frame of `len` bytes without FCS takes on the wire: padded, with FCS, preamble and gap.
pub const fn wire_len(len: u32) -> u64 {
    let padded = if len < MIN_FRAME_LEN { MIN_FRAME_LEN } else { len };
    padded as u64 + (FCS_LEN + GAP_LEN) as u64
}

/// Returns the frame check sequence of a frame: CRC-32 (IEEE 802.3 §3.2.9). Its little-endian bytes follow the frame.
pub fn fcs(frame: &[u8]) -> u32 {
    Crc32::new().with(frame).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fcs_check_value() {
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926);
        assert_eq!(fcs(b""), 0);
    }

    #[test]
    fn a_frame_followed_by_its_fcs_leaves_the_residue() {
        let mut frame = vec![0x02; 60];
        frame.extend_from_slice(&fcs(&frame).to_le_bytes());
        assert_eq!(fcs(&frame), 0x2144_df1c);
    }

    #[test]
    fn short_frames_are_padded_on_the_wire() {
        assert_eq!(wire_len(0), 84);
        assert_eq!(wire_len(60), 84);
        assert_eq!(wire_len(1500), 1524);
    }

    #[test]
    fn too_short_is_refused() {
        let error = View::new(&[0; 13]).unwrap_err();
        assert_eq!(error.to_string(), "Ethernet: found 13 bytes, expected at least 14");
    }
}
