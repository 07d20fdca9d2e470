//! The traffic manager: buffer, queues, schedulers, replication, mirror sessions.

use crate::clock::Clock;
use crate::units::{Bytes, Cells};
use serde::{Deserialize, Serialize};

/// Formula for the dynamic limit of a queue or priority group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BafRule {
    /// `limit = free * alpha`, alpha a power of two: the share in steady state is alpha / (1 + alpha).
    Alpha,
    /// `limit = free * share`, where `share` is the percentage that the driver's documentation prints.
    Share,
}

/// Sizes and defaults of the traffic manager (model: tm §1, §2, §4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TmSpec {
    /// The core clock of the traffic manager (model: cycles §6).
    pub clock: Clock,
    /// The clock on which shaper rates are counted (model: tm §4).
    pub shaper_clock: Clock,
    /// Bytes per buffer cell.
    pub cell: Bytes,
    /// Cells of the packet buffer.
    pub cells: Cells,
    /// Cells that all ports together may use.
    pub global_limit: Cells,
    /// Cells of the global minimum region; 0 if there is none.
    pub global_minimum: Cells,
    /// Port groups per pipe.
    pub port_groups: u32,
    /// Ports per port group.
    pub ports_per_group: u32,
    /// The traffic manager's port for mirror copies; its number follows those of the pipe's own ports.
    pub mirror_port: u32,
    /// Priority groups per pipe, in addition to one default priority group per port.
    pub priority_groups: u32,
    /// Ingress classes of service, which are also the PFC levels.
    pub cos_levels: u32,
    /// Application pools at ingress.
    pub ingress_pools: u32,
    /// Application pools at egress.
    pub egress_pools: u32,
    /// Queues per port group.
    pub queues_per_group: u32,
    /// Queues of a port when a group's queues are spread evenly, and the least it can have.
    pub queues_per_port: u32,
    /// Bits of a queue id in metadata.
    pub queue_id_bits: u32,
    /// Second-level scheduler nodes per port group; 0 if queues hang directly off ports.
    pub l1_nodes_per_group: u32,
    /// Queue profiles.
    pub queue_profiles: u32,
    /// Hysteresis profiles.
    pub hysteresis_profiles: u32,
    /// Cells per hysteresis unit.
    pub hysteresis_unit: Cells,
    /// Hysteresis after reset, in units.
    pub hysteresis_default: u32,
    /// Longest packet in cells that unicast cut-through takes.
    pub cut_through_limit: Cells,
    /// Powers of two of the dynamic-limit table: alpha = 2^k, from the least share to the largest.
    pub baf_alpha_log2: Vec<i32>,
    /// Formula of the dynamic limit (assumption).
    pub baf_rule: BafRule,
    /// Width of a cell count: `alpha * pool` must stay below two to this power; 0 if not restricted.
    pub baf_limit_bits: u32,
    /// Step of colour limits, in per mille of the green limit.
    pub colour_step_per_mille: u32,
    /// Yellow and red limits after reset, in per mille of the green limit.
    pub colour_default_per_mille: u32,
    /// Guaranteed cells per queue after reset.
    pub queue_guarantee: Cells,
    /// Cells of the unicast cut-through pool after reset.
    pub unicast_cut_through_pool: Cells,
    /// Cells of the multicast cut-through pool after reset.
    pub multicast_cut_through_pool: Cells,
    /// Cells reserved for multicast in application pool 3 after reset.
    pub multicast_reserve: Cells,
    /// Cells per port for negative mirroring after reset.
    pub negative_mirror_per_port: Cells,
    /// Headroom (skid) cells after reset; lossless traffic needs some.
    pub skid_pool: Cells,
    /// Strict priorities per scheduling class.
    pub priorities: u32,
    /// Largest DWRR weight, and the weight after reset.
    pub weight_max: u32,
    /// Bytes of credit per unit of DWRR weight and round (assumption).
    pub dwrr_quantum: Bytes,
    /// Clocks over which a shaper's rate is counted.
    pub shaper_period: u32,
    /// Bits of a shaper rate's mantissa.
    pub shaper_mantissa_bits: u32,
    /// Bits of a shaper rate's exponent.
    pub shaper_exponent_bits: u32,
    /// Largest mantissa of a shaper burst.
    pub burst_mantissa_max: u32,
    /// Largest left shift of a shaper burst.
    pub burst_shift_max: u32,
    /// Burst of a queue's shaper after reset.
    pub queue_burst: Bytes,
    /// Burst of a port's shaper after reset.
    pub port_burst: Bytes,
    /// Bytes added per packet by shapers for preamble and inter-packet gap.
    pub frame_gap: Bytes,
    /// Bits of the enqueue and dequeue timestamps, in nanoseconds (model: tm §11).
    pub timestamp_bits: u32,
    /// Bits of a queue depth, in cells.
    pub depth_bits: u32,
    /// Entries of the advanced-flow-control visibility FIFO; 0 without the feature (model: tm §5).
    pub afc_fifo: u32,
    /// Bits of an advanced-flow-control credit; 0 without the feature.
    pub afc_credit_bits: u32,
    /// MAU cycles from a deparser's flow-control word to its effect on the queue (assumption).
    pub afc_cycles: u32,
    /// MAU cycles between two queue-depth updates that enter the ghost thread of a pipe (assumption); 0 without
    /// the feature (model: tm §6).
    pub ghost_interval_cycles: u32,
    /// Mirror sessions (model: tm §8).
    pub mirror_sessions: u32,
    /// Coalescing sessions among them.
    pub coalescing_sessions: u32,
    /// Bits of a mirror session id.
    pub mirror_session_bits: u32,
    /// Multicast group ids (model: tm §9).
    pub multicast_groups: u32,
    /// Members of a multicast ECMP node.
    pub multicast_ecmp_members: u32,
    /// Multicast LAG groups.
    pub multicast_lags: u32,
    /// Blocks of replication nodes.
    pub multicast_node_blocks: u32,
    /// Nodes per block.
    pub multicast_nodes_per_block: u32,
    /// Replication FIFOs per pipe.
    pub multicast_fifos: u32,
    /// Packets per replication FIFO after reset.
    pub multicast_fifo_limit: u32,
    /// Packet generator applications per pipe (model: tm §10).
    pub pktgen_apps: u32,
    /// Packet generator buffer per pipe.
    pub pktgen_buffer: Bytes,
    /// First bytes of a recirculated packet that the packet generator compares (model: tm §10).
    pub pktgen_match_bytes: u32,
    /// Trigger events that one packet generator application holds, the one being served included (assumption on
    /// Tofino).
    pub pktgen_events: u32,
}

impl TmSpec {
    /// Returns the queues per pipe.
    pub fn queues_per_pipe(&self) -> u32 {
        self.port_groups.saturating_mul(self.queues_per_group)
    }

    /// Returns the ports per pipe, the mirror port not included.
    pub fn ports_per_pipe(&self) -> u32 {
        self.port_groups.saturating_mul(self.ports_per_group)
    }

    /// Returns the bytes of the packet buffer.
    pub fn buffer(&self) -> Bytes {
        self.cells.bytes(self.cell)
    }
}
