//! What is fuzzed: a placed program on a device with entries and properties.

use sluice_asic::port::PortMap;
use sluice_catalogue::Catalogue;
use sluice_control::{ControlOp, ControlState};
use sluice_exec::cover::Points;
use sluice_ir::Program;
use sluice_place::Placement;
use sluice_switch::SwitchConfig;
use sluice_switch::property::{LosslessLoss, Property, general_and};

/// Makes the properties of a run, fresh.
type Properties<'s> = Box<dyn Fn() -> Vec<Box<dyn Property>> + Send + Sync + 's>;

/// A program on a device.
pub struct Subject<'s> {
    /// The program.
    pub program: Program,
    /// Where it lies on the chip.
    pub placement: Placement,
    /// The device's ports.
    pub ports: PortMap,
    /// Entries at the start of each input.
    pub control: ControlState,
    /// The device.
    pub config: SwitchConfig,
    /// What of the program can be reached.
    pub points: Points,
    /// Makes the executor that the hunt looks at.
    pub(super) catalogue: Catalogue,
    properties: Properties<'s>,
}

/// A subject that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// A default entry is refused.
    #[error("the entries cannot be set up: {0}")]
    Entries(String),
    /// The device cannot be made.
    #[error("{0}")]
    Device(String),
}

impl<'s> Subject<'s> {
    /// A program with the general properties and these besides, or in place of those of the same name. The engine is one of
    /// this catalogue, which need not list the program.
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
        let (config, catalogue) = (SwitchConfig::default(), catalogue.clone());
        Subject { program, placement, ports, control, config, points, catalogue, properties }
    }

    /// The properties, fresh. Under a shared buffer none that is for senders that obey pauses, unless they do.
    #[must_use]
    pub fn properties(&self, obeys: bool) -> Vec<Box<dyn Property>> {
        let mut list = (self.properties)();
        if self.config.buffer.is_some() && !obeys {
            list.retain(|p| p.name() != LosslessLoss.name());
        }
        list
    }

    /// Queues of a port; `None` if there is no such port.
    #[must_use]
    pub(crate) fn queues_of(&self, port: u16) -> Option<u16> {
        self.ports.iter().find(|p| p.dev_port.number() == port).map(|p| p.queues)
    }

    /// Entries after these operations.
    ///
    /// # Errors
    /// The first operation that is refused.
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
    /// A shipped program on Tofino 2, with its defaults.
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
