//! One contest whose runs are done one by one, for callers that share out runs to processes.

use super::store::Store;
use super::{Opened, Source, failure, inputs, with_setup};
use crate::console::fail::Failure;
use crate::open::p4::P4Args;
use sluice_asic::units::Duration;
use sluice_catalogue::Catalogue;
use sluice_scenario::contest::{ContestProgress, KeptRun, RunKey, RunStore, SeedsSetting, run_contest};
use std::path::{Path, PathBuf};

/// A contest with everything that it names.
pub(crate) struct Job {
    source: Source,
    opened: Opened,
    store: Store,
    files: Vec<PathBuf>,
}

impl Job {
    /// Reads everything that contests name.
    pub(crate) fn all(sources: Vec<Source>, p4: &P4Args, catalogue: &Catalogue) -> Result<Vec<Job>, Failure> {
        let job = |mut source: Source| {
            let files = files(&source, p4);
            let opened = source.open(catalogue, p4)?;
            let store = Store::new(&source, &opened, None, true)?;
            Ok(Job { source, opened, store, files })
        };
        sources.into_iter().map(job).collect()
    }

    /// Returns the runs: programs in the order of the file, then seeds.
    pub(crate) fn runs(&self) -> impl Iterator<Item = RunKey> {
        let contest = &self.source.point.contest;
        let seeds = contest.seeds();
        (0..contest.program.len())
            .flat_map(move |program| seeds.clone().into_iter().map(move |seed| RunKey { program, seed }))
    }

    /// Returns the digest of a run's configuration.
    pub(crate) fn digest(&self, run: RunKey) -> String {
        self.store.digests().remove(&run).unwrap_or_default()
    }

    /// Returns the swept keys with their values.
    pub(crate) fn axes(&self) -> &[(String, String)] {
        &self.source.point.axes
    }

    /// Returns the label of a program.
    pub(crate) fn label(&self, program: usize) -> String {
        self.source.point.contest.program.get(program).map_or_else(String::new, |p| p.get_ref().label())
    }

    /// Returns the paths of the files that the runs depend on.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// Does one run on this thread and keeps it in a folder, unless the folder has it. `tick` is called with the simulated time
    /// and the expected one; the run stops if it returns false.
    pub(crate) fn run(
        &self,
        run: RunKey,
        out: &Path,
        tick: &(dyn Fn(Duration, Duration) -> bool + Sync),
    ) -> Result<(), Failure> {
        let mut contest = self.source.point.contest.clone();
        contest.program = contest.program.into_iter().skip(run.program).take(1).collect();
        (contest.seed, contest.seeds) = (None, Some(SeedsSetting::List(vec![run.seed])));
        let store = One { store: self.store.at(out), run };
        let look = |progress: ContestProgress<'_>| tick(progress.simulated.0, progress.simulated.1);
        with_setup(&self.source, &self.opened, (1, &store), |setup| {
            run_contest(&contest, setup, &look).map(|_| ()).map_err(|e| failure(&contest, e))
        })
    }
}

/// Returns the files that any program of a contest depends on.
fn files(source: &Source, p4: &P4Args) -> Vec<PathBuf> {
    let Source { point, folder, .. } = source;
    let seed = point.contest.seeds().first().copied().unwrap_or(1);
    let of = |program| inputs::files(&point.canonical(program, seed), folder, p4);
    (0..point.contest.program.len()).flat_map(of).collect()
}

/// The store of a contest with one program and one seed, which is one run of a larger contest.
struct One {
    store: Store,
    run: RunKey,
}

impl RunStore for One {
    fn find(&self, _: RunKey) -> Option<KeptRun> {
        self.store.find(self.run)
    }

    fn keep(&self, _: RunKey, done: &KeptRun) -> Result<(), String> {
        self.store.keep(self.run, done)
    }
}
