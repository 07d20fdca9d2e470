//! The shared buffer against `docs/model/buffer.md`: thresholds, golden packet counts, coupling, invariants, refusals.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bad;
mod coupling;
mod golden;
mod invariants;
mod ledger;
mod shipped;
mod support;
mod thresholds;
