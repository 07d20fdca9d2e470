//! [`ProgramDef`]: the definition that a program's author writes, from which [`StageProgram`] follows.

use crate::control_plane::{ControlPlane, ControlPlaneError, ControlPlaneRequest};
use crate::position::Position;
use crate::program::{ProgramError, Role, StageProgram};
use crate::setup::{Setup, SetupError};
use crate::story::Narrator;
use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_build::params::{ParamInfo, Params};
use sluice_ir::Program;
use sluice_switch::property::Property;
use std::sync::Arc;

/// The definition of a program by a Rust type; every such type is a [`StageProgram`].
///
/// Functions get the parameters as a struct; [`StageProgram`] has them as keys and values. The example at the head of
/// the crate defines a program.
pub trait ProgramDef: Send + Sync {
    /// Name as users type it, in kebab-case.
    const NAME: &'static str;
    /// One sentence on what the program does, without a full stop.
    const SUMMARY: &'static str;
    /// Parameters for `sluice fuzz`, as key and value; see [`StageProgram::hunt`].
    const HUNT: &'static [(&'static str, &'static str)] = &[];
    /// The embedded capture of the program, as file name and bytes; see [`StageProgram::sample`].
    const SAMPLE: Option<(&'static str, &'static [u8])> = None;
    /// Sentence that says how the program behaves without a control plane, and how to change that; see
    /// [`StageProgram::without_control_plane`].
    const WITHOUT_CONTROL_PLANE: Option<&'static str> = None;
    /// The parameters that users can set. Their default values are those of [`Default`]; `()` has no parameters.
    type Params: Params + Default;

    /// Refuses values that exclude each other.
    ///
    /// If values exclude each other.
    /// If there are such values.
    fn check(p: &Self::Params) -> Result<(), ProgramError> {
        let _ = p;
        Ok(())
    }

    /// Declares the headers, tables, registers and controls of both gresses.
    fn declare(b: &Builder, p: &Self::Params);

    /// Returns the setup of a device outside a network; see [`StageProgram::default_setup`].
    ///
    /// # Errors
    /// If the device lacks a port that the entries need, or if `program` is another program.
    fn default_setup(program: &Program, ports: &PortMap, p: &Self::Params) -> Result<Setup, SetupError>;

    /// Returns the role of a switch at this place; see [`StageProgram::role_at`].
    fn role_at(at: &Position) -> Role {
        let _ = at;
        Role::new(Self::NAME, [])
    }

    /// Returns the setup of a switch at this place, if the program has entries for networks; see
    /// [`StageProgram::setup_at`].
    ///
    /// # Errors
    /// As [`ProgramDef::default_setup`], or if the program cannot run at this place.
    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        p: &Self::Params,
    ) -> Option<Result<Setup, SetupError>> {
        let _ = (program, ports, at, p);
        None
    }

    /// Returns warnings about the program at this place; see [`StageProgram::warnings_at`].
    fn warnings_at(at: &Position, p: &Self::Params) -> Vec<String> {
        let _ = (at, p);
        Vec::new()
    }

    /// Returns new properties for one run; see [`StageProgram::properties`].
    fn properties(program: &Program, p: &Self::Params) -> Vec<Box<dyn Property>> {
        let _ = (program, p);
        Vec::new()
    }

    /// Returns the embedded captures of a network; see [`StageProgram::network_samples`].
    fn network_samples() -> Vec<(&'static str, &'static str, &'static [u8])> {
        Vec::new()
    }

    /// Returns the reader of frames for stories of the program's networks; see [`StageProgram::story`].
    fn story() -> Option<Arc<dyn Narrator>> {
        None
    }

    /// Starts the control plane that comes with the program; see [`StageProgram::control_plane`].
    fn control_plane(
        request: &ControlPlaneRequest<'_>,
    ) -> Option<Result<Box<dyn ControlPlane>, ControlPlaneError>> {
        let _ = request;
        None
    }
}

/// Returns the parameters with these values set; if a key occurs twice, the later value wins.
///
/// # Errors
/// If a key or a value is refused.
fn given<P: Params + Default>(sets: &[(String, String)], program: &str) -> Result<P, ProgramError> {
    let mut p = P::default();
    for (key, value) in sets {
        p.set(key, value).map_err(|source| ProgramError::Param { program: program.to_owned(), source })?;
    }
    Ok(p)
}

/// Returns the parameters that a program was built with, as the struct that it was built from.
pub fn built_with<P: Params + Default>(program: &Program) -> P {
    let mut p = P::default();
    for param in &program.params {
        // The values come from the same struct, so none is refused.
        let _ = p.set(&param.key, &param.value);
    }
    p
}

/// Builds a program from the struct of its parameters; [`StageProgram::build`] takes keys and values.
///
/// # Errors
/// If values exclude each other, or if the verifier refuses the program.
pub fn build<D: ProgramDef>(p: &D::Params) -> Result<Program, ProgramError> {
    D::check(p)?;
    let b = Builder::new(D::NAME, D::SUMMARY);
    D::declare(&b, p);
    let illegal = |diags| ProgramError::Illegal { program: D::NAME.to_owned(), diags };
    b.finish(p).map_err(illegal)
}

impl<D: ProgramDef> StageProgram for D {
    fn name(&self) -> &str {
        D::NAME
    }

    fn summary(&self) -> &str {
        D::SUMMARY
    }

    fn params(&self) -> Vec<ParamInfo> {
        D::Params::default().list()
    }

    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError> {
        build::<D>(&given(sets, D::NAME)?)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        D::default_setup(program, ports, &built_with(program))
    }

    fn role_at(&self, position: &Position) -> Role {
        D::role_at(position)
    }

    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        D::setup_at(program, ports, position, &built_with(program))
    }

    fn warnings_at(&self, program: &Program, position: &Position) -> Vec<String> {
        D::warnings_at(position, &built_with(program))
    }

    fn without_control_plane(&self) -> Option<&'static str> {
        D::WITHOUT_CONTROL_PLANE
    }

    fn hunt(&self) -> Vec<(String, String)> {
        D::HUNT.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        D::properties(program, &built_with(program))
    }

    fn sample(&self) -> Option<(&'static str, &'static [u8])> {
        D::SAMPLE
    }

    fn network_samples(&self) -> Vec<(&'static str, &'static str, &'static [u8])> {
        D::network_samples()
    }

    fn story(&self) -> Option<Arc<dyn Narrator>> {
        D::story()
    }

    fn control_plane(
        &self,
        request: &ControlPlaneRequest<'_>,
    ) -> Option<Result<Box<dyn ControlPlane>, ControlPlaneError>> {
        D::control_plane(request)
    }
}
