//! The parameters of `pfc`.

use sluice_build::params;
use sluice_catalogue::ProgramError;

/// What users can set.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Whether pauses of the other end are obeyed, which needs Tofino 2's flow-control words; `false` leaves the part
    /// that asks for pauses, which Tofino can do
    pub obey: bool,
    /// What the watchdog does with packets of a stormed queue: `true` drops them, `false` lets them go
    pub storm_drop: bool,
    /// Depth above which senders are paused, in bytes
    #[param(range = 1..=16_000_000)]
    pub xoff: u32,
    /// Depth below which they may go on, in bytes
    #[param(range = 1..=16_000_000)]
    pub xon: u32,
    /// Pause asked for, in quanta
    #[param(range = 1..=65_535)]
    pub quanta: u32,
    /// A pause is asked for again after so long, in nanoseconds; half of the pause's time or less
    #[param(range = 100..=1_000_000_000)]
    pub refresh: u64,
    /// A pause that lasts so long is a storm, in microseconds
    #[param(range = 1..=60_000_000)]
    pub detection_time: u64,
    /// A storm is over when no pause has come for so long, in microseconds
    #[param(range = 1..=60_000_000)]
    pub restoration_time: u64,
    /// Whether frames of EtherType 0x88b5 are probes: packets whose flow-control word ingress or egress sends
    pub probe: bool,
    /// IPv4 routes that the table must hold
    #[param(range = 1..=100_000)]
    pub routes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            obey: true,
            storm_drop: true,
            xoff: 50_000,
            xon: 30_000,
            quanta: 65_535,
            refresh: 40_000,
            detection_time: 200_000,
            restoration_time: 200_000,
            probe: false,
            routes: 1_024,
        }
    }
}

impl Params {
    /// What one parameter alone cannot say.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        if self.xon > self.xoff {
            return Err(ProgramError::conflict(
                program,
                "xon",
                self.xon.to_string(),
                format!("senders go on below where they are paused: lower xon, or raise xoff={}", self.xoff),
            ));
        }
        Ok(())
    }
}
