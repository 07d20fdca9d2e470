//! The error of lowering.

/// Reason why the engine cannot run a placed program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine cannot run this program: {reason}")]
pub struct LowerError {
    reason: String,
}

impl LowerError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        LowerError { reason: reason.into() }
    }
}
