//! A P4 program as a program of the catalogue.

use crate::file::ProgramFile;
use sluice_asic::port::PortMap;
use sluice_build::params::{ParamError, ParamInfo};
use sluice_catalogue::Role;
use sluice_catalogue::position::Position;
use sluice_catalogue::{ProgramError, Setup, SetupError, StageProgram};
use sluice_ir::Program;
use sluice_place::report::SourceNote;
use sluice_switch::property::Property;

/// A lowered and verified P4 program. It has no parameters, because macros are defined before it is read. Its entries, routes, roles
/// and properties are those of the declarations beside it; without a file of declarations it has none but the entries that it states
/// itself.
#[derive(Clone, Debug)]
pub struct P4Program {
    name: String,
    summary: String,
    program: Program,
    /// Notes on constructs that the program approximates or ignores.
    notes: Vec<SourceNote>,
    /// Declarations of the file beside the program; `None` without such a file.
    beside: Option<ProgramFile>,
}

impl P4Program {
    /// Makes a program of the catalogue. Its name is that of the lowered program.
    pub(crate) fn new(
        program: Program,
        origin: &str,
        notes: Vec<SourceNote>,
        beside: Option<ProgramFile>,
    ) -> P4Program {
        let (name, summary) = (program.name.clone(), format!("P4 program of {origin}"));
        P4Program { name, summary, program, notes, beside }
    }

    /// Returns the declarations beside the program, if there are any.
    pub(crate) fn beside(&mut self) -> Option<&mut ProgramFile> {
        self.beside.as_mut()
    }

    /// Returns the program under another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> P4Program {
        name.clone_into(&mut self.name);
        name.clone_into(&mut self.program.name);
        self.beside = self.beside.map(|beside| beside.named(name));
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

    fn notes(&self) -> Vec<SourceNote> {
        self.notes.clone()
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

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        self.beside
            .as_ref()
            .map_or_else(|| Ok(Setup::default()), |beside| beside.default_setup(program, ports))
    }

    fn role_at(&self, position: &Position) -> Role {
        self.beside.as_ref().map_or_else(|| Role::new(&self.name, []), |beside| beside.role_at(position))
    }

    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        self.beside.as_ref()?.setup_at(program, ports, position)
    }

    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        self.beside.as_ref().map_or_else(Vec::new, |beside| beside.properties(program))
    }
}
