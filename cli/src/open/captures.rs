//! Captures that cannot be read.

use crate::console::fail::neighbour;
use sluice_pcaps::capture::{CaptureError, CaptureFault};
use std::io::ErrorKind;
use std::path::Path;

/// Returns the remedy for a fault of a capture, with its flag if a flag is the remedy.
pub(crate) fn remedy(e: &CaptureError) -> String {
    match &e.fault {
        CaptureFault::BeyondRun { found, limit } => {
            let times = found / limit.max(&1) + 1;
            format!(
                "send {times} times as fast or faster, `--speed {times}x` if this run is at 1x; `--speed line-rate` ignores \
                 timestamps; `--limit N` ends the run before this frame"
            )
        }
        CaptureFault::Io(io) if io.kind() == ErrorKind::NotFound => {
            neighbour(Path::new(&*e.file)).unwrap_or_else(|| e.help().to_string())
        }
        _ => e.help().to_string(),
    }
}
