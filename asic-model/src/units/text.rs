//! Grammar of all quantities: a decimal number, an optional space, a unit.

use std::fmt;

/// Error: a text is not the expected quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}: {kind}; expected {expected}")]
pub struct UnitError {
    /// The text as given.
    pub text: String,
    /// Expected quantity, for example `duration`.
    pub what: &'static str,
    /// Example of an accepted text.
    pub expected: &'static str,
    /// Problem of the text.
    pub kind: UnitErrorKind,
}

/// The ways in which a text can fail to be a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnitErrorKind {
    /// The text does not start with a decimal number.
    #[error("it does not start with a decimal number")]
    Number,
    /// The unit is missing and the quantity needs one.
    #[error("the unit is missing")]
    MissingUnit,
    /// The unit is not one of this quantity's units.
    #[error("the unit is unknown")]
    UnknownUnit,
    /// The value is not a whole number of the smallest unit.
    #[error("the value is not a whole number of {0}")]
    Inexact(&'static str),
    /// The value is too large to be held.
    #[error("the value is too large")]
    TooLarge,
    /// The value is zero where that has no meaning.
    #[error("the value is zero")]
    Zero,
}

/// A unit's spelling and its size in the quantity's smallest unit.
pub(crate) type Unit = (&'static str, u64);

/// Parses `<decimal>[space]<unit>` into a count of the smallest unit.
///
/// `smallest` names the smallest unit for the message about inexact values.
pub(crate) fn parse_scaled(
    text: &str,
    what: &'static str,
    expected: &'static str,
    smallest: &'static str,
    units: &[Unit],
) -> Result<u64, UnitError> {
    let fail = |kind| UnitError { text: text.to_owned(), what, expected, kind };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim_start();
    let (mantissa, decimals) = parse_decimal(number).map_err(fail)?;
    let scale = units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
    let missing = if unit.is_empty() { UnitErrorKind::MissingUnit } else { UnitErrorKind::UnknownUnit };
    let scale = scale.ok_or_else(|| fail(missing))?;
    let scaled = mantissa.checked_mul(u128::from(scale)).ok_or_else(|| fail(UnitErrorKind::TooLarge))?;
    let divisor = 10_u128.pow(decimals);
    if !scaled.is_multiple_of(divisor) {
        return Err(fail(UnitErrorKind::Inexact(smallest)));
    }
    u64::try_from(scaled / divisor).map_err(|_| fail(UnitErrorKind::TooLarge))
}

/// Splits `12.50` into `(125, 1)`: a whole mantissa and the number of its decimals.
fn parse_decimal(number: &str) -> Result<(u128, u32), UnitErrorKind> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let malformed =
        whole.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty());
    if malformed {
        return Err(UnitErrorKind::Number);
    }
    let fraction = fraction.trim_end_matches('0');
    // 20 decimals times the largest scale (10^12) still fit a u128.
    let (Ok(decimals @ ..=20), true) = (u32::try_from(fraction.len()), whole.len() <= 20) else {
        return Err(UnitErrorKind::TooLarge);
    };
    let mut mantissa: u128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = u128::from(digit.wrapping_sub(b'0'));
        mantissa =
            mantissa.checked_mul(10).and_then(|m| m.checked_add(digit)).ok_or(UnitErrorKind::TooLarge)?;
    }
    Ok((mantissa, decimals))
}

/// Prints `value` in the largest of `units` (ascending sizes) that is not larger than it, exactly.
pub(crate) fn print_decimal(f: &mut fmt::Formatter<'_>, value: u64, units: &[Unit]) -> fmt::Result {
    let fitting = units.iter().rev().find(|(_, scale)| value >= *scale).or(units.first());
    let Some(&(name, scale)) = fitting else { return write!(f, "{value}") };
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return f.pad(&format!("{whole}{name}"));
    }
    // Every scale is a power of ten, so the remainder is a decimal fraction of as many digits as zeros.
    let digits = scale.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    f.pad(&format!("{whole}.{}{name}", fraction.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: &[Unit] = &[("u", 1), ("ku", 1000)];

    fn parse(text: &str) -> Result<u64, UnitErrorKind> {
        parse_scaled(text, "thing", "`1ku`", "u", UNITS).map_err(|e| e.kind)
    }

    #[test]
    fn numbers_are_exact_or_refused() {
        assert_eq!(parse("1.5ku"), Ok(1500));
        assert_eq!(parse(" 1.500000000000000000000000000 ku "), Ok(1500));
        assert_eq!(parse("0.0005ku"), Err(UnitErrorKind::Inexact("u")));
        assert_eq!(parse("5"), Err(UnitErrorKind::MissingUnit));
        assert_eq!(parse("5 furlongs"), Err(UnitErrorKind::UnknownUnit));
        for bad in ["", "u", "-1u", ".5u", "1.u", "1.2.3u", "+1u"] {
            assert_eq!(parse(bad), Err(UnitErrorKind::Number), "{bad}");
        }
        assert_eq!(parse("18446744073709551615u"), Ok(u64::MAX));
        assert_eq!(parse("18446744073709551616u"), Err(UnitErrorKind::TooLarge));
        assert_eq!(parse("99999999999999999999999999u"), Err(UnitErrorKind::TooLarge));
    }

    #[test]
    fn the_message_says_what_was_found_and_expected() {
        let error = parse_scaled("5 furlongs", "thing", "`1ku`", "u", UNITS).unwrap_err();
        assert_eq!(error.to_string(), "`5 furlongs` is not a thing: the unit is unknown; expected `1ku`");
    }
}
