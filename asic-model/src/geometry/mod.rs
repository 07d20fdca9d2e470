//! Memory demand of tables: pure functions from sizes to numbers of RAMs, TCAMs and words (model: chip §3, §4.5, §5).

mod action;
mod atcam;
mod exact;
mod range;
mod stateful;
mod synth;
mod ternary;

pub use action::{ActionDataLayout, action_data, action_data_bytes};
pub use atcam::{ALPM_PARTITIONS, AlpmLayout, AtcamLayout, alpm, atcam};
pub use exact::{ExactLayout, ExactTable, Ways, equal_ways, exact_layout, exact_layouts, exact_ways};
pub use range::{MAX_RANGE_BITS, RANGE_DIGIT_BITS, RangeRow, range_digits, range_rows};
pub use stateful::{StatefulDemand, counter_demand, meter_demand, rams_per_alu, register_demand};
pub use synth::{
    CounterFormat, SelectorGroup, SynthLayout, counter, idle_map_rams, is_wide_selector, max_register_rams,
    meter, meter_colour_rams, register, selector, selector_group,
};
pub use ternary::{range_lines, tcams, ternary_width, tind_entries_per_word, tind_rams};

/// Reason for which a size has no layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// More bits than the part can hold.
    #[error("{what} of {found} bits; at most {limit}")]
    TooWide {
        /// The part that is too wide.
        what: &'static str,
        /// Number of bits.
        found: u64,
        /// The most it can have.
        limit: u64,
    },
    /// A width that memory words cannot be divided into.
    #[error(
        "register elements of {found} bits; expected 1, 8, 16, 32, 64 or 128 (both halves of a pair together)"
    )]
    Element {
        /// The element's bits, both halves of a pair together.
        found: u64,
    },
    /// More than the part can have.
    #[error("{what}: {found}; at most {limit}")]
    TooMany {
        /// Resource that is exceeded.
        what: &'static str,
        /// Number of units needed.
        found: u64,
        /// The most there can be.
        limit: u64,
    },
    /// A number of partitions that the partition index cannot address.
    #[error("{found} partitions; expected 1024, 2048, 4096 or 8192")]
    Partitions {
        /// The number found.
        found: u64,
    },
    /// A size is zero and must be at least one.
    #[error("{what} is 0; expected at least 1")]
    Zero {
        /// Name of the size.
        what: &'static str,
    },
}
