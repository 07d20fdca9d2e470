//! Writes shipped programs as Rust, as they are placed with their defaults on the chip that commands take first.
//!
//! The environment variable `SLUICE_GENERATED` says which programs: `all`, or names joined by commas. Without it a release
//! build writes all programs and a debug build none, because the code costs more to compile than it saves in a debug run:
//! there the engine runs programs by its steps.

use sluice_asic::chip::ChipSpec;
use sluice_exec::cover::Points;
use sluice_exec::engine::generate::{generate, module};
use sluice_place::place;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // Programs come with the build script itself, which is built anew when they change.
    println!("cargo:rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("cargo tells where to write")?;
    let (mut texts, chip) = (Vec::new(), ChipSpec::tofino2());
    let catalogue = sluice_programs::catalogue();
    let wanted = wanted()?;
    if let Some(names) = &wanted {
        for name in names {
            catalogue.get(name)?;
        }
    }
    for stage in catalogue.programs() {
        if wanted.as_ref().is_some_and(|names| names.iter().all(|name| name != stage.name())) {
            continue;
        }
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

/// Returns the names of the programs to write; `None`: all of them.
fn wanted() -> Result<Option<Vec<String>>, Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=SLUICE_GENERATED");
    let names = match std::env::var("SLUICE_GENERATED") {
        Ok(names) => names,
        Err(_) if std::env::var("PROFILE")? == "release" => "all".to_owned(),
        Err(_) => String::new(),
    };
    let list =
        || names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    Ok(if names == "all" { None } else { Some(list()) })
}
