//! Counters: entry formats, counting and eviction.
//!
//! The fields of an entry are narrow. When a field passes a threshold, and so before it overflows, the stage sends the
//! entry to software and clears it (model: chip §5, LRT). Software adds the entry to its own totals.

use crate::geometry::CounterFormat;
use crate::units::Bytes;

/// Quantity that a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterKind {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Both.
    Both,
}

/// Layout of a counter's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CounterLayout {
    packet_bits: u32,
    byte_bits: u32,
    adjust: i32,
}

/// Problem of a counter's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    /// The format holds one number and two are requested, or the reverse.
    #[error("a format of {} holds {holds}, but the counter counts {}; use {instead}", bits_of(*.format), counted(*.kind))]
    Format {
        /// Counted quantity.
        kind: CounterKind,
        /// Format of the entries.
        format: CounterFormat,
        /// Content of the format.
        holds: &'static str,
        /// Format that fits.
        instead: &'static str,
    },
    /// The adjustment has more than 14 bits.
    #[error("byte count adjustment {0}; it is -8192 to 8191")]
    Adjust(i32),
}

/// Returns the counted quantity in words.
const fn counted(kind: CounterKind) -> &'static str {
    match kind {
        CounterKind::Packets => "packets",
        CounterKind::Bytes => "bytes",
        CounterKind::Both => "packets and bytes",
    }
}

/// Returns the widths of a format's numbers in words.
const fn bits_of(format: CounterFormat) -> &'static str {
    match format {
        CounterFormat::Single32 => "32 bits",
        CounterFormat::Single64 => "64 bits",
        CounterFormat::Both28And36 => "28 + 36 bits",
        CounterFormat::Both64 => "64 + 64 bits",
        CounterFormat::Both17And25 => "17 + 25 bits",
    }
}

impl CounterLayout {
    /// Returns the layout of `format` for `kind`. `adjust` is added to each packet's length, for example to leave out
    /// an FCS or a header.
    ///
    /// # Errors
    /// Fails if the format does not hold the counted quantity, and if the adjustment has more than 14 bits
    /// (model: chip §5).
    pub fn new(kind: CounterKind, format: CounterFormat, adjust: i32) -> Result<Self, CounterError> {
        if !(-8192..=8191).contains(&adjust) {
            return Err(CounterError::Adjust(adjust));
        }
        let single = if format == CounterFormat::Single64 { 64 } else { 32 };
        let (packet_bits, byte_bits) = match (kind, format.packet_and_byte_bits()) {
            (CounterKind::Both, Some(bits)) => bits,
            (CounterKind::Packets, None) => (single, 0),
            (CounterKind::Bytes, None) => (0, single),
            (CounterKind::Both, None) => {
                let (holds, instead) = ("one number", "28 + 36, 64 + 64 or 17 + 25 bits");
                return Err(CounterError::Format { kind, format, holds, instead });
            }
            (_, Some(_)) => {
                let (holds, instead) = ("packets and bytes", "a single one of 32 or 64 bits");
                return Err(CounterError::Format { kind, format, holds, instead });
            }
        };
        Ok(Self { packet_bits, byte_bits, adjust })
    }

    /// Returns the layout with these numbers of bits for packets and bytes; 0 means not counted.
    #[must_use]
    pub const fn of_bits(packet_bits: u32, byte_bits: u32, adjust: i32) -> Self {
        Self { packet_bits, byte_bits, adjust }
    }

    /// Number added to each packet's length.
    pub const fn adjust(self) -> i32 {
        self.adjust
    }

    /// Returns the bits that count packets; 0 if they are not counted.
    pub const fn packet_bits(self) -> u32 {
        self.packet_bits
    }

    /// Returns the bits that count bytes; 0 if they are not counted.
    pub const fn byte_bits(self) -> u32 {
        self.byte_bits
    }
}

/// Counter entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CounterEntry {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl CounterEntry {
    /// Counts a packet; beyond its bits a field starts again at 0. An adjusted length below 0 counts as 0.
    #[inline]
    pub fn count(&mut self, layout: CounterLayout, length: Bytes) {
        let length = length.get().saturating_add_signed(layout.adjust.into());
        self.packets = self.packets.wrapping_add(1) & mask(layout.packet_bits);
        self.bytes = self.bytes.wrapping_add(length) & mask(layout.byte_bits);
    }

    /// Clears the entry and hands it over if a field is at or beyond a threshold.
    #[inline]
    pub fn evict(&mut self, packets: u64, bytes: u64) -> Option<Self> {
        (self.packets >= packets.max(1) || self.bytes >= bytes.max(1)).then(|| std::mem::take(self))
    }
}

const fn mask(bits: u32) -> u64 {
    match bits {
        0 => 0,
        1..64 => u64::MAX >> (64 - bits),
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_wrap_at_their_own_width() {
        let layout = CounterLayout::new(CounterKind::Both, CounterFormat::Both17And25, 0).unwrap();
        let mut entry = CounterEntry { packets: (1 << 17) - 1, bytes: (1 << 25) - 10 };
        entry.count(layout, Bytes(64));
        assert_eq!(entry, CounterEntry { packets: 0, bytes: 54 });
        let bytes = CounterLayout::new(CounterKind::Bytes, CounterFormat::Single32, -4).unwrap();
        let mut entry = CounterEntry::default();
        entry.count(bytes, Bytes(64));
        entry.count(bytes, Bytes(2));
        assert_eq!(entry, CounterEntry { packets: 0, bytes: 60 });
        assert_eq!((bytes.packet_bits(), bytes.byte_bits()), (0, 32));
    }

    #[test]
    fn refusals() {
        let refuse = |kind, format, adjust| CounterLayout::new(kind, format, adjust).unwrap_err().to_string();
        assert!(refuse(CounterKind::Both, CounterFormat::Single32, 0).contains("holds one number"));
        assert!(refuse(CounterKind::Bytes, CounterFormat::Both64, 0).contains("holds packets and bytes"));
        assert!(refuse(CounterKind::Bytes, CounterFormat::Single64, 8192).contains("-8192 to 8191"));
    }

    proptest! {
        #[test]
        fn software_totals_lose_nothing(lengths in prop::collection::vec(60u64..9000, 1..3000)) {
            let layout = CounterLayout::new(CounterKind::Both, CounterFormat::Both17And25, 0).unwrap();
            let (mut entry, mut total) = (CounterEntry::default(), CounterEntry::default());
            for length in &lengths {
                entry.count(layout, Bytes(*length));
                if let Some(sent) = entry.evict(1 << 16, 1 << 20) {
                    total.packets += sent.packets;
                    total.bytes += sent.bytes;
                    prop_assert_eq!(entry, CounterEntry::default());
                }
            }
            prop_assert_eq!(total.packets + entry.packets, lengths.len() as u64);
            prop_assert_eq!(total.bytes + entry.bytes, lengths.iter().sum::<u64>());
        }
    }
}
