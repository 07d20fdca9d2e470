//! Flowlets: packets of a flow that follow each other within a timeout keep the uplink of the first one.
//!
//! There are three ways to detect the gap. For equal draws they choose equal uplinks, except for gaps near the timeout:
//!
//! | `detect` | arrays | timeout |
//! |---|---|---|
//! | `pair` | one: time of the last packet, member | exact, in ticks |
//! | `split` | two in successive stages: time; member | exact, in ticks |
//! | `age` | two: age; member. The packet generator ages every entry once per timeout | between one timeout and two |
//!
//! A member is remembered with the generation of its group, so members from before a change of the group count as
//! expired. The initial value of an array also counts as expired, because its generation is 0.

mod age;
mod model;
mod stamp;
mod values;

pub(crate) use values::choices;
pub use values::{Compare, Detect, NoSuchChoice, Tick};

use crate::leaf::{self, Leaf, power_of_two};
use sluice_asic::units::Duration;
use sluice_build::{GressBuilder, params};
use sluice_catalogue::ProgramError;
use sluice_catalogue::properties::FlowletWay;
use sluice_switch::property::Property;

/// -1024 in two's complement. If a remembered member minus the candidate is below this, the member is of an older
/// generation, because numbers are below 1024 and generations are 65,536 apart.
pub(crate) const OLDER: u64 = 0xffff_fc00;

/// Parameters of flowlets, for programs with a fixed way to detect gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, params::Params)]
pub struct Gaps {
    /// Gap between packets of a flow that ends a flowlet
    #[param(expects = "a time such as 100us")]
    pub timeout: Duration,
    /// Entries of the flowlet table, a power of two; flows that share an entry share their flowlets
    #[param(range = 2..=131_072)]
    pub flowlets: u32,
    /// Unit of the timestamps that are compared
    #[param(expects = "1ns, 256ns or 1024ns")]
    pub tick: Tick,
}

impl Default for Gaps {
    fn default() -> Self {
        Gaps { timeout: Duration::from_micros(100), flowlets: 32_768, tick: Tick::Ns256 }
    }
}

impl Gaps {
    /// Returns the specification with this way to detect gaps. A gap of exactly the timeout does not end a flowlet.
    pub(crate) fn spec(&self, detect: Detect) -> Spec {
        let Gaps { timeout, flowlets: entries, tick } = *self;
        Spec { detect, entries, timeout, tick, compare: Compare::Gt }
    }
}

/// Specification of flowlets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// How a gap is detected.
    pub(crate) detect: Detect,
    /// Entries of the flowlet table, a power of two.
    pub(crate) entries: u32,
    /// Gap that ends a flowlet.
    pub(crate) timeout: Duration,
    /// Unit of the timestamps that are compared.
    pub(crate) tick: Tick,
    /// Whether a gap of exactly the timeout ends a flowlet.
    pub(crate) compare: Compare,
}

impl Spec {
    /// Returns the largest gap within which a flowlet continues, in ticks.
    pub(crate) fn longest_gap(&self) -> u64 {
        let ticks = self.timeout.as_ps() / (self.tick.nanos() * 1_000);
        match self.compare {
            Compare::Gt => ticks,
            Compare::Ge => ticks.saturating_sub(1),
        }
    }

    /// Returns the properties of every leaf, and those of these flowlets.
    pub(crate) fn properties(&self, random: bool) -> Vec<Box<dyn Property>> {
        let mut list = leaf::model::properties();
        list.extend(self.flowlets(random));
        list
    }

    /// Returns the properties of these flowlets; `random` if a flowlet draws any uplink of its group.
    pub(crate) fn flowlets(&self, random: bool) -> Vec<Box<dyn Property>> {
        let mut list: Vec<Box<dyn Property>> = Vec::new();
        if self.detect != Detect::Age {
            list.push(Box::new(model::FlowletModel::new(self, random)));
        }
        let way = FlowletWay::new(self.timeout, Duration::from_nanos(self.tick.nanos()));
        list.extend(way.map(|way| Box::new(way) as Box<dyn Property>));
        list
    }

    /// Returns an error if the arrays cannot detect these flowlets.
    pub(crate) fn check(&self, program: &str) -> Result<(), ProgramError> {
        power_of_two(program, "flowlets", self.entries)?;
        let refuse =
            |key, found: String, expected: String| Err(ProgramError::conflict(program, key, found, expected));
        let tick = Duration::from_nanos(self.tick.nanos());
        // Timestamps of 32 bits wrap, so a longer timeout could not be told from a short one.
        let most = Duration::from_nanos(self.tick.nanos() << 30);
        if self.timeout < tick || self.timeout > most {
            let expected =
                format!("timestamps in units of {tick} measure gaps from {tick} to {most}: change tick");
            return refuse("timeout", self.timeout.to_string(), expected);
        }
        if self.detect == Detect::Age && self.entries > 1 << 16 {
            let expected = "a batch of the packet generator has at most 65536 packets, one for each entry";
            return refuse("flowlets", self.entries.to_string(), expected.to_owned());
        }
        Ok(())
    }
}

/// Adds the choice of `m.member`: the remembered member while the flowlet lasts, else the candidate, and remembers it.
pub(crate) fn keep(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    match spec.detect {
        Detect::Pair => stamp::pair(ig, leaf, spec),
        Detect::Split => stamp::split(ig, leaf, spec),
        Detect::Age => age::age(ig, leaf, spec),
    }
}
