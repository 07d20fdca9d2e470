//! The list of programs and what every one of them offers. What may not live here: a particular program.

use crate::l3_ecmp::L3Ecmp;
use sluice_asic::port::PortMap;
use sluice_asic::units::BitRate;
use sluice_pipeline::build::params::{ParamError, ParamInfo};
use sluice_pipeline::control::ControlOp;
use sluice_pipeline::ir::Program;
use sluice_pipeline::verify::Diag;

/// A shipped stage program.
pub trait StageProgram: Sync {
    /// Name as users type it, kebab-case.
    fn name(&self) -> &'static str;

    /// What it does, one sentence.
    fn summary(&self) -> &'static str;

    /// Its parameters with their defaults.
    fn params(&self) -> Vec<ParamInfo>;

    /// Builds it with some parameters changed.
    ///
    /// # Errors
    /// When a parameter does not exist or has an impossible value, or when the values make a program that
    /// breaks a rule.
    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError>;

    /// Entries and ports under which any capture flows through the program.
    ///
    /// # Errors
    /// When the port map has too few ports, or the program was built with too little room for them.
    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError>;

    /// The same program in P4_16 (TNA), to compare line by line.
    fn p4(&self) -> &'static str;
}

/// What the control plane does before the first packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Operations in order.
    pub ops: Vec<ControlOp>,
    /// Ports (dev_port) that run slower than their neighbours.
    pub port_speeds: Vec<(u16, BitRate)>,
}

/// Why a program was not built.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A parameter that does not exist, or a value that it cannot have.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The program breaks rules.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Program(Vec<Diag>),
}

/// Why a program has no default setup here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The chip has too few ports at this speed.
    #[error("the default entries of {program} use front-panel port {port}; the switch has ports 0 to {last}: choose another --port-speed, or give --entries")]
    TooFewPorts {
        /// The program.
        program: &'static str,
        /// The port wanted.
        port: u16,
        /// The last one there is.
        last: u16,
    },
    /// The program lacks a table that the entries name: it was not built by this module.
    #[error("the default entries of {program} need `{entity}`, which this program does not have")]
    Missing {
        /// The program.
        program: &'static str,
        /// The table, action or profile.
        entity: String,
    },
}

/// No program has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no program `{name}`; programs: {}", .available.join(", "))]
pub struct UnknownProgram {
    /// The name asked for.
    pub name: String,
    /// The names that exist.
    pub available: Vec<&'static str>,
}

/// Every shipped program, in order of name.
#[must_use]
pub fn all() -> &'static [&'static dyn StageProgram] {
    &[&L3Ecmp]
}

/// The program of this name.
///
/// # Errors
/// When there is none.
pub fn by_name(name: &str) -> Result<&'static dyn StageProgram, UnknownProgram> {
    let found = all().iter().copied().find(|p| p.name() == name);
    found.ok_or_else(|| UnknownProgram { name: name.to_owned(), available: all().iter().map(|p| p.name()).collect() })
}
