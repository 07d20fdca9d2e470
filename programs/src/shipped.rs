//! What the author of a program states; how users meet it follows from that.

use crate::agent::{Agent, AgentError, AgentRequest};
use crate::catalog::{ProgramError, Role, StageProgram};
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use crate::story::Narrator;
use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_build::params::{ParamInfo, Params};
use sluice_ir::Program;
use sluice_switch::property::Property;
use std::sync::Arc;

/// A program by its parameters; see [`StageProgram`] for what the parts mean.
pub(crate) trait Shipped: Sync {
    /// Name, kebab-case.
    const NAME: &'static str;
    /// One sentence without a full stop.
    const SUMMARY: &'static str;
    /// The P4 program that says the same.
    const P4: &'static str;
    /// Parameters for hunts.
    const HUNT: &'static [(&'static str, &'static str)] = &[];
    /// What users can set.
    type Params: Params + Default;

    /// Refuses values that do not go together.
    fn check(p: &Self::Params) -> Result<(), ProgramError> {
        let _ = p;
        Ok(())
    }

    /// Declares everything.
    fn declare(b: &Builder, p: &Self::Params);

    /// Entries under which any capture flows.
    fn default_setup(program: &Program, ports: &PortMap, p: &Self::Params) -> Result<Setup, SetupError>;

    /// What a switch runs at a place in a network.
    fn role_at(at: &Position) -> Role {
        let _ = at;
        Role::new(Self::NAME, [])
    }

    /// Entries of a place in a network, if the program has any.
    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        p: &Self::Params,
    ) -> Option<Result<Setup, SetupError>> {
        let _ = (program, ports, at, p);
        None
    }

    /// What must hold in every run besides what must hold of every program.
    fn properties(program: &Program, p: &Self::Params) -> Vec<Box<dyn Property>> {
        let _ = (program, p);
        Vec::new()
    }

    /// The embedded capture of the program; see [`StageProgram::sample`].
    const SAMPLE: Option<(&'static str, &'static [u8])> = None;

    /// Returns the embedded captures of a network; see [`StageProgram::network_samples`].
    fn network_samples() -> Vec<(&'static str, &'static str, &'static [u8])> {
        Vec::new()
    }

    /// Reads the frames of the program's networks for a story; see [`StageProgram::story`].
    fn story() -> Option<Arc<dyn Narrator>> {
        None
    }

    /// Starts the control-plane agent that comes with the program; see [`StageProgram::agent`].
    fn agent(request: &AgentRequest<'_>) -> Option<Result<Box<dyn Agent>, AgentError>> {
        let _ = request;
        None
    }
}

/// Parameters with these values set; later values of a key win.
///
/// # Errors
/// When a key or value is refused.
pub(crate) fn given<P: Params + Default>(
    sets: &[(String, String)],
    program: &'static str,
) -> Result<P, ProgramError> {
    let mut p = P::default();
    for (key, value) in sets {
        p.set(key, value).map_err(|source| ProgramError::Param { program, source })?;
    }
    Ok(p)
}

/// The parameters that a program was built with.
pub(crate) fn built_with<P: Params + Default>(program: &Program) -> P {
    let mut p = P::default();
    for param in &program.params {
        // The values come out of the same struct, so none is refused.
        let _ = p.set(&param.key, &param.value);
    }
    p
}

/// The program with these parameters.
///
/// # Errors
/// When they do not go together, or the verifier refuses the program.
pub(crate) fn program<S: Shipped>(p: &S::Params) -> Result<Program, ProgramError> {
    S::check(p)?;
    let b = Builder::new(S::NAME, S::SUMMARY);
    S::declare(&b, p);
    b.finish(p).map_err(|diags| ProgramError::Illegal { program: S::NAME, diags })
}

impl<S: Shipped> StageProgram for S {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn summary(&self) -> &'static str {
        S::SUMMARY
    }

    fn params(&self) -> Vec<ParamInfo> {
        S::Params::default().list()
    }

    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError> {
        program::<S>(&given(sets, S::NAME)?)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        S::default_setup(program, ports, &built_with(program))
    }

    fn role_at(&self, position: &Position) -> Role {
        S::role_at(position)
    }

    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        S::setup_at(program, ports, position, &built_with(program))
    }

    fn p4(&self) -> &'static str {
        S::P4
    }

    fn hunt(&self) -> &'static [(&'static str, &'static str)] {
        S::HUNT
    }

    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        S::properties(program, &built_with(program))
    }

    fn sample(&self) -> Option<(&'static str, &'static [u8])> {
        S::SAMPLE
    }

    fn network_samples(&self) -> Vec<(&'static str, &'static str, &'static [u8])> {
        S::network_samples()
    }

    fn story(&self) -> Option<Arc<dyn Narrator>> {
        S::story()
    }

    fn agent(&self, request: &AgentRequest<'_>) -> Option<Result<Box<dyn Agent>, AgentError>> {
        S::agent(request)
    }
}
