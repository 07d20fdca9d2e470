//! Exact-match tables: entries packed into wide words, words spread over cuckoo ways (model: chip §3.1).

use super::GeometryError;
use crate::chip::MauSpec;

/// The ways of an exact-match table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// RAMs of every way, each a power of two, per RAM of entry width.
    pub sizes: Vec<u32>,
    /// Number of hash functions. A further one is needed when the select bits of one are used up, and each has separate
    /// search buses.
    pub hash_functions: u32,
}

impl Ways {
    /// Returns the RAMs of all ways.
    pub fn depth(&self) -> u32 {
        self.sizes.iter().sum()
    }

    /// Returns the select bits of all ways: the choice of a RAM within a way.
    pub fn select_bits(&self) -> u32 {
        self.sizes.iter().map(|size| size.checked_ilog2().unwrap_or(0)).sum()
    }
}

/// Returns the ways of a table that needs `depth` RAMs per RAM of entry width: at least four ways, RAM counts that are
/// powers of two, at most [`MauSpec::exact_way_rams`] RAMs in sum (model: chip §3.1).
pub fn exact_ways(mau: &MauSpec, depth: u32) -> Ways {
    let depth = depth.max(mau.exact_ways).min(mau.exact_way_rams.max(mau.exact_ways));
    if depth < 2 * mau.exact_ways {
        // There are too few RAMs for equal ways, so the first ways get a second RAM.
        let doubled = depth - mau.exact_ways;
        let sizes = (0..mau.exact_ways).map(|way| if way < doubled { 2 } else { 1 }).collect();
        return Ways { sizes, hash_functions: 1 };
    }
    greedy_ways(mau, depth)
}

/// Returns this number of ways, at least one, of a table that needs `depth` RAMs per RAM of entry width: RAM counts that are
/// powers of two, of which the first ways have twice as many if the others would not suffice.
pub fn equal_ways(mau: &MauSpec, depth: u32, ways: u32) -> Ways {
    let (ways, depth) = (ways.max(1), depth.max(1));
    let each = 1_u32 << (depth / ways).max(1).ilog2();
    let doubled = depth.saturating_sub(each.saturating_mul(ways)).div_ceil(each);
    let sizes: Vec<u32> = (0..ways).map(|way| if way < doubled { 2 * each } else { each }).collect();
    let select: u32 = sizes.iter().map(|size| size.ilog2()).sum();
    let hash_functions = select.div_ceil(mau.hash_select_bits.max(1)).max(1);
    Ways { sizes, hash_functions }
}

fn greedy_ways(mau: &MauSpec, depth: u32) -> Ways {
    /// Beyond this, ways do not grow with the table.
    const LARGEST_DEPTH: u32 = 64;
    let floor_power = |n: u32| 1_u32 << n.max(1).ilog2();
    let first = (floor_power(depth.min(LARGEST_DEPTH)) / mau.exact_ways.max(1)).max(1);
    let mut ways = Ways { sizes: Vec::new(), hash_functions: 1 };
    let mut remaining = depth;
    let mut select_left = mau.hash_select_bits;
    let mut size = first;
    while remaining > 0 {
        let bits = size.ilog2();
        if bits > 0 && select_left == 0 {
            ways.hash_functions += 1;
            select_left = mau.hash_select_bits.max(1);
        }
        if size > remaining || bits > select_left {
            size /= 2;
            continue;
        }
        ways.sizes.push(size);
        remaining -= size;
        select_left -= bits;
        if ways.sizes.len().is_multiple_of(mau.exact_ways.max(1) as usize) {
            size = first.min(floor_power(remaining));
        }
    }
    ways
}

/// Contents of an exact-match table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactTable {
    /// Key bits.
    pub key_bits: u32,
    /// Overhead bits per entry: next table, instruction, immediate data, pointers; not the version.
    pub overhead_bits: u32,
    /// Entries wanted.
    pub entries: u64,
    /// True if key bits that the RAM index implies need not be stored; false for tables with key masks set at
    /// run time.
    pub ghost: bool,
    /// True if the key itself is the RAM index: no four ways are needed.
    pub identity_hash: bool,
}

/// The layout of an exact-match table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactLayout {
    /// Entries per wide word.
    pub pack: u32,
    /// RAMs side by side that make a wide word.
    pub width: u32,
    /// Key bits that are not stored.
    pub ghost_bits: u32,
    /// Key bits that are stored, whole bytes.
    pub match_bits: u32,
    /// The ways.
    pub ways: Ways,
    /// Number of SRAMs.
    pub srams: u32,
    /// Entries that the layout holds. If it is below the wanted number, one stage's ways cannot hold them and the table
    /// must be split.
    pub capacity: u64,
}

/// Returns, for every word width at which an entry fits, the layout with the most entries per word; the narrowest width
/// is first.
///
/// The match hardware compares whole bytes under a mask, so stored key bits are rounded up to bytes; the version nibble
/// needs no separate byte. Overhead is in the low bits of a RAM word, and each entry's overhead is within one RAM
/// (model: chip §3.1).
///
/// # Errors
/// Fails if the key is wider than the exact crossbar, the overhead is wider than a RAM word's low bits, or an entry is
/// wider than a column of RAMs.
pub fn exact_layouts(mau: &MauSpec, table: &ExactTable) -> Result<Vec<ExactLayout>, GeometryError> {
    let limit = u64::from(mau.exact_xbar_bytes()) * 8;
    if u64::from(table.key_bits) > limit {
        return Err(GeometryError::TooWide { what: "exact-match key", found: table.key_bits.into(), limit });
    }
    if table.overhead_bits > mau.overhead_bits {
        let (found, limit) = (table.overhead_bits.into(), mau.overhead_bits.into());
        return Err(GeometryError::TooWide { what: "exact-match overhead", found, limit });
    }
    let rows = mau.sram_rows.max(1);
    let layouts: Vec<ExactLayout> =
        (1..=rows).filter_map(|width| layout_of_width(mau, table, width)).collect();
    if layouts.is_empty() {
        let found = u64::from(table.key_bits) + u64::from(mau.version_bits) + u64::from(table.overhead_bits);
        let limit = u64::from(rows) * u64::from(mau.sram_width);
        return Err(GeometryError::TooWide { what: "exact-match entry", found, limit });
    }
    Ok(layouts)
}

/// Returns the layout of [`exact_layouts`] that holds all entries with the fewest SRAMs, and the narrowest of equals.
/// If no layout holds all entries, returns the one that holds the most.
///
/// # Errors
/// Fails in the same cases as [`exact_layouts`].
pub fn exact_layout(mau: &MauSpec, table: &ExactTable) -> Result<ExactLayout, GeometryError> {
    let layouts = exact_layouts(mau, table)?;
    let rank = |layout: &ExactLayout| {
        let short = table.entries.saturating_sub(layout.capacity);
        (short, layout.srams, layout.width)
    };
    layouts.into_iter().min_by_key(rank).ok_or(GeometryError::Zero { what: "SRAM rows" })
}

/// Returns the layout of one width, with as many key bits implied by the RAM index as its smallest way allows.
fn layout_of_width(mau: &MauSpec, table: &ExactTable, width: u32) -> Option<ExactLayout> {
    let index_bits = mau.sram_depth.max(1).ilog2();
    let layout = packed(mau, table, width, if table.ghost { index_bits } else { 0 })?;
    let smallest = layout.ways.sizes.iter().min().copied().unwrap_or(1).max(1);
    if !table.ghost || smallest == 1 {
        return Some(layout);
    }
    // Larger ways imply more key bits. If fewer stored bits made the ways smaller again, the first layout is kept.
    let deeper = packed(mau, table, width, index_bits + smallest.ilog2())?;
    let still_implied = deeper.ways.sizes.iter().all(|size| *size >= smallest);
    Some(if still_implied { deeper } else { layout })
}

/// Returns the layout with as many entries per word as `width` RAMs hold; `None` if no entry fits.
fn packed(mau: &MauSpec, table: &ExactTable, width: u32, ghost_bits: u32) -> Option<ExactLayout> {
    let ghost_bits = ghost_bits.min(table.key_bits);
    let match_bits = (table.key_bits - ghost_bits).div_ceil(8) * 8;
    let entry_bits = match_bits + mau.version_bits + table.overhead_bits;
    let by_bits = (width * mau.sram_width).checked_div(entry_bits).unwrap_or(mau.pack_per_word);
    let by_overhead = mau.overhead_bits.checked_div(table.overhead_bits).map_or(u32::MAX, |n| n * width);
    let pack = by_bits.min(by_overhead).min(mau.pack_per_row * width).min(mau.pack_per_word);
    if pack == 0 {
        return None;
    }
    let per_ram = u64::from(pack) * u64::from(mau.sram_depth);
    let depth = u32::try_from(table.entries.div_ceil(per_ram.max(1))).unwrap_or(u32::MAX).max(1);
    let depth = depth.min((mau.exact_way_rams / width).max(1));
    let ways = if table.identity_hash {
        // A direct index addresses one way, whose size is a power of two.
        let size = if depth.is_power_of_two() { depth } else { depth.next_power_of_two() };
        let largest = 1 << (mau.exact_way_rams / width).max(1).ilog2();
        Ways { sizes: vec![size.min(largest)], hash_functions: 1 }
    } else {
        exact_ways(mau, depth)
    };
    let rams = ways.depth();
    Some(ExactLayout {
        pack,
        width,
        ghost_bits,
        match_bits,
        srams: rams * width,
        capacity: u64::from(rams) * per_ram,
        ways,
    })
}
