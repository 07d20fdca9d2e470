//! Run-time arrays of meters, filters and WRED entries, which both executors access.
//!
//! This module has the cells, their configuration with the chip's codes, and one access.

use crate::{LpfSpec, MeterConfig, MeterData, MeterKind};
use sluice_asic::chip::ChipSpec;
use sluice_asic::clock::Clock;
use sluice_asic::gress::Gress;
use sluice_asic::meter::{
    Colour, Lpf, LpfConfig, LpfError, Meter, MeterError, MeterRate, MeterSpec, Wred, WredConfig, WredError,
    WredSpec,
};
use sluice_asic::random::{RandomStream, StreamId};
use sluice_asic::units::{BitRate, Bytes, Cycles, Time};

/// First stream number of meters among a gress' random streams, after those of generators.
const METER_STREAMS: u32 = 1 << 31;

/// Place of a program's state: the clock of its meters and the seed of its random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The MAU's clock.
    pub clock: Clock,
    /// True if WRED may take its input without an average (model: chip §5; behavioural model: Tofino 2).
    pub plain_wred: bool,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the switch.
    pub switch: u32,
    /// Number of the pipe.
    pub pipe: u32,
}

impl Origin {
    /// Returns pipe 0 of switch 0 of a chip, with seed 1.
    #[must_use]
    pub fn of(chip: &ChipSpec) -> Origin {
        Origin { clock: chip.mau.clock, plain_wred: chip.salu.output_words > 1, seed: 1, switch: 0, pipe: 0 }
    }

    /// Returns the stream of a generator of random numbers; `instance` is its number in the program.
    #[must_use]
    pub fn stream(&self, gress: Gress, instance: u32) -> RandomStream {
        RandomStream::new(self.seed, StreamId { switch: self.switch, pipe: self.pipe, gress, instance })
    }
}

impl Default for Origin {
    fn default() -> Self {
        Origin::of(&ChipSpec::tofino2())
    }
}

/// Reason why cells of an array cannot have a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each variant's message explains its fields")]
pub enum MeterConfigError {
    #[error(transparent)]
    Meter(#[from] MeterError),
    #[error(transparent)]
    Lpf(#[from] LpfError),
    #[error(transparent)]
    Wred(#[from] WredError),
    #[error("{} is configured as something else; give it {}", .0.word(), wanted(*.0))]
    Kind(MeterKind),
    #[error("WRED without an average: this chip averages always; give it a time constant")]
    PlainWred,
}

/// Returns the configuration that a kind takes, in words.
const fn wanted(kind: MeterKind) -> &'static str {
    match kind {
        MeterKind::Packets | MeterKind::Bytes => "two rates and two bursts",
        MeterKind::Lpf => "a time constant",
        MeterKind::Wred => "two thresholds and a probability",
    }
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterCell {
    /// Not configured: returns its input.
    Open,
    /// A two-rate three-colour meter.
    Meter(Meter),
    /// A low-pass filter.
    Lpf(Lpf),
    /// WRED.
    Wred(Wred),
}

impl MeterCell {
    /// Makes a cell in its initial state.
    ///
    /// # Errors
    /// Refuses a configuration that the chip's codes cannot express.
    pub fn new(
        kind: MeterKind,
        config: Option<&MeterConfig>,
        origin: &Origin,
    ) -> Result<MeterCell, MeterConfigError> {
        let filter =
            |spec: &LpfSpec| LpfConfig::with_two(spec.mode, spec.rise, spec.fall, spec.shift, origin.clock);
        Ok(match (config, kind) {
            (None, _) => MeterCell::Open,
            (Some(config), kind) if !config.is_for(kind) => return Err(MeterConfigError::Kind(kind)),
            (Some(&MeterConfig::Rates { committed, committed_burst, peak, peak_burst }), _) => {
                let rate = if kind == MeterKind::Packets {
                    MeterRate::Packets { committed, peak, committed_burst, peak_burst }
                } else {
                    MeterRate::Bytes {
                        committed: BitRate::from_bps(committed),
                        peak: BitRate::from_bps(peak),
                        committed_burst: Bytes(committed_burst),
                        peak_burst: Bytes(peak_burst),
                    }
                };
                // A packet without a colour counts as green, which is never worse than the meter's result.
                MeterCell::Meter(Meter::new(&MeterSpec { rate, colour_aware: true }, origin.clock)?)
            }
            (Some(MeterConfig::Lpf(spec)), _) => MeterCell::Lpf(Lpf::new(filter(spec)?)),
            (Some(&MeterConfig::Wred { min, max, probability, average }), _) => {
                if average.is_none() && !origin.plain_wred {
                    return Err(MeterConfigError::PlainWred);
                }
                let average = average.as_ref().map(filter).transpose()?;
                let spec = WredSpec { min, max, max_probability: probability, average };
                MeterCell::Wred(Wred::new(WredConfig::new(&spec)?))
            }
        })
    }
}

/// Input of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Time at which the packet entered the gress, in ns of the data plane's clock.
    pub now: u64,
    /// Length of the packet in bytes, without FCS.
    pub bytes: u32,
    /// Colour (meters) or sample (filters, WRED).
    pub input: u32,
}

/// An array of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterArray {
    kind: MeterKind,
    /// Bytes that are added to the length of every packet.
    adjust: i16,
    origin: Origin,
    cells: Vec<MeterCell>,
    random: RandomStream,
}

impl MeterArray {
    /// Makes the array of `size` cells, with the program's initial configuration if the chip supports it.
    #[must_use]
    pub fn new(data: &MeterData, size: u32, number: u32, origin: &Origin) -> MeterArray {
        // Configurations that the chip does not support were refused before the program was placed.
        let cell = MeterCell::new(data.kind, data.initial.as_ref(), origin).unwrap_or(MeterCell::Open);
        MeterArray {
            kind: data.kind,
            adjust: data.adjust,
            origin: *origin,
            cells: vec![cell; size as usize],
            random: origin.stream(data.gress, METER_STREAMS | number),
        }
    }

    /// Returns the cells.
    #[must_use]
    pub fn cells(&self) -> &[MeterCell] {
        &self.cells
    }

    /// Configures one cell, or all, and resets their state.
    ///
    /// # Errors
    /// Refuses a configuration that the chip's codes cannot express.
    pub fn configure(
        &mut self,
        index: Option<u32>,
        config: Option<&MeterConfig>,
    ) -> Result<(), MeterConfigError> {
        let cell = MeterCell::new(self.kind, config, &self.origin)?;
        match index {
            Some(i) => self.cells.get_mut(i as usize).into_iter().for_each(|c| *c = cell),
            None => self.cells.fill(cell),
        }
        Ok(())
    }

    /// Accesses a cell. A cell beyond the end returns 0.
    #[inline]
    pub fn ask(&mut self, index: usize, question: Question) -> u32 {
        let Some(cell) = self.cells.get_mut(index) else { return 0 };
        let cycles = |ns: u64| -> Cycles { self.origin.clock.last_edge_at_or_before(Time::from_nanos(ns)) };
        match cell {
            MeterCell::Open if self.kind == MeterKind::Wred => 0,
            MeterCell::Open => question.input,
            MeterCell::Meter(meter) => {
                let (own, random) = (Colour::from_bits(question.input as u8), self.random.draw(17) as u32);
                let length = Bytes(u64::from(question.bytes).saturating_add_signed(self.adjust.into()));
                meter.execute(cycles(question.now), length, own, random).bits().into()
            }
            MeterCell::Lpf(lpf) => lpf.execute(cycles(question.now), question.input),
            MeterCell::Wred(wred) => {
                let random = self.random.draw(15) as u32;
                wred.execute(cycles(question.now), question.input, random).into()
            }
        }
    }
}
