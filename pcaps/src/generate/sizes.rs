//! [`Sizes`]: distribution of frame lengths.

use std::ops::RangeInclusive;

use super::quantity::parse_range;
use super::{Cdf, Draw, GenerateError};

/// Least frame length, in bytes without FCS.
pub const MIN_LEN: u32 = 60;
/// Largest frame length, so that every IP length fits its field.
pub const MAX_LEN: u32 = 65_535;

/// Distribution of frame lengths, in bytes without FCS, from [`MIN_LEN`] to [`MAX_LEN`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// Drawn evenly.
    Range(RangeInclusive<u32>),
    /// One length of a list, with these weights.
    Weighted(Vec<(u32, u32)>),
    /// Drawn by a cumulative distribution; lengths below [`MIN_LEN`] are raised to it.
    Cdf(Cdf),
}

impl Sizes {
    /// Parses `64`, `64..1518`, or lengths with weights as `64:7,594:4,1518:1`.
    ///
    /// # Errors
    /// Fails if the text has another form, or if lengths or weights are out of range.
    pub fn parse(text: &str) -> Result<Self, GenerateError> {
        let sizes = if text.contains(':') {
            let bad = || GenerateError::text("size", text, "lengths with weights as 64:7,594:4,1518:1");
            let pair = |part: &str| {
                let (len, weight) = part.split_once(':').ok_or_else(bad)?;
                Ok((len.trim().parse().map_err(|_| bad())?, weight.trim().parse().map_err(|_| bad())?))
            };
            Self::Weighted(text.split(',').map(pair).collect::<Result<_, GenerateError>>()?)
        } else {
            Self::Range(parse_range("size", text, u32::MAX)?)
        };
        sizes.check()?;
        Ok(sizes)
    }

    /// Refuses lengths that no frame can have.
    pub(super) fn check(&self) -> Result<(), GenerateError> {
        let check = |len: u32| GenerateError::check("size", len.into(), MIN_LEN.into(), MAX_LEN.into());
        match self {
            Self::Range(range) => {
                let (first, last) = (*range.start(), *range.end());
                check(first)?;
                check(last)?;
                if first > last {
                    return Err(GenerateError::EmptyRange { field: "size", first, last });
                }
            }
            Self::Weighted(list) => {
                list.iter().try_for_each(|(len, _)| check(*len))?;
                let sum: u64 = list.iter().map(|(_, weight)| u64::from(*weight)).sum();
                GenerateError::check("sum of the weights in size", sum, 1, u64::MAX)?;
            }
            Self::Cdf(cdf) => {
                let most = u64::from(MAX_LEN);
                GenerateError::check("largest size of the CDF", cdf.largest(), MIN_LEN.into(), most)?;
            }
        }
        Ok(())
    }

    /// Returns the largest length.
    pub fn largest(&self) -> u32 {
        match self {
            Self::Range(range) => *range.end(),
            Self::Weighted(list) => list.iter().map(|(len, _)| *len).max().unwrap_or(MIN_LEN),
            Self::Cdf(cdf) => u32::try_from(cdf.largest()).unwrap_or(MAX_LEN),
        }
    }

    /// Draws a length.
    #[inline]
    pub(super) fn draw(&self, draw: &mut Draw) -> u32 {
        match self {
            Self::Range(range) => draw.between(*range.start(), *range.end()),
            Self::Weighted(list) => {
                let sum = list.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut place = draw.below(sum);
                for (len, weight) in list {
                    match place.checked_sub((*weight).into()) {
                        None => return *len,
                        Some(rest) => place = rest,
                    }
                }
                MIN_LEN
            }
            Self::Cdf(cdf) => u32::try_from(cdf.draw(draw)).unwrap_or(MAX_LEN).max(MIN_LEN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_kept() {
        let sizes = Sizes::parse("64:7,594:4,1518:1").unwrap();
        assert_eq!(sizes.largest(), 1518);
        let mut draw = Draw::new(1, 0);
        let mut counts = [0; 3];
        for _ in 0..12_000 {
            let index = match sizes.draw(&mut draw) {
                64 => 0,
                594 => 1,
                1518 => 2,
                other => panic!("{other}"),
            };
            counts[index] += 1;
        }
        for (count, expected) in counts.iter().zip([7_000i32, 4_000, 1_000]) {
            assert!((expected - count).abs() < 170, "{counts:?}");
        }
    }

    #[test]
    fn lengths_that_no_frame_has_are_refused() {
        let refusal = |text| Sizes::parse(text).unwrap_err().to_string();
        assert_eq!(refusal("59"), "size: found 59, expected 60 to 65535");
        assert_eq!(refusal("64..70000"), "size: found 70000, expected 60 to 65535");
        assert_eq!(
            refusal("64:0"),
            format!("sum of the weights in size: found 0, expected 1 to {}", u64::MAX)
        );
        assert!(refusal("64:7,x").starts_with("size: found `64:7,x`, expected lengths with weights"));
        assert!(refusal("big").starts_with("size: found `big`"));
    }
}
