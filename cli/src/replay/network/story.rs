//! `--story`: the life of one flow as a sequence diagram.

use crate::console::fail::Failure;
use crate::output::files::Folder;
use crate::replay::args::ReplayArgs;
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{Network, Observer, SwitchSetup};
use sluice_fabric::story::{Narrator, RoceFlow, RoceNarrator, Story, Watcher};
use std::sync::Arc;

/// Watchers of a flow, one for each switch.
pub(super) struct Watch {
    flow: RoceFlow,
    watchers: Vec<Watcher>,
}

impl Watch {
    /// Returns the watchers, if a story is asked for.
    pub(super) fn new(args: &ReplayArgs, catalogue: &Catalogue, switches: &[SwitchSetup]) -> Option<Watch> {
        let flow = args.story?;
        let narrator = narrator(catalogue, switches);
        let watcher = |s: &SwitchSetup| Watcher::new(flow, &s.placed.program, Arc::clone(&narrator));
        let watchers = switches.iter().map(watcher).collect();
        Some(Watch { flow, watchers })
    }

    pub(super) fn observers(&mut self) -> Vec<&mut (dyn Observer + Send)> {
        self.watchers.iter_mut().map(|w| w as &mut (dyn Observer + Send)).collect()
    }

    /// Joins the observations of the watchers into a story.
    pub(super) fn tell(&self, network: &Network) -> Result<Story, Failure> {
        Story::tell(self.flow, network, &self.watchers).map_err(Failure::input)
    }
}

/// Returns the reader of a story's frames: that of the first program that has one.
fn narrator(catalogue: &Catalogue, switches: &[SwitchSetup]) -> Arc<dyn Narrator> {
    let own = |switch: &SwitchSetup| catalogue.get(&switch.placed.program.name).ok()?.story();
    switches.iter().find_map(own).unwrap_or_else(|| Arc::new(RoceNarrator))
}

/// Names of the files of a story.
pub(super) const NAMES: [&str; 2] = ["story.txt", "story.svg"];

/// Adds a story to the output folder.
pub(super) fn write(story: &Story, folder: &mut Folder) -> Result<(), Failure> {
    folder.text(NAMES[0], "text/plain", "the life of a flow as a sequence diagram", &story.text())?;
    folder.text(NAMES[1], "image/svg+xml", "the same drawn to scale", &story.svg())
}
