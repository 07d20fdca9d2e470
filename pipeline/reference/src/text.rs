//! Numbers and conditions as people write them in entries.

use crate::control::Match;
use num_bigint::BigInt;

/// Reads a number: decimal, `0x..`, `0b..`, an IPv4 address or a MAC address. `_` separates digits.
pub(crate) fn number(text: &str) -> Option<BigInt> {
    let text: String = text.trim().chars().filter(|c| *c != '_').collect();
    let digits = |digits: &str, radix| BigInt::parse_bytes(digits.as_bytes(), radix);
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return digits(hex, 16);
    }
    if let Some(binary) = text.strip_prefix("0b") {
        return digits(binary, 2);
    }
    let parts = |separator, radix, count| {
        let bytes: Option<Vec<u8>> =
            text.split(separator).map(|part| u8::from_str_radix(part, radix).ok()).collect();
        bytes.filter(|bytes| bytes.len() == count)
    };
    let bytes = parts('.', 10, 4).or_else(|| parts(':', 16, 6));
    match bytes {
        Some(bytes) => Some(bytes.iter().fold(BigInt::from(0), |value, byte| (value << 8) + *byte)),
        None => match text.as_str() {
            "true" => Some(1.into()),
            "false" => Some(0.into()),
            _ => digits(&text, 10),
        },
    }
}

/// Reads a condition on a key of a kind and width: `5`, `0x0a000000/8`, `1 &&& 3`, `4..7`, `0x0a******`, `*`.
pub(crate) fn condition(text: &str, kind: &str, width: u32) -> Option<Match> {
    let text = text.trim();
    let all = (BigInt::from(1) << width) - 1;
    if matches!(text, "*" | "_") {
        return Some(any(kind, width));
    }
    if let Some((value, mask)) = text.split_once("&&&") {
        return Some(Match::Ternary { value: number(value)?, mask: number(mask)? });
    }
    if let Some((low, high)) = text.split_once("..").or_else(|| text.split_once("->")) {
        return Some(Match::Range { low: number(low)?, high: number(high)? });
    }
    if let Some((value, length)) = text.split_once('/') {
        let (value, length) = (number(value)?, length.trim().parse::<u32>().ok()?);
        if length > width {
            return None;
        }
        return Some(match kind {
            "lpm" => Match::Lpm { value, length },
            _ => Match::Ternary { value, mask: &all - ((BigInt::from(1) << (width - length)) - 1) },
        });
    }
    if text.contains('*') {
        let (digits, bits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
            (Some(digits), _) => (digits, 4, 16),
            (_, Some(digits)) => (digits, 1, 2),
            _ => return None,
        };
        let (mut value, mut mask) = (BigInt::from(0), BigInt::from(0));
        for digit in digits.chars().filter(|digit| *digit != '_') {
            let known = if digit == '*' { None } else { Some(digit.to_digit(radix)?) };
            value = (value << bits) + known.unwrap_or(0);
            mask = (mask << bits) + if known.is_some() { radix - 1 } else { 0 };
        }
        return Some(Match::Ternary { value, mask });
    }
    let value = number(text)?;
    Some(match kind {
        "lpm" => Match::Lpm { value, length: width },
        "ternary" => Match::Ternary { value, mask: all },
        "range" => Match::Range { low: value.clone(), high: value },
        _ => Match::Exact(value),
    })
}

/// Returns the condition that every key fulfils.
pub(crate) fn any(kind: &str, width: u32) -> Match {
    match kind {
        "lpm" => Match::Lpm { value: 0.into(), length: 0 },
        "range" => Match::Range { low: 0.into(), high: (BigInt::from(1) << width) - 1 },
        _ => Match::Ternary { value: 0.into(), mask: 0.into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_every_form() {
        for (text, value) in
            [("12", 12), ("0xff", 255), ("0b101", 5), ("10.0.0.1", 0x0a00_0001), ("00:00:00:00:01:02", 258)]
        {
            assert_eq!(number(text), Some(value.into()), "{text}");
        }
        assert_eq!(number("x"), None);
    }

    #[test]
    fn conditions_by_kind() {
        let ternary = |value: u32, mask: u32| Match::Ternary { value: value.into(), mask: mask.into() };
        assert_eq!(condition("5", "exact", 8), Some(Match::Exact(5.into())));
        assert_eq!(condition("5", "ternary", 8), Some(ternary(5, 255)));
        assert_eq!(condition("1 &&& 3", "ternary", 8), Some(ternary(1, 3)));
        assert_eq!(condition("0xa*", "ternary", 8), Some(ternary(0xa0, 0xf0)));
        assert_eq!(condition("0xa0/4", "ternary", 8), Some(ternary(0xa0, 0xf0)));
        assert_eq!(condition("0xa0/4", "lpm", 8), Some(Match::Lpm { value: 0xa0.into(), length: 4 }));
        assert_eq!(condition("1..3", "range", 8), Some(Match::Range { low: 1.into(), high: 3.into() }));
        assert_eq!(condition("0/9", "lpm", 8), None);
    }
}
