//! Serialises measured numbers with six decimals, which is more than any of them means.

use serde::{Serialize, Serializer};

/// Rounds to six decimals.
#[must_use]
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Serialises a number.
///
/// # Errors
/// Returns the errors of the serializer.
pub fn one<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*value))
}

pub(crate) fn maybe<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(rounded).serialize(serializer)
}

pub(crate) fn all<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().copied().map(rounded))
}

pub(crate) fn maybe_all<S: Serializer>(values: &Option<Vec<f64>>, serializer: S) -> Result<S::Ok, S::Error> {
    match values {
        Some(values) => all(values, serializer),
        None => serializer.serialize_none(),
    }
}
