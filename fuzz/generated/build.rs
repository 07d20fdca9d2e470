//! Writes random programs as Rust: those with the first numbers, each on the chip that its number selects.

use sluice_asic::chip::ChipSpec;
use sluice_exec::cover::Points;
use sluice_exec::engine::generate::{generate, module};
use sluice_fuzz::{Limits, numbered};
use sluice_ir::Program;
use sluice_place::place;
use std::error::Error;
use std::path::Path;

include!("src/programs.rs");

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/programs.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo tells where to write")?;
    let mut texts = Vec::new();
    let step = 1;
    println!("cargo:rustc-env=SLUICE_RANDOM_STEP={step}");
    for number in numbers(step) {
        let program = program(number);
        // Many programs do not fit.
        if let Ok(placement) = place(&program, &chip_of(number)) {
            let points = counts(number).then(|| Points::of(&program, &placement.chip));
            texts.push((format!("program{number}"), generate(&program, &placement, points.as_ref())?));
        }
    }
    std::fs::write(Path::new(&out).join("programs.rs"), module(&texts))?;
    Ok(())
}
