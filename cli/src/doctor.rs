//! `sluice doctor`: what this binary is and what it has.

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::console::table::table;
use crate::output::rows::Format;
use crate::run::kept::SOURCES;
use serde_json::json;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::Catalogue;
use std::io::Write;

/// Features of the build, and whether this binary has them.
const FEATURES: [(&str, bool); 3] = [
    ("plots", cfg!(feature = "plots")),
    ("parquet", cfg!(feature = "parquet")),
    ("strategies", cfg!(feature = "strategies")),
];

/// Prints version, build, chips, programs and threads.
pub(crate) fn run(catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let chips = [ChipSpec::tofino(), ChipSpec::tofino2()];
    let compiled = catalogue.code().len();
    let mut out = Out::new();
    if as_json {
        let chips: Vec<_> = chips
            .iter()
            .map(|chip| json!({ "name": chip.name, "stages": chip.mau.stages, "assumptions": chip.assumptions.len() }))
            .collect();
        let features: serde_json::Map<_, _> =
            FEATURES.iter().map(|(name, has)| ((*name).to_owned(), (*has).into())).collect();
        let value = json!({
            "schema": "sluice.doctor/1",
            "version": env!("CARGO_PKG_VERSION"),
            "sources": SOURCES,
            "build": build,
            "platform": platform(),
            "features": features,
            "threads": threads,
            "chips": chips,
            "programs": catalogue.programs().len(),
            "compiled_placements": compiled,
        });
        writeln!(out, "{value}")?;
        return Ok(());
    }
    let features =
        FEATURES.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let features = if features.is_empty() { "none".to_owned() } else { features };
    writeln!(out, "sluice {} for {}, {build} build", env!("CARGO_PKG_VERSION"), platform())?;
    writeln!(out, "sources: {SOURCES} (SHA-256)")?;
    writeln!(out, "features: {features}")?;
    if !Format::Parquet.is_written() {
        writeln!(out, "  without parquet, tables are written as CSV alone: build with --features parquet")?;
    }
    writeln!(out, "threads: {threads}; commands with --threads use all of them unless you state a number")?;
    writeln!(out, "programs: {}, with {compiled} placements compiled ahead", catalogue.programs().len())?;
    if compiled == 0 {
        writeln!(
            out,
            "  none of them is compiled ahead, so packets take about three times as long: build with --release"
        )?;
    }
    let rows = chips
        .iter()
        .map(|chip| vec![chip.name.clone(), chip.mau.stages.to_string(), chip.assumptions.len().to_string()])
        .collect();
    writeln!(out, "\n{}", table(&["CHIP", "STAGES", "ASSUMPTIONS"], rows))?;
    writeln!(out, "`sluice explain assumption` lists what public sources do not say of the chips.")?;
    Ok(())
}

fn platform() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}
