//! Buffer profiles in memory, for networks that name no other file.

use super::Files;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::tm::buffer::BufferFile;
use sluice_control::ControlState;
use sluice_ir::Program;
use std::collections::BTreeMap;

/// Buffer profiles by name. There are no files of entries: a network that names one is refused.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    of: BTreeMap<String, BufferFile>,
}

impl Profiles {
    /// Adds a profile, in place of an earlier one with the same name.
    pub fn insert(&mut self, name: String, profile: BufferFile) {
        self.of.insert(name, profile);
    }
}

impl Files for Profiles {
    type Error = String;

    fn entries(
        &self,
        name: &str,
        _: &Program,
        _: &PortMap,
        _: &ControlState,
        _: &mut ControlState,
    ) -> Result<Vec<String>, String> {
        Err(format!("there is no file {name}"))
    }

    fn buffer(&self, name: &str, _: &ChipSpec) -> Result<BufferFile, String> {
        self.of.get(name).cloned().ok_or_else(|| format!("there is no profile {name}"))
    }
}
