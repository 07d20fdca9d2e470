//! [`Fault`]: what is wrong with a workload, and with which key.

use std::borrow::Cow;
use thiserror::Error;

/// Reason why a workload is rejected. The reader of its file adds the line of the key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {what}")]
pub struct Fault {
    /// Key of the workload's table.
    pub key: Cow<'static, str>,
    /// The wrong value, the allowed ones, and a remedy.
    pub what: String,
}

impl Fault {
    /// Creates a fault of this key.
    #[must_use]
    pub fn new(key: impl Into<Cow<'static, str>>, what: impl Into<String>) -> Fault {
        Fault { key: key.into(), what: what.into() }
    }
}
