//! Arguments that commands share: program, chip and parameters, and options of placement.

use clap::Args;
use sluice_place::{Objective, Optimisation, Options};

/// Program, chip and parameters.
#[derive(Clone, Debug, Args)]
pub(crate) struct Target {
    /// Chip: tofino, tofino2, or a TOML file that changes one of them
    #[arg(long, alias = "target", default_value = "tofino2", value_name = "CHIP")]
    pub(crate) chip: String,
    /// Program parameter, repeatable; `sluice programs NAME` lists them
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) sets: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) p4: crate::open::p4::P4Args,
}

/// Options of placement.
#[derive(Debug, Clone, Args)]
pub(crate) struct Placing {
    /// Quantity that placement minimises: the number of stages, or the latency of the stages
    #[arg(long, default_value = "stages", value_name = "stages|latency", help_heading = "Placement")]
    objective: Objective,
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "Placement", help = without())]
    without: Vec<Optimisation>,
}

/// Returns the help of `--without`.
fn without() -> String {
    let names: Vec<&str> = Optimisation::ALL.into_iter().map(Optimisation::name).collect();
    format!("Optimisations of placement to turn off, which shows what each saves: {}", names.join(", "))
}

impl Placing {
    /// Returns the options for the placer.
    pub(crate) fn options(&self) -> Options {
        Options { objective: self.objective, without: self.without.iter().copied().collect() }
    }
}

/// Parses `KEY=VALUE`.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, for example ipv4_routes=4096")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}
