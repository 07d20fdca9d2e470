//! [`Crc32`]: the CRC-32 of IEEE 802.3, which the frame check sequence and RoCE's invariant CRC share.

/// x^32 + x^26 + x^23 + … + 1 with the highest power's coefficient in the lowest bit, without x^32.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// Running CRC-32 (IEEE 802.3 §3.2.9): reflected, with an initial value of ones, complemented at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crc32(u32);

impl Crc32 {
    /// Returns the CRC of no bytes.
    pub const fn new() -> Self {
        Self(!0)
    }

    /// Adds bytes.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut crc = self.0;
        for &[a, b, c, d, e, f, g, h] in words {
            // Eight bytes at once: for each byte, a table gives its remainder after the bytes that follow it.
            let [a, b, c, d] = (crc ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
            let of = |ahead: usize, byte: u8| TABLES[ahead][usize::from(byte)];
            crc = of(7, a) ^ of(6, b) ^ of(5, c) ^ of(4, d) ^ of(3, e) ^ of(2, f) ^ of(1, g) ^ of(0, h);
        }
        Self(rest.iter().fold(crc, |crc, &byte| TABLES[0][usize::from(crc as u8 ^ byte)] ^ (crc >> 8)))
    }

    /// Adds `count` zero bytes in time that grows only with the number of ones in `count`: a zero byte multiplies the
    /// remainder by x^8.
    #[must_use]
    pub fn with_zeros(self, count: u32) -> Self {
        let bits = POWERS.iter().enumerate().filter(|(bit, _)| count >> bit & 1 != 0);
        Self(bits.fold(self.0, |crc, (_, &power)| multiply(power, crc)))
    }

    /// Returns the CRC. Its little-endian bytes go onto the wire.
    pub const fn finish(self) -> u32 {
        !self.0
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the product of two reflected polynomials modulo the CRC's.
const fn multiply(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        // All ones if the coefficient is set. A branch would be unpredictable.
        product ^= b & (a >> bit & 1).wrapping_neg();
        b = (b >> 1) ^ (POLYNOMIAL & (b & 1).wrapping_neg());
    }
    product
}

/// x^(8 * 2^n) for all n.
static POWERS: [u32; 32] = {
    // x^8; bit 31 is x^0.
    let mut powers = [1 << (31 - 8); 32];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = multiply(powers[n - 1], powers[n - 1]);
        n += 1;
    }
    powers
};

/// Remainder of each byte value after 0 to 7 zero bytes.
static TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut zeros = 0;
        while zeros < 8 {
            let mut bit = 0;
            while bit < 8 {
                crc = (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
                bit += 1;
            }
            tables[zeros][byte] = crc;
            zeros += 1;
        }
        byte += 1;
    }
    tables
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value_of_the_catalogue() {
        assert_eq!(Crc32::new().with(b"123456789").finish(), 0xcbf4_3926);
        assert_eq!(Crc32::new().finish(), 0);
    }

    #[test]
    fn pieces_and_zeros_give_the_whole() {
        let bytes: Vec<u8> = (0..100u8).map(|n| n.wrapping_mul(7) ^ 1).collect();
        for split in 0..bytes.len() {
            let (a, b) = bytes.split_at(split);
            assert_eq!(Crc32::new().with(a).with(b), Crc32::new().with(&bytes), "{split}");
        }
        for count in [0, 1, 2, 3, 7, 8, 9, 255, 1024, 4095, 9000] {
            let start = Crc32::new().with(&bytes);
            assert_eq!(start.with_zeros(count), start.with(&vec![0; count as usize]), "{count}");
        }
    }
}
