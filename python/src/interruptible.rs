//! Long calls: the GIL is released, Ctrl-C stops them, and a panic becomes an exception.

use crate::error::error;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two looks at pending signals.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of the stack of a call: as much as a main thread has.
const STACK: usize = 8 << 20;

/// Text of a panic's exception.
const DEFECT: &str =
    "a panic, whose text is on stderr\n  = help: this is a defect of Sluice, not of your input";

/// Runs short `work` on this thread without the GIL; a signal's exception is raised afterwards.
pub(crate) fn brief<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    py.check_signals()?;
    result.map_err(|_| error(py, DEFECT, 3))
}

/// Runs `work` on another thread without the GIL. A signal whose handler raises, such as that of Ctrl-C, sets the flag that
/// `work` gets; the exception is raised after `work` has ended.
pub(crate) fn interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> R + Send,
) -> PyResult<R> {
    let stop = Arc::new(AtomicBool::new(false));
    let (result, interrupt) = py.detach(|| {
        let (ended, end) = channel::<()>();
        std::thread::scope(|scope| {
            let flag = &stop;
            let body = move || {
                // The channel closes when the thread ends, even by a panic.
                let _ended = ended;
                // The thread keeps its state of Python, so that callables of `work` need not make one for each call.
                Python::attach(|py| py.detach(|| work(flag)))
            };
            let thread = match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body) {
                Ok(thread) => thread,
                Err(e) => return (Err(format!("cannot start a thread: {e}")), None),
            };
            let mut interrupt = None;
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(LOOK) {
                if let Err(raised) = Python::attach(|py| py.check_signals()) {
                    stop.store(true, Ordering::Relaxed);
                    interrupt.get_or_insert(raised);
                }
            }
            (thread.join().map_err(|_| DEFECT.to_owned()), interrupt)
        })
    });
    match (interrupt, result) {
        (Some(raised), _) => Err(raised),
        (None, Ok(result)) => Ok(result),
        (None, Err(text)) => Err(error(py, text, 3)),
    }
}
