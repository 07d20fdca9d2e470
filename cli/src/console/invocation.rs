//! The call of a command: its arguments, where it prints, and what stops it.
//!
//! A binary runs one command, with the arguments of its process and on its terminal. A caller that runs commands in its own
//! process ([`crate::embed`]) gives each of them its arguments, keeps what the command prints, and stops it. The call belongs
//! to the thread that runs the command.

use super::fail::release;
use super::plain::Pieces;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{StdoutLock, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Texts that a command printed.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

/// The call of a command on this thread.
#[derive(Default)]
struct Invocation {
    /// Arguments after the name of the binary; `None`: those of the process.
    arguments: Option<Vec<OsString>>,
    /// Texts of a command whose output is kept; `None`: the command prints on the terminal of the process.
    printed: Option<Printed>,
    /// Flag that stops the command; `None`: Ctrl-C does.
    stop: Option<Arc<AtomicBool>>,
    /// Warnings that are printed before anything else is.
    held: Vec<String>,
}

thread_local! {
    static CURRENT: RefCell<Invocation> = RefCell::default();
}

/// Runs `command` as a command with these arguments after the name of the binary. The command prints on the terminal.
pub(crate) fn with_arguments<R>(arguments: &[OsString], command: impl FnOnce() -> R) -> R {
    CURRENT.set(Invocation { arguments: Some(arguments.to_vec()), ..Invocation::default() });
    let result = command();
    CURRENT.take();
    result
}

/// Like [`with_arguments`]; keeps what the command prints, and stops it when the flag is set.
pub(crate) fn kept<R>(
    arguments: &[OsString],
    stop: Arc<AtomicBool>,
    command: impl FnOnce() -> R,
) -> (R, Printed) {
    let call = Invocation {
        arguments: Some(arguments.to_vec()),
        printed: Some(Printed::default()),
        stop: Some(stop),
        ..Invocation::default()
    };
    CURRENT.set(call);
    let result = command();
    let printed = CURRENT.take().printed.unwrap_or_default();
    (result, printed)
}

/// Returns the arguments after the name of the binary; those that are not text are replaced.
pub(crate) fn arguments() -> Vec<String> {
    let own = CURRENT.with_borrow(|current| current.arguments.clone());
    let all = own.unwrap_or_else(|| std::env::args_os().skip(1).collect());
    all.into_iter().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Returns the flag that stops the command, if the caller gave one.
pub(crate) fn stop() -> Option<Arc<AtomicBool>> {
    CURRENT.with_borrow(|current| current.stop.clone())
}

/// Returns true if the output of the command is kept.
pub(crate) fn is_kept() -> bool {
    CURRENT.with_borrow(|current| current.printed.is_some())
}

/// Keeps a warning back until the command prints anything else.
pub(crate) fn hold(warning: String) {
    CURRENT.with_borrow_mut(|current| current.held.push(warning));
}

/// Returns the warnings that were kept back, which are kept back no longer.
pub(crate) fn take_held() -> Vec<String> {
    CURRENT.with_borrow_mut(|current| std::mem::take(&mut current.held))
}

/// Keeps a text that the command prints on stderr; returns false if the output of the command is not kept.
pub(crate) fn keep_error(text: &[u8]) -> bool {
    CURRENT.with_borrow_mut(|current| {
        let kept = current.printed.as_mut().map(|printed| printed.err.extend_from_slice(text));
        kept.is_some()
    })
}

/// Standard output of a command: that of the process, or the caller's.
pub(crate) struct Out {
    /// That of the process; `None`: what is printed is kept.
    process: Option<StdoutLock<'static>>,
    /// Makes text plain; `None`: what is printed is no text.
    pieces: Option<Pieces>,
}

impl Out {
    /// Returns the output of the command on this thread, for text: control characters are shown ([`plain`](super::plain)).
    pub(crate) fn new() -> Out {
        Out { pieces: Some(Pieces::default()), ..Out::bytes() }
    }

    /// Returns the output of the command on this thread, for a capture.
    pub(crate) fn bytes() -> Out {
        Out { process: (!is_kept()).then(|| std::io::stdout().lock()), pieces: None }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        release();
        let shown = match &mut self.pieces {
            None => Cow::Borrowed(bytes),
            Some(pieces) => pieces.next(bytes),
        };
        match &mut self.process {
            Some(stdout) => stdout.write_all(&shown)?,
            None => CURRENT.with_borrow_mut(|current| {
                current.printed.iter_mut().for_each(|printed| printed.out.extend_from_slice(&shown));
            }),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.process.as_mut().map_or(Ok(()), StdoutLock::flush)
    }
}
