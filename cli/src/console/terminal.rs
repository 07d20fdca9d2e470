//! The terminal: its width, its colours, and how much is printed to it.

use crate::console::invocation::{self, Out};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// True if only errors are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints only errors from here on if `quiet`, as `--quiet` asks.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Returns true if only errors are printed: no results, progress, hints and notes.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Returns stdout for results. Under `--quiet` results are dropped, unless a program that reads JSON asked for them.
pub(crate) fn results(as_json: bool) -> Box<dyn Write> {
    if is_quiet() && !as_json { Box::new(std::io::sink()) } else { Box::new(Out::new()) }
}

/// Prints results for readers on stdout, unless `--quiet` is given.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    if is_quiet() { Ok(()) } else { Out::new().write_all(text.as_bytes()) }
}

/// Prints a note on stderr, unless `--quiet` is given.
pub(crate) fn note(text: impl std::fmt::Display) {
    if !is_quiet() {
        crate::console::fail::print_error(text);
    }
}

/// Prints a warning on stderr, unless `--quiet` is given, as soon as the command prints anything else. If the command ends with a
/// mistake in its own arguments before that, the mistake is printed alone.
pub(crate) fn warn(text: impl std::fmt::Display) {
    if !is_quiet() {
        invocation::hold(text.to_string());
    }
}

/// Returns the number of columns of the terminal that stdout is; `None` if it is a file or a pipe.
pub(crate) fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    let is_terminal = !invocation::is_kept() && stdout.is_terminal();
    is_terminal.then(|| terminal_size::terminal_size_of(stdout)).flatten().map(|(w, _)| w.0.into())
}

/// Returns true if errors are coloured: stderr is a terminal, and the variable `NO_COLOR` is empty or not set.
pub(crate) fn colours_errors() -> bool {
    !invocation::is_kept()
        && std::io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns true if progress is shown.
pub(crate) fn shows_progress() -> bool {
    std::io::stderr().is_terminal() && !is_quiet() && !invocation::is_kept()
}
