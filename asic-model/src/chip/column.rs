//! The 20 columns of the vendor's per-stage resource table.

use super::MauSpec;
use serde::{Serialize, Serializer};
use std::fmt;

/// A per-stage resource, in the order of the vendor's `mau.resources.log` (model: chip §1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// Bytes of the exact-match input crossbar.
    ExactXbar,
    /// Bytes of the ternary input crossbar.
    TernaryXbar,
    /// Output bits of hash functions.
    HashBit,
    /// Hash distribution slices.
    HashDist,
    /// Gateways.
    Gateway,
    /// SRAM blocks.
    Sram,
    /// Map RAMs.
    MapRam,
    /// TCAM blocks.
    Tcam,
    /// Instruction memory rows; both colours of a row count once.
    Vliw,
    /// Meter, stateful and selector ALUs.
    MeterAlu,
    /// Counter ALUs.
    StatsAlu,
    /// Stash units.
    Stash,
    /// Exact-match search buses.
    ExactSearchBus,
    /// Exact-match result buses.
    ExactResultBus,
    /// Ternary-indirection result buses, also used by gateway payloads.
    TindResultBus,
    /// Bytes of the action data bus.
    ActionBusBytes,
    /// 8-bit action slots.
    Slots8,
    /// 16-bit action slots.
    Slots16,
    /// 32-bit action slots.
    Slots32,
    /// Logical table ids.
    LogicalTable,
}

impl Serialize for Column {
    /// Serialises the column's id.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl Column {
    /// Every column, in the vendor's order.
    pub const ALL: [Self; 20] = [
        Self::ExactXbar,
        Self::TernaryXbar,
        Self::HashBit,
        Self::HashDist,
        Self::Gateway,
        Self::Sram,
        Self::MapRam,
        Self::Tcam,
        Self::Vliw,
        Self::MeterAlu,
        Self::StatsAlu,
        Self::Stash,
        Self::ExactSearchBus,
        Self::ExactResultBus,
        Self::TindResultBus,
        Self::ActionBusBytes,
        Self::Slots8,
        Self::Slots16,
        Self::Slots32,
        Self::LogicalTable,
    ];

    /// Returns the stable id used in machine-readable reports.
    pub const fn id(self) -> &'static str {
        match self {
            Self::ExactXbar => "exact_xbar",
            Self::TernaryXbar => "ternary_xbar",
            Self::HashBit => "hash_bit",
            Self::HashDist => "hash_dist",
            Self::Gateway => "gateway",
            Self::Sram => "sram",
            Self::MapRam => "map_ram",
            Self::Tcam => "tcam",
            Self::Vliw => "vliw",
            Self::MeterAlu => "meter_alu",
            Self::StatsAlu => "stats_alu",
            Self::Stash => "stash",
            Self::ExactSearchBus => "exact_search_bus",
            Self::ExactResultBus => "exact_result_bus",
            Self::TindResultBus => "tind_result_bus",
            Self::ActionBusBytes => "action_bus_bytes",
            Self::Slots8 => "slots_8",
            Self::Slots16 => "slots_16",
            Self::Slots32 => "slots_32",
            Self::LogicalTable => "logical_table",
        }
    }

    /// Returns the column's title in the vendor's log.
    pub const fn vendor_name(self) -> &'static str {
        match self {
            Self::ExactXbar => "Exact Match Input xbar",
            Self::TernaryXbar => "Ternary Match Input xbar",
            Self::HashBit => "Hash Bit",
            Self::HashDist => "Hash Dist Unit",
            Self::Gateway => "Gateway",
            Self::Sram => "SRAM",
            Self::MapRam => "Map RAM",
            Self::Tcam => "TCAM",
            Self::Vliw => "VLIW Instr",
            Self::MeterAlu => "Meter ALU",
            Self::StatsAlu => "Stats ALU",
            Self::Stash => "Stash",
            Self::ExactSearchBus => "Exact Match Search Bus",
            Self::ExactResultBus => "Exact Match Result Bus",
            Self::TindResultBus => "Tind Result Bus",
            Self::ActionBusBytes => "Action Data Bus Bytes",
            Self::Slots8 => "8-bit Action Slots",
            Self::Slots16 => "16-bit Action Slots",
            Self::Slots32 => "32-bit Action Slots",
            Self::LogicalTable => "Logical TableID",
        }
    }

    /// Returns the units of this resource in one stage: the denominator of the percentages.
    pub fn available(self, mau: &MauSpec) -> u32 {
        let per_row = |units: u32| mau.sram_rows.saturating_mul(units);
        let rows = |rows: &[u32]| u32::try_from(rows.len()).unwrap_or(u32::MAX);
        match self {
            Self::ExactXbar => mau.exact_xbar_bytes(),
            Self::TernaryXbar => mau.ternary_xbar_bytes(),
            Self::HashBit => mau.hash_groups.saturating_mul(mau.hash_group_bits()),
            Self::HashDist => mau.hash_dist_units.saturating_mul(mau.hash_dist_slices),
            Self::Gateway => mau.gateways(),
            Self::Sram => mau.srams(),
            Self::MapRam => mau.map_rams(),
            Self::Tcam => mau.tcams(),
            Self::Vliw => mau.imem_rows,
            Self::MeterAlu => rows(&mau.meter_alu_rows),
            Self::StatsAlu => rows(&mau.stats_alu_rows),
            Self::Stash => per_row(mau.stash_units_per_row),
            Self::ExactSearchBus => per_row(mau.search_buses_per_row),
            Self::ExactResultBus => per_row(mau.result_buses_per_row),
            Self::TindResultBus => per_row(mau.tind_buses_per_row),
            Self::ActionBusBytes => mau.action_bus_bytes,
            Self::Slots8 | Self::Slots16 | Self::Slots32 => mau.action_slots_per_size,
            Self::LogicalTable => mau.logical_tables,
        }
    }

    /// Returns the column with this [`Column::id`].
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.id() == id)
    }

    /// Returns the column's position in [`Column::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::ChipSpec;

    #[test]
    fn denominators_of_both_chips_are_the_vendor_logs() {
        // model: chip §1.4, verified there against a real log.
        let expected = [128, 66, 416, 6, 16, 80, 48, 24, 32, 4, 4, 16, 16, 16, 16, 128, 32, 32, 32, 16];
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let found: Vec<u32> = Column::ALL.iter().map(|column| column.available(&chip.mau)).collect();
            assert_eq!(found, expected, "{}", chip.name);
        }
    }

    #[test]
    fn ids_are_in_the_vendors_order() {
        let ids: Vec<&str> = Column::ALL.iter().map(|column| column.id()).collect();
        let expected = "exact_xbar ternary_xbar hash_bit hash_dist gateway sram map_ram tcam vliw meter_alu \
                        stats_alu stash exact_search_bus exact_result_bus tind_result_bus action_bus_bytes \
                        slots_8 slots_16 slots_32 logical_table";
        assert_eq!(ids.join(" "), expected);
        for (index, column) in Column::ALL.into_iter().enumerate() {
            assert_eq!((column.index(), Column::from_id(column.id())), (index, Some(column)));
        }
    }
}
