//! What a placement strives for, and which of its means it may use.
//!
//! Names that users type, and what they stand for.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Which of two legal placements is the better one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objective {
    /// The one that ends in an earlier stage.
    #[default]
    FewestStages,
    /// The one whose stages take fewer cycles, ingress and egress together; of equals, that with fewer stages.
    LowestLatency,
}

impl Objective {
    /// All of them, the default first.
    pub const ALL: [Objective; 2] = [Objective::FewestStages, Objective::LowestLatency];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Objective::FewestStages => "stages",
            Objective::LowestLatency => "latency",
        }
    }
}

/// A means by which placement saves something; each can be left out, to see what it gains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Optimisation {
    /// Nested conditions become one gateway.
    JoinedConditions,
    /// A gateway shares the logical id of the table that it decides.
    AttachedGateways,
    /// A gateway waits for the stage in which something that it decides can run.
    LateGateways,
    /// `if c { a; b }` becomes `if c { a }` and `if c { b }`, where nothing else fits or outcomes find no tag.
    RepeatedConditions,
    /// A condition is tested again where its outcome would have to cross stages and no tag is left.
    RetestedConditions,
    /// The next-table pointer carries outcomes over stages where tags are too few.
    NextTablePointer,
    /// Nodes that no packet runs both depend on nothing of each other.
    MutualExclusion,
    /// Nodes of a stage that compute the same value use the same hash bits.
    SharedHashes,
    /// A table goes to several stages.
    SplitTables,
    /// Small metadata fields share containers.
    PackedMetadata,
    /// Headers of which no packet has two share containers when containers run out.
    HeaderOverlay,
    /// Metadata fields take turns in a container when containers run out.
    Turns,
    /// Bytes that only pass through, and fields moved as a whole, go to tagalong, mocha and dark containers.
    SpecialContainers,
}

impl Optimisation {
    /// All of them.
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

    /// The word for it.
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

/// How to place a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What to strive for.
    pub objective: Objective,
    /// What to do without.
    pub without: BTreeSet<Optimisation>,
}

impl Options {
    /// Whether a means may be used.
    #[must_use]
    pub fn may(&self, optimisation: Optimisation) -> bool {
        !self.without.contains(&optimisation)
    }
}

/// No objective or optimisation has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} `{found}`; expected {expected}")]
pub struct UnknownName {
    kind: &'static str,
    found: String,
    expected: String,
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
