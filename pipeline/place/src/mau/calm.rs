//! Stages that need not wait for a match, for the sake of latency.
//!
//! A stage that matches on what was written since the last such stage begins a new group and adds its whole length; any
//! other adds a cycle or two (model: cycles §2, §3). A *calm* stage of a gress holds only nodes of the second kind, so
//! that those of the first kind come together in fewer stages.

use super::demand::Demand;
use super::relations::Relations;
use crate::data::Part;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;

/// Groups of stages so far, and who keeps calm.
#[derive(Clone, Debug)]
pub(crate) struct Calm {
    /// Calm stages left, by gress.
    patience: [u32; 2],
    /// First stage of the group that goes on, by gress.
    heads: [u8; 2],
    calm: [bool; 2],
    /// The stage that waits for a match in any case.
    forced: u32,
}

impl Calm {
    pub(crate) fn new(patience: u32, chip: &ChipSpec) -> Self {
        let forced = chip.latency.forced_match_stage;
        Calm { patience: [patience; 2], heads: [0; 2], calm: [false; 2], forced }
    }

    /// Whether a gress could keep calm in this stage.
    pub(crate) fn may_begin(&mut self, gress: Gress, stage: u8) -> bool {
        self.calm[gress.index()] = false;
        self.patience[gress.index()] > 0 && stage > 0 && u32::from(stage) != self.forced
    }

    pub(crate) fn begin(&mut self, gress: Gress, calm: bool) {
        self.calm[gress.index()] = calm;
        self.patience[gress.index()] -= u32::from(calm);
    }

    /// Whether a node in this stage would match on what was written since the group began.
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

    /// Why a node may not stand in a calm stage.
    pub(crate) fn refuses(
        &self,
        gress: Gress,
        i: usize,
        stage: u8,
        parts: &[Vec<Part>],
        relations: &Relations,
    ) -> Option<&'static str> {
        let refused = self.calm[gress.index()] && self.matches(gress, i, stage, parts, relations);
        refused.then_some("it would make the stage wait for a match, and later ones do so anyway")
    }

    /// Notes where groups begin.
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
