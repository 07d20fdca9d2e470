//! Number of memory blocks that a part of a node takes: the chip's sizing rules applied to a demand.

use super::demand::{CounterDemand, Demand, Lookup};
use sluice_asic::chip::MauSpec;
use sluice_asic::geometry::{self, ExactLayout, ExactTable, GeometryError};

/// Returns the exact-match layout for `entries` entries of a table.
pub(crate) fn exact(mau: &MauSpec, demand: &Demand, entries: u32) -> Result<ExactLayout, GeometryError> {
    // A key that fits into the RAM index needs no independent ways, unless a direct counter also counts misses
    // (model: chip §3.1).
    let identity_hash =
        demand.key_bits <= mau.hash_index_bits && demand.counters.iter().all(|c| c.size.is_some());
    let table = ExactTable {
        key_bits: demand.key_bits,
        overhead_bits: demand.overhead_bits,
        entries: u64::from(entries),
        ghost: true,
        identity_hash,
    };
    if demand.rules.pack.is_some() || demand.rules.ways.is_some() {
        return demanded(mau, demand, &table);
    }
    let mut layout = geometry::exact_layout(mau, &table)?;
    // No more entries per word than the ways need, because memories that are addressed by the position of the match
    // (action data, direct counters) grow with them.
    let words = u64::from(layout.ways.depth()) * u64::from(mau.sram_depth);
    layout.pack = layout.pack.min(narrow(u64::from(entries).div_ceil(words.max(1))).max(1));
    layout.capacity = words * u64::from(layout.pack);
    Ok(layout)
}

/// Returns the exact-match layout with the ways and the entries per word that the author demands.
fn demanded(mau: &MauSpec, demand: &Demand, table: &ExactTable) -> Result<ExactLayout, GeometryError> {
    let mut layout = match demand.rules.pack.map(u32::from) {
        None => geometry::exact_layout(mau, table)?,
        Some(pack) => {
            let layouts = geometry::exact_layouts(mau, table)?;
            let most = layouts.iter().map(|l| l.pack).max().unwrap_or(0);
            let found = layouts.into_iter().find(|l| l.pack >= pack);
            let too_many = GeometryError::TooMany {
                what: "entries per word of an exact match",
                found: pack.into(),
                limit: most.into(),
            };
            ExactLayout { pack, ..found.ok_or(too_many)? }
        }
    };
    let per_ram = u64::from(layout.pack) * u64::from(mau.sram_depth);
    let most = (mau.exact_way_rams / layout.width.max(1)).max(1);
    let depth = narrow(table.entries.div_ceil(per_ram.max(1))).clamp(1, most);
    layout.ways = match demand.rules.ways {
        Some(ways) => geometry::equal_ways(mau, depth, ways.into()),
        None if table.identity_hash => layout.ways,
        None => geometry::exact_ways(mau, depth),
    };
    layout.srams = layout.ways.depth() * layout.width;
    layout.capacity = u64::from(layout.ways.depth()) * per_ram;
    Ok(layout)
}

/// An algorithmic TCAM in one stage: entries per word, RAMs per word, RAMs of a partition and RAMs that the partitions
/// span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtcamPart {
    pub(crate) pack: u32,
    pub(crate) width: u32,
    pub(crate) ram_depth: u32,
    pub(crate) ways: u32,
}

impl AtcamPart {
    pub(crate) fn capacity(self, partitions: u32) -> u32 {
        narrow(u64::from(self.pack) * u64::from(self.ram_depth) * u64::from(partitions))
    }
}

/// Returns the layout with the fewest RAMs for `entries` entries, in one chain of cascaded RAMs (model: chip §3.3).
pub(crate) fn atcam(
    mau: &MauSpec,
    demand: &Demand,
    partitions: u32,
    entries: u32,
) -> Result<AtcamPart, GeometryError> {
    let table = ExactTable {
        key_bits: demand.key_bits,
        overhead_bits: demand.overhead_bits,
        entries: 1,
        ghost: false,
        identity_hash: true,
    };
    let most = u64::from(mau.atcam_rams_per_row);
    let mut best: Option<(u64, AtcamPart)> = None;
    for word in geometry::exact_layouts(mau, &table)? {
        let layout = geometry::atcam(mau, entries.into(), partitions, word.pack, word.width)?;
        if layout.ram_depth <= most && best.is_none_or(|(srams, _)| layout.srams < srams) {
            let (ram_depth, ways) = (narrow(layout.ram_depth), narrow(layout.ways));
            best = Some((layout.srams, AtcamPart { pack: word.pack, width: word.width, ram_depth, ways }));
        }
    }
    let too_many =
        GeometryError::TooMany { what: "entries of an algorithmic TCAM", found: entries.into(), limit: most };
    best.map(|(_, part)| part).ok_or(too_many)
}

/// Returns the number of TCAM blocks side by side for the table's key: the estimate, or one more if the sixth byte of a
/// single block has bits in both nibbles (a block has five bytes and a nibble; model: chip §3.2).
pub(crate) fn ternary_width(demand: &Demand) -> u32 {
    const PAIR_BYTES: u32 = 11;
    let key = demand.ternary_bytes();
    let bytes = key.len() as u32;
    let width = geometry::ternary_width(bytes);
    let single = bytes.saturating_sub(width / 2 * PAIR_BYTES);
    let nibbles = key.iter().any(|(_, m)| m & 0x0f == 0 || m & 0xf0 == 0);
    if width % 2 == 1 && single > 5 && !nibbles { width + 1 } else { width }
}

/// Returns the data RAMs of a counter whose table part holds `entries` entries, without the spare bank.
pub(crate) fn counter_rams(mau: &MauSpec, counter: &CounterDemand, entries: u32) -> u32 {
    let cells = counter.size.unwrap_or(entries.max(1));
    narrow(geometry::counter(mau, u64::from(cells), counter.format).data_rams)
}

/// Returns the RAMs of ternary indirection for `entries` entries.
pub(crate) fn indirection_rams(mau: &MauSpec, demand: &Demand, entries: u32) -> Result<u32, GeometryError> {
    geometry::tind_rams(mau, u64::from(entries), demand.overhead_bits).map(narrow)
}

/// Returns the RAMs of action data for `entries` entries; with an action profile, for its members.
pub(crate) fn action_rams(mau: &MauSpec, demand: &Demand, entries: u32) -> Result<u32, GeometryError> {
    let entries = demand.profile.as_ref().map_or(entries.max(1), |p| p.members);
    geometry::action_data(mau, u64::from(entries), demand.data_bytes * 8).map(|layout| narrow(layout.rams))
}

/// Returns the number of entries to whose multiples the parts of a split table are rounded.
pub(crate) fn step(mau: &MauSpec, demand: &Demand) -> u32 {
    match demand.lookup {
        Lookup::None => 1,
        Lookup::Ternary => mau.tcam_depth,
        Lookup::Exact => mau.sram_depth,
        Lookup::Atcam { partitions } => partitions,
    }
}

/// Returns the reason why a table fits no stage, even with one entry; `None` if it may fit.
pub(crate) fn impossible(mau: &MauSpec, demand: &Demand) -> Option<GeometryError> {
    let match_words = match demand.lookup {
        Lookup::None => None,
        Lookup::Exact => exact(mau, demand, 1).err(),
        Lookup::Ternary => indirection_rams(mau, demand, 1).err(),
        Lookup::Atcam { partitions } => atcam(mau, demand, partitions, 1).err(),
    };
    let widest = ((demand.lookup == Lookup::Ternary || demand.classifier.is_some())
        && ternary_width(demand) > mau.ternary_xbar_groups)
        .then_some(GeometryError::TooWide {
            what: "ternary key",
            found: demand.ternary_bytes().len() as u64 * 8,
            limit: u64::from(mau.ternary_xbar_bytes()) * 8,
        });
    match_words.or(widest).or_else(|| action_rams(mau, demand, 1).err())
}

pub(crate) fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
