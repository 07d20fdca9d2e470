//! Failures of a command, with their exit codes.

use crate::console::hint::command_line;
use crate::console::invocation;
use crate::console::numbers::counted;
use crate::console::plain::{plain, plain_with_colours};
use sluice_asic::names::nearest;
use sluice_control::EntryError;
use std::any::Any;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

/// Prints on stderr. A reader that closed its end, such as `head`, is not an error.
pub(crate) fn print_error(text: impl Display) {
    release();
    to_stderr(&plain(&text.to_string()));
}

/// Prints on stderr a text with colours.
pub(crate) fn print_coloured(text: &str) {
    release();
    to_stderr(&plain_with_colours(text));
}

/// Prints the warnings that were kept back ([`invocation::hold`]).
pub(crate) fn release() {
    for warning in invocation::take_held() {
        to_stderr(&plain(&warning));
    }
}

fn to_stderr(text: &str) {
    if !invocation::keep_error(text.as_bytes()) {
        // There is no other place to report the error to.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
    }
}

/// Prints a failure and its advice on stderr. If the input is wrong, warnings that were kept back are dropped: they are not about
/// the mistake, and the next call has them.
pub(crate) fn complain(failure: &Failure) {
    if let Failure::Input { .. } = failure {
        invocation::take_held();
    }
    print_error(format_args!("error: {failure}\n"));
    if let Some(help) = failure.help() {
        print_error(format_args!("  = help: {help}\n"));
    }
    if let Failure::Inconsistent(_) = failure {
        let command = command_line();
        print_error(format_args!("  = help: report it with the files that this command reads: {command}\n"));
    }
}

/// Failure of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Wrong usage or input: exit code 2.
    #[error("{text}")]
    Input {
        text: String,
        /// How to correct the input.
        help: Option<String>,
    },
    /// The program does not fit, or a property or an expectation failed: exit code 1. It has been reported already.
    #[error("the stated property does not hold")]
    Property,
    /// Internal contradiction: exit code 3.
    #[error("{0}")]
    Inconsistent(String),
    /// Ctrl-C: exit code 130. Files are valid.
    #[error("interrupted; what was written is complete up to here")]
    Interrupted,
    /// The reader of the output closed its end: exit code 0, without a message.
    #[error("broken pipe")]
    BrokenPipe,
}

impl From<sluice_charts::DrawError> for Failure {
    fn from(error: sluice_charts::DrawError) -> Failure {
        Failure::Inconsistent(error.to_string())
    }
}

impl Failure {
    /// Returns advice for the user.
    pub(crate) fn help(&self) -> Option<&str> {
        match self {
            Failure::Input { help, .. } => help.as_deref(),
            Failure::Inconsistent(_) => Some("this is a defect of Sluice, not of your input"),
            Failure::Property | Failure::Interrupted | Failure::BrokenPipe => None,
        }
    }

    /// Returns a failure of the input, without advice.
    pub(crate) fn input(text: impl Display) -> Failure {
        Failure::Input { text: text.to_string(), help: None }
    }

    /// Returns a failure of the input, with advice.
    pub(crate) fn with_help(text: impl Display, help: impl Display) -> Failure {
        let help = help.to_string();
        Failure::Input { text: text.to_string(), help: (!help.is_empty()).then_some(help) }
    }

    /// Returns the failure of a command that panicked with this payload.
    pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Failure {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Failure::Inconsistent(format!("internal error: {}", text.unwrap_or("a panic without a text")))
    }

    /// Returns a failure whose text has places, source lines and advice.
    pub(crate) fn snippets(text: &str) -> Failure {
        Failure::input(text.trim_start_matches("error: "))
    }

    /// Returns the failure with a word on where it was found in front.
    pub(crate) fn within(self, place: &str) -> Failure {
        match self {
            Failure::Input { text, help } => Failure::Input { text: format!("{place}: {text}"), help },
            other => other,
        }
    }

    /// Returns the failure of a file that cannot be read or written.
    pub(crate) fn file(doing: &str, path: &Path, e: &std::io::Error) -> Failure {
        let help = match e.kind() {
            ErrorKind::NotFound => neighbour(path),
            ErrorKind::IsADirectory => Some("give a file of the folder".to_owned()),
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => Some("give another name".to_owned()),
            ErrorKind::InvalidData => Some("`file NAME` tells what it is".to_owned()),
            _ => None,
        };
        let why = reason(e);
        Failure::Input { text: format!("cannot {doing} {}: {why}", path.display()), help }
    }

    /// Returns all errors of a file of entries.
    pub(crate) fn entries(errors: &[EntryError]) -> Failure {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::with_help(
            texts.join("\n").trim_start_matches("error: "),
            format!(
                "{}; `sluice entries PROGRAM --template` prints a file with every table explained",
                counted(errors.len() as u64, "mistake")
            ),
        )
    }

    /// Returns the exit code.
    pub(crate) const fn code(&self) -> u8 {
        match self {
            Failure::BrokenPipe => 0,
            Failure::Property => 1,
            Failure::Input { .. } => 2,
            Failure::Inconsistent(_) => 3,
            Failure::Interrupted => 130,
        }
    }
}

/// Returns the reason of the operating system, in words if it is a frequent one.
pub(crate) fn reason(e: &std::io::Error) -> String {
    let words = match e.kind() {
        ErrorKind::NotFound => "there is no such file",
        ErrorKind::IsADirectory => "it is a folder, not a file",
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "a file of this name is there, and not a folder"
        }
        ErrorKind::InvalidData => "the file is not text",
        ErrorKind::PermissionDenied => "the permission is missing",
        _ => return e.to_string(),
    };
    words.to_owned()
}

/// Returns the question whether another file of the folder was meant, if one has a similar name.
pub(crate) fn neighbour(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Some(format!("there is no folder {}", folder.display()));
    };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let near = nearest(name, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", path.with_file_name(near).display()))
}

impl From<std::io::Error> for Failure {
    fn from(e: std::io::Error) -> Self {
        match e.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::input(format!("cannot write the output: {e}")),
        }
    }
}
