//! Networks for commands that do not run them, and the files that a topology names.

use crate::console::fail::Failure;
use crate::open::buffer_profile;
use crate::open::door::Door;
use crate::open::named::{Naming, is_of_pattern};
use crate::open::resolve;
use crate::open::target::Target;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::port_names::PortNames;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::BitRate;
use sluice_catalogue::Catalogue;
use sluice_control::ControlState;
use sluice_fabric::deploy::{Defaults, Deployment, Files, deploy};
use sluice_fabric::topology::Blueprint;
use sluice_ir::Program;
use sluice_place::Options;
use sluice_switch::SwitchConfig;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds files. Paths in a topology are relative to its folder; paths of the command line are used as they are.
pub(crate) struct NetworkFiles {
    /// The topology as the user named it.
    pub(crate) topology: String,
    /// Names of files of the command line, which may have `{switch}` in place of a switch's name.
    pub(crate) own: Vec<String>,
    /// The user's names of the front-panel ports of every switch.
    pub(crate) names: Option<Arc<PortNames>>,
}

impl Files for NetworkFiles {
    type Error = Failure;

    fn entries(
        &self,
        name: &str,
        program: &Program,
        ports: &PortMap,
        usual: &ControlState,
        into: &mut ControlState,
    ) -> Result<Vec<String>, Failure> {
        let own = self.own.iter().any(|own| own == name || is_of_pattern(own, name));
        let path = if own { PathBuf::from(name) } else { folder_of(&self.topology).join(name) };
        let loaded = match &self.names {
            None => resolve::load(program, ports, &path, usual, into),
            Some(names) => {
                let ports = ports.clone().with_names(Arc::clone(names));
                resolve::load(program, &ports, &path, usual, into)
            }
        };
        loaded.map_err(|failure| if own { failure } else { self.named(name, failure) })
    }

    fn buffer(&self, name: &str, chip: &ChipSpec) -> Result<BufferFile, Failure> {
        let profile = buffer_profile::profile(name, chip, folder_of(&self.topology), self.names.as_deref());
        profile.map_err(|failure| self.named(name, failure))
    }
}

impl NetworkFiles {
    /// Returns the failure of a file, with the line of the topology's file that names it.
    fn named(&self, name: &str, failure: Failure) -> Failure {
        Naming::of_file(&self.topology).failed(name, failure)
    }
}

/// Returns the chip that a topology names, or else the user's.
pub(crate) fn chip(topology: &str, blueprint: &Blueprint, own: &str) -> Result<ChipSpec, Failure> {
    match &blueprint.chip {
        Some(chip) => resolve::chip(chip).map_err(|e| Naming::of_file(topology).failed(chip, e)),
        None => resolve::chip(own),
    }
}

/// Returns the folder of a topology's file; of a builder, the present folder.
pub(crate) fn folder_of(topology: &str) -> &Path {
    let path = Path::new(topology);
    path.parent().filter(|_| resolve::is_topology_file(path)).unwrap_or(Path::new(""))
}

/// Returns the network of a topology whose switches run a program, each with the entries of its place.
pub(crate) fn deployed(
    catalogue: &Catalogue,
    program: &str,
    target: &Target,
    topology: &str,
    port_speed: Option<BitRate>,
) -> Result<Deployment, Failure> {
    let mut blueprint = resolve::blueprint(topology)?;
    let chip = chip(topology, &blueprint, &target.chip)?;
    let mut door = Door::new(catalogue, &target.p4, &chip);
    door.topology(&mut blueprint, folder_of(topology))?;
    let defaults = Defaults {
        program: program.to_owned(),
        params: target.sets.clone(),
        chip,
        port_speed,
        buffer: None,
        entries: None,
        placing: Options::default(),
        config: SwitchConfig::default(),
    };
    let files = NetworkFiles { topology: topology.to_owned(), own: Vec::new(), names: None };
    deploy(&blueprint, &door.into_catalogue(), &defaults, &files).map_err(Failure::input)
}
