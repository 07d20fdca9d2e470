//! [`StageProgram`]: a program as its users see it.

use crate::control_plane::{ControlPlane, ControlPlaneError, ControlPlaneRequest};
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use crate::story::Narrator;
use sluice_asic::port::PortMap;
use sluice_build::params::{ParamError, ParamInfo};
use sluice_ir::Program;
use sluice_ir::verify::Diag;
use sluice_place::report::SourceNote;
use sluice_switch::property::Property;
use std::sync::Arc;
use thiserror::Error;

/// The program that a switch runs at its place in a network, with the parameters that follow from the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Name of a program in the same catalogue.
    pub program: String,
    /// Parameters as key and value. Values that users set win over these.
    pub params: Vec<(String, String)>,
}

impl Role {
    /// Returns the role of the program of this name, with parameters as key and value.
    pub fn new<'k>(program: &str, params: impl IntoIterator<Item = (&'k str, String)>) -> Role {
        let params = params.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Role { program: program.to_owned(), params }
    }
}

/// A stage program that users run by name.
///
/// [`ProgramDef`](crate::ProgramDef) implements this trait for programs that are a Rust type.
pub trait StageProgram: Send + Sync {
    /// Returns the name as users type it, in kebab-case (`l3-ecmp`).
    fn name(&self) -> &str;

    /// Returns one sentence on what the program does, without a full stop.
    fn summary(&self) -> &str;

    /// Returns the parameters with their defaults, in the order in which the documentation lists them.
    fn params(&self) -> Vec<ParamInfo>;

    /// Returns parts of the program's source that the program approximates or ignores, for reports.
    fn notes(&self) -> Vec<SourceNote> {
        Vec::new()
    }

    /// Builds the program with these parameters, given as key and value. If a key occurs twice, the later value wins.
    ///
    /// # Errors
    /// If a key or a value is refused, or if the values together make no legal program.
    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError>;

    /// Returns the setup of a device with these ports that runs `program` outside a network: entries that forward the
    /// packets of any capture. `program` was built by [`StageProgram::build`].
    ///
    /// # Errors
    /// If the device lacks a port that the entries need, or if `program` is another program.
    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError>;

    /// Returns the role of a switch at this place if the network runs this program. By default the switch runs the same
    /// program; a program for ToRs may name another program for spines.
    fn role_at(&self, position: &Position) -> Role {
        let _ = position;
        Role::new(self.name(), [])
    }

    /// Returns the setup of a switch at this place: entries with which packets reach every host of the network. `None`
    /// if the program has no entries for networks; the switch then gets those of [`StageProgram::default_setup`].
    ///
    /// # Errors
    /// As [`StageProgram::default_setup`], or if the program cannot run at this place.
    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        let _ = (program, ports, position);
        None
    }

    /// Returns what a user must know about the program at this place, in sentences that say how to change it: parts of the
    /// program that cannot work there. Runs of networks print them.
    fn warnings_at(&self, program: &Program, position: &Position) -> Vec<String> {
        let _ = (program, position);
        Vec::new()
    }

    /// Returns what the program does with packets of which it sends digests, if no control plane receives the digests, and how
    /// to change that: for runs without a control plane. `None`: the digests are for information only.
    fn without_control_plane(&self) -> Option<&'static str> {
        None
    }

    /// Returns parameters for `sluice fuzz`, as key and value: short timeouts and small tables, so that a few hundred
    /// packets exercise the program. Values that users set win over these.
    fn hunt(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns new properties for one run of `program`, which was built by [`StageProgram::build`]. They hold in addition to
    /// the general properties; a property with the name of a general one replaces it.
    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        let _ = program;
        Vec::new()
    }

    /// Returns the embedded capture that demonstrates the program, as file name and bytes, for front-panel port 0.
    /// `None`: the general samples do.
    fn sample(&self) -> Option<(&'static str, &'static [u8])> {
        None
    }

    /// Returns embedded captures that demonstrate the program in a two-tor network, as port (`leaf0:0`), file name and
    /// bytes.
    fn network_samples(&self) -> Vec<(&'static str, &'static str, &'static [u8])> {
        Vec::new()
    }

    /// Returns the reader of frames for stories of this program's networks. `None`: frames are as their hosts sent
    /// them.
    fn story(&self) -> Option<Arc<dyn Narrator>> {
        None
    }

    /// Starts the control plane that comes with the program; `None` if the program has none.
    ///
    /// # Errors
    /// If a setting is refused, or if the request names another program.
    fn control_plane(
        &self,
        request: &ControlPlaneRequest<'_>,
    ) -> Option<Result<Box<dyn ControlPlane>, ControlPlaneError>> {
        let _ = request;
        None
    }
}

/// Reason for which a program could not be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProgramError {
    /// A parameter was refused.
    #[error("program `{program}`: {source}")]
    Param {
        /// Name of the program.
        program: String,
        /// The key or value, and what is allowed.
        source: ParamError,
    },
    /// Two parameters exclude each other.
    #[error("program `{program}`: parameter `{key}` is `{found}`; {expected}")]
    Conflict {
        /// Name of the program.
        program: String,
        /// The parameter to change.
        key: String,
        /// Value found.
        found: String,
        /// Values that the other parameters allow, and advice on how to fix it.
        expected: String,
    },
    /// The verifier refuses the program.
    #[error("program `{program}` is not legal with these parameters:{}", list(.diags))]
    Illegal {
        /// Name of the program.
        program: String,
        /// All findings of the verifier.
        diags: Vec<Diag>,
    },
    /// The text of the program is refused with these parameters.
    #[error("program `{program}` cannot be built with these parameters:\n{text}")]
    Text {
        /// Name of the program.
        program: String,
        /// Places and reasons.
        text: String,
    },
    /// The text of the program has a value that cannot be set.
    #[error("program `{program}`: {text}")]
    Fixed {
        /// Name of the program.
        program: String,
        /// The key, and how to change the value.
        text: String,
    },
}

impl ProgramError {
    /// Returns [`ProgramError::Conflict`] with these texts.
    pub fn conflict(
        program: &str,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> ProgramError {
        ProgramError::Conflict {
            program: program.to_owned(),
            key: key.to_owned(),
            found: found.into(),
            expected: expected.into(),
        }
    }
}

fn list(diags: &[Diag]) -> String {
    diags.iter().map(|diag| format!("\n{diag}")).collect()
}
