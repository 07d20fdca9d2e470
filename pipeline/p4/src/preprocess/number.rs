//! Numbers in conditions.

/// A number of a condition: 64 bits, signed unless a `U` says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) bits: u64,
    pub(super) unsigned: bool,
}

impl Value {
    pub(super) fn truth(value: bool) -> Value {
        Value { bits: u64::from(value), unsigned: false }
    }

    pub(super) fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// Returns the value of a number as it is written: decimal, `0x`, `0b`, `0o` or octal, with underscores, and with C's suffixes.
pub(super) fn parse(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    let is_hex = lower.starts_with("0x");
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
        return None;
    }
    let (radix, digits) = if is_hex {
        (16, &digits[2..])
    } else if let Some(rest) = digits.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = digits.strip_prefix("0o") {
        (8, rest)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    let bits = u64::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(Value { bits, unsigned: suffix.contains('u') || bits > i64::MAX as u64 })
}
