//! Features that differ between chips.

use serde::{Deserialize, Serialize};

/// Features that a program can require. If the chip lacks one, the program does not fit, and the feature is the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Advanced flow control: a deparser word pauses a queue (model: tm §5).
    pub advanced_flow_control: bool,
    /// The ghost thread: queue-depth updates run through the ingress stages (model: tm §6).
    pub ghost: bool,
    /// The concurrent stage dependency (model: chip §1.1).
    pub concurrent_dependency: bool,
    /// Several successors of a table (bitmaps) instead of a chain (model: chip §3.7).
    pub parallel_next_tables: bool,
    /// An instruction that runs in every stage without a table (model: chip §1.1).
    pub always_run_action: bool,
    /// A memory core split at its middle, so that no synthetic memory crosses it (model: chip §1.3).
    pub memory_core_split: bool,
    /// Byte counts taken when the egress packet has really ended (model: chip §5).
    pub true_eop: bool,
    /// Mirror destination and QoS overridden per packet by the program (model: tm §8).
    pub mirror_overrides: bool,
    /// Truncation length set per packet by the program (model: chip §6.4).
    pub mtu_truncation: bool,
    /// Deparser requests and received PFC as packet generator triggers (model: tm §10).
    pub deparser_pktgen: bool,
    /// Gaps of the packet generator counted from the end of a packet or batch, not from its start (driver's
    /// documentation).
    pub pktgen_gap_after_packet: bool,
    /// Deflection of mirror copies that would be dropped (model: tm §7).
    pub mirror_deflect_on_drop: bool,
    /// A match on a mocha container makes the stage match-dependent (model: chip §2.2).
    pub mocha_match_dependency: bool,
}
