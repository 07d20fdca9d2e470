//! Errors of a generator's configuration and of its input files.

use super::{Prefix, PrefixError};
use crate::wire::WireError;

/// Reason for which nothing can be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A number is out of its range.
    #[error("{field}: found {found}, expected {least} to {most}")]
    Range {
        /// Field of the configuration.
        field: &'static str,
        /// Value found.
        found: u64,
        /// Least value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// A range's end is less than its start.
    #[error("{field}: found {first}..{last}, expected the first to be no more than the last")]
    EmptyRange {
        /// Field of the configuration.
        field: &'static str,
        /// Least value.
        first: u32,
        /// Largest value.
        last: u32,
    },
    /// A text is not a valid value of its field.
    #[error("{field}: found `{found}`, expected {expected}")]
    Text {
        /// Field, flag or column.
        field: &'static str,
        /// The text.
        found: String,
        /// Accepted values.
        expected: &'static str,
    },
    /// There are fewer five-tuples than flows.
    #[error(
        "flows: found {flows}, expected at most {most}, because {destination} has no more five-tuples; widen src, dst, sport or dport"
    )]
    FewTuples {
        /// Requested number of flows.
        flows: u32,
        /// Largest possible number of flows.
        most: u128,
        /// Destination whose five-tuples run out first.
        destination: Prefix,
    },
    /// There are flows of an address family, but a list of prefixes has none of that family.
    #[error(
        "{field}: found no {family} prefix, expected one for the share of such flows; add one or change the share of IPv6"
    )]
    NoPrefix {
        /// Field of the configuration.
        field: &'static str,
        /// `IPv4` or `IPv6`.
        family: &'static str,
    },
    /// Addresses must be IPv4, but are not.
    #[error("{what} supports only IPv4; found IPv6 addresses, expected IPv4 ones")]
    OnlyIpv4 {
        /// The protocol.
        what: &'static str,
    },
    /// Source and destination are of different families.
    #[error("src and dst: found IPv4 and IPv6, expected one family")]
    MixedFamilies,
    /// A value is not a prefix.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// A value does not fit in its header.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl GenerateError {
    /// Refuses a number that is out of its range.
    pub(super) fn check(field: &'static str, found: u64, least: u64, most: u64) -> Result<(), Self> {
        if (least..=most).contains(&found) {
            return Ok(());
        }
        Err(Self::Range { field, found, least, most })
    }

    pub(super) fn text(field: &'static str, found: &str, expected: &'static str) -> Self {
        Self::Text { field, found: found.to_owned(), expected }
    }
}

/// Problem of a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {what}")]
pub struct FileError {
    /// Name of the file, as given by the caller.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Field, value found, value expected.
    pub what: String,
}
