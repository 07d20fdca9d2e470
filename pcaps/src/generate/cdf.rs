//! [`Cdf`]: distribution of sizes in the text format of HPCC's and ConWeave's traffic generators.
//!
//! Each line has one point: a size in bytes and the cumulative share of sizes up to it, in percent (the last line has
//! 100) or as a fraction (the last line has 1). The first share is 0; both columns increase strictly. Sizes are
//! uniformly distributed between two points. Empty lines and text after `#` are ignored. (Model: int §5.)

use super::quantity::decimal;
use super::{Draw, FileError};

/// Shares are counted in units of 10^-12 of the whole, so that percentages with ten decimals are exact.
const WHOLE: u64 = 1_000_000_000_000;

/// A piecewise linear distribution of sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cdf {
    /// Sizes and the shares up to them, in units of 1/[`WHOLE`].
    points: Vec<(u64, u64)>,
}

impl Cdf {
    /// Reads the text of a file, whose name is for errors.
    ///
    /// # Errors
    /// Returns the line and column of the first text that does not fit the format.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        let fail = |line: usize, column: usize, what: String| FileError {
            file: file.to_owned(),
            line: line + 1,
            column: column + 1,
            what,
        };
        let mut rows: Vec<Row<'_>> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let content = line.split_once('#').map_or(line, |(content, _)| content);
            let mut words = words(content);
            let Some((column, size)) = words.next() else { continue };
            let bytes = size.parse().map_err(|_| {
                fail(number, column, format!("size: found `{size}`, expected a whole number of bytes"))
            })?;
            let Some((share_column, share)) = words.next() else {
                let end = content.trim_end().chars().count();
                return Err(fail(number, end, "found no share, expected `SIZE SHARE` on every line".into()));
            };
            if let Some((column, extra)) = words.next() {
                return Err(fail(number, column, format!("found `{extra}`, expected the end of the line")));
            }
            rows.push(Row { number, bytes, column, share, share_column });
        }
        let Some(last) = rows.last() else {
            return Err(fail(0, 0, "found no point, expected `SIZE SHARE` lines from share 0 to 100".into()));
        };
        let scale = match decimal(last.share, WHOLE) {
            Some(whole) if whole == 100 * WHOLE => WHOLE / 100,
            Some(WHOLE) => WHOLE,
            _ => {
                let what =
                    format!("last share: found `{}`, expected 100 (percent) or 1 (fraction)", last.share);
                return Err(fail(last.number, last.share_column, what));
            }
        };
        let mut points: Vec<(u64, u64)> = Vec::with_capacity(rows.len());
        for row in &rows {
            let fail = |column, what| Err(fail(row.number, column, what));
            let Some(share) = decimal(row.share, scale) else {
                let what = format!(
                    "share: found `{}`, expected a decimal number with at most 10 digits after the point",
                    row.share
                );
                return fail(row.share_column, what);
            };
            match points.last() {
                None if share != 0 => {
                    let what = format!(
                        "first share: found `{}`, expected 0; begin with the least size and 0",
                        row.share
                    );
                    return fail(row.share_column, what);
                }
                Some((before, _)) if row.bytes <= *before => {
                    let what =
                        format!("size: found {}, expected more than {before} on the line before", row.bytes);
                    return fail(row.column, what);
                }
                Some((_, before)) if share <= *before => {
                    let what = format!("share: found `{}`, expected more than on the line before", row.share);
                    return fail(row.share_column, what);
                }
                _ => points.push((row.bytes, share)),
            }
        }
        Ok(Self { points })
    }

    /// Returns the largest size.
    pub fn largest(&self) -> u64 {
        self.points.last().map_or(0, |(size, _)| *size)
    }

    /// Returns the mean size, rounded down.
    pub fn mean(&self) -> u64 {
        let doubled: u128 = self
            .points
            .windows(2)
            .map(|pair| u128::from(pair[0].0 + pair[1].0) * u128::from(pair[1].1 - pair[0].1))
            .sum();
        (doubled / 2 / u128::from(WHOLE)) as u64
    }

    /// Returns the size below which `share` of 10^12 parts are, rounded down.
    pub fn quantile(&self, share: u64) -> u64 {
        let above = self.points.partition_point(|(_, up_to)| *up_to <= share);
        let (Some(first), Some(second)) = (self.points.get(above.wrapping_sub(1)), self.points.get(above))
        else {
            return self.largest();
        };
        let part =
            u128::from(second.0 - first.0) * u128::from(share - first.1) / u128::from(second.1 - first.1);
        first.0 + part as u64
    }

    /// Draws a size of at least 1 byte.
    #[inline]
    pub fn draw(&self, draw: &mut Draw) -> u64 {
        self.quantile(draw.below(WHOLE)).max(1)
    }
}

/// A line with a point.
struct Row<'a> {
    number: usize,
    bytes: u64,
    column: usize,
    share: &'a str,
    share_column: usize,
}

/// Returns words and the columns at which they start, from 0.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace().map(move |word| {
        let bytes = word.as_ptr() as usize - line.as_ptr() as usize;
        (line[..bytes].chars().count(), word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Model: int §5.1 and §5.2.
    const WEB_SEARCH: &str = "0 0\n10000 15\n20000 20\n30000 30\n50000 40\n80000 53\n200000 60\n1000000 70\n\
                              2000000 80\n5000000 90\n10000000 97\n30000000 100";
    const ALI_STORAGE: &str = "0 0\n4000 22.93\n8000 69.21\n16000 80.61\n32000 90.47\n64000 93.53\n128000 96.77\n256000 97.53\n2000000 100\n";
    const SOLAR: &str =
        "0 0\n4095 0.001\n4096 30.0\n16383 35.0\n16384 50.0\n65535 60.0\n65536 95.0\n262144 100.0";

    #[test]
    fn means_and_quantiles_of_known_workloads() {
        let percent = WHOLE / 100;
        let cases = [
            (WEB_SEARCH, 1_711_250, [73_076, 5_000_000, 8_571_428, 23_333_333]),
            (ALI_STORAGE, 40_869, [6_339, 31_237, 93_037, 1_293_927]),
            (SOLAR, 39_423, [16_384, 65_535, 65_536, 222_822]),
        ];
        for (text, mean, quantiles) in cases {
            let cdf = Cdf::parse("test", text).unwrap();
            assert_eq!(cdf.mean(), mean);
            assert_eq!([50, 90, 95, 99].map(|p| cdf.quantile(p * percent)), quantiles);
            assert_eq!((cdf.quantile(0), cdf.quantile(WHOLE)), (0, cdf.largest()));
        }
    }

    #[test]
    fn fractions_and_comments() {
        let text = "# frames\n64 0\n\n128\t0.25 # a quarter\n1518 1\n";
        let cdf = Cdf::parse("test", text).unwrap();
        assert_eq!(cdf, Cdf::parse("test", "64 0\n128 25\n1518 100").unwrap());
        assert_eq!(cdf.quantile(WHOLE / 8), 96);
        let mut draw = Draw::new(1, 0);
        let small = (0..10_000).filter(|_| cdf.draw(&mut draw) < 128).count();
        assert!((2_370..2_630).contains(&small), "{small}");
    }

    #[test]
    fn what_leaves_the_format_is_refused_with_its_place() {
        let refusal = |text| Cdf::parse("a.txt", text).unwrap_err().to_string();
        assert!(refusal("").starts_with("a.txt:1:1: found no point"));
        assert!(refusal("0 0\n100 99").starts_with("a.txt:2:5: last share: found `99`, expected 100"));
        assert!(refusal("0 1\n100 100").starts_with("a.txt:1:3: first share: found `1`, expected 0"));
        assert!(
            refusal("0 0\n9 50\n9 60\n10 100").starts_with("a.txt:3:1: size: found 9, expected more than 9")
        );
        assert!(refusal("0 0\n9 50\n  10 50\n11 100").starts_with("a.txt:3:6: share: found `50`"));
        assert!(refusal("0 0\nx 100").starts_with("a.txt:2:1: size: found `x`"));
        assert!(refusal("0 0\n10").starts_with("a.txt:2:3: found no share"));
        assert!(refusal("0 0\n10 5 3\n11 100").starts_with("a.txt:2:6: found `3`"));
        assert!(refusal("0 0\n10 -5\n11 100").starts_with("a.txt:2:4: share: found `-5`"));
    }
}
