//! The `sluice` binary.

use std::process::ExitCode;

/// Hunts build many small things: about a tenth of their time is saved beside the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sluice::main_with(&sluice_generated::catalogue())
}
