//! The entries that a file declares.

use sluice_asic::port::PortMap;
use sluice_catalogue::{Setup, SetupError};
use sluice_control::{ControlState, toml};
use sluice_ir::Program;
use sluice_ir::text::FileParts;

/// Returns the setup with a file's entries; without a declaration, the empty setup.
pub(crate) fn setup(
    parts: &FileParts,
    program: &Program,
    ports: &PortMap,
    origin: &str,
) -> Result<Setup, SetupError> {
    let Some((text, line)) = &parts.entries else { return Ok(Setup::default()) };
    let mut state = ControlState::new(program);
    let script = toml::load_on(program, ports, text, origin, &mut state).map_err(|mut errors| {
        errors.iter_mut().for_each(|error| error.line += line - 1);
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        SetupError::File { program: program.name.clone(), errors: errors.join("\n") }
    })?;
    let ops = script.ops.into_iter().map(|sourced| sourced.op).collect();
    Ok(Setup { ops, port_speeds: Vec::new() })
}
