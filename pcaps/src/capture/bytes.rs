//! Reads integers of either byte order at fixed offsets of a record, for all formats.

/// Byte order of one file or section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Order {
    /// Returns the `u16` at `at`; the caller has checked the length.
    #[inline]
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let raw = take(bytes, at);
        match self {
            Self::Little => u16::from_le_bytes(raw),
            Self::Big => u16::from_be_bytes(raw),
        }
    }

    /// Returns the `u32` at `at`; the caller has checked the length.
    #[inline]
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let raw = take(bytes, at);
        match self {
            Self::Little => u32::from_le_bytes(raw),
            Self::Big => u32::from_be_bytes(raw),
        }
    }

    /// Returns the `u64` at `at`; the caller must have checked the length.
    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.u32(bytes, at)), u64::from(self.u32(bytes, at + 4)));
        match self {
            Self::Little => second << 32 | first,
            Self::Big => first << 32 | second,
        }
    }

    /// Returns a pcapng timestamp at `at`: the upper 32 bits come first in either byte order.
    #[inline]
    pub(super) fn stamp(self, bytes: &[u8], at: usize) -> u64 {
        u64::from(self.u32(bytes, at)) << 32 | u64::from(self.u32(bytes, at + 4))
    }
}

/// Returns `N` bytes at `at`, with one bounds check.
#[inline]
fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let field = &bytes[at..at + N];
    std::array::from_fn(|index| field[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_read_the_same_bytes() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(Order::Big.u16(&bytes, 1), 0x0203);
        assert_eq!(Order::Little.u16(&bytes, 1), 0x0302);
        assert_eq!(Order::Big.u64(&bytes, 0), 0x0102_0304_0506_0708);
        assert_eq!(Order::Little.u64(&bytes, 0), 0x0807_0605_0403_0201);
        assert_eq!(Order::Little.stamp(&bytes, 0), 0x0403_0201_0807_0605);
    }
}
