//! Ctrl-C.

use crate::console::invocation;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns a flag that Ctrl-C sets, or the caller of the command, so that a run can end with complete files.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    if let Some(stop) = invocation::stop() {
        return stop;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // One process can have one handler. If there is one already, Ctrl-C ends the process at once.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    stop
}
