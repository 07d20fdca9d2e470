//! Frames on cables by the words of the program that sent them: the labels that its story has ([`Narrator`]).

use sluice_catalogue::Catalogue;
use sluice_catalogue::story::Narrator;
use sluice_fabric::network::{LinkFrame, Network, Observer, SwitchId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Counts the frames that one switch puts on cables.
#[derive(Debug, Default)]
pub(crate) struct LabelledFrames {
    /// Reads the switch's frames; `None`: nothing is counted.
    narrator: Option<Arc<dyn Narrator>>,
    /// Labels with their frames, in order of first use; a program has few labels.
    frames: Vec<(&'static str, u64)>,
}

impl LabelledFrames {
    /// Returns a counter for each switch, in order; counters that count nothing unless `asked`.
    pub(crate) fn of(network: &Network, catalogue: &Catalogue, asked: bool) -> Vec<LabelledFrames> {
        let narrator = |id| {
            let name = &network.switch(id).filter(|_| asked)?.program().name;
            catalogue.get(name).ok()?.story()
        };
        network.ids().map(|id| LabelledFrames { narrator: narrator(id), frames: Vec::new() }).collect()
    }

    /// Returns the sum over switches, by label, with `frames.` in front; `frames` is the sum of all.
    pub(crate) fn counts(all: &[LabelledFrames]) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::from([("frames".to_owned(), 0)]);
        for (label, frames) in all.iter().flat_map(|switch| &switch.frames) {
            for name in ["frames".to_owned(), format!("frames.{label}")] {
                *counts.entry(name).or_default() += frames;
            }
        }
        counts
    }
}

impl Observer for LabelledFrames {
    fn watches(&self) -> bool {
        false
    }

    fn on_link(&mut self, _: SwitchId, _: &LinkFrame, head: &[u8], _: &[u8]) {
        let Some((_, message)) = self.narrator.as_ref().and_then(|narrator| narrator.read(head)) else {
            return;
        };
        match self.frames.iter_mut().find(|(label, _)| *label == message.label) {
            Some((_, frames)) => *frames += 1,
            None => self.frames.push((message.label, 1)),
        }
    }
}
