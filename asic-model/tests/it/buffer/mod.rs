//! The shared buffer against `docs/model/buffer.md`: thresholds, golden packet counts, coupling, invariants, refusals.

mod bad;
mod coupling;
mod golden;
mod invariants;
mod ledger;
mod pass;
mod shipped;
mod sonic;
mod sonic_chips;
mod support;
mod thresholds;
