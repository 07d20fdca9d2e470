//! Internet checksum (RFC 1071), and the pseudo-headers of TCP, UDP and ICMPv6.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A running one's-complement sum over 16-bit words.
///
/// Pieces are added one after another; only the last may have an odd length.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// Creates an empty sum.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Returns the pseudo-header of a transport over IPv4 (RFC 768): `len` bytes of transport header and payload.
    #[must_use]
    pub fn pseudo_ipv4(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, len: u16) -> Self {
        Self::new().with(&source.octets()).with(&destination.octets()).with_u16(protocol.into()).with_u16(len)
    }

    /// Returns the pseudo-header of a transport over IPv6 (RFC 8200 §8.1).
    #[must_use]
    pub fn pseudo_ipv6(source: Ipv6Addr, destination: Ipv6Addr, next_header: u8, len: u32) -> Self {
        let sum = Self::new().with(&source.octets()).with(&destination.octets());
        sum.with(&len.to_be_bytes()).with_u16(next_header.into())
    }

    /// Adds bytes; if their number is odd, the last byte is the upper half of a word.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let (pairs, odd) = bytes.as_chunks::<2>();
        let sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
        let last = odd.first().map_or(0, |&byte| u64::from(byte) << 8);
        Self(self.0 + sum + last)
    }

    /// Adds one word.
    #[must_use]
    pub const fn with_u16(self, word: u16) -> Self {
        Self(self.0 + word as u64)
    }

    /// Returns the checksum: the complement of the folded sum. It is 0 over bytes that contain a correct checksum.
    pub const fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_1071_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Checksum::new().with(&bytes).finish(), !0xddf2);
    }

    #[test]
    fn an_odd_last_byte_counts_as_padded() {
        assert_eq!(Checksum::new().with(&[1, 2, 3]), Checksum::new().with(&[1, 2, 3, 0]));
    }

    #[test]
    fn bytes_with_their_checksum_give_zero() {
        let sum = Checksum::new().with(&[0x45, 0x00, 0x12, 0x34]);
        assert_eq!(sum.with_u16(sum.finish()).finish(), 0);
    }
}
