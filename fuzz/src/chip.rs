//! Random chips: a shipped one with some counts smaller or larger.

use crate::Draw;
use sluice_asic::chip::ChipSpec;

/// A number of a chip that may change.
type Count = fn(&mut ChipSpec) -> &mut u32;

/// Numbers that may change: counts that limit a placement, and lengths that the latency model adds up.
const COUNTS: [Count; 36] = [
    |c| &mut c.mau.stages,
    |c| &mut c.mau.logical_tables,
    |c| &mut c.mau.sram_left_columns,
    |c| &mut c.mau.sram_rows,
    |c| &mut c.mau.sram_depth,
    |c| &mut c.mau.map_ram_rows,
    |c| &mut c.mau.tcam_rows,
    |c| &mut c.mau.tcam_columns,
    |c| &mut c.mau.tcam_depth,
    |c| &mut c.mau.tcam_match_buses,
    |c| &mut c.mau.ternary_tables,
    |c| &mut c.mau.ternary_xbar_groups,
    |c| &mut c.mau.hash_groups,
    |c| &mut c.mau.hash_index_slices,
    |c| &mut c.mau.hash_select_bits,
    |c| &mut c.mau.hash_dist_units,
    |c| &mut c.mau.hash_dist_slices,
    |c| &mut c.mau.gateway_rows,
    |c| &mut c.mau.gateway_compare_rows,
    |c| &mut c.mau.gateway_bytes,
    |c| &mut c.mau.gateway_hash_bits,
    |c| &mut c.mau.search_buses_per_row,
    |c| &mut c.mau.result_buses_per_row,
    |c| &mut c.mau.tind_buses_per_row,
    |c| &mut c.mau.imem_rows,
    |c| &mut c.mau.immediate_bits,
    |c| &mut c.mau.action_data_bits,
    |c| &mut c.mau.overflow_rows,
    |c| &mut c.mau.pack_per_row,
    |c| &mut c.mau.pack_per_word,
    |c| &mut c.mau.exact_ways,
    |c| &mut c.phv.groups_8,
    |c| &mut c.phv.groups_16,
    |c| &mut c.phv.groups_32,
    |c| &mut c.phv.pov_bits,
    |c| &mut c.latency.base,
];

/// Draws a valid chip: a shipped one with some counts smaller and a few larger. The smallest choice is the first shipped
/// chip, unchanged.
#[must_use]
pub fn chip(d: &mut Draw<'_>) -> ChipSpec {
    let mut chip = if d.chance(1, 2) { ChipSpec::tofino2() } else { ChipSpec::tofino() };
    for _ in 0..d.below(6) {
        let of = COUNTS[d.below(COUNTS.len())];
        let mut other = chip.clone();
        let count = of(&mut other);
        let most = *count as usize;
        *count =
            if d.chance(1, 6) { (most + 1 + d.below(most + 1)) as u32 } else { d.below(most + 1) as u32 };
        // An edit that contradicts other counts is left out.
        if other.validate().is_ok() {
            chip = other;
        }
    }
    chip
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_differ_and_can_be() {
        let mut changed = 0;
        for n in 0u32..200 {
            let words: Vec<u32> = (0..32).map(|i| (n * 32 + i).wrapping_mul(0x9e37_79b9)).collect();
            let chip = chip(&mut Draw::new(&words));
            assert!(chip.validate().is_ok());
            changed += u32::from(chip != ChipSpec::tofino() && chip != ChipSpec::tofino2());
        }
        assert!(changed > 100, "{changed} of 200");
        assert_eq!(chip(&mut Draw::new(&[])), ChipSpec::tofino());
    }
}
