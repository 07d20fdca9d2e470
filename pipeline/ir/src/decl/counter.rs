//! Counters: units, addressing and cell formats.

use crate::{Loc, Table};
use sluice_asic::counter::CounterError;
use sluice_asic::counter::CounterLayout;
use sluice_asic::counter::{self as asic};
use sluice_asic::geometry::CounterFormat;
use sluice_asic::gress::Gress;

/// Unit of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterKind {
    /// Packets.
    Packets,
    /// Bytes of the frame as it entered the gress, without FCS.
    Bytes,
    /// Packets and bytes.
    PacketsAndBytes,
}

/// Addressing of an array of counters, registers or meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterHome {
    /// Direct: the matched entry of this table.
    Direct(Table),
    /// Indirect: an index, given by the action, below this size.
    Indirect(u32),
}

/// Format and reading of a counter's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterCell {
    /// Format of a RAM word; `None` is the densest: 32 bits, or 28 and 36 for packets and bytes (model: chip
    /// §5).
    pub format: Option<CounterFormat>,
    /// Number added to each packet's length, -8192 to 8191, for example for an FCS or a header that is not
    /// counted.
    pub adjust: i16,
    /// True if software reads the cells of the stage, which wrap at their width. If false, the stage sends
    /// cells to software before they wrap, and software reads sums of 64 bits (model: chip §5, LRT).
    pub wraps: bool,
}

impl CounterCell {
    /// Returns the RAM format for this kind of counter.
    #[must_use]
    pub fn format_for(&self, kind: CounterKind) -> CounterFormat {
        self.format.unwrap_or(match kind {
            CounterKind::Packets | CounterKind::Bytes => CounterFormat::Single32,
            CounterKind::PacketsAndBytes => CounterFormat::Both28And36,
        })
    }

    /// Returns the layout of the sums that software reads: the word's format, or 64 bits.
    ///
    /// # Errors
    /// Refuses a format that does not hold this kind of counter, and an adjustment of more than 14 bits.
    pub fn layout(&self, kind: CounterKind) -> Result<CounterLayout, CounterError> {
        let (counts, sums) = match kind {
            CounterKind::Packets => (asic::CounterKind::Packets, CounterFormat::Single64),
            CounterKind::Bytes => (asic::CounterKind::Bytes, CounterFormat::Single64),
            CounterKind::PacketsAndBytes => (asic::CounterKind::Both, CounterFormat::Both64),
        };
        let in_ram = CounterLayout::new(counts, self.format_for(kind), self.adjust.into())?;
        if self.wraps { Ok(in_ram) } else { CounterLayout::new(counts, sums, self.adjust.into()) }
    }

    /// Returns true if cells are sums of 64 bits of unchanged lengths.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.adjust == 0 && !self.wraps
    }
}

/// A counter array.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress that counts.
    pub gress: Gress,
    /// Unit: packets, bytes, or both.
    pub kind: CounterKind,
    /// Direct or indirect.
    pub home: CounterHome,
    /// Format and reading of the cells.
    pub cell: CounterCell,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}
