//! The match-action unit of one pipe: stages and the resources of one stage.

use crate::clock::Clock;
use serde::{Deserialize, Serialize};

/// Stages and per-stage resources of a pipe's MAU. Each stage is one pool that ingress, egress and ghost
/// share (model: chip §1.1, §1.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MauSpec {
    /// The clock at which the MAU takes one PHV per gress and cycle (model: cycles §6).
    pub clock: Clock,
    /// Stages per pipe (model: chip §1.1).
    pub stages: u32,
    /// Logical tables per stage (model: chip §1.1).
    pub logical_tables: u32,
    /// Tags that carry a table activation over several stages; 0 if there are none (model: chip §3.7).
    pub long_branch_tags: u32,
    /// Bits of a next-table code (model: chip §3.7).
    pub next_table_bits: u32,
    /// The next-table code that means "end of pipe" (model: chip §1.1).
    pub next_table_end: u32,
    /// Entries of a logical table's successor map, indexed by overhead bits (model: chip §3.7).
    pub successor_map_entries: u32,
    /// Bits of an entry of the action instruction map (model: chip §1.1).
    pub action_map_bits: u32,

    /// Physical rows of the SRAM array (model: chip §1.2).
    pub sram_rows: u32,
    /// Columns of SRAM left of the row's centre, without map RAM partners (model: chip §1.2).
    pub sram_left_columns: u32,
    /// Columns of SRAM right of the centre, each with a map RAM partner: the only place for counters,
    /// meters, registers and selectors (model: chip §1.2).
    pub sram_right_columns: u32,
    /// Words per SRAM block.
    pub sram_depth: u32,
    /// Bits per SRAM word.
    pub sram_width: u32,
    /// Rows of the map RAM array.
    pub map_ram_rows: u32,
    /// Columns of the map RAM array.
    pub map_ram_columns: u32,
    /// Words per map RAM.
    pub map_ram_depth: u32,
    /// Bits per map RAM word.
    pub map_ram_width: u32,
    /// Rows of the TCAM array.
    pub tcam_rows: u32,
    /// Columns of the TCAM array.
    pub tcam_columns: u32,
    /// Entries per TCAM block.
    pub tcam_depth: u32,
    /// Key bits per TCAM block: five bytes and a nibble.
    pub tcam_width: u32,
    /// TCAM match buses per stage.
    pub tcam_match_buses: u32,
    /// Ternary logical tables per stage.
    pub ternary_tables: u32,

    /// Groups of the exact-match input crossbar.
    pub exact_xbar_groups: u32,
    /// Bytes per group of the exact-match input crossbar.
    pub exact_xbar_group_bytes: u32,
    /// Groups of the ternary input crossbar.
    pub ternary_xbar_groups: u32,
    /// Bytes per group of the ternary input crossbar.
    pub ternary_xbar_group_bytes: u32,
    /// Mid bytes of the ternary crossbar, one shared by each pair of groups.
    pub ternary_xbar_mid_bytes: u32,

    /// Hash tables per stage, two per exact crossbar group.
    pub hash_tables: u32,
    /// Input bits per hash table.
    pub hash_table_bits: u32,
    /// Hash groups (functions) per stage, each the XOR of any of the hash tables.
    pub hash_groups: u32,
    /// RAM index slices per hash group.
    pub hash_index_slices: u32,
    /// Output bits per RAM index slice.
    pub hash_index_bits: u32,
    /// RAM select bits per hash group, above the index slices.
    pub hash_select_bits: u32,
    /// Hash distribution units per stage.
    pub hash_dist_units: u32,
    /// Slices per hash distribution unit.
    pub hash_dist_slices: u32,

    /// Rows of gateways.
    pub gateway_rows: u32,
    /// Gateways per row.
    pub gateways_per_row: u32,
    /// Ternary compare rows per gateway (model: chip §3.6).
    pub gateway_compare_rows: u32,
    /// Shifted crossbar bytes that a gateway compares (model: chip §3.6).
    pub gateway_bytes: u32,
    /// Hash bits that a gateway compares, also its limit for range compares (model: chip §3.6).
    pub gateway_hash_bits: u32,
    /// Constant entries that fit into gateway payloads: payload groups.
    pub gateway_payload_groups: u32,

    /// Exact-match search buses per SRAM row.
    pub search_buses_per_row: u32,
    /// Exact-match result buses per SRAM row.
    pub result_buses_per_row: u32,
    /// Ternary-indirection result buses per SRAM row.
    pub tind_buses_per_row: u32,
    /// Stash units per SRAM row.
    pub stash_units_per_row: u32,

    /// VLIW instruction rows.
    pub imem_rows: u32,
    /// Colours (instruction variants) per VLIW row.
    pub imem_colours: u32,
    /// Bytes of the action data bus.
    pub action_bus_bytes: u32,
    /// Physical 8-bit slots of the action data bus.
    pub action_bus_slots_8: u32,
    /// Physical 16-bit slots of the action data bus.
    pub action_bus_slots_16: u32,
    /// Physical 32-bit slots of the action data bus.
    pub action_bus_slots_32: u32,
    /// Action data bus outputs to the PHV ALUs of each size; the report's slot columns count these.
    pub action_slots_per_size: u32,
    /// Immediate action data per entry, in bits, kept in match or ternary-indirection overhead.
    pub immediate_bits: u32,
    /// Largest action data per entry, in bits (model: chip §3.4).
    pub action_data_bits: u32,
    /// Bits of the stage's random number generator.
    pub random_bits: u32,

    /// Logical rows (two per physical row) that hold a meter, stateful or selector ALU.
    pub meter_alu_rows: Vec<u32>,
    /// Logical rows that hold a counter ALU.
    pub stats_alu_rows: Vec<u32>,
    /// Logical rows that one meter, stateful or selector table may span (model: chip §1.3).
    pub meter_rows_per_alu: u32,
    /// First byte of an exact crossbar group whose bytes a meter ALU takes as operands (model: chip §1.3).
    pub alu_operand_byte: u32,
    /// Hash bits of one group, from the lowest on, that reach a meter ALU: operands that crossbar bytes cannot bring,
    /// and the input of selectors (model: chip §1.3).
    pub alu_hash_bits: u32,
    /// Logical rows that one counter table may span (model: chip §1.3).
    pub stats_rows_per_alu: u32,
    /// Physical rows that the memory of one ALU may span by overflow buses (model: chip §4.5).
    pub overflow_rows: u32,
    /// Idle-time buses per stage, both halves.
    pub idletime_buses: u32,

    /// Version and valid bits per exact or ternary entry (model: chip §3.1).
    pub version_bits: u32,
    /// Low bits of a RAM word, the only ones for match overhead (model: chip §3.1).
    pub overhead_bits: u32,
    /// Exact entries per single RAM row and bus group (model: chip §3.1).
    pub pack_per_row: u32,
    /// Exact entries per wide word (model: chip §3.1).
    pub pack_per_word: u32,
    /// Independent ways with which an exact table reaches its expected fill (model: chip §3.1).
    pub exact_ways: u32,
    /// Entries that the driver moves at most to make room for a new one in an exact table.
    pub exact_moves: u32,
    /// Percent of an exact table's rows that entries are expected to fill before an insertion fails (model: chip §3.1).
    pub exact_fill: u32,
    /// SRAMs that one exact table's ways may take in a stage (model: chip §3.1).
    pub exact_way_rams: u32,
    /// RAMs of one ATCAM partition that may cascade their priority within a row (model: chip §3.3).
    pub atcam_rams_per_row: u32,
}

impl MauSpec {
    /// Returns the SRAM columns per row.
    pub fn sram_columns(&self) -> u32 {
        self.sram_left_columns.saturating_add(self.sram_right_columns)
    }

    /// Returns the SRAM blocks per stage.
    pub fn srams(&self) -> u32 {
        self.sram_rows.saturating_mul(self.sram_columns())
    }

    /// Returns the map RAMs per stage.
    pub fn map_rams(&self) -> u32 {
        self.map_ram_rows.saturating_mul(self.map_ram_columns)
    }

    /// Returns the TCAM blocks per stage.
    pub fn tcams(&self) -> u32 {
        self.tcam_rows.saturating_mul(self.tcam_columns)
    }

    /// Returns the bytes of the exact-match input crossbar.
    pub fn exact_xbar_bytes(&self) -> u32 {
        self.exact_xbar_groups.saturating_mul(self.exact_xbar_group_bytes)
    }

    /// Returns the bytes of the ternary input crossbar, mid bytes included.
    pub fn ternary_xbar_bytes(&self) -> u32 {
        self.ternary_xbar_groups
            .saturating_mul(self.ternary_xbar_group_bytes)
            .saturating_add(self.ternary_xbar_mid_bytes)
    }

    /// Returns the output bits per hash group: RAM indices and select bits.
    pub fn hash_group_bits(&self) -> u32 {
        self.hash_index_slices.saturating_mul(self.hash_index_bits).saturating_add(self.hash_select_bits)
    }

    /// Returns the gateways per stage.
    pub fn gateways(&self) -> u32 {
        self.gateway_rows.saturating_mul(self.gateways_per_row)
    }

    /// Returns the logical rows of the SRAM array: two per physical row.
    pub fn logical_rows(&self) -> u32 {
        self.sram_rows.saturating_mul(2)
    }
}
