//! Ways of placed exact tables, and the entries that are expected to fit.

use crate::Purpose;
use crate::data::{Owner, Part, Placement};
use std::collections::BTreeMap;

/// Ways of one part of an exact table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartWays {
    /// RAMs of each way, per RAM of entry width.
    pub sizes: Vec<u32>,
    /// RAMs side by side that make a wide word.
    pub width: usize,
    /// Entries per wide word.
    pub pack: u32,
}

/// Returns the ways of a part's match memory, from its units; `None` if the part is no exact table in SRAM.
#[must_use]
pub fn ways(placement: &Placement, owner: Owner, part: Part) -> Option<PartWays> {
    let mut ways: BTreeMap<u16, BTreeMap<u16, u32>> = BTreeMap::new();
    let own = placement.units.iter().filter(|u| u.owner == owner && u.unit.stage == part.stage);
    for used in own {
        if let Purpose::MatchWay { way, word } = used.purpose {
            *ways.entry(way).or_default().entry(word.unwrap_or(0)).or_default() += 1;
        }
    }
    let width = ways.values().map(BTreeMap::len).max()?;
    let sizes: Vec<u32> = ways.values().map(|words| words.values().copied().max().unwrap_or(0)).collect();
    let rows = sizes.iter().sum::<u32>() * placement.chip.mau.sram_depth;
    Some(PartWays { sizes, width, pack: part.entries.div_ceil(rows.max(1)) })
}

/// Returns the number of entries that a table is expected to take before an insertion fails: all that it requires, or
/// [`MauSpec::exact_fill`](sluice_asic::chip::MauSpec::exact_fill) percent of the rows of several ways.
pub(super) fn usable(placement: &Placement, owner: Owner, required: u32) -> u64 {
    let placed = &placement.gress(owner.gress).nodes[owner.node];
    let fill = u64::from(placement.chip.mau.exact_fill);
    let of = |part: &Part| match ways(placement, owner, *part) {
        Some(found) if found.sizes.len() > 1 => u64::from(part.entries) * fill / 100,
        _ => u64::from(part.entries),
    };
    placed.parts.iter().map(of).sum::<u64>().min(required.into())
}
