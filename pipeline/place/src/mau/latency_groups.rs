//! Latency groups of stages, for `--objective latency`.
//!
//! A stage with a match dependency on the open group starts a new group and adds its full length to the latency; any
//! other stage adds one or two cycles (model: cycles §2, §3). Up to `reserved_stages` stages per gress are kept for nodes
//! without such a dependency, so that the other nodes share fewer stages. The caller (`attempts` in `mod.rs`) tries each
//! value of `reserved_stages`.

use super::demand::Demand;
use super::relations::Relations;
use crate::data::Part;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;

/// Open latency group of each gress while stages are filled in order, and which gresses have the current stage reserved.
#[derive(Clone, Debug)]
pub(crate) struct LatencyGroups {
    /// Stages that can still be reserved, by gress.
    reserved_stages: [u32; 2],
    /// First stage of the open group, by gress.
    heads: [u8; 2],
    /// True if the current stage is reserved for nodes without a match dependency on the open group, by gress.
    reserved: [bool; 2],
    /// Stage that starts a group in any case.
    forced: u32,
}

impl LatencyGroups {
    pub(crate) fn new(reserved_stages: u32, chip: &ChipSpec) -> Self {
        let forced = chip.latency.forced_match_stage;
        LatencyGroups { reserved_stages: [reserved_stages; 2], heads: [0; 2], reserved: [false; 2], forced }
    }

    /// Starts a stage without a reservation; returns true if the stage could be reserved for `gress`.
    pub(crate) fn may_reserve(&mut self, gress: Gress, stage: u8) -> bool {
        self.reserved[gress.index()] = false;
        self.reserved_stages[gress.index()] > 0 && stage > 0 && u32::from(stage) != self.forced
    }

    /// Reserves the current stage for `gress` if `reserved` is true.
    pub(crate) fn reserve(&mut self, gress: Gress, reserved: bool) {
        self.reserved[gress.index()] = reserved;
        self.reserved_stages[gress.index()] -= u32::from(reserved);
    }

    /// Returns true if node `i`, placed in `stage`, has a match dependency on a node in an earlier stage of the open
    /// latency group.
    pub(crate) fn matches(
        &self,
        gress: Gress,
        i: usize,
        stage: u8,
        parts: &[Vec<Part>],
        relations: &Relations,
    ) -> bool {
        let since = |p: &Part| p.stage >= self.heads[gress.index()] && p.stage < stage;
        relations.matches_on[i].iter().any(|&a| parts[a].iter().any(since))
    }

    /// Returns the reason why node `i` may not be in the current stage: the stage is reserved, and the node has a match
    /// dependency on the open group. `None` if it may.
    pub(crate) fn refuses(
        &self,
        gress: Gress,
        i: usize,
        stage: u8,
        parts: &[Vec<Part>],
        relations: &Relations,
    ) -> Option<&'static str> {
        let refused = self.reserved[gress.index()] && self.matches(gress, i, stage, parts, relations);
        refused.then_some("it would make the stage match-dependent, and later stages are so anyway")
    }

    /// Ends `stage`: in each gress that has a match dependency in it, the stage becomes the head of the open group.
    pub(crate) fn end(&mut self, stage: u8, parts: &[Vec<Part>], demands: &[Demand], relations: &Relations) {
        let waits = |gress: Gress| {
            (0..demands.len()).any(|i| {
                demands[i].owner.gress == gress
                    && parts[i].iter().any(|p| p.stage == stage)
                    && self.matches(gress, i, stage, parts, relations)
            })
        };
        let begins = Gress::ALL.map(|g| u32::from(stage) == self.forced || waits(g));
        for (head, _) in self.heads.iter_mut().zip(begins).filter(|(_, begins)| *begins) {
            *head = stage;
        }
    }
}
