//! Flowlets: packets of a flow that follow each other within a timeout keep the uplink of the first one.
//!
//! Three ways to notice the gap, with the same outcome for the same draws but for the timeout's edge:
//!
//! | `detect` | arrays | timeout |
//! |---|---|---|
//! | `pair` | one: time of the last packet, member | exact, in ticks |
//! | `split` | two in successive stages: time; member | exact, in ticks |
//! | `age` | two: age; member. The packet generator ages every entry once per timeout | between one timeout and two |
//!
//! A member is remembered with the generation of its group, so members from before a change count as expired, and so
//! does what an array holds at first: generation 0.

mod age;
mod stamp;
mod values;

pub(crate) use values::choices;
pub use values::{Compare, Detect, NoSuchChoice, Tick};

use crate::leaf::{Leaf, power_of_two};
use sluice_asic::units::Duration;
use sluice_build::{GressBuilder, params};
use sluice_catalogue::ProgramError;
use sluice_catalogue::properties::{FlowletWay, forwarding};
use sluice_switch::property::Property;

/// A remembered member whose generation and number lie this far below the candidate's is of an older generation:
/// numbers stay below 1024, generations are 65,536 apart. As two's complement.
pub(crate) const OLDER: u64 = 0xffff_fc00;

/// What users set on programs whose only choice is how long a flowlet may pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, params::Params)]
pub struct Gaps {
    /// Gap between packets of a flow that ends a flowlet
    #[param(expects = "a time such as 100us")]
    pub timeout: Duration,
    /// Entries of the flowlet table, a power of two; flows that share one share their flowlets
    #[param(range = 2..=131_072)]
    pub flowlets: u32,
    /// Unit of the stamps that are compared
    #[param(expects = "1ns, 256ns or 1024ns")]
    pub tick: Tick,
}

impl Default for Gaps {
    fn default() -> Self {
        Gaps { timeout: Duration::from_micros(100), flowlets: 32_768, tick: Tick::Ns256 }
    }
}

impl Gaps {
    /// Flowlets told apart so, a gap of the timeout itself included.
    pub(crate) fn spec(&self, detect: Detect) -> Spec {
        let Gaps { timeout, flowlets: entries, tick } = *self;
        Spec { detect, entries, timeout, tick, compare: Compare::Gt }
    }
}

/// How flowlets are told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// How a gap is noticed.
    pub(crate) detect: Detect,
    /// Entries of the flowlet table, a power of two.
    pub(crate) entries: u32,
    /// The gap that ends a flowlet.
    pub(crate) timeout: Duration,
    /// Unit of stamps.
    pub(crate) tick: Tick,
    /// Whether a gap of the timeout itself ends a flowlet.
    pub(crate) compare: Compare,
}

impl Spec {
    /// Largest distance of two stamps at which a flowlet goes on.
    pub(crate) fn longest_gap(&self) -> u64 {
        let ticks = self.timeout.as_ps() / (self.tick.nanos() * 1_000);
        match self.compare {
            Compare::Gt => ticks,
            Compare::Ge => ticks.saturating_sub(1),
        }
    }

    /// What holds of flowlets that are told apart so, besides what holds of every forwarding program.
    pub(crate) fn properties(&self) -> Vec<Box<dyn Property>> {
        let mut list = forwarding();
        let way = FlowletWay::new(self.timeout, Duration::from_nanos(self.tick.nanos()));
        list.extend(way.map(|way| Box::new(way) as Box<dyn Property>));
        list
    }

    /// Refuses what the arrays cannot do.
    pub(crate) fn check(&self, program: &str) -> Result<(), ProgramError> {
        power_of_two(program, "flowlets", self.entries)?;
        let refuse =
            |key, found: String, expected: String| Err(ProgramError::conflict(program, key, found, expected));
        let tick = Duration::from_nanos(self.tick.nanos());
        // Half a turn of the stamps is as far as they can be told apart.
        let most = Duration::from_nanos(self.tick.nanos() << 30);
        if self.timeout < tick || self.timeout > most {
            let expected =
                format!("stamps in units of {tick} tell gaps from {tick} to {most} apart: change tick");
            return refuse("timeout", self.timeout.to_string(), expected);
        }
        if self.detect == Detect::Age && self.entries > 1 << 16 {
            let expected = "a batch of the packet generator has at most 65536 packets, one for each entry";
            return refuse("flowlets", self.entries.to_string(), expected.to_owned());
        }
        Ok(())
    }
}

/// Puts the remembered member in `m.member` while the flowlet lasts, and remembers the candidate when it is over.
pub(crate) fn keep(ig: &GressBuilder<'_>, leaf: Leaf, spec: Spec) {
    match spec.detect {
        Detect::Pair => stamp::pair(ig, leaf, spec),
        Detect::Split => stamp::split(ig, leaf, spec),
        Detect::Age => age::age(ig, leaf, spec),
    }
}
