//! The runs of a contest file, of a scenario file, or of an experiment of a paper, one by one, so that a caller shares them out to
//! processes.
//!
//! A run of a contest is kept in a folder as `sluice run -o` and `sluice reproduce -o` keep it. After all runs are there, these
//! commands make their reports without running anything.

use super::{Error, NamedFile, printed};
use crate::console::fail::Failure;
use crate::open::p4::P4Args;
use crate::reproduce;
use crate::run::contest::{Job, Source, read};
use crate::run::scenario_job::{ScenarioJob, ScenarioJobs};
use sluice_asic::units::Duration;
use sluice_catalogue::Catalogue;
use sluice_scenario::contest::{Contest, RunKey};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The runs of a contest file, of a scenario file, or of an experiment.
pub struct Experiment {
    work: Work,
}

enum Work {
    Contests { jobs: Vec<Job>, runs: Vec<(usize, RunKey)> },
    Scenarios(ScenarioJobs),
}

/// One run: a program with one seed, or a scenario on a profile, at one combination of the swept keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// SHA-256 of everything that the run depends on: its part of the contest file, its seed, contents of the named files and
    /// the version of Sluice. Runs that differ in their labels alone have the same digest.
    pub digest: String,
    /// Keys of `[sweep]` with their values.
    pub axes: Vec<(String, String)>,
    /// Label of the program; of a scenario `ID on PROFILE`.
    pub program: String,
    /// The seed; `None` for a scenario about a host, which has no random numbers.
    pub seed: Option<u64>,
}

/// Is called with the simulated time of a run and the time that the run is expected to take.
pub type Progress<'a> = &'a (dyn Fn(Duration, Duration) + Sync);

impl Experiment {
    /// Reads the text of a contest file or a scenario file, and all files that it names, which are in `folder`. `origin` names
    /// the text in errors. A scenario file may have `[sweep]` and `seeds`, as a contest has them.
    ///
    /// `p4` are the options of P4 programs, such as `-I DIR`, whose paths are relative to the present folder.
    ///
    /// # Errors
    /// If the text is neither a contest nor scenarios, an option is wrong, or a file that it names is missing or wrong.
    pub fn read(
        catalogue: &Catalogue,
        (origin, text): (&str, &str),
        folder: &Path,
        p4: &[String],
    ) -> Result<Experiment, Error> {
        if !Contest::is_one(text) {
            if let Some(option) = p4.first() {
                return Err(Failure::input(format!("{option}: scenarios have no P4 program")).into());
            }
            let jobs = printed(&Arc::default(), || ScenarioJobs::read(origin, text, folder))?;
            return Ok(Experiment { work: Work::Scenarios(jobs) });
        }
        Experiment::of(|| Ok((read(origin, text, folder)?, P4Args::of_words(p4)?)), catalogue)
    }

    /// Returns the contests of a paper's experiments; `arguments` are those of `sluice reproduce`. Programs of `--with` are in
    /// `folder`; other paths are relative to the present folder.
    ///
    /// # Errors
    /// If an argument is wrong, or a file that it names is missing or wrong.
    pub fn of_papers(
        catalogue: &Catalogue,
        arguments: &[String],
        folder: &Path,
    ) -> Result<Experiment, Error> {
        Experiment::of(|| reproduce::sources(arguments, folder), catalogue)
    }

    fn of(
        sources: impl FnOnce() -> Result<(Vec<Source>, P4Args), Failure>,
        catalogue: &Catalogue,
    ) -> Result<Experiment, Error> {
        let jobs = printed(&Arc::default(), || {
            let (sources, p4) = sources()?;
            Job::all(sources, &p4, catalogue)
        })?;
        let of = |(number, job): (usize, &Job)| job.runs().map(move |run| (number, run)).collect::<Vec<_>>();
        let runs = jobs.iter().enumerate().flat_map(of).collect();
        Ok(Experiment { work: Work::Contests { jobs, runs } })
    }

    /// Returns true if the runs are of scenarios.
    #[must_use]
    pub fn is_of_scenarios(&self) -> bool {
        matches!(self.work, Work::Scenarios(_))
    }

    /// Returns the runs: contests in the order of the sweep, programs in the order of the file, then seeds; of scenarios, the
    /// combinations of the sweep, then seeds, then scenarios and profiles in the order of the file.
    #[must_use]
    pub fn runs(&self) -> Vec<RunInfo> {
        match &self.work {
            Work::Contests { jobs, runs } => {
                let info = |(job, run): &(usize, RunKey)| {
                    let job = &jobs[*job];
                    let (digest, axes) = (job.digest(*run), job.axes().to_vec());
                    RunInfo { digest, axes, program: job.label(run.program), seed: Some(run.seed) }
                };
                runs.iter().map(info).collect()
            }
            Work::Scenarios(jobs) => {
                let info = |job: &ScenarioJob| RunInfo {
                    digest: job.digest.clone(),
                    axes: job.axes.clone(),
                    program: format!("{} on {}", job.run.id, job.run.profile),
                    seed: job.run.seed,
                };
                jobs.list.iter().map(info).collect()
            }
        }
    }

    /// Returns the digest of the run with this index in [`Self::runs`]; `None` if there is no such run.
    #[must_use]
    pub fn digest(&self, index: usize) -> Option<String> {
        match &self.work {
            Work::Contests { jobs, runs } => runs.get(index).map(|(job, run)| jobs[*job].digest(*run)),
            Work::Scenarios(jobs) => jobs.list.get(index).map(|job| job.digest.clone()),
        }
    }

    /// Returns the files that the runs depend on, sorted by path.
    ///
    /// # Errors
    /// If a file cannot be read any more.
    pub fn files(&self) -> Result<Vec<NamedFile>, Error> {
        NamedFile::read(match &self.work {
            Work::Contests { jobs, .. } => jobs.iter().flat_map(Job::files).collect(),
            Work::Scenarios(jobs) => jobs.files().collect(),
        })
    }

    /// Does the run with this index in [`Self::runs`] on this thread, and keeps it in `OUT/runs/DIGEST`. A run that is there
    /// is not done again.
    ///
    /// # Errors
    /// If there is no such run, the program cannot run in the network, the scenario has an error, the run cannot be kept, or
    /// `stop` is set.
    pub fn run(
        &self,
        index: usize,
        out: &Path,
        stop: &Arc<AtomicBool>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let none = || Failure::input(format!("there is no run {index}; the experiment has {}", self.count()));
        let (jobs, (job, run)) = match &self.work {
            Work::Contests { jobs, runs } => (jobs, runs.get(index).ok_or_else(none)?),
            Work::Scenarios(jobs) => {
                let job = jobs.list.get(index).ok_or_else(none)?;
                return printed(stop, || jobs.run(job, out));
            }
        };
        let tick = |simulated: Duration, expected: Duration| {
            progress(simulated, expected);
            !stop.load(Ordering::Relaxed)
        };
        printed(stop, || jobs[*job].run(*run, out, &tick))
    }

    fn count(&self) -> usize {
        match &self.work {
            Work::Contests { runs, .. } => runs.len(),
            Work::Scenarios(jobs) => jobs.list.len(),
        }
    }
}
