//! What the deparser costs, and its limits (facts: asic §6.4). What may not live here: emission.

use super::data::PhvAllocation;
use crate::flow::Var;
use crate::ir::{Loc, Program};
use crate::verify::Diag;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::PhvInventory;

/// Units of a gress' deparser in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeparserCost {
    /// Field dictionary entries (one per container emitted) or chunks (filled with the containers of one
    /// header after the other).
    pub entries: u32,
    /// Validity bits read.
    pub pov_bits: u32,
    /// Bytes emitted when every header is valid.
    pub header_bytes: u32,
    /// Checksum units.
    pub checksum_units: u32,
}

/// The cost of the deparser of `gress`.
///
/// # Errors
/// When a limit of the chip is passed.
pub fn cost(
    program: &Program,
    chip: &ChipSpec,
    gress: Gress,
    alloc: &PhvAllocation,
) -> Result<DeparserCost, Vec<Diag>> {
    let deparser = &program.pipe(gress).deparser;
    let inventory = PhvInventory::new(&chip.phv);
    let mut cost = DeparserCost {
        pov_bits: deparser.emit.len() as u32,
        checksum_units: deparser.checksums.len() as u32,
        ..DeparserCost::default()
    };
    for &header in &deparser.emit {
        let mut sizes = Vec::new();
        for &f in &program.headers[header].fields {
            for c in alloc.containers_of(Var::Field(f)) {
                if sizes.last().is_none_or(|(last, _)| *last != c) {
                    sizes.push((c, inventory.get(c).map_or(4, |i| i.size.bits() / 8)));
                }
            }
        }
        cost.header_bytes += program.header_bits(header) / 8;
        cost.entries += if chip.deparser.chunks_per_group > 0 {
            // A chunk belongs to one header's validity bit.
            sizes.iter().map(|(_, b)| b).sum::<u32>().div_ceil(chip.deparser.entry_bytes.max(1))
        } else {
            sizes.len() as u32
        };
    }
    let at = deparser.emit.first().map(|&h| program.headers[h].loc).unwrap_or_default();
    let diags = over_limits(chip, gress, &cost, at);
    if diags.is_empty() { Ok(cost) } else { Err(diags) }
}

fn over_limits(chip: &ChipSpec, gress: Gress, cost: &DeparserCost, at: Loc) -> Vec<Diag> {
    let d = &chip.deparser;
    let rows = [
        ("field dictionary entries", cost.entries, d.entries, "emit fewer or shorter headers"),
        ("validity bits", cost.pov_bits, d.pov_bits, "emit fewer headers"),
        ("bytes of headers", cost.header_bytes, d.max_header_bytes, "emit fewer or shorter headers"),
        ("checksum units", cost.checksum_units, d.checksum_units, "update fewer checksums"),
    ];
    rows.into_iter()
        .filter(|(_, used, available, _)| used > available)
        .map(|(what, used, available, help)| {
            let text = format!("the {gress} deparser needs {used} {what}; {} has {available}", chip.name);
            Diag::error(at, text).help(help)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_name_what_is_short() {
        let cost = DeparserCost { entries: 300, pov_bits: 3, header_bytes: 900, checksum_units: 1 };
        let found = over_limits(&ChipSpec::tofino(), Gress::Egress, &cost, Loc::default());
        let texts: Vec<&str> = found.iter().map(|d| d.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "the egress deparser needs 300 field dictionary entries; tofino has 192",
                "the egress deparser needs 900 bytes of headers; tofino has 480",
            ]
        );
        assert!(
            over_limits(&ChipSpec::tofino2(), Gress::Egress, &DeparserCost::default(), Loc::default())
                .is_empty()
        );
    }
}
