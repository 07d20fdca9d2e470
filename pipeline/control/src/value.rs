//! Numbers, addresses, prefixes and masks as text, in all file formats and reports.
//!
//! A value is an integer (`17`, `0x11`, `0b1_0001`), an IPv4 address (32-bit fields), an IPv6 address
//! (128-bit) or a MAC address (48-bit). An lpm key is `value/len`. A ternary key is `value &&& mask` or
//! `value/len`. A range key is `low..high`, with both bounds included. A value alone compares all bits; `*`
//! compares none.

use sluice_asic::alu::width_mask;
use sluice_ir::{KeyValue, MatchKind};
use std::net::{Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// Reason why a text is not a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// Neither a number nor an address.
    #[error("`{text}` is not a value; expected an integer such as 17 or 0x11{}", addresses(*.width))]
    NotAValue {
        /// The text.
        text: String,
        /// Bits of the field.
        width: u16,
    },
    /// An address of another width than the field.
    #[error("`{text}` is {what} address ({bits} bits), but the field has {width} bits")]
    AddressWidth {
        /// The text.
        text: String,
        /// `an IPv4`, `an IPv6`, `a MAC`.
        what: &'static str,
        /// Bits of such an address.
        bits: u16,
        /// Bits of the field.
        width: u16,
    },
    /// A text after the slash that is not a number.
    #[error("`{text}` is not a prefix length; expected a number of bits, 0 to {width}")]
    PrefixLength {
        /// The text after the slash.
        text: String,
        /// Bits of the field.
        width: u16,
    },
    /// A prefix, mask or wildcard for a key that is matched exactly.
    #[error("`{text}` is not a single value, but the key is matched exactly; expected all its bits")]
    NotExact {
        /// The text.
        text: String,
    },
    /// A mask on a prefix key.
    #[error("`{text}` has a mask, but the key is matched lpm; expected value/length")]
    MaskOnPrefix {
        /// The text.
        text: String,
    },
    /// A range for a key of another kind, or a mask or prefix for a range key.
    #[error("`{text}` does not suit a key that is matched {}", super::schema::kind_name(*.kind))]
    RangeKind {
        /// The text.
        text: String,
        /// Kind of match of the key.
        kind: MatchKind,
    },
}

fn addresses(width: u16) -> &'static str {
    match width {
        32 => " or an IPv4 address such as 10.0.0.1",
        48 => " or a MAC address such as 02:00:00:00:00:01",
        128 => " or an IPv6 address such as 2001:db8::1",
        _ => "",
    }
}

/// Parses the value of a field of `width` bits. Does not check that the value fits.
///
/// # Errors
/// Refuses a text that is neither a number nor an address of the field's width.
pub fn parse_value(text: &str, width: u16) -> Result<u128, ValueError> {
    let text = text.trim();
    let address = if let Some(mac) = mac(text) {
        Some((u128::from(mac), "a MAC", 48))
    } else if let Ok(ip) = text.parse::<Ipv4Addr>() {
        Some((u128::from(u32::from(ip)), "an IPv4", 32))
    } else if let Ok(ip) = text.parse::<Ipv6Addr>() {
        Some((u128::from(ip), "an IPv6", 128))
    } else {
        None
    };
    match address {
        Some((value, _, bits)) if bits == width => Ok(value),
        Some((_, what, bits)) => Err(ValueError::AddressWidth { text: text.to_owned(), what, bits, width }),
        None => integer(text).ok_or_else(|| ValueError::NotAValue { text: text.to_owned(), width }),
    }
}

fn integer(text: &str) -> Option<u128> {
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    };
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    if digits.starts_with('+') { None } else { u128::from_str_radix(&digits, radix).ok() }
}

fn mac(text: &str) -> Option<u64> {
    let octets: Vec<&str> = text.split(':').collect();
    if octets.len() != 6 || octets.iter().any(|o| o.is_empty() || o.len() > 2) {
        return None;
    }
    octets.iter().try_fold(0, |mac, o| Some(mac << 8 | u64::from(u8::from_str_radix(o, 16).ok()?)))
}

/// Parses a key column. In hexadecimal digits of a ternary key, `*` is a half byte of any value: `0x12**`.
///
/// # Errors
/// Refuses a text that is not a value, and a form that does not suit the kind of match.
pub fn parse_match(text: &str, kind: MatchKind, width: u16) -> Result<KeyValue, ValueError> {
    let text = text.trim();
    if kind == MatchKind::Range || text.contains("..") {
        return parse_range(text, kind, width);
    }
    let (value, mask_or_len) = if text == "*" {
        (0, Some(Ok(0)))
    } else if kind == MatchKind::Ternary && text.contains('*') {
        let (value, mask) =
            half_bytes(text).ok_or_else(|| ValueError::NotAValue { text: text.to_owned(), width })?;
        (value, Some(Err(mask & width_mask(width.into()))))
    } else if let Some((value, mask)) = text.split_once("&&&") {
        if kind == MatchKind::Lpm {
            return Err(ValueError::MaskOnPrefix { text: text.to_owned() });
        }
        (parse_value(value, width)?, Some(Err(parse_value(mask, width)?)))
    } else if let Some((value, len)) = text.split_once('/') {
        let bad = || ValueError::PrefixLength { text: len.trim().to_owned(), width };
        let len: u16 = len.trim().parse().map_err(|_| bad())?;
        if kind == MatchKind::Ternary && len > width {
            return Err(bad());
        }
        (parse_value(value, width)?, Some(Ok(len)))
    } else {
        (parse_value(text, width)?, None)
    };
    let all = width_mask(width.into());
    match (kind, mask_or_len) {
        (MatchKind::Exact, None) => Ok(KeyValue::Exact(value)),
        (MatchKind::Exact, Some(_)) => Err(ValueError::NotExact { text: text.to_owned() }),
        (MatchKind::Lpm, None) => Ok(KeyValue::Lpm { value, len: width }),
        (MatchKind::Lpm, Some(Ok(len))) => Ok(KeyValue::Lpm { value, len }),
        (MatchKind::Lpm, Some(Err(_))) => Err(ValueError::MaskOnPrefix { text: text.to_owned() }),
        (MatchKind::Ternary, None) => Ok(KeyValue::Ternary { value, mask: all }),
        (MatchKind::Ternary, Some(Err(mask))) => Ok(KeyValue::Ternary { value, mask }),
        (MatchKind::Ternary, Some(Ok(len))) => {
            Ok(KeyValue::Ternary { value, mask: all & !width_mask((width - len).into()) })
        }
        (MatchKind::Range, _) => Err(ValueError::RangeKind { text: text.to_owned(), kind }),
    }
}

/// Parses hexadecimal digits, among which `*` is a half byte that may have any value; returns value and mask.
fn half_bytes(text: &str) -> Option<(u128, u128)> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let in_place_of_any = |by: &str| u128::from_str_radix(&digits.replace('_', "").replace('*', by), 16).ok();
    let (zeros, ones) = (in_place_of_any("0")?, in_place_of_any("f")?);
    Some((zeros, !(zeros ^ ones)))
}

/// Parses `low..high`, a value alone, or `*`.
fn parse_range(text: &str, kind: MatchKind, width: u16) -> Result<KeyValue, ValueError> {
    if kind != MatchKind::Range || text.contains("&&&") || text.contains('/') {
        return Err(ValueError::RangeKind { text: text.to_owned(), kind });
    }
    if text == "*" {
        return Ok(KeyValue::Range { lo: 0, hi: width_mask(width.into()) });
    }
    let (lo, hi) = text.split_once("..").unwrap_or((text, text));
    Ok(KeyValue::Range { lo: parse_value(lo, width)?, hi: parse_value(hi, width)? })
}

/// Formats a value for people: 48-bit values as MAC address, 128-bit values as IPv6 address, and 32-bit
/// values as IPv4 address if the field's name says so. Others are decimal below 2^16, otherwise hexadecimal.
/// A value too wide for the field is hexadecimal.
#[must_use]
pub fn show_value(value: u128, width: u16, name: &str) -> String {
    if value > width_mask(width.into()) {
        return format!("{value:#x}");
    }
    match width {
        48 => {
            let octets: Vec<String> =
                (0..6).rev().map(|i| format!("{:02x}", (value >> (8 * i)) & 0xff)).collect();
            octets.join(":")
        }
        128 => Ipv6Addr::from(value).to_string(),
        32 if is_ipv4_name(name) => Ipv4Addr::from(value as u32).to_string(),
        _ if value < 0x1_0000 => value.to_string(),
        _ => format!("{value:#x}"),
    }
}

fn is_ipv4_name(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    matches!(last, "src" | "dst" | "sip" | "dip" | "next_hop" | "nexthop")
        || last.ends_with("addr")
        || last.ends_with("ip")
}

/// Formats a key column so that [`parse_match`] reads it.
#[must_use]
pub fn show_key(key: KeyValue, width: u16, name: &str) -> String {
    match key {
        KeyValue::Exact(value) => show_value(value, width, name),
        KeyValue::Lpm { value, len } => format!("{}/{len}", show_value(value, width, name)),
        KeyValue::Ternary { mask: 0, .. } => "*".to_owned(),
        KeyValue::Ternary { value, mask } if mask == width_mask(width.into()) => {
            show_value(value, width, name)
        }
        KeyValue::Ternary { value, mask } => format!("{} &&& {mask:#x}", show_value(value, width, name)),
        KeyValue::Range { lo: 0, hi } if hi == width_mask(width.into()) => "*".to_owned(),
        KeyValue::Range { lo, hi } if lo == hi => show_value(lo, width, name),
        KeyValue::Range { lo, hi } => {
            format!("{}..{}", show_value(lo, width, name), show_value(hi, width, name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_of_a_value() {
        assert_eq!(parse_value("17", 8), Ok(17));
        assert_eq!(parse_value("0x1_1", 8), Ok(17));
        assert_eq!(parse_value("0b10001", 8), Ok(17));
        assert_eq!(parse_value("10.1.2.3", 32), Ok(0x0a01_0203));
        assert_eq!(parse_value("2:0:0:0:0:1", 48), Ok(0x0200_0000_0001));
        assert_eq!(parse_value("2001:db8::1", 128), Ok(0x2001_0db8 << 96 | 1));
    }

    #[test]
    fn every_kind_of_key() {
        let lpm = parse_match("10.0.0.0/8", MatchKind::Lpm, 32);
        assert_eq!(lpm, Ok(KeyValue::Lpm { value: 10 << 24, len: 8 }));
        assert_eq!(parse_match("*", MatchKind::Lpm, 32), Ok(KeyValue::Lpm { value: 0, len: 0 }));
        let masked = KeyValue::Ternary { value: 0x50, mask: 0xf0 };
        assert_eq!(parse_match("0x50&&&0xf0", MatchKind::Ternary, 8), Ok(masked));
        assert_eq!(parse_match("0x50/4", MatchKind::Ternary, 8), Ok(masked));
        assert_eq!(parse_match("*", MatchKind::Ternary, 8), Ok(KeyValue::Ternary { value: 0, mask: 0 }));
        let range = |lo, hi| Ok(KeyValue::Range { lo, hi });
        assert_eq!(parse_match("1024 .. 0xffff", MatchKind::Range, 16), range(1024, 0xffff));
        assert_eq!(parse_match("53", MatchKind::Range, 16), range(53, 53));
        assert_eq!(parse_match("*", MatchKind::Range, 16), range(0, 0xffff));
    }

    #[test]
    fn what_is_no_value_says_what_would_be() {
        let bad = |text: &str, kind, width| parse_match(text, kind, width).unwrap_err().to_string();
        assert_eq!(
            bad("10.0.0", MatchKind::Exact, 32),
            "`10.0.0` is not a value; expected an integer such as 17 or 0x11 or an IPv4 address such as 10.0.0.1"
        );
        assert_eq!(
            bad("+5", MatchKind::Exact, 9),
            "`+5` is not a value; expected an integer such as 17 or 0x11"
        );
        assert_eq!(
            bad("10.0.0.1", MatchKind::Exact, 48),
            "`10.0.0.1` is an IPv4 address (32 bits), but the field has 48 bits"
        );
        assert_eq!(
            bad("10.0.0.0/x", MatchKind::Lpm, 32),
            "`x` is not a prefix length; expected a number of bits, 0 to 32"
        );
        assert_eq!(
            bad("1/33", MatchKind::Ternary, 32),
            "`33` is not a prefix length; expected a number of bits, 0 to 32"
        );
        assert_eq!(
            bad("5/8", MatchKind::Exact, 16),
            "`5/8` is not a single value, but the key is matched exactly; expected all its bits"
        );
        assert_eq!(
            bad("5 &&& 8", MatchKind::Lpm, 16),
            "`5 &&& 8` has a mask, but the key is matched lpm; expected value/length"
        );
        assert_eq!(bad("5..8", MatchKind::Exact, 16), "`5..8` does not suit a key that is matched exact");
        assert_eq!(bad("5/8", MatchKind::Range, 16), "`5/8` does not suit a key that is matched range");
    }

    proptest! {
        #[test]
        fn shown_keys_parse_back(value: u128, mask: u128, width in 1u16..=128, len in 0u16..=128, kind in 0..4) {
            let all = width_mask(width.into());
            let len = len.min(width);
            let prefix = all & !width_mask((width - len).into());
            let (kind, key) = match kind {
                0 => (MatchKind::Exact, KeyValue::Exact(value & all)),
                1 => (MatchKind::Ternary, KeyValue::Ternary { value: value & mask & all, mask: mask & all }),
                2 => (MatchKind::Lpm, KeyValue::Lpm { value: value & prefix, len }),
                _ => (MatchKind::Range, KeyValue::Range { lo: value & mask & all, hi: value & all }),
            };
            for name in ["ipv4.dst", "meta.x"] {
                prop_assert_eq!(parse_match(&show_key(key, width, name), kind, width), Ok(key));
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,20}", width in 1u16..=128) {
            for kind in [MatchKind::Exact, MatchKind::Ternary, MatchKind::Lpm, MatchKind::Range] {
                let _ = parse_match(&text, kind, width);
            }
        }
    }
}
