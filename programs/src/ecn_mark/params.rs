//! The parameters of `ecn-mark`.

use sluice_build::params;
use sluice_catalogue::ProgramError;

/// What users can set. The defaults are those of HPCC's and ConWeave's simulations at 25G (model: buffer §3.2).
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Queue length up to which nothing is marked, in bytes, on a port of 25G
    #[param(range = 0..=4_000_000)]
    pub kmin: u32,
    /// Queue length beyond which everything is marked, in bytes, on a port of 25G
    #[param(range = 0..=4_000_000)]
    pub kmax: u32,
    /// Probability of a mark at `kmax`, in hundredths of a percent
    #[param(range = 0..=10_000)]
    pub pmax: u32,
    /// Whether thresholds grow with the speed of the port from 25G on; `false` has them the same on all ports
    pub scaled: bool,
    /// The queue whose packets are never marked, which CNPs take
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
    /// What one parameter alone cannot say.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        if self.kmin > self.kmax {
            return Err(ProgramError::conflict(
                program,
                "kmin",
                self.kmin.to_string(),
                format!("marking begins before it is certain: lower kmin, or raise kmax={}", self.kmax),
            ));
        }
        Ok(())
    }
}
