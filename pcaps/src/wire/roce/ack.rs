//! Acknowledgements of one queue pair: frames that differ in a few numbers only.

use super::{BTH_AT, BTH_LEN, Crc32, ICRC_LEN, MASK_START, WireError, masked};

/// Length of an acknowledgement over Ethernet and IPv4 without options, without FCS.
pub const ACK_LEN: usize = ICRC_AT + ICRC_LEN;
/// Offset of the ACK extended transport header (AETH).
const AETH_AT: usize = BTH_AT + BTH_LEN;
const ICRC_AT: usize = AETH_AT + 4;
/// Offsets of the byte with the congestion bits, and of the packet sequence number, which is the last part of the base
/// transport header.
const CONGESTION_AT: usize = BTH_AT + 4;
const PSN_AT: usize = AETH_AT - 3;
/// Offset of the IPv4 header.
const IP_AT: usize = 14;
const BECN: u8 = 0x40;

/// Frames of a queue pair's acknowledgements and NACKs over IPv4. Their headers are built once; each frame sets its numbers and
/// its invariant CRC.
#[derive(Debug, Clone)]
pub struct Acknowledgements {
    frame: [u8; ACK_LEN],
    /// CRC of the invariant headers before the packet sequence number.
    before: Crc32,
}

impl Acknowledgements {
    /// Takes the headers of a complete acknowledgement without payload, whose numbers do not matter.
    ///
    /// # Errors
    /// Refuses a frame of another length than [`ACK_LEN`], and a packet that is not IPv4.
    pub fn new(frame: &[u8]) -> Result<Self, WireError> {
        let frame: [u8; ACK_LEN] = frame.try_into().map_err(|_| WireError::Short {
            protocol: "RoCEv2 acknowledgement",
            found: frame.len(),
            expected: ACK_LEN,
        })?;
        let (headers, len) = masked(&frame[IP_AT..ICRC_AT])?;
        let before = Crc32::new().with(&MASK_START).with(&headers[..len.min(PSN_AT - IP_AT)]);
        Ok(Self { frame, before })
    }

    /// Returns the frame with these numbers, of which the lower 24 bits count: packet sequence number, AETH syndrome and
    /// message sequence number. With `becn`, it notifies the sender of congestion.
    pub fn frame(&mut self, becn: bool, psn: u32, syndrome: u8, msn: u32) -> &[u8; ACK_LEN] {
        let [_, a, b, c] = psn.to_be_bytes();
        let [_, d, e, f] = msn.to_be_bytes();
        let numbers = [a, b, c, syndrome, d, e, f];
        self.frame[CONGESTION_AT] = if becn { BECN } else { 0 };
        self.frame[PSN_AT..ICRC_AT].copy_from_slice(&numbers);
        let icrc = self.before.with(&numbers).finish();
        self.frame[ICRC_AT..].copy_from_slice(&icrc.to_le_bytes());
        &self.frame
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bth, Extension, Headers, PORT, opcode, udp};
    use super::*;
    use crate::wire::{FrameBuilder, MacAddr, Payload, ipv4};
    use proptest::prelude::*;

    fn built(becn: bool, psn: u32, syndrome: u8, msn: u32) -> Vec<u8> {
        let bth = Bth { becn, ..Bth::new(opcode::RC_ACKNOWLEDGE, 0x1234, psn) };
        let headers = Headers { bth, extension: Extension::Aeth { syndrome, msn } };
        let ip = ipv4::Header { dscp: 48, ..ipv4::Header::new([10, 1, 0, 1].into(), [10, 2, 0, 7].into()) };
        let mut frame = Vec::new();
        let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ipv4(ip);
        let built =
            builder.roce(udp::Header::new(50_000, PORT), headers).build(Payload::Zeros(0), &mut frame);
        built.unwrap();
        frame
    }

    proptest! {
        /// Frames are equal to those of the general builder, in any order.
        #[test]
        fn frames_are_those_of_the_builder(
            numbers in prop::collection::vec((any::<bool>(), 0..1u32 << 24, any::<u8>(), 0..1u32 << 24), 1..9),
        ) {
            let mut frames = Acknowledgements::new(&built(true, 7, 8, 9)).unwrap();
            for (becn, psn, syndrome, msn) in numbers {
                prop_assert_eq!(&frames.frame(becn, psn, syndrome, msn)[..], &built(becn, psn, syndrome, msn));
            }
        }
    }

    #[test]
    fn other_frames_are_refused() {
        assert!(matches!(
            Acknowledgements::new(&[0; 61]),
            Err(WireError::Short { found: 61, expected: 62, .. })
        ));
        assert!(matches!(Acknowledgements::new(&[0; 62]), Err(WireError::Field { field: "IP version", .. })));
    }
}
