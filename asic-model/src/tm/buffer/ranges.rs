//! Selectors of ports, groups or queues in a profile file: `3-4,7`, `*` for all, `others` for those that no earlier
//! entry names. For ports, `*` selects the front panel and `internal` selects all other ports.

/// A parsed selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selector {
    All,
    Others,
    /// Ports that are not on the front panel.
    Internal,
    /// Inclusive ranges.
    Ranges(Vec<(u32, u32)>),
}

impl Selector {
    /// Parses a selector. The error is the description of the problem.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "*" => return Ok(Self::All),
            "others" => return Ok(Self::Others),
            "internal" => return Ok(Self::Internal),
            _ => {}
        }
        let number = |part: &str| part.trim().parse::<u32>().ok();
        let range = |part: &str| match part.split_once('-') {
            None => number(part).map(|n| (n, n)),
            Some((first, last)) => Some((number(first)?, number(last)?)).filter(|(a, b)| a <= b),
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        ranges.map(Self::Ranges).ok_or_else(|| {
            format!(
                "`{text}` names nothing; expected numbers and ranges such as `3-4,7`, or `*`, or `others`"
            )
        })
    }

    /// Returns the selected numbers below `end`. `taken` returns true for numbers that earlier entries named.
    pub(super) fn members(&self, end: u32, taken: impl Fn(u32) -> bool) -> Vec<u32> {
        match self {
            Self::All => (0..end).collect(),
            Self::Others => (0..end).filter(|n| !taken(*n)).collect(),
            Self::Internal => Vec::new(),
            Self::Ranges(list) => {
                list.iter().flat_map(|(a, b)| *a..=(*b).min(end.saturating_sub(1))).collect()
            }
        }
    }

    /// Returns the largest number that the selector names.
    pub(super) fn largest(&self) -> Option<u32> {
        match self {
            Self::All | Self::Others | Self::Internal => None,
            Self::Ranges(list) => list.iter().map(|(_, last)| *last).max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors() {
        let of = |text: &str| Selector::parse(text).map(|s| s.members(8, |n| n == 3));
        assert_eq!(of("3-4, 7"), Ok(vec![3, 4, 7]));
        assert_eq!(of("*").map(|v| v.len()), Ok(8));
        assert_eq!(of("others"), Ok(vec![0, 1, 2, 4, 5, 6, 7]));
        assert_eq!(of("6-99"), Ok(vec![6, 7]));
        assert_eq!(Selector::parse("6-99").unwrap().largest(), Some(99));
        for bad in ["", "4-3", "x", "1,,2", "-1"] {
            assert!(Selector::parse(bad).is_err(), "{bad}");
        }
    }
}
