//! Commands and files of the command line as values, for a program that calls them in its own process, such as the Python
//! package.
//!
//! [`call`] runs any command and returns what it prints; [`replay_network`] runs a replay with properties and a control plane of
//! the caller. [`switch`] and [`Experiment`] read files and options as the commands `replay` and `run` do, and return what the
//! crates below run.

mod experiment;
mod files;
mod network;
mod switch;

pub use crate::replay::{PlaneOf, PropertiesOf};
pub use experiment::{Experiment, Progress, RunInfo};
pub use files::{NamedFile, files_of};
pub use network::{Additions, replay_network};
pub use switch::{Device, switch};

use crate::command_line::dispatch;
use crate::console::fail::Failure;
use crate::console::invocation;
use sluice_catalogue::Catalogue;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// Result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Exit code: 0; 1 if a program does not fit or a property or an expectation fails; 2 if the input is wrong; 3 for a defect
    /// of Sluice; 130 if the command was stopped.
    pub code: u8,
    /// Bytes that the command printed on stdout.
    pub out: Vec<u8>,
    /// Text that the command printed on stderr: errors and notes.
    pub err: String,
}

/// Error of a file or an option, with the text that the command line prints.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct Error {
    /// Message of the command line: the finding, its place and the expectation. A line with `= help:` and advice may follow.
    pub text: String,
    /// Exit code of the command line for this error.
    pub code: u8,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        let help = failure.help().map_or(String::new(), |help| format!("\n  = help: {help}"));
        Error { text: format!("{failure}{help}"), code: failure.code() }
    }
}

/// Runs a command with these arguments, which begin after the name of the binary, and keeps what the command prints. The
/// command ends early, with complete files, after another thread has set `stop`.
#[must_use]
pub fn call(catalogue: &Catalogue, arguments: &[OsString], stop: &Arc<AtomicBool>) -> Called {
    let (code, printed) = invocation::kept(arguments, Arc::clone(stop), || run(catalogue, arguments));
    let err = String::from_utf8_lossy(&printed.err).into_owned();
    Called { code, out: printed.out, err }
}

/// Runs a command with these arguments, which begin after the name of the binary, on the terminal of the process, and returns
/// its exit code. Ctrl-C stops the command.
#[must_use]
pub fn main_of(catalogue: &Catalogue, arguments: &[OsString]) -> u8 {
    invocation::with_arguments(arguments, || run(catalogue, arguments))
}

fn run(catalogue: &Catalogue, arguments: &[OsString]) -> u8 {
    dispatch::command(catalogue, std::iter::once("sluice".into()).chain(arguments.iter().cloned()))
}

/// Calls `work`, which may print why a program does not fit; the error has that text.
fn printed<R>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Error> {
    let (result, printed) = invocation::kept(&[], Arc::clone(stop), work);
    result.map_err(|failure| match failure {
        Failure::Property => {
            let text = String::from_utf8_lossy(&printed.err);
            Error { text: text.trim_start_matches("error: ").trim_end().to_owned(), code: 1 }
        }
        other => other.into(),
    })
}
