//! Problems of a profile, and the diagnostic that shows all of them with the sums of the memory.

use crate::units::{Bytes, Cells};
use std::fmt;

/// Check over a profile. A profile may list a check's name in `accept = [..]` to pass although the check fails, if the
/// buffer stays consistent.
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
    /// Alpha and BAF are valid, and a profile has exactly one limit.
    Threshold,
    /// Lossless groups, queues, pools, maps and PFC agree on what is lossless.
    Class,
    /// Maps lead to existing groups and queues, and each code point occurs once.
    Map,
    /// Marking thresholds and probabilities are valid.
    Ecn,
    /// Watchdog times and actions are valid.
    Watchdog,
    /// PFC settings of the MACs are valid.
    Pfc,
    /// Every name that is used exists, and names are unique.
    Name,
    /// Numbers are meaningful: at least one cell and one partition, and ranges that name something.
    Value,
    /// The chip has enough pools, hysteresis profiles, and bits of a cell count.
    Silicon,
}

impl Check {
    /// Every check with its name and, if a profile may accept its failure, the consequence.
    pub const TABLE: [(Self, &'static str, Option<&'static str>); 16] = [
        (
            Self::OverCommit,
            "over-commit",
            Some("the memory can be full before the pools are, which causes buffer_full drops"),
        ),
        (Self::PoolSize, "pool-size", None),
        (Self::HeadroomCap, "headroom-cap", Some("the size of the headroom pool limits the group")),
        (
            Self::Xon,
            "xon",
            Some("a paused group resumes at max(xon, threshold - xon_offset), or at 0 if that is negative"),
        ),
        (Self::PrivateSize, "private-size", Some("xon is a separate level and not part of size")),
        (Self::LossyPool, "lossy-pool", Some("the ingress pool can refuse lossy packets")),
        (Self::LosslessPool, "lossless-pool", Some("lossless packets are still never refused at egress")),
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

    /// Returns the name as printed and as `accept` takes it.
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// Returns the consequence of accepting the check's failure; `None` if a profile may not accept it.
    pub const fn acceptable(self) -> Option<&'static str> {
        Self::TABLE[self as usize].2
    }
}

/// One problem of a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {text} [{}]", .check.name())]
pub struct Problem {
    /// Failed check.
    pub check: Check,
    /// Entry and field.
    pub place: String,
    /// Value found, value expected, and how to fix it.
    pub text: String,
}

/// One line of the sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// Use of the cells.
    pub what: String,
    /// Number of cells.
    pub cells: Cells,
}

/// Division of the memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// Bytes per cell.
    pub cell: Bytes,
    /// Cells of the memory.
    pub memory: Cells,
    /// Parts of the memory in use.
    pub parts: Vec<Sum>,
}

impl Sums {
    /// Returns the sum of all parts.
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

/// All problems of a profile, with its sums.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// Name of the profile.
    pub profile: String,
    /// Problems, in the order of the file.
    pub list: Vec<Problem>,
    /// Division of the memory.
    pub sums: Sums,
    /// Settings of a converted profile's source that the profile does not have. One of them may be the cause of a problem.
    pub notes: Vec<String>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.list.len();
        writeln!(f, "buffer profile `{}`: {n} problem{}", self.profile, if n == 1 { "" } else { "s" })?;
        for problem in &self.list {
            writeln!(f, "  {problem}")?;
        }
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
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
