//! Meters, low-pass filters, WRED and random numbers.
//!
//! All three arrays stand behind meter ALUs, as registers do, and answer with one value. They see time: that
//! at which the packet entered the gress.

use super::{CounterHome, Loc};
use sluice_asic::gress::Gress;
use sluice_asic::meter::LpfMode;
use sluice_asic::units::Duration;

/// What an array behind a meter ALU holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeterKind {
    /// Meters of two rates and three colours, in packets.
    Packets,
    /// The same in bytes of the frame as it entered the gress, without FCS.
    Bytes,
    /// Low-pass filters.
    Lpf,
    /// WRED: decisions to drop or mark by an averaged length.
    Wred,
}

impl MeterKind {
    /// Every kind.
    pub const ALL: [MeterKind; 4] = [MeterKind::Packets, MeterKind::Bytes, MeterKind::Lpf, MeterKind::Wred];

    /// The word of text forms.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            MeterKind::Packets => "packets",
            MeterKind::Bytes => "bytes",
            MeterKind::Lpf => "lpf",
            MeterKind::Wred => "wred",
        }
    }

    /// Whether it gives packets a colour.
    #[must_use]
    pub const fn is_coloured(self) -> bool {
        matches!(self, MeterKind::Packets | MeterKind::Bytes)
    }
}

/// An array of meters, filters or WRED entries.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress whose packets ask it.
    pub gress: Gress,
    /// What it holds.
    pub kind: MeterKind,
    /// Direct or indirect.
    pub home: CounterHome,
    /// How every cell is configured until the control plane says otherwise. A cell without configuration is
    /// open: a meter is green (or what the packet was), a filter gives its input, WRED never drops.
    pub initial: Option<MeterConfig>,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}

/// How one cell works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterConfig {
    /// A meter: committed and peak rate in bits or packets per second, bursts in bytes or packets.
    Rates {
        /// Committed rate.
        committed: u64,
        /// Committed burst.
        committed_burst: u64,
        /// Peak rate, not below the committed one.
        peak: u64,
        /// Peak burst.
        peak_burst: u64,
    },
    /// A filter.
    Lpf(LpfSpec),
    /// WRED: thresholds in units of the input.
    Wred {
        /// Up to here nothing is dropped.
        min: u32,
        /// Beyond this everything is dropped.
        max: u32,
        /// The probability reached at `max`, in per cent, 1 to 100.
        probability: u8,
        /// How the input is averaged; `None` takes the input itself (Tofino 2).
        average: Option<LpfSpec>,
    },
}

/// A low-pass filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LpfSpec {
    /// Averages samples, or sums what comes per time constant.
    pub mode: LpfMode,
    /// Time constant towards larger samples.
    pub rise: Duration,
    /// Time constant towards smaller samples; a power of two times `rise` or the reverse.
    pub fall: Duration,
    /// How far the output is shifted right, 0 to 31.
    pub shift: u8,
}

impl MeterConfig {
    /// Whether a cell of this kind can be configured so.
    #[must_use]
    pub const fn is_for(&self, kind: MeterKind) -> bool {
        matches!(
            (self, kind),
            (MeterConfig::Rates { .. }, MeterKind::Packets | MeterKind::Bytes)
                | (MeterConfig::Lpf(_), MeterKind::Lpf)
                | (MeterConfig::Wred { .. }, MeterKind::Wred)
        )
    }
}

/// A generator of random numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomData {
    /// Name, unique in the program.
    pub name: String,
    /// The gress whose packets draw from it.
    pub gress: Gress,
    /// Bits of a number, 1 to 32: all of 0 to 2^width - 1 are equally likely.
    pub width: u16,
    /// Meaning.
    pub doc: String,
    /// Where the author wrote it.
    pub loc: Loc,
}
