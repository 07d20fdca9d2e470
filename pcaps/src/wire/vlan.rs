//! The VLAN tag of IEEE 802.1Q, without the tag protocol identifier, which is the EtherType before it.

use super::WireError;
use super::error::split;

/// Bytes of tag control information and the EtherType after it.
pub const TAG_LEN: usize = 4;
/// Largest VLAN identifier.
pub const MAX_VID: u16 = 0x0fff;

/// Checked view of the bytes after an EtherType of [`TYPE_VLAN`](super::ethernet::TYPE_VLAN).
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; TAG_LEN],
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks that there is a tag.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        split("VLAN", bytes).map(|(header, payload)| Self { header, payload })
    }

    /// Returns the priority code point, 0 to 7.
    pub fn pcp(&self) -> u8 {
        self.header[0] >> 5
    }

    /// Returns the drop eligible indicator.
    pub fn dei(&self) -> bool {
        self.header[0] & 0x10 != 0
    }

    /// Returns the VLAN identifier, 0 to 4095.
    pub fn vid(&self) -> u16 {
        u16::from_be_bytes([self.header[0], self.header[1]]) & MAX_VID
    }

    /// Returns the EtherType of the payload.
    pub fn ethertype(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// Returns the bytes after the tag.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the tag as a value.
    pub fn tag(&self) -> Tag {
        Tag { pcp: self.pcp(), dei: self.dei(), vid: self.vid(), ethertype: self.ethertype() }
    }
}

/// A VLAN tag.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// Priority code point, 0 to 7; higher bits are cut off.
    pub pcp: u8,
    /// Drop eligible indicator.
    pub dei: bool,
    /// VLAN identifier, 0 to [`MAX_VID`]; higher bits are cut off.
    pub vid: u16,
    /// EtherType of the payload.
    pub ethertype: u16,
}

impl Tag {
    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; TAG_LEN] {
        let control = u16::from(self.pcp & 7) << 13 | u16::from(self.dei) << 12 | self.vid & MAX_VID;
        let [[a, b], [c, d]] = [control.to_be_bytes(), self.ethertype.to_be_bytes()];
        [a, b, c, d]
    }
}
