//! The shared buffer against the facts sheet: thresholds, golden packet counts, coupling, invariants, refusals.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bad;
mod coupling;
mod golden;
mod invariants;
mod ledger;
mod shipped;
mod support;
mod thresholds;
