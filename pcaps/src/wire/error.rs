//! Errors of header bytes.

/// Bytes that are not a header of the protocol, or a value that does not fit its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Too few bytes.
    #[error("{protocol}: found {found} bytes, expected at least {expected}")]
    Short {
        /// Protocol of the header.
        protocol: &'static str,
        /// Bytes given.
        found: usize,
        /// Bytes needed.
        expected: usize,
    },
    /// A field has a value that the protocol does not allow.
    #[error("{protocol}: found {field} {found:#x}, expected {expected}")]
    Field {
        /// Protocol of the header.
        protocol: &'static str,
        /// Field.
        field: &'static str,
        /// Value found.
        found: u64,
        /// Allowed values.
        expected: &'static str,
    },
    /// A length does not fit its field.
    #[error("{protocol}: found a length of {found} bytes, expected at most {expected}; shorten the payload")]
    Long {
        /// Protocol of the header.
        protocol: &'static str,
        /// Bytes given.
        found: usize,
        /// Largest length that the field can hold.
        expected: usize,
    },
}

/// Splits the fixed part of a header off `bytes`.
pub(super) fn split<'a, const N: usize>(
    protocol: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8; N], &'a [u8]), WireError> {
    bytes.split_first_chunk().ok_or(WireError::Short { protocol, found: bytes.len(), expected: N })
}
