//! Commands of the command line.

use crate::interruptible::interruptible;
use pyo3::prelude::*;
use sluice_catalogue::Catalogue;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// Returns the shipped programs with their generated code.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(sluice::shipped)
}

/// Runs a command and returns its exit code, the bytes of stdout and the text of stderr.
#[pyfunction]
pub(crate) fn call(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<(u8, Vec<u8>, String)> {
    let called = interruptible(py, |stop| sluice::embed::call(catalogue(), &arguments, stop))?;
    Ok((called.code, called.out, called.err))
}

/// Runs a command on the terminal of the process and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let run = || sluice::embed::main_of(catalogue(), &arguments);
    // A panic has printed its text.
    py.detach(|| catch_unwind(AssertUnwindSafe(run)).unwrap_or(3))
}

/// Returns the names of the shipped programs.
#[pyfunction]
pub(crate) fn programs() -> Vec<String> {
    catalogue().programs().iter().map(|program| program.name().to_owned()).collect()
}
