//! A program placed on a chip, with its default entries.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_catalogue::{Catalogue, ProgramError, SetupError, StageProgram};
use sluice_control::ControlState;
use sluice_exec::control_state;
use sluice_exec::engine::Engine;
use sluice_ir::Program;
use sluice_place::{Placement, place};
use thiserror::Error;

/// Reason why a program cannot be measured.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The program rejects its parameters.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The program does not fit the chip.
    #[error("`{program}` does not fit {chip}: {reason}")]
    NoFit {
        /// Name of the program.
        program: String,
        /// Name of the chip.
        chip: String,
        /// The reason.
        reason: String,
    },
    /// The program cannot derive default entries.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The device rejects the ports, the entries, or a packet.
    #[error("`{program}` cannot run: {why}")]
    Device {
        /// Name of the program.
        program: String,
        /// The device's error.
        why: String,
    },
    /// The setup of the measurement is out of range.
    #[error("{0}")]
    Question(String),
}

/// A program to measure, and the chip that it is placed on.
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    /// Creates the executor.
    pub catalogue: &'a Catalogue,
    /// The program.
    pub stage: &'a dyn StageProgram,
    /// The chip.
    pub chip: &'a ChipSpec,
    /// Seed of the device's and the traffic's random numbers.
    pub seed: u64,
}

/// A program that is placed and has its default entries.
pub(super) struct Placed<'a> {
    catalogue: &'a Catalogue,
    pub(super) program: Program,
    pub(super) placement: Placement,
    pub(super) control: ControlState,
    pub(super) ports: PortMap,
}

impl<'a> Placed<'a> {
    pub(super) fn new(of: &Candidate<'a>, sets: &[(String, String)]) -> Result<Placed<'a>, TrialError> {
        let Candidate { catalogue, stage, chip, .. } = *of;
        let program = stage.build(sets)?;
        let placement = place(&program, chip).map_err(|e| TrialError::NoFit {
            program: stage.name().to_owned(),
            chip: chip.name.clone(),
            reason: e.reason(),
        })?;
        let device = |why: String| TrialError::Device { program: stage.name().to_owned(), why };
        let ports = PortMap::default_for(chip).map_err(|e| device(e.to_string()))?;
        let mut control = control_state(&program, &placement);
        for op in stage.default_setup(&program, &ports)?.ops {
            control.apply(&program, op).map_err(|e| device(e.to_string()))?;
        }
        Ok(Placed { catalogue, program, placement, control, ports })
    }

    pub(super) fn device(&self, why: impl ToString) -> TrialError {
        TrialError::Device { program: self.program.name.clone(), why: why.to_string() }
    }

    pub(super) fn engine(&self) -> Result<Engine, TrialError> {
        self.catalogue.engine(&self.program, &self.placement, &self.control).map_err(|e| self.device(e))
    }

    /// Returns the front-panel port of a dev_port.
    pub(super) fn front(&self, dev_port: u16) -> Option<FrontPort> {
        let at = self.ports.front_ports().iter().position(|p| p.dev_port.number() == dev_port)?;
        Some(FrontPort(at as u16))
    }
}
