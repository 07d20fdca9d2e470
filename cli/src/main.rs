//! The `sluice` binary.

use std::process::ExitCode;

/// Hunts make many small allocations; with this allocator they take about a tenth less time than with the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sluice::main_with(sluice_generated::catalogue())
}
