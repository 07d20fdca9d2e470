//! Constants of the compiler's power model.

use serde::{Deserialize, Serialize};

/// Energy of memory accesses, in nanowatts per access of every packet at full rate (model: cycles §7), and the limit of
/// their sum. Full rate is one packet per cycle in every pipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerSpec {
    /// Reading an SRAM.
    pub sram_read: u64,
    /// Writing an SRAM.
    pub sram_write: u64,
    /// Searching a TCAM block.
    pub tcam_search: u64,
    /// Reading a map RAM.
    pub map_ram_read: u64,
    /// Writing a map RAM.
    pub map_ram_write: u64,
    /// Reading an SRAM at the end of a packet, when its length is known.
    pub deferred_read: u64,
    /// Writing an SRAM at the end of a packet.
    pub deferred_write: u64,
    /// Limit of the sum over all pipes.
    pub limit: u64,
}
