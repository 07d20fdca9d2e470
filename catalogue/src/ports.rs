//! Ranges of front-panel ports, in the text form of programs' parameters.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Front-panel ports `first` to `last`, both included. The text form is `4-7`, or `4` for a single port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The first port.
    pub first: u16,
    /// The last port, at least `first`.
    pub last: u16,
}

impl PortRange {
    /// Returns the ports in order.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        self.first..=self.last
    }

    /// Returns true if the range includes the port.
    #[must_use]
    pub fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }

    /// Returns true if the ranges have a port in common.
    #[must_use]
    pub fn meets(self, other: PortRange) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Error: a text is not a range of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("write the first and the last port in ascending order: 4-7")]
pub struct NoRange;

impl FromStr for PortRange {
    type Err = NoRange;

    fn from_str(text: &str) -> Result<PortRange, NoRange> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let [first, last] = [first, last].map(|n| n.trim().parse::<u16>());
        match (first, last) {
            (Ok(first), Ok(last)) if first <= last => Ok(PortRange { first, last }),
            _ => Err(NoRange),
        }
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}
