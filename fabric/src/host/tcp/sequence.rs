//! Sequence numbers: 32 bits on the wire, positions of 64 bits inside.
//!
//! Position 0 is the SYN, position 1 the first byte of data. All other files count in positions, so that comparisons need
//! no arithmetic modulo 2^32 (RFC 9293 §3.4).

/// Initial sequence number of one direction of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbering(pub(super) u32);

impl Numbering {
    /// Returns the sequence number of a position.
    pub(super) const fn wire(self, position: u64) -> u32 {
        self.0.wrapping_add(position as u32)
    }

    /// Returns the position nearest to `near` that has this sequence number; `None` if it is before the SYN.
    pub(super) const fn position(self, near: u64, wire: u32) -> Option<u64> {
        let ahead = wire.wrapping_sub(self.wire(near)).cast_signed();
        near.checked_add_signed(ahead as i64)
    }
}

/// Returns the initial sequence number of a connection that begins `micros` microseconds after the start of the run: a clock
/// that counts every 4 us, plus a hash of addresses and ports (RFC 9293 §3.4.1, RFC 6528).
pub(super) fn initial(addresses: [u32; 2], ports: [u16; 2], micros: u64) -> Numbering {
    let words = [addresses[0], addresses[1], u32::from(ports[0]) << 16 | u32::from(ports[1])];
    // FNV-1a over the words. RFC 6528 asks for a keyed hash against attackers, which a simulation does not have.
    let hash = words.iter().fold(0x811c_9dc5_u32, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193));
    Numbering(hash.wrapping_add((micros / 4) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_the_wrap() {
        let isn = Numbering(0xffff_fff0);
        assert_eq!([0, 15, 16, 0x1_0000_0010].map(|at| isn.wire(at)), [0xffff_fff0, 0xffff_ffff, 0, 0]);
        // The same number means another position in another neighbourhood.
        assert_eq!(isn.position(0, 0), Some(16));
        assert_eq!(isn.position(0x1_0000_0000, 0), Some(0x1_0000_0010));
        assert_eq!(isn.position(0x8000_0011, 0), Some(0x1_0000_0010));
        assert_eq!(isn.position(0x8000_000f, 0), Some(16));
        assert_eq!(isn.position(0, 0xffff_ffef), None, "before the SYN");
    }

    #[test]
    fn a_later_incarnation_has_a_later_number() {
        let at = |micros| initial([1, 2], [3, 4], micros).0;
        assert_eq!(at(4_000).wrapping_sub(at(0)), 1_000);
        assert_ne!(initial([1, 2], [3, 5], 0), initial([1, 2], [3, 4], 0));
    }
}
