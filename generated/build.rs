//! Writes the shipped programs as Rust, as they are placed with their defaults on the chip that commands take first.

use sluice_asic::chip::ChipSpec;
use sluice_pipeline::engine::generate::{generate, module};
use sluice_pipeline::place::place;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // Programs come with the build script itself, which is built anew when they change.
    println!("cargo:rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo tells where to write")?;
    let (mut texts, chip) = (Vec::new(), ChipSpec::tofino2());
    for stage in sluice_programs::all() {
        let program = stage.build(&[])?;
        let placement = place(&program, &chip)?;
        texts.push((stage.name().replace('-', "_"), generate(&program, &placement)?));
    }
    std::fs::write(Path::new(&out).join("programs.rs"), module(&texts))?;
    Ok(())
}
