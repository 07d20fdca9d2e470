//! What one chip has and another lacks.

use serde::{Deserialize, Serialize};

/// Capabilities that a program can require; one that the chip lacks is a "does not fit" with that reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Advanced flow control: a deparser word pauses a queue (facts: asic §8.5).
    pub advanced_flow_control: bool,
    /// The ghost thread: queue-depth updates run through the ingress stages (facts: asic §8.6).
    pub ghost: bool,
    /// The concurrent stage dependency (facts: asic §1.1).
    pub concurrent_dependency: bool,
    /// Several successors of a table (bitmaps) instead of a chain (facts: asic §3.7).
    pub parallel_next_tables: bool,
    /// An instruction that runs in every stage without a table (facts: asic §1.1).
    pub always_run_action: bool,
    /// A memory core split at its middle, so that no synthetic memory crosses it (facts: asic §1.3).
    pub memory_core_split: bool,
    /// Byte counts taken when the egress packet has really ended (facts: asic §5).
    pub true_eop: bool,
    /// Mirror destination and QoS overridden per packet by the program (facts: asic §8.8).
    pub mirror_overrides: bool,
    /// Truncation length set per packet by the program (facts: asic §6.4).
    pub mtu_truncation: bool,
    /// Deparser requests and received PFC as packet generator triggers (facts: asic §8.10).
    pub deparser_pktgen: bool,
    /// Gaps of the packet generator counted from the end of a packet or batch, not from its start (driver's
    /// documentation).
    pub pktgen_gap_after_packet: bool,
    /// Deflection of mirror copies that would be dropped (facts: asic §8.7).
    pub mirror_deflect_on_drop: bool,
    /// A match on a mocha container makes the stage match-dependent (facts: asic §2.2).
    pub mocha_match_dependency: bool,
}
