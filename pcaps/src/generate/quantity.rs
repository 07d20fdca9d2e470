//! Parses times, rates, lengths and ranges from text, exactly.

use std::ops::RangeInclusive;
use std::str::FromStr;

use super::{GenerateError, Pace};

const TIME: &str = "a time as 800ps, 6.72ns, 10us, 2ms or 1s, whole in picoseconds";
const RATE: &str = "a bit rate as 100G or 2.5Gbps, a frame rate as 1.5Mpps, or a spacing as 6.72ns";

/// Parses a text with a unit to picoseconds.
///
/// # Errors
/// Fails if the text has another form, if the value is not a whole number of picoseconds, and if it exceeds `u64`.
pub fn parse_ps(field: &'static str, text: &str) -> Result<u64, GenerateError> {
    let units =
        [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
    scaled(text, &units).ok_or_else(|| GenerateError::text(field, text, TIME))
}

impl FromStr for Pace {
    type Err = GenerateError;

    /// Parses `100G`, `40Gbps`, `1.5Mpps` or a spacing as `6.72ns`.
    fn from_str(text: &str) -> Result<Self, GenerateError> {
        let packets = [("pps", 1), ("kpps", 1_000), ("Mpps", 1_000_000), ("Gpps", 1_000_000_000)];
        let bits =
            [("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];
        let pace = if let Some(per_second) = scaled(text, &packets) {
            Self::Packets { per_second }
        } else if let Some(bits_per_second) =
            scaled(text.strip_suffix("bps").unwrap_or(text), &bits).or_else(|| scaled(text, &[("bps", 1)]))
        {
            Self::BackToBack { bits_per_second }
        } else if let Ok(ps) = parse_ps("rate", text) {
            Self::Spacing { ps }
        } else {
            return Err(GenerateError::text("rate", text, RATE));
        };
        match pace {
            Self::Packets { per_second: 0 } | Self::BackToBack { bits_per_second: 0 } => {
                Err(GenerateError::text("rate", text, "a rate above 0"))
            }
            _ => Ok(pace),
        }
    }
}

/// Returns a range of numbers from `7` or `5..9`, both ends included.
///
/// # Errors
/// Fails if the text has another form, a number is above `most`, or the end is before the start.
pub fn parse_range(field: &'static str, text: &str, most: u32) -> Result<RangeInclusive<u32>, GenerateError> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |part: &str| {
        let number: u64 = part
            .trim()
            .trim_start_matches('=')
            .parse()
            .map_err(|_| GenerateError::text(field, text, "a number as 7 or a range as 5..9"))?;
        GenerateError::check(field, number, 0, most.into())?;
        Ok::<u32, GenerateError>(number as u32)
    };
    let (first, last) = (number(first)?, number(last)?);
    if first > last { Err(GenerateError::EmptyRange { field, first, last }) } else { Ok(first..=last) }
}

/// Parses a decimal number with one of these units, and multiplies it by the unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let number_len = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(number_len);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    decimal(number, *scale)
}

/// Returns a decimal number times `scale`, if that is a whole number and fits.
pub(super) fn decimal(text: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !(whole.bytes().chain(fraction.bytes())).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let tens = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = digits.checked_mul(scale.into())?;
    if product % tens == 0 { u64::try_from(product / tens).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_or_refused() {
        let ps = |text| parse_ps("start", text).ok();
        assert_eq!(ps("6.72ns"), Some(6_720));
        assert_eq!(ps("1 s"), Some(1_000_000_000_000));
        assert_eq!(ps("0.000000000001s"), Some(1));
        assert_eq!(ps("1.50ps"), None);
        for text in ["", "1", "ns", "-1ns", "1.2.3ns", "1e3ns", "99999999999s", ".5ns", "1m"] {
            assert_eq!(ps(text), None, "{text}");
        }
        let error = parse_ps("on", "fast").unwrap_err().to_string();
        assert!(error.starts_with("on: found `fast`, expected a time as 800ps"), "{error}");
    }

    #[test]
    fn rates_of_three_kinds() {
        let pace = |text: &str| text.parse::<Pace>().ok();
        let bits = |bits_per_second| Some(Pace::BackToBack { bits_per_second });
        assert_eq!(pace("400G"), bits(400_000_000_000));
        assert_eq!(pace("2.5Gbps"), bits(2_500_000_000));
        assert_eq!(pace("9600bps"), bits(9_600));
        assert_eq!(pace("1.5Mpps"), Some(Pace::Packets { per_second: 1_500_000 }));
        assert_eq!(pace("6.72ns"), Some(Pace::Spacing { ps: 6_720 }));
        for text in ["0G", "0pps", "fast", "", "10", "1.5pps", "G"] {
            assert_eq!(pace(text), None, "{text}");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(parse_range("size", "64", 100), Ok(64..=64));
        assert_eq!(parse_range("size", "64..96", 100), Ok(64..=96));
        assert_eq!(parse_range("size", "64..=96", 100), Ok(64..=96));
        let text = |text| parse_range("size", text, 100).unwrap_err().to_string();
        assert_eq!(text("9..7"), "size: found 9..7, expected the first to be no more than the last");
        assert_eq!(text("7..101"), "size: found 101, expected 0 to 100");
        assert!(text("7..").starts_with("size: found `7..`"));
    }
}
