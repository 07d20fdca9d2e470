//! Options of placement: objective and optimisations, with the names that users type.

use sluice_asic::names::did_you_mean;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Objective: which of two legal placements is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objective {
    /// The placement that ends in an earlier stage.
    #[default]
    FewestStages,
    /// The placement whose stages take fewer cycles, ingress and egress together; of equals, the one with fewer stages.
    LowestLatency,
}

impl Objective {
    /// All objectives, the default first.
    pub const ALL: [Objective; 2] = [Objective::FewestStages, Objective::LowestLatency];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Objective::FewestStages => "stages",
            Objective::LowestLatency => "latency",
        }
    }
}

/// Optimisation of placement. Each can be turned off, which shows what it saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Optimisation {
    /// Merges nested conditions into one gateway.
    JoinedConditions,
    /// Lets a gateway share the logical id of the table that it decides.
    AttachedGateways,
    /// Lets a gateway wait for the stage in which a node that it decides can run.
    LateGateways,
    /// Turns `if c { a; b }` into `if c { a }` and `if c { b }` if nothing else fits or outcomes find no tag.
    RepeatedConditions,
    /// Tests a condition again if its outcome would have to cross stages and no tag is left.
    RetestedConditions,
    /// Lets the next-table pointer carry outcomes if there are too few tags.
    NextTablePointer,
    /// Ignores dependencies between nodes of which no packet runs both.
    MutualExclusion,
    /// Lets nodes of a stage that compute the same value use the same hash bits.
    SharedHashes,
    /// Splits tables over several stages.
    SplitTables,
    /// Packs small metadata fields into shared containers.
    PackedMetadata,
    /// Lets headers of which no packet has two share containers if containers run out.
    HeaderOverlay,
    /// Lets metadata fields with disjoint live ranges share a container if containers run out.
    Turns,
    /// Moves bytes that only pass through, and fields moved as a whole, to tagalong, mocha and dark containers.
    SpecialContainers,
}

impl Optimisation {
    /// All optimisations.
    pub const ALL: [Optimisation; 13] = [
        Optimisation::JoinedConditions,
        Optimisation::AttachedGateways,
        Optimisation::LateGateways,
        Optimisation::RepeatedConditions,
        Optimisation::RetestedConditions,
        Optimisation::NextTablePointer,
        Optimisation::MutualExclusion,
        Optimisation::SharedHashes,
        Optimisation::SplitTables,
        Optimisation::PackedMetadata,
        Optimisation::HeaderOverlay,
        Optimisation::Turns,
        Optimisation::SpecialContainers,
    ];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Optimisation::JoinedConditions => "joined-conditions",
            Optimisation::AttachedGateways => "attached-gateways",
            Optimisation::LateGateways => "late-gateways",
            Optimisation::RepeatedConditions => "repeated-conditions",
            Optimisation::RetestedConditions => "retested-conditions",
            Optimisation::NextTablePointer => "next-table-pointer",
            Optimisation::MutualExclusion => "mutual-exclusion",
            Optimisation::SharedHashes => "shared-hashes",
            Optimisation::SplitTables => "split-tables",
            Optimisation::PackedMetadata => "packed-metadata",
            Optimisation::HeaderOverlay => "header-overlay",
            Optimisation::Turns => "turns",
            Optimisation::SpecialContainers => "special-containers",
        }
    }
}

/// Options of a placement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Objective.
    pub objective: Objective,
    /// Optimisations that are turned off.
    pub without: BTreeSet<Optimisation>,
}

impl Options {
    /// Returns true if an optimisation is turned on.
    #[must_use]
    pub fn may(&self, optimisation: Optimisation) -> bool {
        !self.without.contains(&optimisation)
    }
}

/// Error: no objective or optimisation has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} `{found}`; expected {expected}{near}")]
pub struct UnknownName {
    kind: &'static str,
    found: String,
    expected: String,
    /// The question whether the nearest name was meant, or nothing.
    near: String,
}

fn named<T: Copy>(
    kind: &'static str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    found: &str,
) -> Result<T, UnknownName> {
    all.iter().copied().find(|t| name(*t) == found).ok_or_else(|| UnknownName {
        kind,
        found: found.to_owned(),
        expected: all.iter().map(|t| name(*t)).collect::<Vec<_>>().join(", "),
        near: did_you_mean(found, all.iter().map(|t| name(*t))),
    })
}

impl FromStr for Objective {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        named("objective", &Objective::ALL, Objective::name, text)
    }
}

impl FromStr for Optimisation {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        named("optimisation", &Optimisation::ALL, Optimisation::name, text)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Optimisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_others_are_told_of() {
        for o in Optimisation::ALL {
            assert_eq!(o.name().parse(), Ok(o));
        }
        for o in Objective::ALL {
            assert_eq!(o.name().parse(), Ok(o));
        }
        let unknown = "speed".parse::<Objective>().unwrap_err().to_string();
        assert_eq!(unknown, "there is no objective `speed`; expected stages, latency");
    }
}
