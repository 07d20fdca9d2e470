//! The parameters of `conga`.

use super::dre::Bounds;
use super::ties;
use crate::flowlet::{Detect, Gaps, Spec, choices};
use sluice_asic::units::Duration;
use sluice_build::params;
use sluice_catalogue::ProgramError;
use sluice_catalogue::ports::PortRange;

/// Largest number of uplinks of a leaf: a stateful ALU with four comparators tests any tie among eight (see `keep`).
pub(super) const UPLINKS: usize = 8;
/// Largest number of uplinks of a leaf whose ties two comparators test.
pub(super) const FEW: usize = 4;

choices! {
    /// The role of a switch.
    Side {
        /// A switch with hosts: it encapsulates, chooses uplinks and sends feedback.
        Leaf = "leaf",
        /// A switch that joins leaves: it forwards and raises the congestion that packets carry.
        Spine = "spine",
    }
}

/// Parameters of `conga`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Role of the switch: leaf (has hosts) or spine (joins leaves); in a network it follows from the position
    #[param(expects = "leaf or spine")]
    pub role: Side,
    /// Flowlet detection
    #[param(flatten)]
    pub gaps: Gaps,
    /// Time constant of the link load estimators; rounded so that link rate times tau is a power of two of bytes
    #[param(expects = "a time such as 160us")]
    pub tau: Duration,
    /// Period at which the packet generator copies the estimators' output to where the choice of an uplink reads it
    #[param(expects = "a time such as 20us")]
    pub period: Duration,
    /// Time after which congestion that was not reported again counts as none
    #[param(expects = "a time such as 10ms")]
    pub age: Duration,
    /// Size of the tables indexed by leaf; leaves are numbered from 1 to this minus 1
    #[param(range = 4..=256)]
    pub leaves: u32,
    /// Front-panel ports with hosts; they must be in the same pipe as the uplinks
    #[param(expects = "the first and the last port, such as 0-3")]
    pub hosts: PortRange,
    /// Front-panel ports with uplinks, at most 8
    #[param(expects = "the first and the last port, such as 4-7")]
    pub uplinks: PortRange,
    /// Uplinks of the leaf with the most, if other leaves have more than this one: feedback takes turns over so many
    #[param(range = 0..=8)]
    pub remote_uplinks: u32,
    /// IPv4 routes that the table must hold; the IPv6 table holds a quarter as many
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
            remote_uplinks: 0,
            routes: 4_096,
        }
    }
}

impl Params {
    pub(super) fn spec(&self) -> Spec {
        self.gaps.spec(Detect::Split)
    }

    /// Returns the number of uplink groups, one per leaf.
    pub(super) fn groups(&self) -> u32 {
        self.leaves.max(4)
    }

    /// Returns the largest age at which congestion still counts, in ticks.
    pub(super) fn oldest(&self) -> u64 {
        self.age.as_ps() / (self.gaps.tick.nanos() * 1_000)
    }

    /// Returns the number of uplinks of a leaf.
    pub(super) fn count(&self) -> usize {
        self.uplinks.iter().count()
    }

    /// Returns true if the ties of the uplinks need a stateful ALU with four comparators.
    pub(super) fn many(&self) -> bool {
        self.count() > FEW
    }

    /// Returns the number of LBTags over which feedback takes turns: the uplinks of any leaf, 4 to 8.
    pub(super) fn turns(&self) -> u32 {
        self.remote_uplinks.max(self.count() as u32).max(FEW as u32)
    }

    /// Returns the number of LBTags for which tables have room, a power of two.
    pub(super) fn tags(&self) -> u32 {
        self.turns().next_power_of_two()
    }

    /// Returns true if LBTags need three bits, not two.
    pub(super) fn wide_tags(&self) -> bool {
        self.tags() > FEW as u32
    }

    /// Returns the number by which tables and registers know an uplink.
    pub(super) fn number(&self, uplink: u32) -> u32 {
        if self.many() { ties::copies(uplink) } else { uplink }
    }

    /// Checks combinations of parameters.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        self.spec().check(program)?;
        let refuse =
            |key, found: String, expected: String| Err(ProgramError::conflict(program, key, found, expected));
        if !(1..=UPLINKS).contains(&self.count()) {
            let expected = format!("give a leaf 1 to {UPLINKS} uplinks");
            return refuse("uplinks", self.uplinks.to_string(), expected);
        }
        if self.hosts.iter().any(|host| self.uplinks.iter().any(|uplink| uplink == host)) {
            let expected =
                format!("it overlaps with hosts={}: a port is for a host or for an uplink", self.hosts);
            return refuse("uplinks", self.uplinks.to_string(), expected);
        }
        if self.oldest() < 1 || self.oldest() >= 1 << 30 {
            let expected = "age must be 1 to 2^30 ticks: change age or tick".to_owned();
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
