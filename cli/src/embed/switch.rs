//! A switch as the options of `sluice replay` describe it.

use super::{Error, printed};
use crate::command_line::args::Command;
use crate::command_line::usage;
use crate::console::fail::Failure;
use crate::open::p4;
use crate::replay::{self, Described};
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fabric::network::SwitchSetup;
use std::ffi::OsString;
use std::sync::Arc;

/// A switch that can be made, with its program.
pub struct Device {
    /// The catalogue with the program, if that is a file.
    pub catalogue: Catalogue,
    /// The program in the catalogue: its properties, agents and default entries.
    pub stage: Arc<dyn StageProgram>,
    /// Placed program, ports, entries, and all settings of the switch.
    pub setup: SwitchSetup,
    /// Warnings about the entries.
    pub warnings: Vec<String>,
}

/// Returns the switch that `sluice replay` would make with these arguments: a program and options. Options of inputs and
/// outputs are ignored.
///
/// # Errors
/// If an argument or a file is wrong, or the program does not fit.
pub fn switch(catalogue: &Catalogue, arguments: &[OsString]) -> Result<Device, Error> {
    let words = ["sluice".into(), "replay".into()].into_iter().chain(arguments.iter().cloned());
    let cli = usage::read(&p4::as_p4c(words).collect::<Vec<_>>())
        .map_err(|text| Error { text: text.trim_start_matches("error: ").trim_end().to_owned(), code: 2 })?;
    let Some(Command::Replay(args)) = &cli.command else { return Err(Failure::input("no program").into()) };
    let program = replay::open(args, catalogue)?;
    let described = printed(&Arc::default(), || replay::device(args, &program))?;
    let Described { stage, switch, warnings } = described;
    Ok(Device { stage, setup: switch, warnings, catalogue: program.catalogue })
}
