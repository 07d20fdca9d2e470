//! Numbers of things, such as packets or entries, which users write as `1000`, `10k`, `1.5M` or `2G`.

use super::{Unit, parse_scaled};

const UNITS: [Unit; 5] = [("", 1), ("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];

/// Error: a text is not a number of things.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a whole number; expected one such as 1000, 10k, 1.5M or 2G")]
pub struct CountError(String);

/// Parses a whole number, which may end in `k` (thousands), `M` (millions) or `G` (billions): `10k`, `1.5M`.
///
/// # Errors
/// If the text is not such a number, or the number is not whole or does not fit 64 bits.
///
/// ```
/// use sluice_asic::units::count;
///
/// assert_eq!(count("1.5M"), Ok(1_500_000));
/// assert!(count("1.5").is_err());
/// ```
pub fn count(text: &str) -> Result<u64, CountError> {
    parse_scaled(text, "number", "", "1", &UNITS).map_err(|_| CountError(text.to_owned()))
}

/// Prints a number so that [`count`] reads it: in the largest of G, M and k of which the number is a multiple, and otherwise in
/// digits.
#[must_use]
pub fn print_count(number: u64) -> String {
    let unit = [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)]
        .into_iter()
        .find(|(_, scale)| number > 0 && number.is_multiple_of(*scale));
    unit.map_or_else(|| number.to_string(), |(name, scale)| format!("{}{name}", number / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_thousands_millions_and_billions() {
        let good = [
            ("0", 0),
            ("1000", 1000),
            ("10k", 10_000),
            ("1K", 1000),
            ("2.5M", 2_500_000),
            ("3G", 3_000_000_000),
        ];
        for (text, number) in good {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for bad in ["", "k", "1kk", "1.5", "1.0005k", "-1", "ten", "0x10", "20000000000000000000"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        let error = count("1kk").map_err(|e| e.to_string());
        assert_eq!(
            error,
            Err("`1kk` is not a whole number; expected one such as 1000, 10k, 1.5M or 2G".to_owned())
        );
    }

    #[test]
    fn printed_numbers_parse_back() {
        for (number, text) in [(0, "0"), (999, "999"), (65_536, "65536"), (4_000_000, "4M"), (1500, "1500")] {
            assert_eq!(print_count(number), text);
            assert_eq!(count(text), Ok(number));
        }
    }
}
