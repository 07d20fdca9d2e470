//! Networks for commands that do not run them, and the files that a topology names.

use crate::console::fail::Failure;
use crate::open::buffer_profile;
use crate::open::door::Door;
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
use sluice_ir::Program;
use sluice_place::Options;
use sluice_switch::SwitchConfig;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds files. Paths in a topology are relative to its folder; paths of the command line are used as they are.
pub(crate) struct NetworkFiles {
    /// Folder of the topology.
    pub(crate) base: PathBuf,
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
        let path = if own { PathBuf::from(name) } else { self.base.join(name) };
        match &self.names {
            None => resolve::load(program, ports, &path, usual, into),
            Some(names) => {
                let ports = ports.clone().with_names(Arc::clone(names));
                resolve::load(program, &ports, &path, usual, into)
            }
        }
    }

    fn buffer(&self, name: &str, chip: &ChipSpec) -> Result<BufferFile, Failure> {
        buffer_profile::profile(name, chip, &self.base, self.names.as_deref())
    }
}

/// Returns true if a file's name is a pattern with a switch's name in place of `{switch}`.
fn is_of_pattern(pattern: &str, name: &str) -> bool {
    let parts = pattern.split_once("{switch}");
    parts.is_some_and(|(before, after)| name.starts_with(before) && name.ends_with(after))
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
    let base = folder_of(topology).to_owned();
    let chip = resolve::chip(blueprint.chip.as_deref().unwrap_or(&target.chip))?;
    let mut door = Door::new(catalogue, &target.p4, &chip);
    door.topology(&mut blueprint, &base)?;
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
    let files = NetworkFiles { base, own: Vec::new(), names: None };
    deploy(&blueprint, &door.into_catalogue(), &defaults, &files).map_err(Failure::input)
}
