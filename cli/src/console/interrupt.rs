//! Ctrl-C, and the signals by which batch systems and terminals end a process: SIGTERM and SIGHUP.

use crate::console::invocation;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns a flag that Ctrl-C, SIGTERM or SIGHUP sets, or the caller of the command, so that a run can end with complete files.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    if let Some(stop) = invocation::stop() {
        return stop;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // One process can have one handler. If there is one already, these signals end the process at once.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    stop
}
