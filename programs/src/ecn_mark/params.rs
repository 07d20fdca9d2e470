//! The parameters of `ecn-mark`.

use sluice_build::params;
use sluice_catalogue::ProgramError;

/// Parameters of `ecn-mark`. The defaults are those of HPCC's and ConWeave's simulations at 25G (model: buffer §3.2).
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Queue length up to which no packet is marked, in bytes, on a port of 25G
    #[param(range = 0..=4_000_000)]
    pub kmin: u32,
    /// Queue length above which every packet is marked, in bytes, on a port of 25G
    #[param(range = 0..=4_000_000)]
    pub kmax: u32,
    /// Marking probability at `kmax`, in hundredths of a percent
    #[param(range = 0..=10_000)]
    pub pmax: u32,
    /// Whether thresholds are scaled by (speed of the port / 25G); `false`: the same thresholds on all ports
    pub scaled: bool,
    /// Number of the queue whose packets are never marked: the queue of CNPs
    #[param(range = 0..=15)]
    pub control_queue: u32,
    /// IPv4 routes that the table must hold
    #[param(range = 1..=100_000)]
    pub routes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { kmin: 100_000, kmax: 400_000, pmax: 2_000, scaled: true, control_queue: 6, routes: 1_024 }
    }
}

impl Params {
    /// Checks combinations of parameters.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        if self.kmin > self.kmax {
            return Err(ProgramError::conflict(
                program,
                "kmin",
                self.kmin.to_string(),
                format!("kmin must be at most kmax: lower kmin, or raise kmax={}", self.kmax),
            ));
        }
        Ok(())
    }
}
