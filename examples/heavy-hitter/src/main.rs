//! All commands of Sluice, with `heavy-hitter` beside the shipped programs.

use heavy_hitter::HeavyHitter;
use std::process::ExitCode;

fn main() -> ExitCode {
    sluice::main_with(sluice::catalogue![HeavyHitter])
}
