//! Parsers and deparsers.

use crate::units::BitRate;
use serde::{Deserialize, Serialize};

/// A pipe's parsers (model: chip §6.1-§6.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParserSpec {
    /// Parser instances per gress and pipe.
    pub instances: u32,
    /// State transitions (TCAM rows) per parser.
    pub tcam_rows: u32,
    /// Bits of a state id.
    pub state_bits: u32,
    /// 16-bit match registers, each also usable as two bytes of one pair.
    pub match_halves: u32,
    /// 8-bit match registers in addition to the 16-bit ones.
    pub match_bytes: u32,
    /// Scratch bytes that carry packet bytes to a later state.
    pub scratch_bytes: u32,
    /// Packet bytes visible to a state.
    pub window_bytes: u32,
    /// Largest shift of a state in bytes.
    pub max_shift: u32,
    /// 8-bit extractors per state.
    pub extract_8: u32,
    /// 16-bit extractors per state; where others are 0, a 32-bit container uses two of these.
    pub extract_16: u32,
    /// 32-bit extractors per state.
    pub extract_32: u32,
    /// Contiguous bits that a constant written by a 16-bit extractor may have.
    pub constant_bits_16: u32,
    /// Contiguous bits that a constant written by a 32-bit extractor may have; 0 without such extractors.
    pub constant_bits_32: u32,
    /// Checksum units.
    pub checksum_units: u32,
    /// Rows of checksum configuration.
    pub checksum_rows: u32,
    /// Depth of the counter's stack; 0 if the counter cannot be pushed.
    pub counter_stack: u32,
    /// Rows of the counter's initialisation RAM.
    pub counter_init_rows: u32,
    /// Deepest byte that ingress may parse.
    pub ingress_depth: u32,
    /// Deepest byte that egress may parse.
    pub egress_depth: u32,
    /// Bytes that egress must parse at least (padding states are added); 0 if there is no such rule.
    pub egress_min_depth: u32,
    /// True if a container may be cleared as it is written.
    pub clear_on_write: bool,
    /// Ingress intrinsic metadata in front of the packet, in bytes.
    pub ingress_intrinsic_bytes: u32,
    /// Port metadata (phase 0) in front of the packet, in bytes.
    pub port_metadata_bytes: u32,
    /// Padding after the port metadata, in bytes.
    pub port_metadata_pad: u32,
    /// Resubmitted data, which takes the place of port metadata, in bytes.
    pub resubmit_bytes: u32,
    /// Least egress intrinsic metadata, in bytes.
    pub egress_intrinsic_min: u32,
    /// All egress intrinsic metadata, in bytes.
    pub egress_intrinsic_full: u32,
    /// CLOT tags (packet bytes carried around the PHV) per gress; 0 if there are none.
    pub clot_tags: u32,
    /// CLOTs alive in one packet.
    pub clots_live: u32,
    /// CLOTs that a state may start.
    pub clots_per_state: u32,
    /// Largest CLOT in bytes.
    pub clot_bytes: u32,
    /// Least gap between CLOTs in bytes.
    pub clot_gap: u32,
    /// Last packet byte that a CLOT may hold.
    pub clot_last_byte: u32,
    /// Line rate that one parser must keep (model: chip §6.2).
    pub line_rate: BitRate,
    /// Packets that wait for one port's parser before the port overruns (assumption).
    pub fifo_packets: u32,
}

/// A gress's deparser (model: chip §6.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeparserSpec {
    /// Field dictionary entries, or chunks, per gress.
    pub entries: u32,
    /// Bytes per dictionary entry or chunk.
    pub entry_bytes: u32,
    /// Chunks per group; 0 if the dictionary is not grouped.
    pub chunks_per_group: u32,
    /// CLOTs per chunk group.
    pub clots_per_group: u32,
    /// Header-validity bits that the deparser reads.
    pub pov_bits: u32,
    /// Longest header that can be emitted, in bytes.
    pub max_header_bytes: u32,
    /// Checksum units.
    pub checksum_units: u32,
    /// Checksum units whose result can be inverted.
    pub checksum_invertible: u32,
    /// Constant bytes that can be emitted.
    pub constant_bytes: u32,
    /// Digest (learn) types.
    pub digest_types: u32,
    /// Longest digest in bytes.
    pub digest_bytes: u32,
    /// Mirror types.
    pub mirror_types: u32,
    /// Mirror types at ingress that programs cannot use (type 0).
    pub mirror_types_reserved: u32,
    /// Longest mirror header in bytes, the session id included.
    pub mirror_bytes: u32,
    /// Resubmit types.
    pub resubmit_types: u32,
    /// Longest resubmit payload in bytes.
    pub resubmit_bytes: u32,
    /// Bytes that a deparser request hands to the packet generator; 0 if there is none.
    pub pktgen_bytes: u32,
    /// PHVs that the deparser can track in flight; 0 if that never limits the rate.
    pub phvs_in_flight: u32,
    /// Cycles added to a gress's latency when in-flight PHVs are counted.
    pub in_flight_extra_cycles: u32,
}
