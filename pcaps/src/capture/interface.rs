//! Interfaces of a capture: link type, snap length, resolution and offset of the timestamps.
//!
//! The module converts raw ticks into [`CaptureTime`]. A classic pcap file counts as one interface. The options are
//! decoded here and not by the crate pcap-file, which refuses legal descriptions (a time zone, text that is not UTF-8,
//! a list without its end marker) and does not apply the resolution (version 2.0.0).

use pcap_file::DataLink;

use super::bytes::Order;
use super::cooked;
use super::error::CaptureFault;
use super::time::CaptureTime;

const OPT_END: u16 = 0;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;

/// Bytes of a name that are kept; bounds the reader's memory.
const MAX_NAME: usize = 255;

const PS_PER_S: u64 = 1_000_000_000_000;

/// An interface that a capture describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// `if_name`, its first 255 bytes, with anything that is not UTF-8 replaced; empty if not given.
    pub name: Box<str>,
    /// Number of the link type in the registry; 1 (Ethernet), 113 (SLL) and 276 (SLL2) are read.
    pub link_type: u32,
    /// Largest number of bytes kept of a frame; 0 for no limit.
    pub snap_len: u32,
    /// Bytes of frame check sequence at the end of its frames; the reader removes them.
    pub fcs_len: u32,
    scale: Scale,
    /// `if_tsoffset`, in seconds, added to every timestamp.
    offset: i64,
}

impl Interface {
    /// Returns the one interface of a classic pcap file; `tsresol` encodes the length of a tick as `if_tsresol` does.
    pub(super) fn classic(link_type: u32, snap_len: u32, fcs_len: u32, tsresol: u8) -> Self {
        let scale = Scale::from_tsresol(tsresol);
        Self { name: "".into(), link_type, snap_len, fcs_len, scale, offset: 0 }
    }

    /// Decodes the body of an Interface Description Block, which has at least 8 bytes.
    pub(super) fn described(order: Order, body: &[u8]) -> Result<Self, CaptureFault> {
        let mut interface = Self {
            name: "".into(),
            link_type: u32::from(order.u16(body, 0)),
            snap_len: order.u32(body, 4),
            fcs_len: 0,
            // Microseconds are the default.
            scale: Scale::from_tsresol(6),
            offset: 0,
        };
        let mut options = &body[8..];
        while options.len() >= 4 {
            let (code, length) = (order.u16(options, 0), order.u16(options, 2));
            if code == OPT_END {
                break;
            }
            let padded = usize::from(length).next_multiple_of(4);
            let rest = &options[4..];
            if padded > rest.len() {
                return Err(CaptureFault::OptionBeyondBlock { code, length, available: rest.len() });
            }
            interface.take_option(order, code, &rest[..usize::from(length)])?;
            options = &rest[padded..];
        }
        Ok(interface)
    }

    fn take_option(&mut self, order: Order, code: u16, value: &[u8]) -> Result<(), CaptureFault> {
        let exactly = |option, expected| {
            let found = value.len();
            if found == expected {
                Ok(())
            } else {
                Err(CaptureFault::OptionLength { option, found, expected })
            }
        };
        match code {
            IF_NAME => self.name = String::from_utf8_lossy(&value[..value.len().min(MAX_NAME)]).into(),
            IF_TSRESOL => {
                exactly("if_tsresol", 1)?;
                self.scale = Scale::from_tsresol(value[0]);
            }
            IF_FCSLEN => {
                exactly("if_fcslen", 1)?;
                // Bits by the specification, bytes by some writers; no link has an FCS of less than a byte.
                self.fcs_len = u32::from(if value[0] >= 8 { value[0] / 8 } else { value[0] });
            }
            IF_TSOFFSET => {
                exactly("if_tsoffset", 8)?;
                self.offset = order.u64(value, 0) as i64;
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses every link type but Ethernet and those that become Ethernet.
    #[inline]
    pub(super) fn check_ethernet(&self) -> Result<(), CaptureFault> {
        match self.link_type {
            1 | cooked::SLL | cooked::SLL2 => Ok(()),
            number => Err(CaptureFault::LinkType { number, name: link_type_name(number) }),
        }
    }

    /// Returns the time of a raw timestamp, rounded down to a picosecond.
    #[inline]
    pub(super) fn time(&self, ticks: u64) -> Result<CaptureTime, CaptureFault> {
        let time = self.scale.time(ticks);
        if self.offset == 0 {
            return Ok(time);
        }
        time.checked_add_secs(self.offset).ok_or(CaptureFault::TimeOutOfRange { ticks, offset: self.offset })
    }
}

/// Returns the registry's name of a link type.
fn link_type_name(number: u32) -> String {
    match DataLink::from(number) {
        DataLink::Unknown(_) => "not in the registry".into(),
        known => format!("{known:?}"),
    }
}

/// Length of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// A tick is 10^-n s, n at most 12.
    Decimal { per_second: u64, ps_per_tick: u64 },
    /// A tick is shorter than a picosecond: this number of ticks is one picosecond.
    Fine(u128),
    /// A tick is 2^-n s.
    Binary(u32),
}

impl Scale {
    /// Decodes an `if_tsresol` octet: 10^-n s, or 2^-n s if its top bit is set.
    const fn from_tsresol(octet: u8) -> Self {
        let exponent = (octet & 0x7f) as u32;
        if octet & 0x80 != 0 {
            return Self::Binary(exponent);
        }
        if exponent <= 12 {
            let per_second = 10u64.pow(exponent);
            return Self::Decimal { per_second, ps_per_tick: PS_PER_S / per_second };
        }
        // With more than 10^38 ticks per picosecond, no 64-bit tick count reaches the first picosecond.
        match 10u128.checked_pow(exponent - 12) {
            Some(ticks) => Self::Fine(ticks),
            None => Self::Fine(u128::MAX),
        }
    }

    #[inline]
    fn time(self, ticks: u64) -> CaptureTime {
        match self {
            // Both usual resolutions by constants, which need no division.
            Self::Decimal { per_second: 1_000_000_000, .. } => CaptureTime::from_ns(ticks),
            Self::Decimal { per_second: 1_000_000, .. } => {
                CaptureTime::from_parts(ticks / 1_000_000, ticks % 1_000_000 * 1_000_000)
            }
            Self::Decimal { per_second, ps_per_tick } => {
                CaptureTime::from_parts(ticks / per_second, ticks % per_second * ps_per_tick)
            }
            Self::Fine(ticks_per_ps) => CaptureTime::from_ps(u128::from(ticks) / ticks_per_ps),
            Self::Binary(shift) => CaptureTime::from_ps((u128::from(ticks) * u128::from(PS_PER_S)) >> shift),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_resolutions() {
        assert_eq!(Scale::from_tsresol(0).time(3).as_ps(), 3_000_000_000_000);
        assert_eq!(Scale::from_tsresol(6).time(1_700_000_000_123_456).as_ps(), 1_700_000_000_123_456_000_000);
        assert_eq!(Scale::from_tsresol(9).time(u64::MAX).as_ps(), u128::from(u64::MAX) * 1_000);
        assert_eq!(Scale::from_tsresol(12).time(7).as_ps(), 7);
        assert_eq!(Scale::from_tsresol(15).time(1_999).as_ps(), 1);
        assert_eq!(Scale::from_tsresol(127).time(u64::MAX).as_ps(), 0);
    }

    #[test]
    fn binary_resolutions_round_down() {
        assert_eq!(Scale::from_tsresol(0x80).time(2).as_ps(), 2_000_000_000_000);
        assert_eq!(Scale::from_tsresol(0x80 | 10).time(1).as_ps(), 976_562_500);
        assert_eq!(Scale::from_tsresol(0x80 | 32).time(1).as_ps(), 232);
        assert_eq!(Scale::from_tsresol(0xff).time(u64::MAX).as_ps(), 0);
    }

    #[test]
    fn offsets_may_be_negative_but_not_before_the_epoch() {
        let mut interface = Interface::classic(1, 0, 0, 6);
        interface.offset = -2;
        assert_eq!(interface.time(3_000_000).unwrap(), CaptureTime::from_secs(1));
        assert!(matches!(interface.time(1), Err(CaptureFault::TimeOutOfRange { ticks: 1, offset: -2 })));
        interface.offset = i64::MAX;
        assert!(interface.time(u64::MAX).is_ok());
        interface.scale = Scale::from_tsresol(0);
        assert!(interface.time(u64::MAX).is_err());
        interface.offset = i64::MIN;
        assert!(interface.time(1).is_err());
    }

    #[test]
    fn link_types_are_named() {
        assert_eq!(link_type_name(113), "LINUX_SLL");
        assert_eq!(link_type_name(40_000), "not in the registry");
    }
}
