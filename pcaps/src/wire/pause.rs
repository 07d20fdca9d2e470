//! MAC control frames that pause a link or its classes: PAUSE (IEEE 802.3 annex 31B) and PFC (IEEE 802.1Qbb,
//! annex 31D). They follow an EtherType of [`TYPE_MAC_CONTROL`](super::ethernet::TYPE_MAC_CONTROL), never tagged
//! (model: buffer §2.1).

use super::error::split;
use super::{MacAddr, WireError};

/// Bytes after the Ethernet header, including padding to the shortest frame.
pub const PACKET_LEN: usize = 46;
/// Destination address of all PAUSE and PFC frames; bridges do not forward it.
pub const DESTINATION: MacAddr = MacAddr::from_u64(0x01_80_c2_00_00_01);
/// Opcode of PAUSE.
pub const PAUSE: u16 = 0x0001;
/// Opcode of PFC.
pub const PFC: u16 = 0x0101;
/// Bit times in one quantum of pause time.
pub const QUANTUM_BITS: u32 = 512;
/// Classes of PFC.
pub const CLASSES: usize = 8;

/// Bytes before the padding of a PFC frame.
const PFC_LEN: usize = 4 + 2 * CLASSES;

/// A checked view of a PAUSE or PFC frame.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    bytes: &'a [u8; PFC_LEN],
}

impl<'a> View<'a> {
    /// Checks that the bytes are a frame with one of the two opcodes.
    pub fn new(bytes: &'a [u8]) -> Result<Self, WireError> {
        const PROTOCOL: &str = "MAC control";
        let (bytes, _) = split(PROTOCOL, bytes)?;
        let view = Self { bytes };
        match view.opcode() {
            PAUSE | PFC => Ok(view),
            found => {
                let (found, expected) = (found.into(), "0x0001 (PAUSE) or 0x0101 (PFC)");
                Err(WireError::Field { protocol: PROTOCOL, field: "opcode", found, expected })
            }
        }
    }

    /// Returns [`PAUSE`] or [`PFC`].
    pub fn opcode(&self) -> u16 {
        self.u16(0)
    }

    /// Returns the frame as a value.
    pub fn packet(&self) -> Packet {
        if self.opcode() == PAUSE {
            return Packet::Pause { quanta: self.u16(2) };
        }
        let quanta = std::array::from_fn(|class| self.u16(4 + 2 * class));
        Packet::Pfc { enabled: self.bytes[3], quanta }
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }
}

/// A PAUSE or PFC frame. A time is in quanta of [`QUANTUM_BITS`] at the link's rate; 0 ends a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// Pauses the whole link.
    Pause {
        /// Pause time in quanta.
        quanta: u16,
    },
    /// Pauses classes.
    Pfc {
        /// Class-enable vector: bit n is set if the time of class n is valid.
        enabled: u8,
        /// Pause time in quanta, by class.
        quanta: [u16; CLASSES],
    },
}

impl Packet {
    /// Returns a PFC frame that has one time for all classes of a vector.
    pub fn pfc(enabled: u8, quanta: u16) -> Self {
        let of = |class| if enabled >> class & 1 != 0 { quanta } else { 0 };
        Self::Pfc { enabled, quanta: std::array::from_fn(of) }
    }

    /// Returns the bytes on the wire, with the padding.
    pub fn to_bytes(self) -> [u8; PACKET_LEN] {
        let mut bytes = [0; PACKET_LEN];
        match self {
            Self::Pause { quanta } => {
                bytes[..2].copy_from_slice(&PAUSE.to_be_bytes());
                bytes[2..4].copy_from_slice(&quanta.to_be_bytes());
            }
            Self::Pfc { enabled, quanta } => {
                bytes[..2].copy_from_slice(&PFC.to_be_bytes());
                bytes[3] = enabled;
                for (time, quanta) in bytes[4..PFC_LEN].as_chunks_mut::<2>().0.iter_mut().zip(quanta) {
                    *time = quanta.to_be_bytes();
                }
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FrameBuilder, Payload, ethernet};

    fn frame(packet: Packet) -> Vec<u8> {
        let builder = FrameBuilder::new(DESTINATION, MacAddr::from_u64(0x00_01_01_01_01_01));
        let mut frame = Vec::new();
        builder
            .ethertype(ethernet::TYPE_MAC_CONTROL)
            .build(Payload::Bytes(&packet.to_bytes()), &mut frame)
            .unwrap();
        frame
    }

    /// Model: buffer §2.1 and the example of scapy's tests: class 0 for 0x4321, class 5 for 0x1234.
    #[test]
    fn pfc_byte_for_byte() {
        let mut quanta = [0; 8];
        (quanta[0], quanta[5]) = (0x4321, 0x1234);
        let packet = Packet::Pfc { enabled: 0x21, quanta };
        let mut expected =
            vec![0x01, 0x80, 0xc2, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0x88, 0x08, 0x01, 0x01, 0x00, 0x21];
        expected.extend([0x43, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0]);
        expected.resize(60, 0);
        assert_eq!(frame(packet), expected);
        assert_eq!(View::new(&expected[14..]).unwrap().packet(), packet);
    }

    #[test]
    fn pause_byte_for_byte() {
        let packet = Packet::Pause { quanta: 0x1234 };
        let mut expected =
            vec![0x01, 0x80, 0xc2, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0x88, 0x08, 0x00, 0x01, 0x12, 0x34];
        expected.resize(60, 0);
        assert_eq!(frame(packet), expected);
        assert_eq!(View::new(&expected[14..]).unwrap().packet(), packet);
    }

    /// Model: buffer §8.3 row 26, the frame: priority 3 alone.
    #[test]
    fn one_class() {
        let bytes = Packet::pfc(0x08, 0xffff).to_bytes();
        assert_eq!(bytes[..4], [1, 1, 0, 8]);
        assert_eq!(bytes[4..20], [0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert!(bytes[20..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn other_opcodes_are_refused() {
        assert!(matches!(View::new(&[0; 46]), Err(WireError::Field { field: "opcode", found: 0, .. })));
        assert!(matches!(View::new(&[0; 19]), Err(WireError::Short { found: 19, expected: 20, .. })));
    }
}
