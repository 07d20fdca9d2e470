//! `sluice run --write-flows`: the messages of contests as lists of flows.

use super::{Opened, Source, failure, with_setup};
use crate::console::fail::Failure;
use crate::output::files::Folder;
use sluice_scenario::contest::write_flows;
use std::path::Path;

/// Writes a list of flows for each workload and seed of each contest. Several contests have numbers before the names.
pub(super) fn write(sources: &[Source], opened: &[Opened], dir: &Path) -> Result<(), Failure> {
    let mut lists = Vec::new();
    for (number, (source, opened)) in sources.iter().zip(opened).enumerate() {
        let contest = &source.point.contest;
        let found = with_setup(source, opened, (1, &()), |setup| write_flows(contest, setup));
        let stem = if sources.len() > 1 { format!("{number}.") } else { String::new() };
        for list in found.map_err(|e| failure(contest, e))? {
            let name = format!("{stem}{}.{}.csv", list.workload, list.seed);
            let what = format!("messages of {} with seed {}, of {}", list.workload, list.seed, contest.name);
            lists.push((name, what, list.text));
        }
    }
    let mut folder = Folder::open("run", dir, lists.iter().map(|(name, ..)| name.as_str()))?;
    for (name, what, text) in &lists {
        folder.text(name, "text/csv", what, text)?;
    }
    folder.finish()
}
