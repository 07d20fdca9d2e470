//! Constants of the latency model.

use crate::units::Duration;
use serde::{Deserialize, Serialize};

/// Constants of the latency formulas, in cycles of the MAU clock (model: cycles §1-§3). Public sources do not give the
/// values marked "assumption"; see [`super::ChipSpec::assumptions`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencySpec {
    /// Cycles of a stage without adders.
    pub base: u32,
    /// Predication cycle of a stage without adders.
    pub base_predication: u32,
    /// Cycles added if the stage group uses a TCAM or a wide selector.
    pub tcam: u32,
    /// Cycles added if the stage group uses a selector.
    pub selector: u32,
    /// Cycles added if the stage group uses a stateful divide (and no selector).
    pub stateful_divide: u32,
    /// Cycles added if the stage group uses a register (and neither of the above).
    pub stateful: u32,
    /// Cycles added if the stage group uses an LPF or WRED meter (and none of the above).
    pub lpf_wred: u32,
    /// Cycles that an action-dependent stage contributes.
    pub action_contribution: u32,
    /// Cycles that a concurrent stage contributes; 0 if the chip has no concurrent dependency.
    pub concurrent_contribution: u32,
    /// Cycles of the turn from the first half of the stages to the second.
    pub corner_turn: u32,
    /// Stage that always counts as match-dependent, in addition to stage 0; 0 if there is none.
    pub forced_match_stage: u32,
    /// Least egress latency in cycles, counted as the assembler does; 0 if there is no such rule.
    pub min_egress: u32,
    /// Cycles from a meter ALU group's input to its data at logical row 0 (model: cycles §5).
    pub meter_alu_data: u32,
    /// Cycles per parser state, that is per matched parser TCAM row (model: chip §6.2).
    pub parser_cycles_per_state: u32,
    /// Cycles of a parser in addition to its states (assumption).
    pub parser_fixed: u32,
    /// Cycles from the last stage to the end of the deparser (assumption).
    pub deparser: u32,
    /// Cycles from the ingress deparser until a packet can be dequeued (assumption).
    pub tm_enqueue: u32,
    /// Cycles from a packet's selection by the scheduler to the egress parser (assumption).
    pub tm_dequeue: u32,
    /// Time from a bit on the wire to the ingress buffer (assumption).
    pub mac_rx: Duration,
    /// Time from the egress deparser to the wire (assumption).
    pub mac_tx: Duration,
    /// Time by which a port's scheduler may run ahead of its line, in addition to the egress pipe's latency: the
    /// variation that the MAC's transmit FIFO absorbs (assumption).
    pub tx_ahead: Duration,
    /// Cycles from the ingress deparser back to the ingress parser for a resubmitted packet (assumption).
    pub resubmit: u32,
    /// Time from the egress deparser to the ingress buffer over a recirculation port (assumption).
    pub recirculation: Duration,
}
