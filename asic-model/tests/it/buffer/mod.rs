//! The shared buffer against the facts sheet: thresholds, golden packet counts, coupling, invariants, refusals.

mod bad;
mod coupling;
mod golden;
mod invariants;
mod ledger;
mod shipped;
mod support;
mod thresholds;
