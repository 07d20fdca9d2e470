//! Long calls: the GIL is released, Ctrl-C stops them, and a panic becomes an exception.

use crate::error::error;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two looks at pending signals.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of the stack of a call: as much as a main thread has.
const STACK: usize = 8 << 20;

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
                work(flag)
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
            let defect =
                "a panic, whose text is on stderr\n  = help: this is a defect of Sluice, not of your input";
            (thread.join().map_err(|_| defect.to_owned()), interrupt)
        })
    });
    match (interrupt, result) {
        (Some(raised), _) => Err(raised),
        (None, Ok(result)) => Ok(result),
        (None, Err(text)) => Err(error(py, text, 3)),
    }
}
