//! Algorithmic TCAM in SRAM, and ALPM on top of it (model: chip §3.3).

use super::{GeometryError, tcams};
use crate::chip::MauSpec;

/// The numbers of partitions that a partition index can address.
pub const ALPM_PARTITIONS: [u32; 4] = [1024, 2048, 4096, 8192];

/// Number of partitions above which every RAM column needs a separate logical table.
const SHARED_COLUMN_PARTITIONS: u32 = 4096;

/// The layout of an algorithmic TCAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtcamLayout {
    /// RAMs of one partition, in order of priority.
    pub ram_depth: u64,
    /// Chained logical tables.
    pub logical_tables: u64,
    /// RAMs that the partition index spans.
    pub ways: u64,
    /// Number of SRAMs.
    pub srams: u64,
    /// Entries held, if every partition is full.
    pub capacity: u64,
}

/// Returns the layout of an algorithmic TCAM of `entries` entries in `partitions` partitions, with `pack` entries per
/// word of `width` RAMs.
///
/// # Errors
/// Fails if there are no partitions, entries per word or RAMs per word.
pub fn atcam(
    mau: &MauSpec,
    entries: u64,
    partitions: u32,
    pack: u32,
    width: u32,
) -> Result<AtcamLayout, GeometryError> {
    for (what, value) in [("partitions", partitions), ("entries per word", pack), ("RAMs per word", width)] {
        if value == 0 {
            return Err(GeometryError::Zero { what });
        }
    }
    let ram_depth = entries.div_ceil(u64::from(partitions)).div_ceil(u64::from(pack)).max(1);
    let columns =
        if partitions > SHARED_COLUMN_PARTITIONS { 1 } else { u64::from(mau.atcam_rams_per_row.max(1)) };
    let ways = u64::from(partitions).div_ceil(u64::from(mau.sram_depth.max(1)));
    let words = ram_depth.saturating_mul(u64::from(pack));
    Ok(AtcamLayout {
        ram_depth,
        logical_tables: ram_depth.div_ceil(columns),
        ways,
        srams: ram_depth.saturating_mul(u64::from(width)).saturating_mul(ways),
        capacity: words.saturating_mul(u64::from(partitions)),
    })
}

/// The layout of an ALPM table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlpmLayout {
    /// Entries of the TCAM that finds the partition.
    pub classifier_entries: u64,
    /// TCAM blocks of the classifier.
    pub classifier_tcams: u64,
    /// The partitions.
    pub atcam: AtcamLayout,
}

/// Returns the layout of an ALPM table: a ternary classifier with one entry per subtree, and partitions.
///
/// # Errors
/// Fails if the number of partitions is not in [`ALPM_PARTITIONS`], and in the cases of [`atcam`].
pub fn alpm(
    mau: &MauSpec,
    entries: u64,
    key_bytes: u32,
    partitions: u32,
    subtrees: u32,
    (pack, width): (u32, u32),
) -> Result<AlpmLayout, GeometryError> {
    if !ALPM_PARTITIONS.contains(&partitions) {
        return Err(GeometryError::Partitions { found: partitions.into() });
    }
    if subtrees == 0 {
        return Err(GeometryError::Zero { what: "subtrees per partition" });
    }
    let classifier_entries = u64::from(partitions) * u64::from(subtrees);
    let classifier_tcams = tcams(mau, classifier_entries, key_bytes);
    Ok(AlpmLayout {
        classifier_entries,
        classifier_tcams,
        atcam: atcam(mau, entries, partitions, pack, width)?,
    })
}
