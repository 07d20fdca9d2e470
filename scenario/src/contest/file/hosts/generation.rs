//! Generations of NICs in Azure's network (model: buffer §4.5).

use serde::Deserialize;
use sluice_asic::units::Duration;
use sluice_fabric::host::dcqcn::Coalescing;

/// Time in which a NIC sends, or reacts to, one CNP of a queue pair: DCQCN's testbed (model: buffer §4.4).
const WINDOW: Duration = Duration::from_micros(50);

/// Generation of a NIC, which gives defaults of DCQCN. All generations recover by go-back-N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u8")]
pub enum Generation {
    /// DCQCN in firmware: the receiver sends at most one CNP of a pair in each window of 50 us, the sender cuts at every
    /// CNP, and packets are paced in bursts of 16 (assumed).
    First,
    /// DCQCN in hardware: the receiver answers every marked packet, the sender cuts at most once in 50 us, and every
    /// packet is paced.
    Second,
    /// As the second generation.
    Third,
}

impl TryFrom<u8> for Generation {
    type Error = String;

    fn try_from(number: u8) -> Result<Generation, String> {
        match number {
            1 => Ok(Generation::First),
            2 => Ok(Generation::Second),
            3 => Ok(Generation::Third),
            _ => Err(format!("there is no generation {number}; expected 1, 2 or 3")),
        }
    }
}

impl Generation {
    /// Returns the packets that the sender paces together.
    pub(super) const fn burst(self) -> u32 {
        match self {
            Generation::First => 16,
            Generation::Second | Generation::Third => 1,
        }
    }

    /// Returns the time after a cut in which the sender ignores CNPs.
    pub(super) const fn cut_window(self) -> Duration {
        match self {
            Generation::First => Duration::ZERO,
            Generation::Second | Generation::Third => WINDOW,
        }
    }

    /// Returns the receiver's limit on CNPs.
    pub(super) const fn coalescing(self) -> Coalescing {
        match self {
            Generation::First => Coalescing::Window(WINDOW),
            Generation::Second | Generation::Third => Coalescing::PerPacket,
        }
    }
}
