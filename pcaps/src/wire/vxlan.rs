//! The VXLAN header (RFC 7348), between UDP and the Ethernet frame inside.

use super::WireError;
use super::error::split;

/// Bytes of the header.
pub const HEADER_LEN: usize = 8;
/// UDP destination port.
pub const PORT: u16 = 4789;
/// Largest network identifier.
pub const MAX_VNI: u32 = 0x00ff_ffff;

/// Flag: the network identifier counts.
const HAS_VNI: u8 = 0x08;

/// Checked view of a header and the inner frame.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    header: &'a [u8; HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Checks that there is a header with a network identifier.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (header, payload): (&[u8; HEADER_LEN], _) = split("VXLAN", bytes)?;
        if header[0] & HAS_VNI == 0 {
            let (found, expected) =
                (header[0].into(), "bit 0x08, which marks the network identifier as valid");
            return Err(WireError::Field { protocol: "VXLAN", field: "flags", found, expected });
        }
        Ok(Self { header, payload })
    }

    /// Returns the network identifier, 24 bits.
    pub fn vni(&self) -> u32 {
        u32::from_be_bytes([0, self.header[4], self.header[5], self.header[6]])
    }

    /// Returns the frame inside.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the header as a value.
    pub fn header(&self) -> Header {
        Header { vni: self.vni() }
    }
}

/// A VXLAN header.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Network identifier, 0 to [`MAX_VNI`]; higher bits are cut off.
    pub vni: u32,
}

impl Header {
    /// Returns the bytes on the wire.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let [_, a, b, c] = self.vni.to_be_bytes();
        [HAS_VNI, 0, 0, 0, a, b, c, 0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions() {
        let bytes = Header { vni: 0x12_34_56 }.to_bytes();
        assert_eq!(bytes, [8, 0, 0, 0, 0x12, 0x34, 0x56, 0]);
        assert_eq!(View::new(&bytes).unwrap().header(), Header { vni: 0x12_34_56 });
        assert!(matches!(View::new(&[0; 8]), Err(WireError::Field { field: "flags", .. })));
    }
}
