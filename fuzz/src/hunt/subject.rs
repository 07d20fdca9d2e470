//! Subject of a hunt: a placed program on a device, with entries and properties.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_catalogue::Catalogue;
use sluice_control::{ControlOp, ControlState};
use sluice_exec::cover::Points;
use sluice_ir::Program;
use sluice_place::{Placement, place};
use sluice_switch::property::{LosslessLoss, Property, general_and};
use sluice_switch::{BufferSetup, SwitchConfig, class_operations};
use std::sync::Arc;

/// Returns new properties without history.
type Properties<'s> = Box<dyn Fn() -> Vec<Box<dyn Property>> + Send + Sync + 's>;

/// A placed program on a device, with entries and properties.
pub struct Subject<'s> {
    /// Program.
    pub program: Program,
    /// Placement of the program.
    pub placement: Placement,
    /// Ports of the device.
    pub ports: PortMap,
    /// Entries and settings at the start of each input.
    pub control: ControlState,
    /// Configuration of the device.
    pub config: SwitchConfig,
    /// Coverage points of the program.
    pub points: Points,
    /// Builds the executor that the hunt tests.
    pub(super) catalogue: Catalogue,
    properties: Properties<'s>,
}

/// Reason why a subject cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// The program is unknown, refused, or does not fit the chip.
    #[error("{0}")]
    Program(String),
    /// The control plane refuses a default entry.
    #[error("the entries cannot be set up: {0}")]
    Entries(String),
    /// The device cannot be built.
    #[error("{0}")]
    Device(String),
}

impl<'s> Subject<'s> {
    /// Returns a subject with the general properties and the program's `own`, which replace general ones of the same
    /// name. The engine is one of this catalogue, which need not list the program.
    #[must_use]
    pub fn new(
        catalogue: &Catalogue,
        program: Program,
        placement: Placement,
        ports: PortMap,
        control: ControlState,
        own: impl Fn() -> Vec<Box<dyn Property>> + Send + Sync + 's,
    ) -> Subject<'s> {
        let points = Points::of(&program, &placement.chip);
        let properties = Box::new(move || general_and(own()));
        // Inputs are short: a packet that goes round more often than this does so for ever.
        let config = SwitchConfig { max_recirculations: 4_096, ..SwitchConfig::default() };
        let catalogue = catalogue.clone();
        Subject { program, placement, ports, control, config, points, catalogue, properties }
    }

    /// Builds a program of the catalogue with parameters as key and value, and places it on a chip. The device has the chip's
    /// default ports, and the program's default setup and properties.
    ///
    /// # Errors
    /// If there is no such program, if it is refused or does not fit, or if its default setup is refused.
    pub fn of_catalogue(
        catalogue: &Catalogue,
        program: &str,
        params: &[(&str, &str)],
        chip: &ChipSpec,
    ) -> Result<Subject<'static>, SubjectError> {
        let stage = catalogue.get(program).map_err(|e| SubjectError::Program(e.to_string()))?;
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let sets: Vec<(String, String)> = params.iter().map(owned).collect();
        let program = stage.build(&sets).map_err(|e| SubjectError::Program(e.to_string()))?;
        let placement = place(&program, chip).map_err(|e| SubjectError::Program(e.to_string()))?;
        let ports = PortMap::default_for(chip).map_err(|e| SubjectError::Device(e.to_string()))?;
        let setup =
            stage.default_setup(&program, &ports).map_err(|e| SubjectError::Entries(e.to_string()))?;
        let control = Subject::entries(&program, setup.ops)?;
        let speeds = setup.port_speeds.iter();
        let speeds = speeds
            .filter_map(|(front, rate)| Some((ports.front(*front)?.dev_port.number(), *rate)))
            .collect();
        let (stage, built) = (Arc::clone(stage), program.clone());
        let own = move || stage.properties(&built);
        let mut subject = Subject::new(catalogue, program, placement, ports, control, own);
        subject.config.port_speeds = speeds;
        Ok(subject)
    }

    /// Gives the device a shared buffer. The maps of the profile become entries of the program's class tables now, so that they
    /// are among the entries that every input begins with.
    ///
    /// # Errors
    /// If the device refuses the profile, or a class table refuses its entries.
    pub fn set_buffer(&mut self, buffer: BufferSetup) -> Result<(), SubjectError> {
        self.config.buffer = Some(buffer);
        let Subject { program, placement, ports, control, config, .. } = self;
        let ops = class_operations(program, placement, ports, control, config);
        for op in ops.map_err(|e| SubjectError::Device(e.to_string()))? {
            control.apply(program, op).map_err(|e| SubjectError::Entries(e.to_string()))?;
        }
        Ok(())
    }

    /// Returns new properties without history. On a device with a shared buffer, `no_lossless_loss` is left out unless the
    /// senders obey PFC (`obeys`), because only a sender that stops when paused is promised no loss.
    #[must_use]
    pub fn properties(&self, obeys: bool) -> Vec<Box<dyn Property>> {
        let mut list = (self.properties)();
        if self.config.buffer.is_some() && !obeys {
            list.retain(|p| p.name() != LosslessLoss.name());
        }
        list
    }

    /// Returns the number of queues of a port; `None` if there is no such port.
    #[must_use]
    pub(crate) fn queues_of(&self, port: u16) -> Option<u16> {
        self.ports.iter().find(|p| p.dev_port.number() == port).map(|p| p.queues)
    }

    /// Returns the entries and settings after these operations.
    ///
    /// # Errors
    /// The first operation that the control plane refuses.
    pub fn entries(program: &Program, ops: Vec<ControlOp>) -> Result<ControlState, SubjectError> {
        let mut control = ControlState::new(program);
        for op in ops {
            control.apply(program, op).map_err(|e| SubjectError::Entries(e.to_string()))?;
        }
        Ok(control)
    }
}

#[cfg(test)]
impl Subject<'static> {
    /// Returns a shipped program on Tofino 2 with default parameters and entries.
    pub(crate) fn shipped(name: &str) -> Subject<'static> {
        let catalogue = sluice_programs::catalogue();
        let stage = catalogue.get(name).unwrap();
        let program = stage.build(&[]).unwrap();
        let chip = sluice_asic::chip::ChipSpec::tofino2();
        let placement = sluice_place::place(&program, &chip).unwrap_or_else(|e| panic!("{e}"));
        let ports = PortMap::default_for(&chip).unwrap();
        let control = Subject::entries(&program, stage.default_setup(&program, &ports).unwrap().ops).unwrap();
        Subject::new(&catalogue, program, placement, ports, control, Vec::new)
    }
}
