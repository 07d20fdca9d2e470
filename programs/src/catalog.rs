//! The shipped programs by name, and what each of them offers.

use crate::agent::{Agent, AgentError, AgentRequest};
use crate::balance::{Ecmp, Wcmp};
use crate::conga::Conga;
use crate::conweave::ConWeave;
use crate::conweave_spine::ConWeaveSpine;
use crate::drb::Drb;
use crate::drill::Drill;
use crate::ecn_mark::EcnMark;
use crate::flare::Flare;
use crate::hpcc_int::HpccInt;
use crate::hula::Hula;
use crate::int::Int;
use crate::l3_ecmp::L3Ecmp;
use crate::letflow::LetFlow;
use crate::pfc::Pfc;
use crate::position::Position;
use crate::presto::Presto;
use crate::setup::{Setup, SetupError};
use crate::spray::Spray;
use crate::story::Narrator;
use sluice_asic::names::nearest;
use sluice_asic::port::PortMap;
use sluice_build::params::{ParamError, ParamInfo};
use sluice_ir::Program;
use sluice_ir::verify::Diag;
use sluice_switch::property::Property;
use std::sync::Arc;
use thiserror::Error;

/// What a switch runs at its place in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The program's name.
    pub program: &'static str,
    /// Parameters that follow from the place; those that users set win.
    pub params: Vec<(String, String)>,
}

impl Role {
    /// A program with these parameters.
    pub(crate) fn new(
        program: &'static str,
        params: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Role {
        Role { program, params: params.into_iter().map(|(key, value)| (key.to_owned(), value)).collect() }
    }
}

/// A stage program that users run by name.
pub trait StageProgram: Sync {
    /// Name as users type it, kebab-case (`l3-ecmp`).
    fn name(&self) -> &'static str;

    /// What it does, one sentence without a full stop.
    fn summary(&self) -> &'static str;

    /// Its parameters with their defaults, in the order of its documentation.
    fn params(&self) -> Vec<ParamInfo>;

    /// The program with these parameter values, given as key and text; later values of a key win.
    ///
    /// # Errors
    /// When a key or value is refused, or when the values together make no legal program.
    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError>;

    /// What `program`, built by [`StageProgram::build`], starts with on a device with these ports: entries
    /// under which any capture flows.
    ///
    /// # Errors
    /// When the device has no port that the entries need, or `program` is not one of this kind.
    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError>;

    /// What a switch runs at this place in a network that runs this program: another one, for a program that is only
    /// for some of a network's switches, or this one.
    fn role_at(&self, position: &Position) -> Role {
        let _ = position;
        Role::new(self.name(), [])
    }

    /// What it starts with at its place in a network: entries under which packets reach every host. `None` if the
    /// program has none of its own for that; then it gets those of [`StageProgram::default_setup`].
    ///
    /// # Errors
    /// As [`StageProgram::default_setup`].
    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        let _ = (program, ports, position);
        None
    }

    /// The text of the equivalent P4_16 program for TNA. It is not compiled; it stands beside the builder
    /// code for comparison.
    fn p4(&self) -> &'static str;

    /// Parameters with which a hunt for packets runs the program, where users set no others: with the default ones a few
    /// hundred packets do not come to what the program is for. Each is a key and a value.
    fn hunt(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What must hold of `program`, built by [`StageProgram::build`], in every run, besides what must hold of every
    /// program; fresh for one run. One with the name of a general property takes its place.
    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        let _ = program;
        Vec::new()
    }

    /// Returns the embedded capture under which the program shows something, as file name and bytes, for front-panel port 0.
    /// `None` means that the general samples do.
    fn sample(&self) -> Option<(&'static str, &'static [u8])> {
        None
    }

    /// Returns embedded captures under which the program shows something in a two-tor network, as port (`leaf0:0`), file
    /// name and bytes.
    fn network_samples(&self) -> Vec<(&'static str, &'static str, &'static [u8])> {
        Vec::new()
    }

    /// Returns the reader of frames for stories of this program's networks. `None` means that frames are as their hosts sent
    /// them.
    fn story(&self) -> Option<Arc<dyn Narrator>> {
        None
    }

    /// Starts the control-plane agent that comes with the program. `None` means that the program has no agent.
    ///
    /// # Errors
    /// If a setting is refused, or if the request names another program.
    fn agent(&self, request: &AgentRequest<'_>) -> Option<Result<Box<dyn Agent>, AgentError>> {
        let _ = request;
        None
    }
}

/// Why a program could not be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProgramError {
    /// A parameter was refused.
    #[error("program `{program}`: {source}")]
    Param {
        /// The program.
        program: &'static str,
        /// The key or value and what is possible.
        source: ParamError,
    },
    /// Two parameters do not go together.
    #[error("program `{program}`: parameter `{key}` is `{found}`; {expected}")]
    Conflict {
        /// The program.
        program: &'static str,
        /// The parameter to change.
        key: &'static str,
        /// Its value.
        found: String,
        /// What the other parameters allow, and how to mend it.
        expected: String,
    },
    /// The verifier refuses the program.
    #[error("program `{program}` is not legal with these parameters:{}", list(.diags))]
    Illegal {
        /// The program.
        program: &'static str,
        /// Everything that is wrong with it.
        diags: Vec<Diag>,
    },
}

fn list(diags: &[Diag]) -> String {
    diags.iter().map(|diag| format!("\n{diag}")).collect()
}

/// There is no program of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no program `{found}`{} (programs: {})", .nearest.map_or(String::new(), |n| format!("; did you mean `{n}`?")), .available.join(", "))]
pub struct UnknownProgram {
    /// The name asked for.
    pub found: String,
    /// The name that was probably meant.
    pub nearest: Option<&'static str>,
    /// Every name.
    pub available: Vec<&'static str>,
}

/// Every shipped program; the first one runs when users name none.
#[must_use]
pub fn all() -> &'static [&'static dyn StageProgram] {
    &[
        &L3Ecmp,
        &Ecmp,
        &Wcmp,
        &Spray,
        &Drb,
        &Presto,
        &Flare,
        &LetFlow,
        &Int,
        &HpccInt,
        &Pfc,
        &EcnMark,
        &ConWeave,
        &ConWeaveSpine,
        &Drill,
        &Conga,
        &Hula,
    ]
}

/// The program of this name.
///
/// # Errors
/// When there is none.
pub fn by_name(name: &str) -> Result<&'static dyn StageProgram, UnknownProgram> {
    all().iter().find(|p| p.name() == name).copied().ok_or_else(|| {
        let available: Vec<&'static str> = all().iter().map(|p| p.name()).collect();
        let nearest = nearest(name, available.iter().copied());
        UnknownProgram { found: name.to_owned(), nearest, available }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_found_by_its_name() {
        for program in all() {
            let found = by_name(program.name()).map(|p| p.name());
            assert_eq!(found, Ok(program.name()));
            assert!(!program.summary().is_empty() && !program.summary().ends_with('.'));
            assert!(program.params().iter().all(|p| !p.doc.is_empty() && !p.expects.is_empty()));
        }
        for program in all() {
            let profile: Vec<_> =
                program.hunt().iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            let built = program.build(&profile).map(|p| p.params).map_err(|e| e.to_string());
            let params = built.unwrap_or_default();
            for (key, value) in profile {
                let param = params.iter().find(|p| p.key == key);
                assert_eq!(param.map(|p| &p.value), Some(&value), "{}: {key}", program.name());
            }
        }
        let mut names: Vec<&str> = all().iter().map(|p| p.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_and_the_list() {
        let error = by_name("l3_ecnp").err().map(|e| e.to_string()).unwrap_or_default();
        let names: Vec<&str> = all().iter().map(|p| p.name()).collect();
        let list = names.join(", ");
        assert_eq!(
            error,
            format!("there is no program `l3_ecnp`; did you mean `l3-ecmp`? (programs: {list})")
        );
    }
}
