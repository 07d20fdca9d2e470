//! Cyclic redundancy checks, bit by bit.

use super::frame::Ip;

/// Bits of a message, the first one first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message(Vec<bool>);

impl Message {
    /// Returns the five-tuple of a packet: addresses, protocol and ports.
    pub(crate) fn five_tuple(ip: &Ip) -> Message {
        let width = if ip.v6 { 128 } else { 32 };
        Message::default()
            .with(ip.src, width)
            .with(ip.dst, width)
            .with(ip.protocol.into(), 8)
            .with(ip.src_port.into(), 16)
            .with(ip.dst_port.into(), 16)
    }

    /// Adds the low `width` bits of a number, the highest first.
    pub(crate) fn with(mut self, value: u128, width: u32) -> Message {
        self.0.extend((0..width).rev().map(|bit| value >> bit & 1 == 1));
        self
    }

    /// Returns the bytes, after zeros in front that fill the first one.
    fn bytes(&self) -> Vec<u8> {
        let missing = (8 - self.0.len() % 8) % 8;
        let padded: Vec<bool> = std::iter::repeat_n(false, missing).chain(self.0.iter().copied()).collect();
        padded.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
    }
}

/// Returns the remainder of a reflected check: the lowest bit of each byte first. `poly` is written with its lowest power in
/// the highest bit.
fn reflected(message: &Message, poly: u32, initial: u32) -> u32 {
    message.bytes().into_iter().fold(initial, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ poly } else { crc >> 1 })
    })
}

/// Returns CRC-32 of Ethernet.
pub(crate) fn crc_32(message: &Message) -> u32 {
    !reflected(message, 0xedb8_8320, u32::MAX)
}

/// Returns CRC-16 of ARC: polynomial 0x8005, reflected.
pub(crate) fn crc_16(message: &Message) -> u16 {
    reflected(message, 0xa001, 0) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_values_of_the_catalogue() {
        let digits = b"123456789".iter().fold(Message::default(), |m, byte| m.with((*byte).into(), 8));
        assert_eq!(crc_32(&digits), 0xcbf4_3926);
        assert_eq!(crc_16(&digits), 0xbb3d);
    }

    #[test]
    fn bits_that_fill_no_byte_follow_zeros() {
        let short = Message::default().with(0x5, 4);
        assert_eq!(crc_32(&short), crc_32(&Message::default().with(0x05, 8)));
    }
}
