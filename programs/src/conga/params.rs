//! The parameters of `conga`.

use super::dre::Bounds;
use crate::flowlet::{Detect, Gaps, Spec, choices};
use sluice_asic::units::Duration;
use sluice_build::params;
use sluice_catalogue::ProgramError;
use sluice_catalogue::ports::PortRange;

/// Uplinks of a leaf, at most: a few ties of four can be told by the two comparisons of a stateful ALU.
pub(super) const UPLINKS: usize = 4;

choices! {
    /// What a switch is.
    Side {
        /// It has hosts: it wraps, chooses and tells.
        Leaf = "leaf",
        /// It has leaves: it forwards and raises the congestion met.
        Spine = "spine",
    }
}

/// What users can set on `conga`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Whether this switch has hosts or joins those that have; follows from the place in a network
    #[param(expects = "leaf or spine")]
    pub role: Side,
    /// How long a flowlet may pause
    #[param(flatten)]
    pub gaps: Gaps,
    /// Time over which a link's estimator forgets, about: eight levels of a link's rate must be powers of two
    #[param(expects = "a time such as 160us")]
    pub tau: Duration,
    /// How often the packet generator shows the estimators to the choice
    #[param(expects = "a time such as 20us")]
    pub period: Duration,
    /// Time after which congestion that was not told again counts as none
    #[param(expects = "a time such as 10ms")]
    pub age: Duration,
    /// Leaves, numbered from 1, with room for number 0
    #[param(range = 4..=256)]
    pub leaves: u32,
    /// Front-panel ports with hosts, of the same pipe as the uplinks
    #[param(expects = "the first and the last port, such as 0-3")]
    pub hosts: PortRange,
    /// Front-panel ports with uplinks, at most four
    #[param(expects = "the first and the last port, such as 4-7")]
    pub uplinks: PortRange,
    /// IPv4 routes that the table must hold; a quarter as many IPv6 routes
    #[param(range = 16..=1_000_000)]
    pub routes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            role: Side::Leaf,
            gaps: Gaps { timeout: Duration::from_micros(500), ..Gaps::default() },
            tau: Duration::from_micros(160),
            period: Duration::from_micros(20),
            age: Duration::from_micros(10_000),
            leaves: 16,
            hosts: PortRange { first: 0, last: 3 },
            uplinks: PortRange { first: 4, last: 7 },
            routes: 4_096,
        }
    }
}

impl Params {
    pub(super) fn spec(&self) -> Spec {
        self.gaps.spec(Detect::Split)
    }

    /// Groups of uplinks: a leaf is one.
    pub(super) fn groups(&self) -> u32 {
        self.leaves.max(4)
    }

    /// Largest age of congestion that still counts, in ticks.
    pub(super) fn oldest(&self) -> u64 {
        self.age.as_ps() / (self.gaps.tick.nanos() * 1_000)
    }

    /// What one parameter alone cannot say.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        self.spec().check(program)?;
        let refuse =
            |key, found: String, expected: String| Err(ProgramError::conflict(program, key, found, expected));
        let uplinks = self.uplinks.iter().count();
        if !(1..=UPLINKS).contains(&uplinks) {
            let expected = format!("a leaf has 1 to {UPLINKS} uplinks");
            return refuse("uplinks", self.uplinks.to_string(), expected);
        }
        if self.hosts.iter().any(|host| self.uplinks.iter().any(|uplink| uplink == host)) {
            let expected =
                format!("hosts={} has ports of them: a port is for a host or for a path", self.hosts);
            return refuse("uplinks", self.uplinks.to_string(), expected);
        }
        if self.oldest() < 1 || self.oldest() >= 1 << 30 {
            let expected = "the stamps must tell ages apart: change tick".to_owned();
            return refuse("age", self.age.to_string(), expected);
        }
        let Bounds { least, most } = Bounds::default();
        if self.tau < least || self.tau > most || self.period < Duration::from_micros(1) {
            let expected = format!("tau is {least} to {most}, and period at least 1us");
            return refuse("tau", format!("{} with period={}", self.tau, self.period), expected);
        }
        Ok(())
    }
}
