//! Meters, low-pass filters, WRED and random numbers.
//!
//! Meters, filters and WRED are arrays with meter ALUs, as registers are. An access returns one value. Their time is
//! the time at which the packet entered the gress.

use super::{CounterHome, Loc};
use sluice_asic::gress::Gress;
use sluice_asic::meter::LpfMode;
use sluice_asic::units::Duration;

/// Kind of an array with a meter ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeterKind {
    /// Two-rate three-colour meters, in packets.
    Packets,
    /// Two-rate three-colour meters, in bytes of the frame as it entered the gress, without FCS.
    Bytes,
    /// Low-pass filters.
    Lpf,
    /// WRED: decides to drop or mark by an averaged length.
    Wred,
}

impl MeterKind {
    /// Every kind.
    pub const ALL: [MeterKind; 4] = [MeterKind::Packets, MeterKind::Bytes, MeterKind::Lpf, MeterKind::Wred];

    /// Returns the name in text forms.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            MeterKind::Packets => "packets",
            MeterKind::Bytes => "bytes",
            MeterKind::Lpf => "lpf",
            MeterKind::Wred => "wred",
        }
    }

    /// Returns true if the array gives packets a colour.
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
    /// The gress whose packets access it.
    pub gress: Gress,
    /// Kind of its cells.
    pub kind: MeterKind,
    /// Direct or indirect.
    pub home: CounterHome,
    /// Bytes that are added to the length of every packet, in a meter of bytes; 14 bits.
    pub adjust: i16,
    /// Initial configuration of every cell; the control plane may change it. A cell without configuration has
    /// no limits: a meter returns green (or the packet's colour), a filter its input, and WRED never drops.
    pub initial: Option<MeterConfig>,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}

/// Configuration of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterConfig {
    /// A meter: committed and peak rate in bits or packets per second, bursts in bytes or packets.
    Rates {
        /// Committed rate.
        committed: u64,
        /// Committed burst.
        committed_burst: u64,
        /// Peak rate, at least the committed rate.
        peak: u64,
        /// Peak burst.
        peak_burst: u64,
    },
    /// A filter.
    Lpf(LpfSpec),
    /// WRED: thresholds in units of the input.
    Wred {
        /// Lower threshold: at or below it nothing is dropped.
        min: u32,
        /// Upper threshold: above it everything is dropped.
        max: u32,
        /// Probability at `max`, in percent, 1 to 100.
        probability: u8,
        /// Averaging of the input; `None`: the input itself (Tofino 2).
        average: Option<LpfSpec>,
    },
}

/// A low-pass filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LpfSpec {
    /// Averages samples, or sums them per time constant.
    pub mode: LpfMode,
    /// Time constant towards larger samples.
    pub rise: Duration,
    /// Time constant towards smaller samples; a power of two times `rise` or the reverse.
    pub fall: Duration,
    /// Right shift of the output, 0 to 31.
    pub shift: u8,
}

impl MeterConfig {
    /// Returns true if a cell of this kind can have this configuration.
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
    /// Width in bits, 1 to 32; all values from 0 to 2^width - 1 are equally likely.
    pub width: u16,
    /// Meaning.
    pub doc: String,
    /// Source location.
    pub loc: Loc,
}
