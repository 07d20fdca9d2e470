//! Number of hash functions that a network needs, compared with the number available.

/// Uncorrelated functions of the switch chips in the paper (model: hashing §1.1).
pub const FUNCTIONS_ON_CHIP: u32 = 6;

/// Number of uncorrelated functions that the paths of a network need: one for every switch except the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Most switches on a path.
    pub switches: u32,
    /// Number of functions needed.
    pub needed: u32,
}

impl Demand {
    /// Returns the demand of a folded Clos with this many stages, counted from the edge to the top; a path goes up and
    /// down again.
    #[must_use]
    pub const fn clos(stages: u32) -> Demand {
        let switches = (2 * stages).saturating_sub(1);
        Demand { switches, needed: switches.saturating_sub(1) }
    }

    /// Returns the demand of a mesh of this many blocks without a spine, or of the sites of a WAN. Any block may be on
    /// a path, so a scheme of functions alone needs one for each (model: hashing §1.1).
    #[must_use]
    pub const fn mesh(blocks: u32) -> Demand {
        Demand { switches: blocks, needed: blocks }
    }

    /// Returns the number of missing functions.
    #[must_use]
    pub const fn missing(self, available: u32) -> u32 {
        self.needed.saturating_sub(available)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jupiter_needs_eight_of_six_and_a_mesh_grows() {
        let jupiter = Demand::clos(5);
        assert_eq!((jupiter.switches, jupiter.needed, jupiter.missing(FUNCTIONS_ON_CHIP)), (9, 8, 2));
        assert_eq!(Demand::clos(3).missing(FUNCTIONS_ON_CHIP), 0);
        for blocks in [10, 100] {
            assert_eq!(Demand::mesh(blocks).missing(FUNCTIONS_ON_CHIP), blocks - 6);
        }
    }
}
