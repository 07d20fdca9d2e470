//! What can be wrong with a profile, and the diagnostic that shows all of it with the sums.

use crate::units::{Bytes, Cells};
use std::fmt;

/// A check over a profile. Its name in `accept = [..]` lets a profile pass it knowingly, where that leaves the buffer
/// consistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Pools, headroom and reserved cells fit the memory together.
    OverCommit,
    /// Each pool fits the memory.
    PoolSize,
    /// A group's headroom fits the headroom pool.
    HeadroomCap,
    /// A paused group can resume below its threshold.
    Xon,
    /// SONiC: xon and xoff fit the size of a profile whose headroom is private.
    PrivateSize,
    /// The egress pool for lossy traffic is no larger than the ingress pool.
    LossyPool,
    /// The egress pool for lossless traffic takes all that ingress admits.
    LosslessPool,
    /// Alpha, BAF, or a choice of exactly one limit.
    Threshold,
    /// Lossless groups, queues, pools, maps and PFC agree on what is lossless.
    Class,
    /// Maps lead to what exists, each code point once.
    Map,
    /// Marking thresholds and probabilities.
    Ecn,
    /// Watchdog times and actions.
    Watchdog,
    /// PFC at the MACs.
    Pfc,
    /// A name that nothing has, or that two things have.
    Name,
    /// Numbers without meaning: no cells, no partitions, ranges that name nothing.
    Value,
    /// What the silicon can hold: pools, hysteresis profiles, bits of a cell count.
    Silicon,
}

impl Check {
    /// Every check with its name, whether a profile may accept its failure, and what follows then.
    pub const TABLE: [(Self, &'static str, Option<&'static str>); 16] = [
        (Self::OverCommit, "over-commit", Some("the memory can be full before pools are: buffer_full drops")),
        (Self::PoolSize, "pool-size", None),
        (Self::HeadroomCap, "headroom-cap", Some("the pool's size is what counts")),
        (
            Self::Xon,
            "xon",
            Some("a paused group resumes at max(xon, threshold - xon_offset), at 0 if need be"),
        ),
        (Self::PrivateSize, "private-size", Some("xon is a level of its own, not part of size")),
        (Self::LossyPool, "lossy-pool", Some("lossy packets can be refused by the ingress pool")),
        (
            Self::LosslessPool,
            "lossless-pool",
            Some("lossless packets are not refused at egress all the same"),
        ),
        (Self::Threshold, "threshold", None),
        (Self::Class, "class", None),
        (Self::Map, "map", None),
        (Self::Ecn, "ecn", None),
        (Self::Watchdog, "watchdog", None),
        (Self::Pfc, "pfc", None),
        (Self::Name, "name", None),
        (Self::Value, "value", None),
        (Self::Silicon, "silicon", None),
    ];

    /// Name as printed and as `accept` takes it.
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// What follows from accepting its failure, if a profile may.
    pub const fn acceptable(self) -> Option<&'static str> {
        Self::TABLE[self as usize].2
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {text} [{}]", .check.name())]
pub struct Problem {
    /// The check that failed.
    pub check: Check,
    /// The entry and field.
    pub place: String,
    /// Found, expected, and how to mend it.
    pub text: String,
}

/// A line of the sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// What is summed.
    pub what: String,
    /// How much.
    pub cells: Cells,
}

/// How the memory is given out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// Bytes per cell.
    pub cell: Bytes,
    /// Cells of the memory.
    pub memory: Cells,
    /// What takes them.
    pub parts: Vec<Sum>,
}

impl Sums {
    /// All parts.
    pub fn total(&self) -> Cells {
        self.parts.iter().map(|part| part.cells).sum()
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |sign: &str, what: &str, cells: Cells| {
            writeln!(f, "  {sign} {:>10} cells {:>14} B  {what}", cells.get(), cells.bytes(self.cell).get())
        };
        for (i, part) in self.parts.iter().enumerate() {
            row(if i == 0 { " " } else { "+" }, &part.what, part.cells)?;
        }
        row("=", "in all", self.total())?;
        row(" ", "of the memory", self.memory)?;
        match self.memory.get().checked_sub(self.total().get()) {
            Some(free) => row(" ", "not given out", Cells(free)),
            None => row("!", "too many", self.total() - self.memory),
        }
    }
}

/// Everything that is wrong with a profile, with its sums.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// The profile.
    pub profile: String,
    /// What is wrong, in the order of the file.
    pub list: Vec<Problem>,
    /// How the memory is given out.
    pub sums: Sums,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.list.len();
        writeln!(f, "buffer profile `{}`: {n} problem{}", self.profile, if n == 1 { "" } else { "s" })?;
        for problem in &self.list {
            writeln!(f, "  {problem}")?;
        }
        writeln!(f, "the sums:")?;
        write!(f, "{}", self.sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_own_index() {
        for (i, (check, name, _)) in Check::TABLE.iter().enumerate() {
            assert_eq!((*check as usize, check.name()), (i, *name));
        }
    }
}
