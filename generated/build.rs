//! Writes the shipped programs as Rust, as they are placed with their defaults on the chip that commands take first.

use sluice_asic::chip::ChipSpec;
use sluice_pipeline::cover::Points;
use sluice_pipeline::engine::generate::{generate, module};
use sluice_pipeline::place::place;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // Programs come with the build script itself, which is built anew when they change.
    println!("cargo:rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo tells where to write")?;
    let (mut texts, chip) = (Vec::new(), ChipSpec::tofino2());
    for stage in sluice_programs::catalogue().programs() {
        let program = stage.build(&[])?;
        let placement = place(&program, &chip)?;
        let name = stage.name().replace('-', "_");
        let counts = generate(&program, &placement, Some(&Points::of(&program, &chip)))?;
        texts.push((format!("{name}_covered"), counts));
        texts.push((name, generate(&program, &placement, None)?));
    }
    std::fs::write(Path::new(&out).join("programs.rs"), module(&texts))?;
    Ok(())
}
