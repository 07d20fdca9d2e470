//! A P4 program as a program of the catalogue.

use sluice_asic::port::PortMap;
use sluice_build::params::{ParamError, ParamInfo};
use sluice_catalogue::{ProgramError, Setup, SetupError, StageProgram};
use sluice_ir::Program;

/// A lowered and verified P4 program. It has no parameters, because macros are defined before it is read, and no entries
/// except for those that it states itself.
#[derive(Clone, Debug)]
pub(crate) struct P4Program {
    name: String,
    summary: String,
    program: Program,
}

impl P4Program {
    /// Makes a program of the catalogue. Its name is that of the lowered program.
    pub(crate) fn new(program: Program, origin: &str) -> P4Program {
        P4Program { name: program.name.clone(), summary: format!("P4 program of {origin}"), program }
    }

    /// Returns the program under another name.
    pub(crate) fn named(mut self, name: &str) -> P4Program {
        name.clone_into(&mut self.name);
        name.clone_into(&mut self.program.name);
        self
    }
}

impl StageProgram for P4Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn params(&self) -> Vec<ParamInfo> {
        Vec::new()
    }

    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError> {
        match sets.first() {
            None => Ok(self.program.clone()),
            Some((key, _)) => {
                Err(ProgramError::Param { program: self.name.clone(), source: ParamError::unknown(key, &[]) })
            }
        }
    }

    fn default_setup(&self, _: &Program, _: &PortMap) -> Result<Setup, SetupError> {
        Ok(Setup::default())
    }
}
