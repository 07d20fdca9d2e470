//! The exception of the package.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::fmt::Display;

create_exception!(
    sluice,
    Error,
    PyException,
    "Error of a file, an option or a value, with the text that the command line prints.\n\n\
     The attribute `code` is the exit code of the command line: 1 if a program does not fit, 2 if the input is wrong, 3 for a \
     defect of Sluice, 130 if a run was stopped."
);

/// Returns the exception with this text and exit code.
pub(crate) fn error(py: Python<'_>, text: impl Display, code: u8) -> PyErr {
    let exception = Error::new_err(text.to_string());
    match exception.value(py).setattr("code", code) {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// Returns the exception of a wrong input.
pub(crate) fn wrong(py: Python<'_>, text: impl Display) -> PyErr {
    error(py, text, 2)
}

/// Returns the exception of an error of the command line.
pub(crate) fn of(py: Python<'_>, failure: &sluice::embed::Error) -> PyErr {
    error(py, &failure.text, failure.code)
}
