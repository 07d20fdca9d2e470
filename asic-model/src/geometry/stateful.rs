//! Demand of registers, counters and meters for ALUs, RAMs and map RAMs of a stage, and the division of an array over
//! several ALUs (model: chip §1.3, §4.5, §5).

use super::GeometryError;
use super::synth::{
    CounterFormat, SynthLayout, counter, max_register_rams, meter, meter_colour_rams, register,
};
use crate::chip::{ChipSpec, Column};
use crate::salu::Format;

/// Resources of a stage that one array needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatefulDemand {
    /// [`Column::MeterAlu`] or [`Column::StatsAlu`].
    pub alu: Column,
    /// Number of ALUs of that kind. Each has a separate spare bank.
    pub alus: u32,
    /// SRAMs that hold data.
    pub data_rams: u64,
    /// Number of SRAMs, including spares.
    pub srams: u64,
    /// Number of map RAMs: one per SRAM, and those of a meter's colours.
    pub map_rams: u64,
    /// Entries held.
    pub capacity: u64,
}

/// Returns the RAMs, including the spare, that one ALU of this kind reaches without overflow buses: the rows that it
/// may span, each with its columns that have map RAMs (model: chip §1.3).
pub fn rams_per_alu(chip: &ChipSpec, alu: Column) -> u64 {
    let mau = &chip.mau;
    let rows = if alu == Column::StatsAlu { mau.stats_rows_per_alu } else { mau.meter_rows_per_alu };
    let rows = if chip.features.memory_core_split { rows } else { mau.sram_rows };
    u64::from(rows.min(mau.sram_rows)) * u64::from(mau.sram_right_columns)
}

/// Returns the demand of a register of `entries` elements. A register has one SALU and cannot be split.
///
/// # Errors
/// Fails if the register needs more RAMs than one SALU reaches.
pub fn register_demand(
    chip: &ChipSpec,
    entries: u64,
    format: Format,
) -> Result<StatefulDemand, GeometryError> {
    let layout = register(&chip.mau, entries, format.element_bits())?;
    let limit = max_register_rams(chip);
    if layout.srams > limit {
        return Err(GeometryError::TooMany {
            what: "register elements",
            found: entries,
            limit: (limit - 1) * (layout.capacity / layout.data_rams),
        });
    }
    Ok(over(Column::MeterAlu, 1, layout, 0))
}

/// Returns the demand of a counter. A counter that is too large for one ALU is divided evenly over several.
///
/// # Errors
/// Fails if the counter needs more RAMs than all counter ALUs of a stage reach.
pub fn counter_demand(
    chip: &ChipSpec,
    entries: u64,
    format: CounterFormat,
) -> Result<StatefulDemand, GeometryError> {
    let layout = counter(&chip.mau, entries, format);
    let alus = alus(chip, Column::StatsAlu, layout, "counter entries", entries)?;
    Ok(over(Column::StatsAlu, alus, layout, 0))
}

/// Returns the demand of a meter, or of a filter or WRED, which have no colours. An array that is too large for one ALU
/// is divided evenly over several.
///
/// # Errors
/// Fails if the array needs more RAMs than all meter ALUs of a stage reach.
pub fn meter_demand(chip: &ChipSpec, entries: u64, coloured: bool) -> Result<StatefulDemand, GeometryError> {
    let layout = meter(&chip.mau, entries);
    let alus = alus(chip, Column::MeterAlu, layout, "meter entries", entries)?;
    let colours = if coloured { meter_colour_rams(&chip.mau, entries) } else { 0 };
    Ok(over(Column::MeterAlu, alus, layout, colours))
}

/// Returns the fewest ALUs that reach the layout's data RAMs and a spare bank each.
fn alus(
    chip: &ChipSpec,
    alu: Column,
    layout: SynthLayout,
    what: &'static str,
    found: u64,
) -> Result<u32, GeometryError> {
    let data_per_alu = rams_per_alu(chip, alu).saturating_sub(1).max(1);
    let available = u64::from(alu.available(&chip.mau));
    let most = (data_per_alu * available).min(chip.mau.map_rams().into());
    let alus = layout.data_rams.div_ceil(data_per_alu);
    if layout.data_rams > most || layout.data_rams + alus > u64::from(chip.mau.map_rams()) {
        let per_ram = layout.capacity / layout.data_rams;
        let limit = most.min(u64::from(chip.mau.map_rams()).saturating_sub(alus.min(available))) * per_ram;
        return Err(GeometryError::TooMany { what, found, limit });
    }
    Ok(alus as u32)
}

fn over(alu: Column, alus: u32, layout: SynthLayout, colours: u64) -> StatefulDemand {
    let srams = layout.data_rams + u64::from(alus);
    StatefulDemand {
        alu,
        alus,
        data_rams: layout.data_rams,
        srams,
        map_rams: srams + colours,
        capacity: layout.capacity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(demand: StatefulDemand) -> (u32, u64, u64) {
        (demand.alus, demand.srams, demand.map_rams)
    }

    #[test]
    fn registers_of_the_model_pages() {
        // model: chip §4.5; conweave §2.8: 32 x 64K 17 map RAMs, 8 x 64K 5, any small array 2.
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let rows = [
                ("32", 65_536, 17),
                ("8", 65_536, 5),
                ("32", 1024, 2),
                ("1", 1, 2),
                ("8", 4096, 2),
                ("32x2", 2048, 2),
                ("32x2", 65_536, 33),
                ("1", 1 << 20, 9),
            ];
            for (format, entries, rams) in rows {
                let demand = register_demand(&chip, entries, format.parse().unwrap());
                if rams > 24 && chip.features.memory_core_split {
                    assert!(demand.is_err(), "{} {format} x {entries}", chip.name);
                } else {
                    assert_eq!(
                        totals(demand.unwrap()),
                        (1, rams, rams),
                        "{} {format} x {entries}",
                        chip.name
                    );
                }
            }
        }
    }

    #[test]
    fn a_whole_programs_map_rams() {
        // model: conweave §2.8: 8 x 17 + 11 x 5 + 16 x 2 = 223 over all stages.
        let chip = ChipSpec::tofino2();
        let maps = |format: &str, entries| {
            register_demand(&chip, entries, format.parse().unwrap()).unwrap().map_rams
        };
        assert_eq!(8 * maps("32", 65_536) + 11 * maps("8", 65_536) + 16 * maps("32", 1024), 223);
    }

    #[test]
    fn the_largest_register_of_tofino_2() {
        let chip = ChipSpec::tofino2();
        let word = "32".parse().unwrap();
        let largest = register_demand(&chip, 94_208, word).unwrap();
        assert_eq!((largest.data_rams, largest.srams, largest.capacity), (23, 24, 94_208));
        let refused = register_demand(&chip, 94_209, word).unwrap_err();
        assert_eq!(
            refused,
            GeometryError::TooMany { what: "register elements", found: 94_209, limit: 94_208 }
        );
    }

    #[test]
    fn counters_and_meters_spread_over_alus() {
        let chip = ChipSpec::tofino2();
        assert_eq!((rams_per_alu(&chip, Column::StatsAlu), rams_per_alu(&chip, Column::MeterAlu)), (18, 24));
        let single = CounterFormat::Single32;
        // 17 data RAMs and a spare fill one counter ALU's rows; one more entry takes two ALUs with a spare each.
        assert_eq!(totals(counter_demand(&chip, 17 * 4096, single).unwrap()), (1, 18, 18));
        assert_eq!(totals(counter_demand(&chip, 17 * 4096 + 1, single).unwrap()), (2, 20, 20));
        assert_eq!(totals(counter_demand(&chip, 1000, CounterFormat::Both64).unwrap()), (1, 2, 2));
        // 1024 meters: one RAM, a spare, and a quarter of a map RAM for colours.
        assert_eq!(totals(meter_demand(&chip, 1024, true).unwrap()), (1, 2, 3));
        assert_eq!(totals(meter_demand(&chip, 24 * 1024, true).unwrap()), (2, 26, 32));
        assert_eq!(totals(meter_demand(&chip, 24 * 1024, false).unwrap()), (2, 26, 26));
        // 48 map RAMs in all, and a spare per ALU.
        assert!(counter_demand(&chip, 46 * 4096, single).is_err());
        assert_eq!(totals(counter_demand(&chip, 45 * 4096, single).unwrap()), (3, 48, 48));
        assert!(meter_demand(&chip, 48 * 1024, false).is_err());
    }
}
