//! Sizes for many groups that share one member table.

use thiserror::Error;

/// Limits of a member table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most groups.
    pub groups: u32,
    /// Most members over all groups.
    pub members: u32,
    /// Most members of one group.
    pub group: u32,
}

impl Limits {
    /// Limits that a public profile of fixed-function switches guarantees (model: hashing §6, tag `[PINS]`).
    pub const PINS: Limits = Limits { groups: 3968, members: 49_152, group: 512 };
    /// `switch.p4` on Tofino: 512 groups, 32,768 members, one selector word each (model: hashing §6, `[P4S]`).
    pub const TOFINO: Limits = Limits { groups: 512, members: 32_768, group: 120 };
    /// As [`Limits::TOFINO`], on Tofino 2.
    pub const TOFINO2: Limits = Limits { groups: 1024, members: 65_536, group: 120 };
}

/// Reason for which groups do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoRoom {
    /// Too many groups.
    #[error("{groups} groups are too many: the chip has room for {limit}")]
    Groups {
        /// Number of groups requested.
        groups: u32,
        /// Most groups of the chip.
        limit: u32,
    },
    /// Too many members even at the smallest size.
    #[error("{groups} groups of {size} members, the smallest size allowed, take {total} entries of {limit}")]
    Members {
        /// Number of groups requested.
        groups: u32,
        /// Smallest size allowed.
        size: u32,
        /// Entries that groups of this size take.
        total: u64,
        /// Entries of the member table.
        limit: u32,
    },
    /// The list of sizes has none that a group may have.
    #[error("no size is given that is allowed for a group")]
    NoSize,
}

/// Returns a size for each of `groups` groups: the first of `sizes`, ordered by preference, that leaves room for the
/// remaining groups at the smallest size.
///
/// # Errors
/// If the groups do not fit even at the smallest size.
pub fn allocate(groups: u32, sizes: &[u32], limits: Limits) -> Result<Vec<u32>, NoRoom> {
    if groups > limits.groups {
        return Err(NoRoom::Groups { groups, limit: limits.groups });
    }
    let sizes: Vec<u32> = sizes.iter().copied().filter(|q| *q > 0 && *q <= limits.group).collect();
    let least = sizes.iter().copied().min().ok_or(NoRoom::NoSize)?;
    let total = u64::from(groups) * u64::from(least);
    if total > u64::from(limits.members) {
        return Err(NoRoom::Members { groups, size: least, total, limit: limits.members });
    }
    let mut room = limits.members;
    Ok((0..groups)
        .rev()
        .map(|after| {
            let reserve = after * least;
            let size = sizes.iter().copied().find(|q| *q + reserve <= room).unwrap_or(least);
            room -= size;
            size
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_21_table_budget() {
        let sizes = [57, 25, 17, 9, 600];
        let fit = allocate(862, &sizes, Limits::PINS).unwrap();
        assert!(fit.iter().all(|q| *q == 57));
        let one_more = allocate(863, &sizes, Limits::PINS).unwrap();
        assert_eq!((one_more[861], one_more[862]), (57, 17));
        for (q, groups) in [(73, 673), (25, 1966)] {
            assert_eq!(Limits::PINS.members / q, groups);
        }
        let all = allocate(3968, &sizes, Limits::PINS).unwrap();
        assert!(all.iter().sum::<u32>() <= 49_152 && all.iter().all(|q| *q <= 512));
        assert_eq!(allocate(3968, &[9], Limits::PINS).unwrap().iter().sum::<u32>(), 35_712);
        assert!(matches!(allocate(3969, &sizes, Limits::PINS), Err(NoRoom::Groups { .. })));
        let full = allocate(3968, &[57], Limits::PINS).unwrap_err();
        assert_eq!(full, NoRoom::Members { groups: 3968, size: 57, total: 226_176, limit: 49_152 });
        assert_eq!(allocate(1, &[121], Limits::TOFINO2), Err(NoRoom::NoSize));
    }
}
