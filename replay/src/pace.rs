//! Parses paces: `original`, `line-rate`, `2.5x`, `1.5Mpps`, `40Gbps`.

use sluice_asic::units::BitRate;
use sluice_pcaps::replay::Pace;
use thiserror::Error;

/// Error: the text is not a pace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{found}` is not a speed; expected original, top, line-rate, a factor (2.5x), a packet rate \
     (1.5Mpps) or a bit rate (40Gbps)"
)]
pub struct ParsePaceError {
    /// The text.
    pub found: String,
}

/// Parses a pace: `original`, `top` or `line-rate`, a factor (`2.5x`), packets per second (`1.5Mpps`) or bits per second on
/// the wire (`40Gbps`: padding, FCS, preamble and gap count).
///
/// # Errors
/// If the text is none of these, or if its number is 0 or has too many digits.
pub fn parse_pace(text: &str) -> Result<Pace, ParsePaceError> {
    parse(text).ok_or_else(|| ParsePaceError { found: text.to_owned() })
}

/// Parses a decimal number and multiplies it by `scale`.
///
/// # Errors
/// If the text is not a decimal number, or if the product is 0 or not whole.
pub fn parse_decimal(text: &str, scale: u64) -> Result<u64, ParsePaceError> {
    decimal(text, scale).filter(|n| *n > 0).ok_or_else(|| ParsePaceError { found: text.to_owned() })
}

fn parse(text: &str) -> Option<Pace> {
    match text {
        "original" => return Some(Pace::Original),
        "line-rate" | "top" => return Some(Pace::LineRate),
        _ => {}
    }
    let some = |n: u64| Some(n).filter(|n| *n > 0);
    if let Some(times) = text.strip_suffix('x') {
        return decimal(times, 1_000).and_then(some).map(Pace::Times);
    }
    for (suffix, scale) in [("Gpps", 1_000_000_000), ("Mpps", 1_000_000), ("kpps", 1_000), ("pps", 1)] {
        if let Some(number) = text.strip_suffix(suffix) {
            return decimal(number, scale).and_then(some).map(Pace::Packets);
        }
    }
    some(text.parse::<BitRate>().ok()?.as_bps()).map(Pace::Bits)
}

/// Returns a decimal number times `scale`; `None` if that is not a whole number.
fn decimal(text: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = u32::try_from(fraction.len()).ok()?;
    let tens = 10u64.checked_pow(digits)?;
    let fraction: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let total = whole.parse::<u64>().ok()?.checked_mul(tens)?.checked_add(fraction)?.checked_mul(scale)?;
    (total % tens == 0).then_some(total / tens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_parse_exactly() {
        for (text, pace) in [
            ("original", Pace::Original),
            ("top", Pace::LineRate),
            ("line-rate", Pace::LineRate),
            ("2.5x", Pace::Times(2_500)),
            ("0.001x", Pace::Times(1)),
            ("1.5Mpps", Pace::Packets(1_500_000)),
            ("7pps", Pace::Packets(7)),
            ("40Gbps", Pace::Bits(40_000_000_000)),
            ("12.5G", Pace::Bits(12_500_000_000)),
        ] {
            assert_eq!(parse(text), Some(pace), "{text}");
        }
        for bad in ["fast", "0x", "-1x", "x", "0pps", "1.0001pps", "0Gbps", "0.0001x", ""] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
