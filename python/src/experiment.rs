//! The runs of a contest file, of a scenario file, or of a paper's experiments, one by one.

use crate::command::catalogue;
use crate::error::{of, wrong};
use crate::interruptible::interruptible;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sluice::embed;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

fn made(
    py: Python<'_>,
    make: impl FnOnce() -> Result<embed::Experiment, embed::Error> + Send,
) -> PyResult<Experiment> {
    let experiment = interruptible(py, |_| make())?.map_err(|e| of(py, &e))?;
    Ok(Experiment { experiment, progress: AtomicU64::new(0) })
}

/// Path and content of a file.
type File<'py> = (PathBuf, Bound<'py, PyBytes>);

fn contents(py: Python<'_>, files: Result<Vec<embed::NamedFile>, embed::Error>) -> PyResult<Vec<File<'_>>> {
    let files = files.map_err(|e| of(py, &e))?.into_iter();
    Ok(files.map(|file| (file.path, PyBytes::new(py, &file.bytes))).collect())
}

/// Returns path and content of a program's file, and of the files that it names; `p4` are options of P4 programs.
#[pyfunction]
pub(crate) fn files_of<'py>(
    py: Python<'py>,
    name: &str,
    folder: PathBuf,
    p4: Vec<String>,
) -> PyResult<Vec<File<'py>>> {
    contents(py, embed::files_of(name, &folder, &p4))
}

/// Digest, swept keys with their values, label of the program, and seed of a run.
type Run = (String, Vec<(String, String)>, String, Option<u64>);

/// The runs of a contest file, of a scenario file, or of a paper's experiments.
#[pyclass(frozen, module = "sluice._native")]
pub(crate) struct Experiment {
    experiment: embed::Experiment,
    /// Thousandths of the run that are done.
    progress: AtomicU64,
}

#[pymethods]
impl Experiment {
    /// Reads the text of a contest file or a scenario file, whose files are in `folder`; `p4` are options of P4 programs.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        origin: &str,
        text: &str,
        folder: PathBuf,
        p4: Vec<String>,
    ) -> PyResult<Experiment> {
        made(py, || embed::Experiment::read(catalogue(), (origin, text), &folder, &p4))
    }

    /// Returns the experiments of papers that `sluice reproduce` takes with these arguments; programs of `--with` are in
    /// `folder`.
    #[staticmethod]
    fn of_papers(py: Python<'_>, arguments: Vec<String>, folder: PathBuf) -> PyResult<Experiment> {
        made(py, || embed::Experiment::of_papers(catalogue(), &arguments, &folder))
    }

    #[getter]
    fn is_of_scenarios(&self) -> bool {
        self.experiment.is_of_scenarios()
    }

    fn runs(&self) -> Vec<Run> {
        let runs = self.experiment.runs().into_iter();
        runs.map(|run| (run.digest, run.axes, run.program, run.seed)).collect()
    }

    /// Returns the digest of a run.
    fn digest(&self, py: Python<'_>, index: usize) -> PyResult<String> {
        self.experiment.digest(index).ok_or_else(|| wrong(py, format!("there is no run {index}")))
    }

    /// Returns path and content of the files that the runs depend on.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Vec<File<'py>>> {
        contents(py, self.experiment.files())
    }

    /// Does a run and keeps it in `OUT/runs/DIGEST`.
    fn run(&self, py: Python<'_>, index: usize, out: PathBuf) -> PyResult<()> {
        let progress = |simulated: sluice_asic::units::Duration, expected: sluice_asic::units::Duration| {
            let share = simulated.as_ps() as u128 * 1000 / u128::from(expected.as_ps().max(1));
            self.progress.store(share.min(1000) as u64, Ordering::Relaxed);
        };
        let ran = interruptible(py, |stop| self.experiment.run(index, &out, stop, &progress))?;
        ran.map_err(|e| of(py, &e))
    }

    /// Share of the present run that is done, from 0 to 1; estimated while messages drain.
    #[getter]
    fn progress(&self) -> f64 {
        self.progress.load(Ordering::Relaxed) as f64 / 1000.0
    }
}
