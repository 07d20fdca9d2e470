//! The parameters of `pfc`.

use sluice_build::params;
use sluice_catalogue::ProgramError;

/// Parameters of `pfc`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Whether pauses of the other end are obeyed, which needs Tofino 2's flow-control words; `false` keeps
    /// only the part that requests pauses, which also fits Tofino
    pub obey: bool,
    /// Whether the watchdog drops packets of a queue in a storm; `false` sends them
    pub storm_drop: bool,
    /// Queue depth above which a pause is requested, in bytes
    #[param(range = 1..=16_000_000)]
    pub xoff: u32,
    /// Queue depth below which the pause is ended, in bytes
    #[param(range = 1..=16_000_000)]
    pub xon: u32,
    /// Length of a requested pause, in quanta of 512 bit times
    #[param(range = 1..=65_535)]
    pub quanta: u32,
    /// Time after which a pause is requested again, in nanoseconds; should be at most half of the pause's length
    #[param(range = 100..=1_000_000_000)]
    pub refresh: u64,
    /// Length of a pause from which it is a storm, in microseconds
    #[param(range = 1..=60_000_000)]
    pub detection_time: u64,
    /// Time without a pause after which a storm is over, in microseconds
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
    /// Checks combinations of parameters.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        if self.xon > self.xoff {
            return Err(ProgramError::conflict(
                program,
                "xon",
                self.xon.to_string(),
                format!("xon must be at most xoff: lower xon, or raise xoff={}", self.xoff),
            ));
        }
        Ok(())
    }
}
